# The recorder half of the preload object; its unit tests link the same sources as a library.
recorder_sources = \
	src/preload/recorder/recorder.h src/preload/recorder/recorder.c src/preload/recorder/call_begin.h src/preload/recorder/call_record.h \
	src/preload/handoff/analyse.c src/preload/handoff/analyse.h \
	src/preload/platform/isolated_thread.c src/preload/platform/isolated_thread.h \
	src/preload/platform/bypass.c src/preload/platform/bypass.h \
	src/preload/platform/clock.c src/preload/platform/clock.h \
	src/preload/recorder/companion.c src/preload/recorder/companion.h \
	src/preload/recorder/counted.c src/preload/recorder/counted.h \
	src/preload/calls/launch_tail.c src/preload/calls/launch_tail.h \
	src/preload/recorder/intern.c src/preload/recorder/intern.h \
	src/preload/platform/loaded_object.c src/preload/platform/loaded_object.h \
	src/preload/platform/lock.h src/preload/platform/often.h src/preload/platform/seldom.h \
	src/preload/recorder/memory.c src/preload/recorder/memory.h \
	src/preload/stacks/modules.c src/preload/stacks/modules.h \
	src/preload/recorder/options.c src/preload/recorder/options.def src/preload/recorder/options.h \
	src/preload/recorder/process.c src/preload/recorder/process.h \
	src/preload/platform/say.c src/preload/platform/say.h \
	src/preload/stacks/stack.c src/preload/stacks/stack.h \
	src/preload/recorder/trace.c src/preload/recorder/trace.h \
	src/preload/stacks/unwind.c src/preload/stacks/unwind.h \
	src/preload/stacks/unwind_tables.c \
	src/preload/recorder/window.c src/preload/recorder/window.h \
	src/preload/recorder/writer.c src/preload/recorder/writer.h
libsyncwatch_so_SOURCES += $(recorder_sources) src/preload/platform/sys.c src/preload/platform/sys.h

check_LIBRARIES += libswrecorder.a
libswrecorder_a_SOURCES = src/base/crc32c.c src/base/hash.c src/base/name_pattern.c $(recorder_sources) src/preload/platform/sys.c src/preload/platform/sys.h
libswrecorder_a_CFLAGS = $(SW_CFLAGS) $(SW_PREFIX_MAP) -ftls-model=initial-exec -fno-omit-frame-pointer
