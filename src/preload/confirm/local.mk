# libsyncwatch-confirm.so: holds one side of a race back, preloaded after libsyncwatch.so by `syncwatch confirm`
preload_PROGRAMS += libsyncwatch-confirm.so
libsyncwatch_confirm_so_SOURCES = \
	src/preload/confirm/confirm.h src/preload/confirm/plan.h \
	src/preload/confirm/calls.c src/base/hash.c \
	src/preload/confirm/nodes.c \
	src/preload/confirm/plan_text.c src/preload/confirm/watch.c \
	src/preload/savings/savings.h src/preload/savings/fences.c src/preload/savings/replace.c \
	src/preload/savings/staging.c src/preload/savings/host_uses.c src/base/run_changes.def \
	src/preload/platform/sys.c src/preload/platform/sys.h src/preload/platform/lock.h src/preload/recorder/companion.h
libsyncwatch_confirm_so_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
libsyncwatch_confirm_so_CFLAGS = $(SW_CFLAGS) $(SW_PREFIX_MAP) -fPIC -fvisibility=hidden -fno-omit-frame-pointer
libsyncwatch_confirm_so_LDFLAGS = -shared -Wl,-soname,libsyncwatch-confirm.so -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
libsyncwatch_confirm_so_LDADD =
