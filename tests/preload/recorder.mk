# tests of the recorder half, linked with the recorder itself
# never sanitized: the recorder is not, and forks, jumps and kills are what these tests do
recording_cflags = $(SW_CFLAGS) -fno-omit-frame-pointer $(CHECK_CFLAGS)
recording_libs = tests/preload/librecording.a libswrecorder.a $(CHECK_LIBS)
if HAVE_CHECK
check_LIBRARIES += tests/preload/librecording.a
tests_preload_librecording_a_SOURCES = tests/preload/recording.c tests/preload/recording.h \
	tests/preload/trace_check.c tests/preload/trace_check.h
tests_preload_librecording_a_CFLAGS = $(recording_cflags)
check_PROGRAMS += tests/preload/test_recorder
TESTS += tests/preload/test_recorder
tests_preload_test_recorder_CFLAGS = $(recording_cflags)
tests_preload_test_recorder_LDFLAGS =
tests_preload_test_recorder_LDADD = $(recording_libs)

check_PROGRAMS += tests/preload/test_counted
TESTS += tests/preload/test_counted
tests_preload_test_counted_CFLAGS = $(recording_cflags)
tests_preload_test_counted_LDFLAGS =
tests_preload_test_counted_LDADD = $(recording_libs)

check_PROGRAMS += tests/preload/test_stacks
TESTS += tests/preload/test_stacks
tests_preload_test_stacks_CFLAGS = $(recording_cflags)
tests_preload_test_stacks_LDFLAGS =
tests_preload_test_stacks_LDADD = $(recording_libs)
tests_preload_test_stacks_CPPFLAGS = $(AM_CPPFLAGS) -DSW_RELOADED='"$(abs_top_builddir)/tests/preload/reloaded-%d.so"'
check_PROGRAMS += tests/preload/reloaded-1.so tests/preload/reloaded-2.so
tests_preload_reloaded_1_so_SOURCES = tests/preload/reloaded.c
tests_preload_reloaded_1_so_CPPFLAGS = -DROOM=1000
tests_preload_reloaded_1_so_CFLAGS = -O1 -fPIC -fno-omit-frame-pointer
tests_preload_reloaded_1_so_LDFLAGS = -shared
tests_preload_reloaded_1_so_LDADD =
tests_preload_reloaded_2_so_SOURCES = tests/preload/reloaded.c
tests_preload_reloaded_2_so_CPPFLAGS = -DROOM=2000
tests_preload_reloaded_2_so_CFLAGS = -O1 -fPIC -fno-omit-frame-pointer
tests_preload_reloaded_2_so_LDFLAGS = -shared
tests_preload_reloaded_2_so_LDADD =

check_PROGRAMS += tests/preload/test_process
TESTS += tests/preload/test_process
tests_preload_test_process_CFLAGS = $(recording_cflags)
tests_preload_test_process_LDFLAGS =
tests_preload_test_process_LDADD = $(recording_libs)

check_PROGRAMS += tests/preload/test_threads
TESTS += tests/preload/test_threads
tests_preload_test_threads_CFLAGS = $(recording_cflags)
tests_preload_test_threads_LDFLAGS =
tests_preload_test_threads_LDADD = $(recording_libs)
check_PROGRAMS += tests/preload/test_isolated
TESTS += tests/preload/test_isolated
tests_preload_test_isolated_CFLAGS = $(recording_cflags)
tests_preload_test_isolated_LDFLAGS =
tests_preload_test_isolated_LDADD = $(recording_libs)
check_PROGRAMS += tests/preload/launch_program
tests_preload_launch_program_SOURCES = tests/preload/launch_program.c tests/preload/launch_sequence.h
tests_preload_launch_program_CFLAGS = $(SW_CFLAGS) -fno-omit-frame-pointer
tests_preload_launch_program_LDFLAGS =
tests_preload_launch_program_LDADD = libswrecorder.a
check_PROGRAMS += tests/preload/test_launches
TESTS += tests/preload/test_launches
tests_preload_test_launches_SOURCES = tests/preload/test_launches.c tests/preload/launch_sequence.h
tests_preload_test_launches_LDADD = libswreader.a libswbase.a $(CHECK_LIBS) $(ZSTD_LIBS)
check_PROGRAMS += tests/preload/test_content
TESTS += tests/preload/test_content
tests_preload_test_content_CFLAGS = $(recording_cflags)
tests_preload_test_content_LDFLAGS =
tests_preload_test_content_LDADD = $(recording_libs)
endif

check_PROGRAMS += tests/preload/test_sync_filter
TESTS += tests/preload/test_sync_filter
tests_preload_test_sync_filter_SOURCES = tests/preload/test_sync_filter.c src/preload/strict/sync_filter.c src/preload/strict/sync_filter.h
# few of both, so that objects share buckets and threads go without a place
tests_preload_test_sync_filter_CPPFLAGS = $(AM_CPPFLAGS) -DSW_NEWS_THREADS=4u -DSW_NEWS_BUCKETS=2u
