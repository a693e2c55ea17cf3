# tests of the recorder half, linked with the recorder itself
if HAVE_CHECK
check_PROGRAMS += tests/preload/test_recorder
TESTS += tests/preload/test_recorder
tests_preload_test_recorder_SOURCES = \
	tests/preload/test_recorder.c tests/preload/trace_check.c tests/preload/trace_check.h
tests_preload_test_recorder_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/preload
# never sanitized: the recorder is not, and forks, jumps and kills are what these tests do
tests_preload_test_recorder_CFLAGS = $(SW_CFLAGS) $(CHECK_CFLAGS)
tests_preload_test_recorder_LDFLAGS =
tests_preload_test_recorder_LDADD = libswrecorder.a $(CHECK_LIBS)
endif
