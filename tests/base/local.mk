# tests of base
if HAVE_CHECK
check_PROGRAMS += tests/base/test_base
TESTS += tests/base/test_base
tests_base_test_base_LDADD = libswbase.a $(CHECK_LIBS)
endif
