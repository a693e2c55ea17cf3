# tests of golden: recorded traces and what is expected of them
TESTS += tests/golden/replay
dist_check_SCRIPTS += tests/golden/replay
EXTRA_DIST += tests/golden/normalise.py tests/golden/traces
