# tests of reader; the trace builder serves the tests of every module that reads traces (compile with -I$(top_srcdir)/tests)
check_LIBRARIES += tests/reader/libtracebuilder.a
check_PROGRAMS += tests/reader/make_traces
tests_reader_make_traces_SOURCES = tests/reader/make_traces.c
tests_reader_make_traces_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_reader_make_traces_LDADD = tests/reader/libtracebuilder.a libswbase.a
tests_reader_libtracebuilder_a_SOURCES = tests/reader/trace_builder.c tests/reader/trace_builder.h \
	tests/reader/every_kind.c tests/reader/every_kind.h tests/reader/pack_builder.c tests/reader/pack_builder.h
tests_reader_libtracebuilder_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests

if HAVE_CHECK
check_PROGRAMS += tests/reader/test_reader
TESTS += tests/reader/test_reader
tests_reader_test_reader_SOURCES = tests/reader/test_reader.c
tests_reader_test_reader_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_reader_test_reader_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_reader_test_reader_LDADD = tests/reader/libtracebuilder.a libswreader.a libswbase.a $(ZSTD_LIBS) $(CHECK_LIBS)
endif

if HAVE_CHECK
check_PROGRAMS += tests/reader/test_power_cut
TESTS += tests/reader/test_power_cut
tests_reader_test_power_cut_SOURCES = tests/reader/test_power_cut.c
tests_reader_test_power_cut_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_reader_test_power_cut_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_reader_test_power_cut_LDADD = tests/reader/libtracebuilder.a libswreader.a libswbase.a $(ZSTD_LIBS) $(CHECK_LIBS)
endif

if HAVE_CHECK
check_PROGRAMS += tests/reader/test_packed
TESTS += tests/reader/test_packed
tests_reader_test_packed_SOURCES = tests/reader/test_packed.c
tests_reader_test_packed_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_reader_test_packed_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_reader_test_packed_LDADD = tests/reader/libtracebuilder.a libswreader.a libswbase.a $(ZSTD_LIBS) $(CHECK_LIBS)
endif

if HAVE_CHECK
check_PROGRAMS += tests/report/test_dump
TESTS += tests/report/test_dump
tests_report_test_dump_SOURCES = tests/report/test_dump.c
tests_report_test_dump_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_report_test_dump_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_report_test_dump_LDADD = tests/reader/libtracebuilder.a libswreport.a libswdetect.a libswschedule.a libswhb.a libswreader.a \
	$(SW_FOOTPRINT_LIBS) $(CHECK_LIBS) $(DW_LIBS) $(ZLIB_LIBS) $(DEMANGLE_LIBS) $(JANSSON_LIBS)
endif

if HAVE_CHECK
if HAVE_ZSTD
check_PROGRAMS += tests/reader/test_expand
TESTS += tests/reader/test_expand
tests_reader_test_expand_SOURCES = tests/reader/test_expand.c
tests_reader_test_expand_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_reader_test_expand_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(ZSTD_CFLAGS)
tests_reader_test_expand_LDADD = tests/reader/libtracebuilder.a libswreader.a libswbase.a $(ZSTD_LIBS) $(CHECK_LIBS)
endif
endif
