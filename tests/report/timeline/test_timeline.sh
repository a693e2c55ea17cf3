#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Timelines of built traces keep the rules that every viewer needs, whole, in part and packed; and the graph is a graph.
set -eu
here="$top_srcdir/tests/report/timeline"
export="$top_builddir/tests/report/timeline/export"
if [ "$PYTHON3" = no ]; then
	echo "SKIP: no python3: timelines are not checked"
	exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

check() {
	"$PYTHON3" "$here/check_chrome.py" "$@"
}

for case in pipeline race everything deep timed; do
	"$export" "$case" "$dir/$case.swt" "$dir/$case.json" >"$dir/$case.said"
	printf '%s: ' "$case"
	check "$dir/$case.json" "$dir/$case.said"
done
grep -q '"name":"SW101 ' "$dir/race.json"
if grep '"name":"SW1' "$dir/pipeline.json"; then
	exit 1
fi

echo "a part of the run is smaller, and whole in itself"
"$export" - "$dir/deep.swt" "$dir/part.json" --from 5000000 --to 5100000
check "$dir/part.json"
[ "$(wc -l <"$dir/part.json")" -lt 1000 ]
[ "$(grep -c '"ph":"X"' "$dir/part.json")" -gt 50 ]
"$export" - "$dir/everything.swt" "$dir/around.json" --around 1000
check "$dir/around.json"
[ "$(wc -l <"$dir/around.json")" -lt "$(wc -l <"$dir/everything.json")" ]
"$export" - "$dir/pipeline.swt" "$dir/none.json" --around 1000
check "$dir/none.json" | grep -q '^0 slices'

if "$export" can-gzip - -; then
	"$export" - "$dir/everything.swt" "$dir/everything.json.gz" --gzip
	gzip -dc "$dir/everything.json.gz" | cmp - "$dir/everything.json"
fi

echo "the checker refuses what is wrong"
refused() {
	if check "$dir/wrong.json" "$dir/everything.said" >/dev/null 2>&1; then
		echo "accepted: $1"
		exit 1
	fi
}
everything="$dir/everything.json"
sed '0,/"ph":"f"/{/"ph":"f"/d}' "$everything" >"$dir/wrong.json"
refused "an arrow without an end"
sed 's/"ts":15\.000,"dur":0\.100/"ts":15.000,"dur":3.000/' "$everything" >"$dir/wrong.json"
refused "slices that overlap"
sed '0,/"cat":"queued"/{/"cat":"queued"/d}' "$everything" >"$dir/wrong.json"
refused "a kernel that is missing"
sed 's/"ts":15\.000/"ts":15.0001/' "$everything" >"$dir/wrong.json"
refused "less than a nanosecond"
sed 's/"tid":20,/"tid":0,/' "$everything" >"$dir/wrong.json"
refused "thread 0"
printf 'kernel 999999\n' >>"$dir/everything.said"
cp "$everything" "$dir/wrong.json"
refused "a kernel that was never drawn"

echo "the graph has the edge that is missing, and those that exist"
"$export" - "$dir/race.swt" "$dir/race.dot" --dot --which SW101
grep -q 'style=dashed, color=red' "$dir/race.dot"
"$export" - "$dir/pipeline.swt" "$dir/pipeline.dot" --dot
if grep dashed "$dir/pipeline.dot"; then
	exit 1
fi
grep -q 'label="event"' "$dir/pipeline.dot"
grep -q 'label="host waits"' "$dir/pipeline.dot"
status=0
"$export" - "$dir/race.swt" "$dir/race.dot" --dot --which SW999 || status=$?
[ $status = 3 ]
"$export" - "$dir/deep.swt" "$dir/deep.dot" --dot
grep -q 'more operations are not drawn' "$dir/deep.dot"
[ "$(grep -c 'label=' "$dir/deep.dot")" -lt 2000 ]
for graph in race pipeline deep; do
	[ "$(grep -o '{' "$dir/$graph.dot" | wc -l)" = "$(grep -o '}' "$dir/$graph.dot" | wc -l)" ]
	if command -v dot >/dev/null; then
		dot -Tplain "$dir/$graph.dot" >/dev/null
	fi
done
