# libsyncwatch-run.so: which images a run starts, and which of them without the recorder.  Preloaded by `syncwatch run`.
preload_PROGRAMS += libsyncwatch-run.so
announce_sources = src/preload/session/announce.c src/preload/session/announce.h src/preload/session/announce_wire.h
libsyncwatch_so_SOURCES += $(announce_sources)
libswrecorder_a_SOURCES += $(announce_sources)
libsyncwatch_run_so_SOURCES = src/preload/session/exec.c src/preload/session/functions.def $(announce_sources)
libsyncwatch_run_so_CPPFLAGS = $(AM_CPPFLAGS)
libsyncwatch_run_so_CFLAGS = $(SW_CFLAGS) $(SW_PREFIX_MAP) -fPIC -fvisibility=hidden -fno-omit-frame-pointer
libsyncwatch_run_so_LDFLAGS = -shared -Wl,-soname,libsyncwatch-run.so -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
libsyncwatch_run_so_LDADD =
