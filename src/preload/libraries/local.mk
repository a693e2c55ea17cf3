# libsyncwatch-libraries.so: calls of cuBLAS, cuFFT, cuDNN and others.  After libsyncwatch.so in LD_PRELOAD.
preload_PROGRAMS += libsyncwatch-libraries.so
libsyncwatch_libraries_so_SOURCES = \
	src/preload/platform/loaded_function.c src/preload/platform/loaded_function.h \
	src/preload/platform/named_function.c src/preload/platform/named_function.h \
	src/preload/libraries/functions.def \
	src/preload/libraries/calls.c src/preload/libraries/entry_x86_64.S src/preload/libraries/entry_aarch64.S
libsyncwatch_libraries_so_CPPFLAGS = $(AM_CPPFLAGS)
libsyncwatch_libraries_so_CFLAGS = $(SW_CFLAGS) $(SW_PREFIX_MAP) -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-omit-frame-pointer
libsyncwatch_libraries_so_CCASFLAGS = -fPIC $(SW_PREFIX_MAP)
libsyncwatch_libraries_so_LDFLAGS = -shared -Wl,-soname,libsyncwatch-libraries.so -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
libsyncwatch_libraries_so_LDADD =
