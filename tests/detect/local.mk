# tests of detect
if HAVE_CHECK
detect_tests = tests/detect/test_units tests/detect/test_hazards tests/detect/test_memory tests/detect/test_waits \
	tests/detect/test_shadow tests/detect/test_random tests/detect/test_chain tests/detect/test_footprints tests/detect/test_code \
	tests/detect/test_graphs tests/detect/test_lifetimes tests/detect/test_churn
check_PROGRAMS += $(detect_tests)
TESTS += $(detect_tests)
detect_common = tests/detect/judge.c tests/detect/judge.h
detect_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
detect_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS)
detect_ldadd = tests/reader/libtracebuilder.a libswdetect.a libswhb.a libswreader.a $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
tests_detect_test_units_SOURCES = tests/detect/test_units.c $(detect_common)
tests_detect_test_units_CPPFLAGS = $(detect_cppflags)
tests_detect_test_units_CFLAGS = $(detect_cflags)
tests_detect_test_units_LDADD = $(detect_ldadd)
tests_detect_test_hazards_SOURCES = tests/detect/test_hazards.c $(detect_common)
tests_detect_test_hazards_CPPFLAGS = $(detect_cppflags)
tests_detect_test_hazards_CFLAGS = $(detect_cflags)
tests_detect_test_hazards_LDADD = $(detect_ldadd)
tests_detect_test_memory_SOURCES = tests/detect/test_memory.c $(detect_common)
tests_detect_test_memory_CPPFLAGS = $(detect_cppflags)
tests_detect_test_memory_CFLAGS = $(detect_cflags)
tests_detect_test_memory_LDADD = $(detect_ldadd)
tests_detect_test_lifetimes_SOURCES = tests/detect/test_lifetimes.c $(detect_common)
tests_detect_test_lifetimes_CPPFLAGS = $(detect_cppflags)
tests_detect_test_lifetimes_CFLAGS = $(detect_cflags)
tests_detect_test_lifetimes_LDADD = $(detect_ldadd)
tests_detect_test_waits_SOURCES = tests/detect/test_waits.c $(detect_common)
tests_detect_test_waits_CPPFLAGS = $(detect_cppflags)
tests_detect_test_waits_CFLAGS = $(detect_cflags)
tests_detect_test_waits_LDADD = $(detect_ldadd)
tests_detect_test_shadow_SOURCES = tests/detect/test_shadow.c $(detect_common)
tests_detect_test_shadow_CPPFLAGS = $(detect_cppflags)
tests_detect_test_shadow_CFLAGS = $(detect_cflags)
tests_detect_test_shadow_LDADD = $(detect_ldadd)
tests_detect_test_random_SOURCES = tests/detect/test_random.c $(detect_common)
tests_detect_test_random_CPPFLAGS = $(detect_cppflags)
tests_detect_test_random_CFLAGS = $(detect_cflags)
tests_detect_test_random_LDADD = $(detect_ldadd)
tests_detect_test_chain_SOURCES = tests/detect/test_chain.c tests/detect/chain.h tests/detect/chain_run.c \
	tests/detect/chain_call.h tests/detect/chain_order.c \
	tests/detect/chain_memory.c tests/detect/chain_program.c tests/hb/oracle.c tests/hb/oracle.h tests/hb/program.c \
	tests/hb/program.h tests/hb/program.def $(detect_common)
tests_detect_test_chain_CPPFLAGS = $(detect_cppflags)
tests_detect_test_chain_CFLAGS = $(detect_cflags)
tests_detect_test_chain_LDADD = $(detect_ldadd)
tests_detect_test_footprints_SOURCES = tests/detect/test_footprints.c tests/detect/kernels.c tests/detect/kernels.h \
	$(detect_common)
tests_detect_test_footprints_CPPFLAGS = $(detect_cppflags)
tests_detect_test_footprints_CFLAGS = $(detect_cflags)
tests_detect_test_footprints_LDADD = $(detect_ldadd)
tests_detect_test_graphs_SOURCES = tests/detect/test_graphs.c $(detect_common)
tests_detect_test_graphs_CPPFLAGS = $(detect_cppflags)
tests_detect_test_graphs_CFLAGS = $(detect_cflags)
tests_detect_test_graphs_LDADD = $(detect_ldadd)
tests_detect_test_churn_SOURCES = tests/detect/test_churn.c tests/detect/churn.c tests/detect/churn.h $(detect_common)
tests_detect_test_churn_CPPFLAGS = $(detect_cppflags)
tests_detect_test_churn_CFLAGS = $(detect_cflags)
tests_detect_test_churn_LDADD = $(detect_ldadd)
tests_detect_test_code_SOURCES = tests/detect/test_code.c tests/detect/kernels.c tests/detect/kernels.h $(detect_common)
tests_detect_test_code_CPPFLAGS = $(detect_cppflags)
tests_detect_test_code_CFLAGS = $(detect_cflags)
tests_detect_test_code_LDADD = $(detect_ldadd)
endif
