# tests of api
check_PROGRAMS += tests/api/table_list
tests_api_table_list_LDADD = libswapi.a
TESTS += tests/api/coverage.sh tests/api/toolkits
EXTRA_DIST += tests/api/coverage.sh tests/api/toolkits tests/api/toolkits.pins tests/api/unclassified.txt
if HAVE_CHECK
check_PROGRAMS += tests/api/test_api
TESTS += tests/api/test_api
tests_api_test_api_LDADD = libswapi.a $(CHECK_LIBS)
endif
