# tests of the source tree itself
TREE_TESTS = tests/tree/layers.sh tests/tree/files.sh tests/tree/structure.py tests/tree/public_headers.sh tests/tree/calls.py \
	tests/tree/counted.py tests/tree/optional.sh
TESTS += $(TREE_TESTS)
EXTRA_DIST += $(TREE_TESTS) tests/tree/shape.py tests/tree/draw.py
