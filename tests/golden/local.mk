# tests of golden: recorded traces and what is expected of them
check_PROGRAMS += tests/golden/pack_trace
tests_golden_pack_trace_SOURCES = tests/golden/pack_trace.c
TESTS += tests/golden/replay
dist_check_SCRIPTS += tests/golden/replay
EXTRA_DIST += tests/golden/normalise.py tests/golden/traces
