#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that speaks NVTX: what it says is in the report and on the timeline; what it does is the same with any tool.
set -uo pipefail
export LC_ALL=C
build=$(cd "${top_builddir:-.}" && pwd)
source=$(cd "$top_srcdir" && pwd)
[[ "${missing:-}" != *" nvtx "* ]] || { echo "skipped: the headers of NVTX 3 are missing"; exit 77; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
unset NVTX_INJECTION64_PATH
failed=0
fail() {
	failed=$((failed + 1))
	echo "FAIL: $1"
}
run() { # run NAME ARGUMENTS...
	"$build/syncwatch" run --sim --no-cache --all --json "$1.json" --chrome "$1.chrome" -o "$1.swt" ./program "${@:2}" >"$1.out" 2>"$1.err"
	[ $? -eq 3 ] || fail "$1: exit status"
}
# json FILE EXPRESSION: is it true of the report `r`, and of its errors `errors`?
json() {
	"$PYTHON3" - "$1" "$2" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
errors = {f["id"]: f for f in r.get("findings", []) if f["severity"] == "error"}
sys.exit(not eval(sys.argv[2]))
PY
}

# shellcheck disable=SC2086 # the compiler may be two words
$CC -std=gnu17 -isystem "$CUDA_HOME/include" -o program "$source/tests/preload/nvtx/program.c" "$build/sim/libcuda.so.1" -ldl -pthread || exit 99

LD_LIBRARY_PATH=$build/sim ./program >bare.out
[ $? -eq 3 ] || fail "the program itself"
run race
run fixed --fixed
for each in race fixed; do cmp -s bare.out "$each.out" || fail "$each: NVTX gave back something else"; done

# What is wrong with it, and where that is.
json race.json 'set(errors) == {"SW101", "SW105"}' || fail "the hazards"
json race.json '[x["name"] for x in errors["SW101"]["accesses"][1]["nvtx"]] == ["reading", "step 1", "start-up"]' || fail "ranges of the later access"
json race.json '[x["domain"] for x in errors["SW101"]["accesses"][0]["nvtx"]] == ["", "app", ""]' || fail "domains"
json race.json 'errors["SW101"]["accesses"][0]["nvtx"][0]["name"] == "writing \u00e9"' || fail "a range in wide characters"
json race.json '"consumer" in errors["SW101"]["accesses"][1]["stream"]["name"]' || fail "the name of a stream"
json race.json '"activations" in errors["SW105"]["accesses"][0]["range"]["allocation"]["name"]' || fail "the name of a region"
tr -s ' \n' ' ' <race.err | grep -q "in NVTX range 'reading' within 'step 1' of app, 'start-up'" || fail "ranges in the text"
json fixed.json 'not errors' || fail "the fixed program has errors"

# Names of threads, set before and after their first call; what was popped before the first call is not recorded.
"$build/syncwatch" dump race.swt >race.dump
grep -q '^NAME .* of=THREAD .* bytes=[1-9][0-9]* name="driver seat"' race.dump || fail "the name of the first thread"
grep -q '^NAME .* of=EVENT .*name="produced"' race.dump || fail "the name of an event"
grep -q '"thread 1 .driver seat.' race.chrome && grep -q '"thread 2 .loader.' race.chrome || fail "names of threads on the timeline"
! grep -q forgotten race.dump || fail "a range that was over before the first call"

# The timeline: no two ranges of a track overlap in part.
json race.chrome '{e["name"] for e in r["traceEvents"] if e.get("cat") == "user_annotation"} >= {"A", "B", "step 1", "start-up", "elsewhere", "never ends"}' || fail "ranges on the timeline"
json race.chrome '(lambda x: all(a["tid"] != b["tid"] or b["ts"] >= a["ts"] + a["dur"] or b["ts"] + b["dur"] <= a["ts"] + a["dur"] for a in x for b in x if a is not b and b["ts"] >= a["ts"]))([e for e in r["traceEvents"] if e.get("cat") == "user_annotation"])' || fail "ranges of a track overlap"
json race.chrome '(lambda t: t["A"] != t["B"])({e["name"]: e["tid"] for e in r["traceEvents"] if e.get("cat") == "user_annotation"})' || fail "A and B share a track"
json race.chrome '(lambda t: t["ends with a payload"][1] <= t["outcome"][0] and t["outcome"][1] <= t["A"][0])({e["name"]: (e["ts"], e["ts"] + e["dur"]) for e in r["traceEvents"] if e.get("cat") == "user_annotation"})' || fail "ranges with payloads do not end"
[ "$("$build/syncwatch" dump --kinds RANGE race.swt | grep -c 'name="outcome"')" -eq 2 ] || fail "ranges that begin with a payload"

# Ranges of --capture beyond those that are followed at once are said to open no window; as many as are followed are not.
many() { # many STARTED DOMAINS
	"$build/syncwatch" run --sim --no-cache --capture 'nvtx:many@d?' -o many.swt --force ./program --many "$@" >/dev/null 2>many.err
	[ "$("$build/syncwatch" dump --kinds CUT many.swt | grep -c ^CUT)" -ge 2 ] || fail "many $*: no window"
	"$build/syncwatch" dump --kinds NOTICE many.swt | grep -c 'opened no window'
}
[ "$(many 257 1)" = 1 ] && tr -s ' \n' ' ' <many.err | grep -q 'the others opened no window' || fail "more started ranges than are followed"
[ "$(many 1 5)" = 1 ] || fail "ranges in more domains than are followed"
[ "$(many 256 4)" = 0 ] || fail "a sentence without cause"

# Without libsyncwatch.so the library does nothing; another tool that listens is left alone.
NVTX_INJECTION64_PATH=$build/libsyncwatch-nvtx.so LD_LIBRARY_PATH=$build/sim ./program >alone.out
[ $? -eq 3 ] && cmp -s bare.out alone.out || fail "alone"
NVTX_INJECTION64_PATH=/nonexistent "$build/syncwatch" run --sim --no-cache -o other.swt ./program >/dev/null 2>&1
[ "$("$build/syncwatch" dump --kinds RANGE other.swt | grep -c ^RANGE)" -eq 0 ] || fail "another tool's variable was changed"

# With LD_PRELOAD alone, the user sets the variable.
SYNCWATCH_OPTIONS=trace=plain.swt:report=0:quiet LD_PRELOAD=$build/libsyncwatch.so NVTX_INJECTION64_PATH=$build/libsyncwatch-nvtx.so \
	LD_LIBRARY_PATH=$build/sim ./program >plain.out
[ $? -eq 3 ] && cmp -s bare.out plain.out || fail "with LD_PRELOAD"
[ "$("$build/syncwatch" dump --kinds RANGE plain.swt | grep -c ^RANGE)" -gt 10 ] || fail "no ranges with LD_PRELOAD"

echo "$failed failed"
[ "$failed" -eq 0 ]
