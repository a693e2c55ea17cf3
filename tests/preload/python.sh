#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Python programs on the simulation: each recorded call has the file, function and line where Python was, in all
# interpreters of this machine (SYNCWATCH_PYTHONS adds some); reports lead with the user's line.
set -uo pipefail
export LC_ALL=C.UTF-8
build=$(cd "${top_builddir:-.}" && pwd)
programs=$(cd "$top_srcdir" && pwd)/tests/preload/python
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
unset PYTHONHOME PYTHONPATH
failed=0
fail() {
	failed=$((failed + 1))
	echo "FAIL: $1"
}

# "3.11 x86_64", or nothing: no CPython with ctypes.
about='import sys, platform, ctypes; print("%d.%d" % sys.version_info[:2], platform.python_implementation())'
interpreters=() unknown=()
seen='' others=''
for python in "$PYTHON3" ${SYNCWATCH_PYTHONS:-} $(type -ap python3.9 python3.10 python3.11 python3.12 python3.13 python3.14) \
	"$HOME"/.pyenv/versions/3.*/bin/python3; do
	path=$("$python" -c 'import sys; print(sys.executable)' 2>/dev/null)
	known=$("$python" -c "$about" 2>/dev/null)
	[[ $known == *CPython && " $seen$others " != *" ${known% *} "* ]] || continue
	case ${known% *} in
	3.9 | 3.1[0-4]) seen="$seen ${known% *}" interpreters+=("$path") ;;
	*) others="$others ${known% *}" unknown+=("$path") ;;
	esac
done
echo "interpreters:$seen; unknown to syncwatch:$others"
[ ${#interpreters[@]} -gt 0 ] || {
	echo "skipped: no Python with ctypes"
	exit 77
}

have_cc=
${CC:-cc} -O1 -shared -fPIC "$programs/autograd.c" -o libtorch_engine.so 2>cc.err && have_cc=1
[ -n "$have_cc" ] || echo "without a compiler the threads of backward passes are not tried"

record() { # record TRACE PYTHON PROGRAM...
	LD_LIBRARY_PATH=$build/sim SYNCWATCH_OPTIONS=trace=$work/$1:report=0:quiet LD_PRELOAD=$build/libsyncwatch.so "${@:2}"
}
notices() {
	"$build/syncwatch" dump --kinds NOTICE "$1" | grep -o 'Python lines: .*"'
}
# Where Python was, compared with Python's own word; the child was the first to call CUDA.
frames() {
	record f.swt "$1" "$programs/frames.py" want.json fork 2>"$2.err" || fail "$2: frames.py: $(tail -n 3 "$2.err")"
	"$build/tests/preload/python_list" f.swt >child.list
	"$build/tests/preload/python_list" f-2.swt >list
	"$PYTHON3" "$programs/check.py" want.json list || fail "$2: frames"
	"$PYTHON3" "$programs/check.py" want.json.child child.list || fail "$2: frames of a child"
	[ -z "$(notices f-2.swt)" ] || fail "$2: $(notices f-2.swt)"
}
# Calls of PyTorch's threads for backward passes have the frames of the thread that waits (from 3.11 on), and only of one
# that waits there.
autograd() {
	[ -n "$have_cc" ] || return 0
	mkdir -p engine
	record b.swt "$1" "$programs/autograd.py" "$work/libtorch_engine.so" "$work/engine" want.json 2>"$2.err" ||
		fail "$2: autograd.py: $(tail -n 3 "$2.err")"
	"$build/tests/preload/python_list" b.swt >list
	"$PYTHON3" - "$2" want.json list <<'PY' || fail "$2: frames of backward passes"
import json, sys
want = json.load(open(sys.argv[2]))
got = [json.loads(line)[2] for line in open(sys.argv[3])]
bad, same = 0, 0
for n, (w, g) in enumerate(zip(want[1:], got[1:])):
    if isinstance(w, dict):
        good = g == w["first"] or (not g and sys.argv[1] in ("3.9", "3.10"))
    elif w and isinstance(w[0][0], list):
        good = g in w or g in [s[:len(g)] for s in w]
    else:
        good = g == w or (not g and sys.argv[1] in ("3.9", "3.10"))
        same += bool(g) and g == w
    if not good:
        bad += 1
        print("call %d: %s, recorded %s" % (n, w, g))
print("%d stacks of backward passes, %d wrong, %d calls while no thread waited" % (same, bad, len(got) - len(want)))
sys.exit(bad != 0 or (same < 12) != (sys.argv[1] in ("3.9", "3.10")) or len(got) != len(want) + 20001)
PY
}
# Off while there are several interpreters, and it says so.
interpreters_within() {
	record s.swt "$1" "$programs/sub.py" 2>"$2.err"
	local status=$?
	[ $status -ne 77 ] || return 0
	[ $status -eq 0 ] || fail "$2: sub.py: $(tail -n 3 "$2.err")"
	"$build/tests/preload/python_list" s.swt >sub.list
	[ "$(grep -c . sub.list)" -eq 4 ] || fail "$2: calls of sub.py"
	local at
	at=$(line_of '# marks' sub.py)
	sed -n 1p sub.list | grep -q "\"mark\", $at\], \[.*\"<module>\", $(line_of '# first' sub.py)\]" || fail "$2: before a sub-interpreter"
	sed -n 2p sub.list | grep -q ', \[\]\]\|"<s[a-z]*>", "<module>", 3\]\]\]' || fail "$2: in a sub-interpreter"
	sed -n 3p sub.list | grep -q ', \[\]\]' || fail "$2: with a sub-interpreter"
	sed -n 4p sub.list | grep -q "\"mark\", $at\], \[.*\"<module>\", $(line_of '# last' sub.py)\]" || fail "$2: after a sub-interpreter"
	notices s.swt | grep -q 'while there were sub-interpreters' || fail "$2: nothing was said of sub-interpreters"
}
line_of() { # line_of TEXT [PROGRAM]
	grep -n "$1" "$programs/${2:-race.py}" | cut -d: -f1
}
# The race is reported at the user's lines, its fixed twin is silent; also packed.
race() {
	"$build/syncwatch" run --sim --no-cache --json r.json --force -o r.swt "$1" "$programs/race.py" >r.txt 2>&1
	grep -q "^/.*/race.py:$(line_of '# copies'): error: SW101 race-read-after-write" r.txt ||
		fail "$2: title: $(grep SW101 r.txt)"
	grep -q 'suppress: *SW101 operation=cudaMemcpyAsync at="[A-Za-z.]*copy: .* < .*" against operation=cudaMemsetAsync at=.* allocated=' r.txt ||
		fail "$2: suppression"
	"$PYTHON3" - r.json "$(line_of '# copies')" "$(line_of '# fills')" <<'PY' || fail "$2: JSON"
import json, sys
finding, = [f for f in json.load(open(sys.argv[1]))["findings"] if f["id"] == "SW101"]
for access, line, function in zip(finding["accesses"], (sys.argv[3], sys.argv[2]), ("fill", "copy")):
    frames = access["stack"]
    names = [f["function"].split(".")[-1] for f in frames]
    assert names[:3] == [function, "main", "<module>"], names
    assert frames[0]["line"] == int(line) and frames[0]["language"] == "python" and frames[0]["file"].endswith("/race.py"), frames
PY
	grep -h '^ *suppress:' r.txt | sed 's/.*suppress: *//' >r.supp
	"$build/syncwatch" report --no-cache --suppress r.supp r.swt >s.txt 2>&1 && ! grep -q 'SW101' s.txt || fail "$2: its own suppression does not fit"
	"$build/syncwatch" pack -o packed.swt r.swt >/dev/null 2>&1 && "$build/syncwatch" report --no-cache packed.swt 2>&1 | grep -q "race.py:$(line_of '# copies'): error: SW101" ||
		fail "$2: packed"
	rm -f packed.swt
	"$build/syncwatch" run --sim --no-cache --force -o x.swt "$1" "$programs/race.py" --fixed >x.txt 2>&1
	# Of waits there may be findings: they depend on how busy the machine is.
	grep -q '^  looked at: .* 1 copy' x.txt && ! grep -q 'SW1[0-9][0-9]' x.txt || fail "$2: the fixed twin is reported: $(head -n 3 x.txt)"
}

# In PyTorch's terms, with the program's own names: pasted where the report says, the lines fix what they are for.
wait_stream() {
	[ -n "$have_cc" ] || return 0
	mkdir -p site-packages/torch
	cp libtorch_engine.so site-packages/libtorch_python.so
	cp "$programs/torch_like.py" site-packages/torch/__init__.py
	cp "$programs/streams.py" "$programs/paste.py" .
	local run=(env "PYTHONPATH=$work/site-packages" PYTHONDONTWRITEBYTECODE=1
		"$build/syncwatch" run --sim --no-cache --force -o w.swt)
	"${run[@]}" --json w.json "$1" streams.py >w.txt 2>&1
	"$PYTHON3" paste.py w.json "$1" streams.py >pasted.py || fail "$2: wait_stream: $(tail -n 5 w.txt)"
	"${run[@]}" --json w.json "$1" pasted.py >w.txt 2>&1
	"$PYTHON3" paste.py w.json - pasted.py || fail "$2: wait_stream pasted: $(grep SW10 w.txt)"
}

for python in "${interpreters[@]}"; do
	version=$("$python" -c "$about")
	version=${version% *}
	echo "== $version"
	rm -f ./*.swt
	frames "$python" "$version"
	interpreters_within "$python" "$version"
	autograd "$python" "$version"
	race "$python" "$version"
	wait_stream "$python" "$version"
	"$python" "$programs/lines.py" | "$build/tests/preload/python_lines" || fail "$version: line tables"
done

# An interpreter that is not known: it says so in one line, and everything else is recorded.
for python in "${unknown[@]}"; do
	version=$("$python" -c 'import platform; print(platform.python_version())')
	echo "== $version"
	rm -f ./*.swt
	record u.swt "$python" "$programs/race.py" 2>/dev/null || fail "$version: race.py"
	[ "$(notices u.swt)" = "Python lines: not recorded, Python $version: only 3.9 to 3.14 are known\"" ] ||
		fail "$version: $(notices u.swt)"
	"$build/syncwatch" report --no-cache u.swt 2>&1 | grep -q 'error: SW101' || fail "$version: the race was missed"
done

# Without stacks, or without the object, nothing of Python is recorded; the program is the same.
rm -f ./*.swt
LD_LIBRARY_PATH=$build/sim SYNCWATCH_OPTIONS=trace=$work/n.swt:report=0:quiet:stacks=0 LD_PRELOAD=$build/libsyncwatch.so \
	"$PYTHON3" "$programs/race.py" 2>/dev/null || fail "without stacks"
[ "$("$build/syncwatch" dump --kinds PYTHON_CODE n.swt | grep -c ^PYTHON)" -eq 0 ] || fail "recorded without stacks"
mkdir alone && cp "$build/libsyncwatch.so" alone/
LD_LIBRARY_PATH=$build/sim SYNCWATCH_OPTIONS=trace=$work/a.swt:report=0:quiet LD_PRELOAD=$work/alone/libsyncwatch.so \
	"$PYTHON3" "$programs/race.py" 2>/dev/null || fail "without the object"
notices a.swt | grep -q 'libsyncwatch-python.so is missing' || fail "nothing was said of the missing object"

echo "$failed failed"
[ "$failed" -eq 0 ]
