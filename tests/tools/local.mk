# tests of the command
check_PROGRAMS += tests/tools/make_trace
tests_tools_make_trace_SOURCES = tests/tools/make_trace.c
tests_tools_make_trace_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_tools_make_trace_LDADD = tests/reader/libtracebuilder.a libswbase.a
TESTS += tests/tools/test_command.sh
dist_check_SCRIPTS += tests/tools/test_command.sh
EXTRA_DIST += tests/tools/test_command.py
