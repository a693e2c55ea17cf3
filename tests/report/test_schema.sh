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
"$PYTHON3" "$here/check_formats.py" "$here"/formats/*.sarif "$here"/formats/*.junit.xml "$here"/formats/*.gitlab.json \
	"$here"/formats/*.github.txt
# The counters of coverage.def and those of the schema are the same, with the same descriptions.
"$PYTHON3" - "$schema" "$top_srcdir/src/detect/coverage.def" <<'END'
import json, re, sys
table = re.sub(r"/\*.*?\*/", "", open(sys.argv[2], encoding="utf-8").read(), flags=re.S)
table = re.sub(r'"\s*\n\s*"', "", table)
rows = re.findall(r'SW_COVERAGE\(\w+,\s*"(\w*)",\s*(?:\d+|SW_COVERAGE_FIRST_LINES),\s*"([^"]*)",\s*"([^"]*)"\)', table)
assert len(rows) == len(re.findall(r"^SW_COVERAGE\(", table, re.M)), "a row that this test cannot read"
known = {key: meaning for key, words, meaning in rows if key}
described = {key: value.get("description", "") for key, value in
             json.load(open(sys.argv[1], encoding="utf-8"))["properties"]["coverage"]["properties"].items()
             if value.get("$ref") == "#/$defs/count"}
for key in sorted(known.keys() | described.keys()):
    if known.get(key) != described.get(key):
        sys.exit(f"{key}: coverage.def says {known.get(key)!r}, the schema {described.get(key)!r}")
END
broken=$(mktemp) dir=$(mktemp -d)
trap 'rm -rf "$broken" "$dir"' EXIT
sed 's/"severity": "error"/"severity": "fatal"/' "$here/golden/race.json" >"$broken"
if "$PYTHON3" "$here/check_schema.py" "$schema" "$broken" >/dev/null; then
	echo "the checker accepts a severity that does not exist" >&2
	exit 1
fi
# What each of the other formats forbids: FORMAT and what to replace by what.
refuses() {
	sed "$2" "$here/formats/race.$1" >"$dir/broken.$1"
	if "$PYTHON3" "$here/check_formats.py" "$dir/broken.$1" >/dev/null || cmp -s "$here/formats/race.$1" "$dir/broken.$1"; then
		echo "the checker accepts $1 after $2" >&2
		exit 1
	fi
}
refuses sarif 's/"level": "error"/"level": "fatal"/'
refuses sarif 's/"ruleIndex": 0/"ruleIndex": 1/'
refuses sarif 's/"startLine": 33/"startLine": 0/'
refuses junit.xml 's/failures="1"/failures="0"/'
refuses junit.xml 's/&amp;/\&/'
refuses gitlab.json 's/"severity": "critical"/"severity": "error"/'
refuses gitlab.json 's/"fingerprint": "[^"]*"/"fingerprint": "1"/'
refuses github.txt 's/^::error/::fatal/'
