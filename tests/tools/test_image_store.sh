#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs test_image_store.py, for which a Python is needed.
[ "$PYTHON3" != no ] || { echo "skipped: no python3"; exit 77; }
exec "$PYTHON3" "$top_srcdir/tests/tools/test_image_store.py" "$top_builddir" "$top_srcdir"
