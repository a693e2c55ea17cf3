# tests of the interception half: programs on a driver that does nothing
check_PROGRAMS += tests/preload/trace_list
tests_preload_trace_list_SOURCES = \
	tests/preload/trace_list.c tests/preload/trace_check.c tests/preload/trace_check.h
tests_preload_trace_list_LDADD = libswbase.a
TESTS += tests/preload/ways.sh tests/preload/object.sh
EXTRA_DIST += tests/preload/ways.sh tests/preload/object.sh \
	tests/preload/ways/asked.c tests/preload/ways/early.c tests/preload/ways/early_library.c \
	tests/preload/ways/fake_cuda.c tests/preload/ways/fake_driver.c tests/preload/ways/jumps.c tests/preload/ways/jumps_library.c tests/preload/ways/linked.c \
	tests/preload/ways/doors.c tests/preload/ways/lookups.c tests/preload/ways/wraps_driver.c tests/preload/ways/wraps_dlsym.c tests/preload/ways/audit.c tests/preload/ways/newer.c \
	tests/preload/ways/next.c tests/preload/ways/next_library.c tests/preload/ways/no_driver.c \
	tests/preload/ways/probe.c tests/preload/ways/runtime.c tests/preload/ways/runtime_library.c tests/preload/ways/throws.cpp tests/preload/ways/unknown.c
if HAVE_CHECK
check_PROGRAMS += tests/preload/test_table
TESTS += tests/preload/test_table
tests_preload_test_table_SOURCES = tests/preload/test_table.c src/preload/intercept/identity_table.c src/preload/intercept/identity_table.h
tests_preload_test_table_LDADD = $(CHECK_LIBS)
endif
