# tests of simcuda
# Linked with the simulation itself; the driver by its SONAME, so that the runtime's dlopen finds it.
simcuda_test_ldflags = -pthread -Wl,--no-as-needed -Wl,-rpath,$(abs_builddir)/sim
simcuda_test_cflags = $(SW_CFLAGS) -pthread
simcuda_test_cppflags = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
check_PROGRAMS += tests/simcuda/behaviour
TESTS += tests/simcuda/behaviour
EXTRA_DIST += tests/simcuda/behaviour.tsv tests/simcuda/driver-calls.tsv
tests_simcuda_behaviour_SOURCES = tests/simcuda/behaviour.c tests/simcuda/device_code.h
tests_simcuda_behaviour_CPPFLAGS = $(simcuda_test_cppflags)
tests_simcuda_behaviour_CFLAGS = $(simcuda_test_cflags)
tests_simcuda_behaviour_LDFLAGS = $(simcuda_test_ldflags)
tests_simcuda_behaviour_LDADD = sim/libcuda.so.1 sim/libcudart.so.13
