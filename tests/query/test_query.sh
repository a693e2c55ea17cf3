#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs test_query.py, for which Python with its sqlite3 module is needed.
case ${missing:-} in *sqlite*) echo "skipped: built without SQLite"; exit 77 ;; esac
[ "$PYTHON3" != no ] || { echo "skipped: no python3"; exit 77; }
"$PYTHON3" -c "import sqlite3" 2>/dev/null || { echo "skipped: $PYTHON3 has no sqlite3"; exit 77; }
exec "$PYTHON3" "$top_srcdir/tests/query/test_query.py" "$top_builddir" "$top_srcdir"
