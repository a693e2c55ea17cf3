# tests of api
check_PROGRAMS += tests/api/table_list
tests_api_table_list_SOURCES = tests/api/table_list.c
tests_api_table_list_LDADD = libswapi.a
TESTS += tests/api/coverage.sh
EXTRA_DIST += tests/api/coverage.sh
if HAVE_CHECK
check_PROGRAMS += tests/api/test_api
TESTS += tests/api/test_api
tests_api_test_api_SOURCES = tests/api/test_api.c
tests_api_test_api_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_api_test_api_LDADD = libswapi.a $(CHECK_LIBS)
endif
