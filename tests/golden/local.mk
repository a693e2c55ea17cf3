# tests of golden: recorded traces and what is expected of them
check_PROGRAMS += tests/golden/pack_trace
tests_golden_pack_trace_LDADD = libswpack.a libswreport.a libswdetect.a libswreader.a $(SW_FOOTPRINT_LIBS) $(DW_LIBS) $(DEMANGLE_LIBS)
check_PROGRAMS += tests/golden/test_format
tests_golden_test_format_SOURCES = tests/golden/test_format.c tests/golden/format.def
TESTS += tests/golden/test_format tests/golden/replay tests/golden/consistent.py
dist_check_SCRIPTS += tests/golden/replay tests/golden/consistent.py
EXTRA_DIST += tests/golden/record tests/golden/choose tests/golden/chosen tests/golden/README.md tests/golden/normalise.py tests/golden/traces

# Traces that are judged while they are written.
check_PROGRAMS += tests/golden/test_follow
TESTS += tests/golden/test_follow
tests_golden_test_follow_SOURCES = tests/golden/test_follow.c tests/golden/feed_trace.c tests/golden/feed_trace.h
tests_golden_test_follow_LDADD = libswreport.a libswdetect.a libswschedule.a libswhb.a libswreader.a \
	$(SW_FOOTPRINT_LIBS) $(DW_LIBS) $(ZLIB_LIBS) $(DEMANGLE_LIBS) $(JANSSON_LIBS)
