# tests of the source tree itself
TREE_TESTS = tests/tree/layers.sh tests/tree/files.sh tests/tree/structure.py
TESTS += $(TREE_TESTS)
EXTRA_DIST += $(TREE_TESTS)
