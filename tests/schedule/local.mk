# tests of schedule
check_PROGRAMS += tests/schedule/study
TESTS += tests/schedule/study
tests_schedule_study_SOURCES = tests/schedule/study.c tests/schedule/machine.c tests/schedule/machine.h
tests_schedule_study_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_schedule_study_LDADD = libswschedule.a libswbase.a
if HAVE_CHECK
check_PROGRAMS += tests/schedule/test_schedule
TESTS += tests/schedule/test_schedule
tests_schedule_test_schedule_LDADD = libswschedule.a libswbase.a $(CHECK_LIBS)
check_PROGRAMS += tests/schedule/test_replay
TESTS += tests/schedule/test_replay
tests_schedule_test_replay_LDADD = libswschedule.a libswbase.a $(CHECK_LIBS)
endif
