# guard: libsyncwatch-guard.so, preloaded after libsyncwatch.so for --guard-host.  It depends on nothing but libc.
preload_PROGRAMS += libsyncwatch-guard.so
libsyncwatch_guard_so_SOURCES = \
	src/guard/guard.h src/guard/buffers.c src/guard/pages.c \
	src/guard/work.c \
	src/guard/signals.c \
	src/guard/calls.c src/guard/calls.def \
	src/preload/platform/sys.c src/preload/platform/sys.h src/preload/platform/lock.h src/preload/recorder/companion.h
libsyncwatch_guard_so_CFLAGS = $(SW_CFLAGS) $(SW_PREFIX_MAP) -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-omit-frame-pointer
libsyncwatch_guard_so_LDFLAGS = -shared -Wl,-soname,libsyncwatch-guard.so -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
libsyncwatch_guard_so_LDADD =
