# libsyncwatch-host.so: how host threads order each other (--strict-host).  Goes after libsyncwatch.so in LD_PRELOAD.
preload_PROGRAMS += libsyncwatch-host.so
libsyncwatch_host_so_SOURCES = \
	src/preload/strict/strict.c src/preload/strict/functions.def \
	src/preload/strict/sync_filter.h src/preload/strict/sync_filter.c
libsyncwatch_host_so_CPPFLAGS = $(AM_CPPFLAGS)
libsyncwatch_host_so_CFLAGS = $(SW_CFLAGS) $(SW_PREFIX_MAP) -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-omit-frame-pointer
libsyncwatch_host_so_LDFLAGS = -shared -Wl,-soname,libsyncwatch-host.so -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
libsyncwatch_host_so_LDADD =
