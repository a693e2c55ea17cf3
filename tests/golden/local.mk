# tests of golden: recorded traces and what is expected of them
check_PROGRAMS += tests/golden/dump_trace
tests_golden_dump_trace_SOURCES = tests/golden/dump_trace.c
tests_golden_dump_trace_LDADD = libswreport.a libswreader.a libswbase.a
TESTS += tests/golden/replay
dist_check_SCRIPTS += tests/golden/replay
EXTRA_DIST += tests/golden/normalise.py tests/golden/traces
