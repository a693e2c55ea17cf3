#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Blocks of PyTorch's caching allocator and of CuPy's pool, with stand-ins for their libraries: each is recorded with the line
# that allocated or freed it, PyTorch's own function is still called, and a block that is reused too early is reported with
# three places.
set -uo pipefail
export LC_ALL=C.UTF-8
build=$(cd "${top_builddir:-.}" && pwd)
programs=$(cd "$top_srcdir" && pwd)/tests/preload/pools
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
failed=0
fail() {
	failed=$((failed + 1))
	echo "FAIL: $1"
}
"$PYTHON3" -c 'import ctypes' 2>/dev/null || { echo "skipped: no Python with ctypes"; exit 77; }

libraries() { # libraries FOLDER OPTION...
	mkdir -p "$1"
	${CC:-cc} "${@:2}" -shared -fPIC -Wl,-soname,libc10.so "$programs/libc10.c" -o "$1/libc10.so" &&
		${CC:-cc} "${@:2}" -shared -fPIC -Wl,-soname,libc10_cuda.so "$programs/libc10_cuda.c" -o "$1/libc10_cuda.so" -L"$1" -lc10 -Wl,-rpath,"\$ORIGIN"
}
libraries known && libraries unknown '-DNAME="_ZN3c1027reportMemoryUsageToSomebodyEPv"' || { echo "skipped: no compiler"; exit 77; }

run() { # run NAME FOLDER OPTION...
	"$build/syncwatch" run --sim --no-cache --json "$1.json" -o "$1.swt" -- "$PYTHON3" "$programs/tensors.py" "$work/$2" "${@:3}" >"$1.txt" 2>"$1.err"
	grep -q "^calls $CALLS bytes $BYTES " "$1.txt" || fail "$1: PyTorch's own function: $(cat "$1.txt" "$1.err")"
}
line_of() {
	grep -n "# $1" "$programs/tensors.py" | cut -d: -f1
}
silent() {
	! grep -q 'SW1[0-9][0-9]' "$1.json" || fail "$1: $(grep -o 'SW1[0-9][0-9][^,]*' "$1.json" | head -n 2)"
}
blocks() {
	"$build/syncwatch" dump --kinds ANNOTATION "$1.swt" | grep -c "op=TENSOR_$2 "
}

CALLS=7 BYTES=12288
run early known
[ "$(blocks early BEGIN)" -eq 4 ] && [ "$(blocks early END)" -eq 1 ] || fail "records: $(blocks early BEGIN) $(blocks early END)"
"$PYTHON3" - early.json "$(line_of reads)" "$(line_of reuses)" "$(line_of "x is freed")" "$(line_of "x is made")" "$(line_of "z is made")" <<'PY' || fail "the report of the reuse"
import json, sys
finding, = [f for f in json.load(open(sys.argv[1]))["findings"] if f["id"] < "SW200"]
assert (finding["id"], finding["severity"], finding["confidence"]) == ("SW105", "error", "certain"), finding["message"]
lines = [int(n) for n in sys.argv[2:]]
def at(stack):
    return [frame["line"] for frame in stack if frame.get("language") == "python"]
use, reuse, free = finding["accesses"]
assert lines[0] in at(use["stack"]) and lines[1] in at(reuse["stack"]) and lines[2] in at(free["stack"]), finding
assert free["role"] == "related", free["role"]
made = [access["range"]["allocation"] for access in (use, reuse, free)]
assert [m["name"] for m in made] == ["tensor 3", "tensor 4", "tensor 3"], made
assert made[0]["bytes"] == 4096, made
assert "tensor 3 (4096 bytes, PyTorch's allocator at tensors.py" in finding["message"], finding["message"]
PY
run fixed known --fixed
silent fixed
CALLS=6 BYTES=16384 run kept known --kept
silent kept
run neighbour known --neighbour
silent neighbour
"$build/syncwatch" report --no-cache early.swt >report.txt 2>&1
grep -q '^  Related free by PyTorch' report.txt && grep -q 'record_stream(' report.txt || fail "text: $(cat report.txt)"

# The other stream was recorded: the block is another one unless that was seen to be done.  Where its own stream had waited
# anyway, record_stream() was not needed.
BYTES=12288 CALLS=7
run recorded known --record
silent recorded
! grep -q SW206 recorded.json || fail "record_stream() was needed"
run needless known --fixed --record
silent needless
"$PYTHON3" - needless.json "$(line_of "x is freed")" <<'PY' || fail "record_stream() that was not needed: $(cat needless.err)"
import json, sys
finding, = [f for f in json.load(open(sys.argv[1]))["findings"] if f["id"] == "SW206"]
assert finding["severity"] == "note" and "tensor 3 (4096 bytes" in finding["message"], finding["message"]
assert int(sys.argv[2]) in [frame["line"] for frame in finding["accesses"][0]["stack"] if frame.get("language") == "python"]
PY

# Another version: nothing is recorded of its blocks, and one line says so.
run other unknown
[ "$(blocks other BEGIN)" -eq 0 ] || fail "records of an unknown version"
[ "$(grep -c 'notice: *tensors: not recorded, this version of PyTorch' other.err)" -eq 1 ] || fail "another version: $(cat other.err)"
grep -q 'SW102' other.json || fail "an unknown version: the race is still one of the whole allocation"

# CuPy's pool, in each interpreter whose headers are there.
headers() {
	"$1" -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null
}
modules() { # modules INTERPRETER FOLDER OPTION...
	local folder=$2/cupy/cuda include
	include=$(headers "$1")
	mkdir -p "$folder"
	touch "$2/cupy/__init__.py"
	echo 'from cupy.cuda import memory, other' >"$folder/__init__.py"
	for module in memory stream other; do
		${CC:-cc} "${@:3}" -D${module^^} -shared -fPIC -I"$include" "$programs/cupy_like.c" -o "$folder/$module.so" "$build/sim/libcudart.so.13" || return
	done
}
arrays() { # arrays NAME INTERPRETER FOLDER OPTION...
	rm -f "$1.swt"
	"$build/syncwatch" run --sim --no-cache --json "$1.json" -o "$1.swt" -- "$2" "$programs/arrays.py" "$work/$3" "${@:4}" >"$1.txt" 2>"$1.err"
	local expected='same True'
	[[ ${4:-} = --kept ]] && expected='same False'
	[ "$(cat "$1.txt")" = "$expected" ] || fail "$1 with $2: $(cat "$1.txt" "$1.err")"
}
about='import sys, ctypes, platform; assert platform.python_implementation() == "CPython"; print("%d.%d" % sys.version_info[:2])'
line_of() {
	grep -n "# $1" "$programs/arrays.py" | cut -d: -f1
}
seen=''
for python in "$PYTHON3" ${SYNCWATCH_PYTHONS:-} "$HOME"/.pyenv/versions/3.*/bin/python3; do
	version=$("$python" -c "$about" 2>/dev/null)
	case $version in 3.9 | 3.1[0-4]) ;; *) continue ;; esac
	[[ " $seen " != *" $version "* && -f $(headers "$python")/Python.h ]] || continue
	seen="$seen $version"
	modules "$python" "cupy-$version" || { fail "CuPy's stand-in for Python $version"; continue; }
	arrays early "$python" "cupy-$version"
	[ "$(blocks early BEGIN)" -eq 4 ] && [ "$(blocks early END)" -eq 4 ] || fail "arrays, $version: $(blocks early BEGIN) $(blocks early END)"
	"$PYTHON3" - early.json "$(line_of reads)" "$(line_of reuses)" "$(line_of "x is freed")" "$(line_of "x is made")" <<'PY' || fail "the report of the reuse of an array, $version"
import json, sys
finding, = [f for f in json.load(open(sys.argv[1]))["findings"] if f["id"] < "SW200"]
assert (finding["id"], finding["severity"], finding["confidence"]) == ("SW105", "error", "certain"), finding["message"]
lines = [int(n) for n in sys.argv[2:]]
def at(stack):
    return [frame["line"] for frame in stack if frame.get("language") == "python"]
use, reuse, free = finding["accesses"]
assert lines[0] in at(use["stack"]) and lines[1] in at(reuse["stack"]) and lines[2] in at(free["stack"]), finding
assert [access["range"]["allocation"]["name"] for access in (use, reuse, free)] == ["array 3", "array 4", "array 3"], finding
assert f"array 3 (4096 bytes, CuPy's pool at arrays.py:{lines[3]})" in finding["message"], finding["message"]
assert "record_stream" not in finding["advice"] and "wait_event(" in finding["advice"], finding["advice"]
PY
	for how in fixed kept neighbour by-hand; do
		arrays $how "$python" "cupy-$version" --$how
		silent $how
	done
	[ "$(blocks by-hand BEGIN)" -eq 4 ] && [ "$(blocks by-hand END)" -eq 3 ] || fail "free() by hand, $version: $(blocks by-hand BEGIN) $(blocks by-hand END)"
	rm -f fills.swt
	"$build/syncwatch" run --sim --no-cache -o fills.swt -- "$python" "$programs/arrays.py" "$work/cupy-$version" --two-fills >fills.txt 2>&1
	grep -q "before arrays.py:$(line_of 'fills again'): *stream2.wait_event(cupy.cuda.Stream.null.record())\$" fills.txt || fail "the advice for CuPy, $version: $(cat fills.txt)"
	[ "$("$build/syncwatch" dump --kinds ANNOTATION fixed.swt | grep -c 'op=TENSOR_BEGIN .*stream=0x0 ')" -eq 0 ] || fail "arrays without their stream, $version"
	grep -q 'notice:' early.err && fail "a notice, $version: $(grep notice: early.err)"
	modules "$python" "unknown-$version" -DUNKNOWN || fail "CuPy's other stand-in for Python $version"
	arrays other "$python" "unknown-$version"
	[ "$(blocks other BEGIN)" -eq 0 ] || fail "arrays of an unknown version"
	[ "$(grep -c 'notice: *arrays: not recorded, the memory pool of this version' other.err)" -eq 1 ] || fail "another CuPy, $version: $(cat other.err)"
	grep -q 'SW102' other.json || fail "an unknown version of CuPy: the race is still one of the whole allocation"
done
[ -n "$seen" ] && echo "arrays with Python$seen" || echo "skipped arrays: no headers of Python"

# RMM's buffers.
include=(-std=gnu17 -Wall -isystem "$CUDA_HOME/include")
${CC:-cc} "${include[@]}" -DLIBRARY -shared -fPIC -O2 -Wl,-soname,librmm.so -o librmm.so "$programs/rmm_like.c" "$build/sim/libcuda.so.1" &&
	${CC:-cc} "${include[@]}" -g -o buffers "$programs/rmm_like.c" ./librmm.so "$build/sim/libcuda.so.1" &&
	${CC:-cc} "${include[@]}" -g -DINLINED -shared -fPIC -Dmain=run -o inlined.so "$programs/rmm_like.c" "$build/sim/libcuda.so.1" &&
	echo 'int run(int, char **); int main(int argc, char **argv) { return run(argc, argv); }' >main.c &&
	${CC:-cc} -o inlined main.c ./inlined.so "$build/sim/libcuda.so.1" || fail "RMM's stand-in"
buffers() { # buffers NAME PROGRAM OPTION...
	rm -f "$1.swt"
	LD_LIBRARY_PATH=$work:$build/sim "$build/syncwatch" run --sim --no-cache --json "$1.json" -o "$1.swt" -- "./$2" "${@:3}" >"$1.txt" 2>"$1.err"
	[ "$(cat "$1.txt")" = 'same 1' ] || fail "buffers $1: $(cat "$1.txt" "$1.err")"
}
buffers early buffers
[ "$(blocks early BEGIN)" -eq 3 ] && [ "$(blocks early END)" -eq 1 ] || fail "buffers: $(blocks early BEGIN) $(blocks early END)"
"$PYTHON3" - early.json <<'PY' || fail "the report of the reuse of a buffer: $(cat early.err)"
import json, sys
finding, = [f for f in json.load(open(sys.argv[1]))["findings"] if f["id"] < "SW200"]
assert (finding["id"], finding["severity"], finding["confidence"]) == ("SW105", "error", "certain"), finding["message"]
assert "array 2 (4000 bytes, RMM at rmm_like.c:" in finding["message"], finding["message"]
PY
buffers fixed buffers --fixed
silent fixed
buffers inline inlined
[ "$(blocks inline BEGIN)" -eq 0 ] || fail "buffers that are compiled into the program"
grep -q 'SW102' inline.json || fail "the race in memory of the program's own pool"

echo "$failed failed"
[ "$failed" -eq 0 ]
