# libsyncwatch-python.so: Python frames, loaded by libsyncwatch.so in a Python interpreter
preload_PROGRAMS += libsyncwatch-python.so
python_sources = \
	src/base/hash.c \
	src/preload/recorder/intern.c src/preload/recorder/intern.h src/preload/recorder/companion.h \
	src/preload/platform/sys.c src/preload/platform/sys.h \
	src/preload/python/python.h src/preload/python/stacks.h \
	src/preload/python/capture.c src/preload/python/freed.c src/preload/python/join.c \
	src/preload/python/layout.c src/preload/python/memory.c src/preload/python/source.c 
libsyncwatch_python_so_SOURCES = $(python_sources)
libsyncwatch_python_so_CPPFLAGS = $(AM_CPPFLAGS)
libsyncwatch_python_so_CFLAGS = $(SW_CFLAGS) $(SW_PREFIX_MAP) -fPIC -fvisibility=hidden
libsyncwatch_python_so_LDFLAGS = -shared -Wl,-soname,libsyncwatch-python.so -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
libsyncwatch_python_so_LDADD =
