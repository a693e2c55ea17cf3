#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that uses threads in every awkward way does the same with libsyncwatch-host.so as without, and what it does is
# recorded.
set -uo pipefail
build=$(cd "${top_builddir:-.}" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
program=$build/tests/preload/strict_program
failed=0
fail() {
	failed=$((failed + 1))
	echo "FAIL: $1"
}

LD_LIBRARY_PATH=$build/sim "$program" >"$work/bare"
[ $? -eq 5 ] || fail "the program itself"
"$build/syncwatch" run --sim --strict-host --no-cache --json "$work/report" -o "$work/t.swt" "$program" >"$work/strict" 2>"$work/errors"
[ $? -eq 5 ] || fail "exit status"
diff "$work/bare" "$work/strict" || fail "what it printed"
grep -q '"strict_host": true' "$work/report" || fail "the report does not say so"
"$build/syncwatch" dump --kinds HOST_SYNC "$work/t.swt" >"$work/dump"
for op in ACQUIRE RELEASE CREATE START END JOIN; do
	grep -q " op=$op " "$work/dump" || fail "no $op was recorded"
done

# Behind the recorder only: alone it does nothing, and without the option nothing of it is there.
LD_PRELOAD=$build/libsyncwatch-host.so LD_LIBRARY_PATH=$build/sim "$program" >"$work/alone"
[ $? -eq 5 ] && cmp -s "$work/bare" "$work/alone" || fail "alone"
"$build/syncwatch" run --sim --no-cache -o "$work/p.swt" "$program" >/dev/null 2>&1
[ "$("$build/syncwatch" dump --kinds HOST_SYNC "$work/p.swt" | grep -c ^HOST_SYNC)" -eq 0 ] || fail "recorded without the option"

# With the option and without the object: one line at the start and one of the report, which is there.
SYNCWATCH_OPTIONS=trace=$work/lone.swt:strict-host LD_PRELOAD=$build/libsyncwatch.so LD_LIBRARY_PATH=$build/sim "$program" >"$work/lone" 2>"$work/lone.err"
[ $? -eq 5 ] && cmp -s "$work/bare" "$work/lone" || fail "option without the object"
[ "$(grep -c 'strict-host does nothing without libsyncwatch-host.so' "$work/lone.err")" -eq 1 ] || fail "nothing was said at the start"
grep -q 'they are treated as one' "$work/lone.err" && grep -q '200 synchronisations in' "$work/lone.err" || fail "no report: $(tail -n 5 "$work/lone.err")"

echo "$failed failed"
[ "$failed" -eq 0 ]
