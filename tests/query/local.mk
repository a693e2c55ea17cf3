# tests of query: traces as databases
TESTS += tests/query/test_query.sh
dist_check_SCRIPTS += tests/query/test_query.sh
EXTRA_DIST += tests/query/test_query.py
