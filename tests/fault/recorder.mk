# the recorder when its system calls fail
if HAVE_CHECK
check_PROGRAMS += tests/fault/test_faults
TESTS += tests/fault/test_faults
tests_fault_test_faults_SOURCES = \
	tests/fault/test_faults.c tests/fault/faulty_sys.c tests/fault/faulty_sys.h $(recording_sources)
tests_fault_test_faults_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/preload
tests_fault_test_faults_CFLAGS = $(SW_CFLAGS) -fno-omit-frame-pointer $(CHECK_CFLAGS)
tests_fault_test_faults_LDFLAGS =
tests_fault_test_faults_LDADD = libswrecorder.a $(CHECK_LIBS)

check_PROGRAMS += tests/fault/test_start
TESTS += tests/fault/test_start
tests_fault_test_start_SOURCES = \
	tests/fault/test_start.c tests/fault/faulty_sys.c tests/fault/faulty_sys.h $(recording_sources)
tests_fault_test_start_CPPFLAGS = $(tests_fault_test_faults_CPPFLAGS)
tests_fault_test_start_CFLAGS = $(tests_fault_test_faults_CFLAGS)
tests_fault_test_start_LDFLAGS =
tests_fault_test_start_LDADD = $(tests_fault_test_faults_LDADD)

check_PROGRAMS += tests/fault/test_steps
TESTS += tests/fault/test_steps
tests_fault_test_steps_SOURCES = \
	tests/fault/test_steps.c tests/fault/faulty_sys.c tests/fault/faulty_sys.h $(recording_sources) \
	tools/run/channel.c tools/run/channel.h tools/run/collect.c tools/run/collect.h \
	src/base/error.c src/base/error.h src/base/memory.c src/base/memory.h
tests_fault_test_steps_CPPFLAGS = $(tests_fault_test_faults_CPPFLAGS) -I$(top_srcdir)/tools
tests_fault_test_steps_CFLAGS = $(tests_fault_test_faults_CFLAGS)
tests_fault_test_steps_LDFLAGS =
# Not libswbase.a: with --enable-sanitizers that needs their run time, and this program is killed at each system call.
tests_fault_test_steps_LDADD = libswrecorder.a $(CHECK_LIBS)
endif
