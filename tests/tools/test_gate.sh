#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs test_gate.py, for which a Python and the programs of kernels/ are needed.
case ${missing:-} in *libdw*) echo "skipped: built without$missing"; exit 77 ;; esac
[ "$PYTHON3" != no ] || { echo "skipped: no python3"; exit 77; }
[ -x "$top_builddir/kernels/forbidden" ] || { echo "skipped: kernels/ is not built"; exit 77; }
exec "$PYTHON3" "$top_srcdir/tests/tools/test_gate.py" "$top_builddir" "$top_srcdir"
