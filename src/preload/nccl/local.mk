# libsyncwatch-nccl.so: collectives of NCCL.  After libsyncwatch.so in LD_PRELOAD.
preload_PROGRAMS += libsyncwatch-nccl.so
libsyncwatch_nccl_so_SOURCES = \
	src/base/hash.c src/base/hash.h src/preload/platform/lock.h src/preload/platform/sys.c src/preload/platform/sys.h \
	src/preload/platform/loaded_function.c src/preload/platform/loaded_function.h \
	src/preload/platform/named_function.c src/preload/platform/named_function.h src/preload/nccl/functions.def \
	src/preload/nccl/wrappers.c
libsyncwatch_nccl_so_CPPFLAGS = $(AM_CPPFLAGS)
libsyncwatch_nccl_so_CFLAGS = $(SW_CFLAGS) $(SW_PREFIX_MAP) -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-omit-frame-pointer
libsyncwatch_nccl_so_LDFLAGS = -shared -Wl,-soname,libsyncwatch-nccl.so -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
libsyncwatch_nccl_so_LDADD =
