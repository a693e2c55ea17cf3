# tests of reader; the trace builder serves the tests of every module that reads traces (compile with -I$(top_srcdir)/tests)
check_LIBRARIES += tests/reader/libtracebuilder.a
tests_reader_libtracebuilder_a_SOURCES = tests/reader/trace_builder.c tests/reader/trace_builder.h
tests_reader_libtracebuilder_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
