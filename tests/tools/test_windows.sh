#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs test_windows.py, for which a Python is needed.
case ${missing:-} in *libdw*) echo "skipped: built without$missing"; exit 77 ;; esac
[ "$PYTHON3" != no ] || { echo "skipped: no python3"; exit 77; }
exec "$PYTHON3" "$top_srcdir/tests/tools/test_windows.py" "$top_builddir" "$top_srcdir"
