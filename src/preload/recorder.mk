# The recorder half of the preload object; its unit tests link the same sources as a library.
recorder_sources = \
	src/preload/recorder.h src/preload/recorder.c \
	src/preload/analyse.c src/preload/analyse.h \
	src/preload/bypass.c src/preload/bypass.h \
	src/preload/clock.c src/preload/clock.h \
	src/preload/companion.c src/preload/companion.h \
	src/preload/cost.c src/preload/cost.h \
	src/preload/create.c \
	src/preload/describe.c src/preload/describe.h \
	src/preload/exit.c \
	src/preload/fork.c \
	src/preload/helper.c src/preload/helper.h \
	src/preload/intern.c src/preload/intern.h \
	src/preload/lock.h \
	src/preload/modules.c src/preload/modules.h \
	src/preload/notice.c src/preload/notice.h \
	src/preload/options.c src/preload/options.def src/preload/options.h \
	src/preload/process.c src/preload/process.h \
	src/preload/say.c src/preload/say.h \
	src/preload/stack.c src/preload/stack.h \
	src/preload/trace.c src/preload/trace.h \
	src/preload/unwind.c src/preload/unwind.h \
	src/preload/writer.c src/preload/writer.h
libsyncwatch_so_SOURCES += $(recorder_sources) src/preload/sys.c src/preload/sys.h

noinst_LIBRARIES += libswrecorder.a
libswrecorder_a_SOURCES = src/base/crc32c.c src/base/hash.c $(recorder_sources) src/preload/sys.c src/preload/sys.h
libswrecorder_a_CFLAGS = $(SW_CFLAGS) -ftls-model=initial-exec -fno-omit-frame-pointer
