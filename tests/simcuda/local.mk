# tests of simcuda
# Linked with the simulation itself; the driver by its SONAME, so that the runtime's dlopen finds it.
simcuda_test_ldflags = -pthread -Wl,--no-as-needed -Wl,-rpath,$(abs_builddir)/sim
simcuda_test_cflags = $(SW_CFLAGS) -pthread
simcuda_test_cppflags = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
check_PROGRAMS += tests/simcuda/behaviour
TESTS += tests/simcuda/behaviour
EXTRA_DIST += tests/simcuda/behaviour.tsv tests/simcuda/two-devices.tsv tests/simcuda/driver-calls.tsv
dist_check_SCRIPTS += tests/simcuda/exports
TESTS += tests/simcuda/exports
tests_simcuda_behaviour_SOURCES = tests/simcuda/behaviour.c tests/simcuda/spinner.h tests/simcuda/device_code.h
tests_simcuda_behaviour_CPPFLAGS = $(simcuda_test_cppflags)
tests_simcuda_behaviour_CFLAGS = $(simcuda_test_cflags)
tests_simcuda_behaviour_LDFLAGS = $(simcuda_test_ldflags)
tests_simcuda_behaviour_LDADD = sim/libcuda.so.1 sim/libcudart.so.13

# What the runtime asks of the driver: counted by a libcuda.so.1 in between.
check_PROGRAMS += tests/simcuda/counting/libcuda.so.1 tests/simcuda/driver_calls tests/simcuda/driver_calls_per_thread
TESTS += tests/simcuda/driver_calls tests/simcuda/driver_calls_per_thread
tests_simcuda_counting_libcuda_so_1_SOURCES = tests/simcuda/counting.c tests/simcuda/counting.h
tests_simcuda_counting_libcuda_so_1_CPPFLAGS = $(simcuda_test_cppflags)
tests_simcuda_counting_libcuda_so_1_CFLAGS = $(SW_CFLAGS) -fPIC
tests_simcuda_counting_libcuda_so_1_LDFLAGS = -shared -Wl,-soname,libcuda.so.1
tests_simcuda_driver_calls_SOURCES = tests/simcuda/driver_calls.c tests/simcuda/device_code.h tests/simcuda/counting.h
tests_simcuda_driver_calls_CPPFLAGS = $(simcuda_test_cppflags)
tests_simcuda_driver_calls_CFLAGS = $(simcuda_test_cflags)
tests_simcuda_driver_calls_LDFLAGS = $(simcuda_test_ldflags)
tests_simcuda_driver_calls_LDADD = sim/libcudart.so.13 -ldl
tests_simcuda_driver_calls_per_thread_SOURCES = $(tests_simcuda_driver_calls_SOURCES)
tests_simcuda_driver_calls_per_thread_CPPFLAGS = $(simcuda_test_cppflags) -DCUDA_API_PER_THREAD_DEFAULT_STREAM
tests_simcuda_driver_calls_per_thread_CFLAGS = $(simcuda_test_cflags)
tests_simcuda_driver_calls_per_thread_LDFLAGS = $(simcuda_test_ldflags)
tests_simcuda_driver_calls_per_thread_LDADD = sim/libcudart.so.13 -ldl

check_PROGRAMS += tests/simcuda/semantics
TESTS += tests/simcuda/semantics
tests_simcuda_semantics_SOURCES = tests/simcuda/semantics.c tests/simcuda/expect.h tests/simcuda/device_code.h
tests_simcuda_semantics_CPPFLAGS = $(simcuda_test_cppflags)
tests_simcuda_semantics_CFLAGS = $(simcuda_test_cflags)
tests_simcuda_semantics_LDFLAGS = $(simcuda_test_ldflags)
tests_simcuda_semantics_LDADD = sim/libcuda.so.1 sim/libcudart.so.13

check_PROGRAMS += tests/simcuda/two_devices
TESTS += tests/simcuda/two_devices
tests_simcuda_two_devices_SOURCES = tests/simcuda/two_devices.c tests/simcuda/two_calls.h tests/simcuda/spinner.h tests/simcuda/device_code.h
tests_simcuda_two_devices_CPPFLAGS = $(simcuda_test_cppflags)
tests_simcuda_two_devices_CFLAGS = $(simcuda_test_cflags)
tests_simcuda_two_devices_LDFLAGS = $(simcuda_test_ldflags)
tests_simcuda_two_devices_LDADD = sim/libcuda.so.1 sim/libcudart.so.13

check_PROGRAMS += tests/simcuda/graph_nodes
TESTS += tests/simcuda/graph_nodes
tests_simcuda_graph_nodes_SOURCES = tests/simcuda/graph_nodes.c tests/simcuda/expect.h
tests_simcuda_graph_nodes_CPPFLAGS = $(simcuda_test_cppflags)
tests_simcuda_graph_nodes_CFLAGS = $(simcuda_test_cflags)
tests_simcuda_graph_nodes_LDFLAGS = $(simcuda_test_ldflags)
tests_simcuda_graph_nodes_LDADD = sim/libcuda.so.1

check_PROGRAMS += tests/simcuda/arrays tests/simcuda/user_objects
TESTS += tests/simcuda/arrays tests/simcuda/user_objects
tests_simcuda_arrays_SOURCES = tests/simcuda/arrays.c tests/simcuda/expect.h
tests_simcuda_arrays_CPPFLAGS = $(simcuda_test_cppflags)
tests_simcuda_arrays_CFLAGS = $(simcuda_test_cflags) -Wno-deprecated-declarations
tests_simcuda_arrays_LDFLAGS = $(simcuda_test_ldflags)
tests_simcuda_arrays_LDADD = sim/libcuda.so.1 sim/libcudart.so.13
tests_simcuda_user_objects_SOURCES = tests/simcuda/user_objects.c tests/simcuda/expect.h
tests_simcuda_user_objects_CPPFLAGS = $(simcuda_test_cppflags)
tests_simcuda_user_objects_CFLAGS = $(simcuda_test_cflags)
tests_simcuda_user_objects_LDFLAGS = $(simcuda_test_ldflags)
tests_simcuda_user_objects_LDADD = sim/libcuda.so.1

# A library by the name of one that the simulation refuses.
check_PROGRAMS += tests/simcuda/private/libcublas.so.0 tests/simcuda/private_tables
TESTS += tests/simcuda/private_tables
tests_simcuda_private_libcublas_so_0_SOURCES = tests/simcuda/private_library.c
tests_simcuda_private_libcublas_so_0_CPPFLAGS = $(simcuda_test_cppflags)
tests_simcuda_private_libcublas_so_0_CFLAGS = $(SW_CFLAGS) -fPIC
tests_simcuda_private_libcublas_so_0_LDFLAGS = -shared -Wl,-soname,libcublas.so.0
tests_simcuda_private_libcublas_so_0_LDADD = sim/libcuda.so.1
tests_simcuda_private_tables_SOURCES = tests/simcuda/private_tables.c tests/simcuda/expect.h
tests_simcuda_private_tables_CPPFLAGS = $(simcuda_test_cppflags)
tests_simcuda_private_tables_CFLAGS = $(simcuda_test_cflags)
tests_simcuda_private_tables_LDFLAGS = $(simcuda_test_ldflags) -Wl,-rpath,$(abs_builddir)/tests/simcuda/private
tests_simcuda_private_tables_LDADD = tests/simcuda/private/libcublas.so.0 sim/libcuda.so.1
