# tests of hb
check_PROGRAMS += tests/hb/test_oracle
TESTS += tests/hb/test_oracle
tests_hb_test_oracle_SOURCES = tests/hb/test_oracle.c tests/hb/oracle.c tests/hb/oracle.h tests/hb/oracle_lanes.c tests/hb/oracle_lanes.h tests/hb/program.c \
	tests/hb/program.h tests/hb/program.def
tests_hb_test_oracle_LDADD = libswhb.a libswbase.a
if HAVE_CHECK
check_PROGRAMS += tests/hb/test_hb
TESTS += tests/hb/test_hb
tests_hb_test_hb_LDADD = libswhb.a libswbase.a $(CHECK_LIBS)
endif
