# tests of hb
check_PROGRAMS += tests/hb/test_oracle
TESTS += tests/hb/test_oracle
tests_hb_test_oracle_SOURCES = tests/hb/test_oracle.c tests/hb/oracle.c tests/hb/oracle.h tests/hb/program.c \
	tests/hb/program.h tests/hb/program.def
tests_hb_test_oracle_LDADD = libswhb.a libswbase.a
