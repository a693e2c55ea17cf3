# tests of merge
check_PROGRAMS += tests/merge/make_rank
tests_merge_make_rank_LDADD = tests/reader/libtracebuilder.a libswbase.a
TESTS += tests/merge/test_merge.sh tests/merge/test_shared.sh
dist_check_SCRIPTS += tests/merge/test_merge.sh tests/merge/test_shared.sh
EXTRA_DIST += tests/merge/test_merge.py tests/merge/test_shared.py
