# tests of reader; the trace builder serves the tests of every module that reads traces (compile with -I$(top_srcdir)/tests)
check_LIBRARIES += tests/reader/libtracebuilder.a
check_PROGRAMS += tests/reader/make_traces
tests_reader_make_traces_LDADD = tests/reader/libtracebuilder.a libswbase.a
tests_reader_libtracebuilder_a_SOURCES = tests/reader/trace_builder.c tests/reader/trace_builder.h tests/reader/trace_writer.h \
	tests/reader/trace_operations.c \
	tests/reader/every_kind.c tests/reader/every_kind.h tests/reader/pack_builder.c tests/reader/pack_builder.h

if HAVE_CHECK
trace_file = tests/reader/trace_file.c tests/reader/trace_file.h
reader_libs = tests/reader/libtracebuilder.a libswreader.a libswbase.a $(ZSTD_LIBS) $(CHECK_LIBS)
reader_tests = tests/reader/test_reader tests/reader/test_damage tests/reader/test_packed tests/reader/test_power_cut
if HAVE_ZSTD
reader_tests += tests/reader/test_expand
endif
check_PROGRAMS += $(reader_tests)
TESTS += $(reader_tests)
tests_reader_test_reader_SOURCES = tests/reader/test_reader.c $(trace_file)
tests_reader_test_reader_LDADD = $(reader_libs)
tests_reader_test_damage_SOURCES = tests/reader/test_damage.c $(trace_file)
tests_reader_test_damage_LDADD = $(reader_libs)
tests_reader_test_packed_SOURCES = tests/reader/test_packed.c $(trace_file)
tests_reader_test_packed_LDADD = $(reader_libs)
tests_reader_test_power_cut_LDADD = $(reader_libs)
tests_reader_test_expand_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(ZSTD_CFLAGS)
tests_reader_test_expand_LDADD = $(reader_libs)
endif
