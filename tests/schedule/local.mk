# tests of schedule
if HAVE_CHECK
check_PROGRAMS += tests/schedule/test_schedule
TESTS += tests/schedule/test_schedule
tests_schedule_test_schedule_SOURCES = tests/schedule/test_schedule.c
tests_schedule_test_schedule_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_schedule_test_schedule_LDADD = libswschedule.a libswbase.a $(CHECK_LIBS)
endif
