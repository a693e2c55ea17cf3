# tests of golden: recorded traces and what is expected of them
check_PROGRAMS += tests/golden/pack_trace
tests_golden_pack_trace_SOURCES = tests/golden/pack_trace.c
tests_golden_pack_trace_LDADD = libswbase.a
TESTS += tests/golden/replay
dist_check_SCRIPTS += tests/golden/replay
EXTRA_DIST += tests/golden/README.md tests/golden/normalise.py tests/golden/traces
