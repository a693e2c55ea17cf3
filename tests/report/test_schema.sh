#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Golden reports against the published schema; and the checker itself must refuse a report that breaks it.
set -eu
[ "$PYTHON3" != no ] || { echo "skipped: no python3"; exit 77; }
here=$top_srcdir/tests/report
schema=$top_srcdir/doc/report.schema.json
for report in "$here"/golden/*.json; do
	case $report in
	*/diff.json) "$PYTHON3" "$here/check_schema.py" "$top_srcdir/doc/diff.schema.json" "$report" ;;
	*) "$PYTHON3" "$here/check_schema.py" "$schema" "$report" ;;
	esac
done
broken=$(mktemp)
trap 'rm -f "$broken"' EXIT
sed 's/"severity": "error"/"severity": "fatal"/' "$here/golden/race.json" >"$broken"
if "$PYTHON3" "$here/check_schema.py" "$schema" "$broken" >/dev/null; then
	echo "the checker accepts a severity that does not exist" >&2
	exit 1
fi
