# the recorder when its system calls fail
if HAVE_CHECK
fault_tests = tests/fault/test_faults tests/fault/test_start tests/fault/test_steps
check_PROGRAMS += $(fault_tests)
TESTS += $(fault_tests)
# Linked before the recorder: its system calls come from here.
check_LIBRARIES += tests/fault/libfaulty.a
tests_fault_libfaulty_a_SOURCES = tests/fault/faulty_sys.c tests/fault/faulty_sys.h
tests_fault_libfaulty_a_CFLAGS = $(recording_cflags)
# Not libswbase.a: with --enable-sanitizers that needs their run time, and test_steps is killed at each system call.
fault_libs = tests/fault/libfaulty.a $(recording_libs)
tests_fault_test_faults_CFLAGS = $(recording_cflags)
tests_fault_test_faults_LDFLAGS =
tests_fault_test_faults_LDADD = $(fault_libs)
tests_fault_test_start_CFLAGS = $(recording_cflags)
tests_fault_test_start_LDFLAGS =
tests_fault_test_start_LDADD = $(fault_libs)
tests_fault_test_steps_SOURCES = tests/fault/test_steps.c \
	tools/run/channel.c tools/run/channel.h tools/run/collect.c tools/run/collect.h \
	src/base/error.c src/base/error.h src/base/memory.c src/base/memory.h
tests_fault_test_steps_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
tests_fault_test_steps_CFLAGS = $(recording_cflags)
tests_fault_test_steps_LDFLAGS =
tests_fault_test_steps_LDADD = $(fault_libs)
endif
