# libsyncwatch-pools.so: blocks of the allocators of PyTorch, CuPy and RMM.  Preloaded by `syncwatch run`.
preload_PROGRAMS += libsyncwatch-pools.so
libsyncwatch_pools_so_SOURCES = src/preload/pools/pools.h src/preload/pools/torch.c src/preload/pools/cupy.c src/preload/pools/rmm.c \
	src/preload/platform/loaded_function.c src/preload/platform/loaded_function.h
libsyncwatch_pools_so_CPPFLAGS = $(AM_CPPFLAGS)
libsyncwatch_pools_so_CFLAGS = $(SW_CFLAGS) $(SW_PREFIX_MAP) -fPIC -fvisibility=hidden -ftls-model=initial-exec -foptimize-sibling-calls
libsyncwatch_pools_so_LDFLAGS = -shared -Wl,-soname,libsyncwatch-pools.so -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
libsyncwatch_pools_so_LDADD =
