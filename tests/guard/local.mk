# tests of guard: programs on the simulated CUDA
check_PROGRAMS += tests/guard/guarded
tests_guard_guarded_SOURCES = tests/guard/guarded.c tests/guard/guarded.h tests/guard/cases.def \
	tests/guard/buffers.c tests/guard/signals.c tests/guard/calls.c tests/guard/children.c
tests_guard_guarded_CPPFLAGS = $(simcuda_test_cppflags) -I$(top_srcdir)/tests
tests_guard_guarded_CFLAGS = $(simcuda_test_cflags)
tests_guard_guarded_LDFLAGS = -pthread
tests_guard_guarded_LDADD = sim/libcudart.so.13
EXTRA_DIST += tests/guard/faulthandler.py
dist_check_SCRIPTS += tests/guard/survive tests/guard/under_load
TESTS += tests/guard/survive tests/guard/under_load
