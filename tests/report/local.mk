# tests of report
if HAVE_CHECK
# Judgements made by hand, their traces and symbols, golden files.  Linked before libswreport.a: the functions of fake_trace.c
# replace those of the reader and of libdw.
check_LIBRARIES += tests/report/libfakereport.a
tests_report_libfakereport_a_SOURCES = tests/report/fake_trace.c tests/report/fake_trace.h tests/report/fake_report.c \
	tests/report/fake_report.h tests/report/golden_file.c tests/report/golden_file.h
report_libs = tests/report/libfakereport.a libswreport.a libswdetect.a libswfootprint.a libswbase.a $(CHECK_LIBS) $(DEMANGLE_LIBS)
report_tests = tests/report/test_report tests/report/test_names tests/report/test_suppress tests/report/test_groups \
	tests/report/test_places tests/report/test_python tests/report/test_ci tests/report/test_diff \
	tests/report/test_evidence_text
check_PROGRAMS += $(report_tests)
TESTS += $(report_tests)
tests_report_test_report_LDADD = $(report_libs)
tests_report_test_names_LDADD = $(report_libs)
tests_report_test_suppress_LDADD = $(report_libs)
tests_report_test_groups_LDADD = $(report_libs)
tests_report_test_places_LDADD = $(report_libs)
tests_report_test_python_LDADD = $(report_libs)
tests_report_test_ci_LDADD = $(report_libs)
tests_report_test_diff_SOURCES = tests/report/test_diff.c tests/report/fake_trace.c tests/report/fake_trace.h
tests_report_test_diff_LDADD = $(report_libs) $(JANSSON_LIBS)
tests_report_test_evidence_text_LDADD = $(report_libs)
check_PROGRAMS += tests/report/test_dump
TESTS += tests/report/test_dump
tests_report_test_dump_SOURCES = tests/report/test_dump.c $(trace_file)
tests_report_test_dump_LDADD = tests/reader/libtracebuilder.a libswreport.a libswdetect.a libswschedule.a libswhb.a libswreader.a \
	$(SW_FOOTPRINT_LIBS) $(CHECK_LIBS) $(DW_LIBS) $(ZLIB_LIBS) $(DEMANGLE_LIBS) $(JANSSON_LIBS)
check_PROGRAMS += tests/report/test_many
TESTS += tests/report/test_many
tests_report_test_many_LDADD = $(tests_report_test_dump_LDADD)
# Writes pages for tests/browser/test_html.sh.
check_PROGRAMS += tests/report/test_html
tests_report_test_html_LDADD = $(report_libs)
check_PROGRAMS += tests/report/test_symbol_worker
TESTS += tests/report/test_symbol_worker
tests_report_test_symbol_worker_LDADD = libswreport.a libswbase.a $(CHECK_LIBS)
check_PROGRAMS += tests/report/test_workers
TESTS += tests/report/test_workers
tests_report_test_workers_LDADD = libswreport.a libswdetect.a libswschedule.a libswhb.a libswreader.a $(SW_FOOTPRINT_LIBS) \
	$(CHECK_LIBS) $(DW_LIBS) $(ZLIB_LIBS) $(DEMANGLE_LIBS) $(JANSSON_LIBS)
if HAVE_LIBDW
check_PROGRAMS += tests/report/test_symbols
TESTS += tests/report/test_symbols
tests_report_test_symbols_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(DW_CFLAGS) -g -O1
tests_report_test_symbols_LDADD = libswreport.a libswbase.a $(CHECK_LIBS) $(DW_LIBS)
endif
endif
EXTRA_DIST += \
	tests/report/golden/diff.json tests/report/golden/diff.txt \
	tests/report/golden/clean.json tests/report/golden/clean.txt tests/report/golden/crashed.json \
	tests/report/golden/crashed.txt tests/report/golden/hostile.json tests/report/golden/race.json \
	tests/report/golden/notes.txt tests/report/golden/race-all.txt tests/report/golden/race.txt tests/report/golden/torch.txt
TESTS += tests/report/test_schema.sh
dist_check_SCRIPTS += tests/report/test_schema.sh
EXTRA_DIST += tests/report/check_schema.py
EXTRA_DIST += tests/report/check_formats.py tests/report/formats

# timelines of real traces: built, judged, exported, and read by a JSON parser, by our own rules and by Perfetto
check_PROGRAMS += tests/report/timeline/export
tests_report_timeline_export_LDADD = tests/reader/libtracebuilder.a libswreport.a libswdetect.a libswschedule.a libswhb.a libswreader.a \
	$(SW_FOOTPRINT_LIBS) $(DW_LIBS) $(ZLIB_LIBS) $(DEMANGLE_LIBS)
TESTS += tests/report/timeline/test_timeline.sh tests/report/timeline/test_perfetto.sh
dist_check_SCRIPTS += tests/report/timeline/test_timeline.sh tests/report/timeline/test_perfetto.sh
EXTRA_DIST += tests/report/timeline/check_chrome.py tests/report/timeline/perfetto.mjs

# our findings in traces of torch.profiler
TESTS += tests/report/kineto/test_kineto.sh
dist_check_SCRIPTS += tests/report/kineto/test_kineto.sh
EXTRA_DIST += tests/report/kineto/test_kineto.py tests/report/kineto/profiles.py
