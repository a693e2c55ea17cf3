#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The Python wheel, installed in all the ways in which people install one: what runs from it, and what stays behind. It is
# made of this build; WHEEL=FILE tests one that packaging/wheel/build made, and how old a glibc that takes.
set -uo pipefail
export LC_ALL=C PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 PIP_ROOT_USER_ACTION=ignore
source_dir=${top_srcdir:-.} build=${top_builddir:-.}
work=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
. "$source_dir/tests/packaging/counting.sh"
unset LD_PRELOAD PYTHONPATH SYNCWATCH_OPTIONS
python=${PYTHON3:-python3}

if ! "$python" -m venv "$work/a folder/venv" >/dev/null 2>&1; then
	skip "the wheel: python3 has no venv with pip"
	finish
fi

# ---- making it: twice, with the same bytes ---------------------------------------------------------------------------------
wheel=${WHEEL:-}
if [ -z "$wheel" ]; then
	mkdir -p "$work/build/demo" "$work/one" "$work/two"
	for file in config.h syncwatch sim $("$source_dir/packaging/wheel/assemble" --objects); do
		[ ! -e "$build/$file" ] || ln -s "$(realpath "$build/$file")" "$work/build/$file"
	done
	[ ! -x "$build/kernels/demo_pipeline" ] || cp "$build/kernels/demo_pipeline" "$work/build/demo/"
	for each in one two; do
		"$source_dir/packaging/wheel/assemble" "$work/build" "$work/$each" "$(uname -m)" "linux_$(uname -m)" || exit 1
	done
	wheel=$(echo "$work"/one/*.whl)
	ok "the same bytes each time" cmp "$wheel" "$work/two/$(basename "$wheel")"
fi
ok "its name is one that pip takes" test -f "$wheel"
ok "it is smaller than 15 MB" test "$(stat -c %s "$wheel")" -lt 15000000

# ---- what it holds ---------------------------------------------------------------------------------------------------------
"$python" -m zipfile -e "$wheel" "$work/unpacked"
package=$work/unpacked/syncwatch
floor() { # floor FILE: the newest version of glibc that it needs
	objdump -T "$1" 2>/dev/null | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1
}
at_most() { # at_most VERSION FILE
	local found
	found=$(floor "$2")
	echo "$2 needs $found"
	[ "$(printf '%s\n' "$found" "$1" | sort -V | tail -n 1)" = "$1" ]
}
only_libc() {
	local others
	others=$(objdump -p "$1" | awk '$1 == "NEEDED" && $2 !~ /^(lib(c|dl|pthread|m|rt)\.so\.[0-9]+|ld-linux.*)$/ { print $2 }')
	[ "$(basename "$1")" != demo_pipeline ] || others=${others/libcudart.so.13/}
	echo "$1 needs $others"
	[ -z "$others" ]
}
if [ -n "${WHEEL:-}" ]; then
	while read -r file; do
		ok "$(basename "$file") needs glibc 2.28 at most" at_most GLIBC_2.28 "$file"
		ok "$(basename "$file") needs nothing but glibc" only_libc "$file"
	done < <(find "$package" -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF' _ {} \; -print)
	! grep -q 'MACHINE.*x86_64' "$package/__main__.py" || ok "libunwind lies next to the recorder" test -f "$package/lib/syncwatch/libunwind.so.8"
	if command -v auditwheel >/dev/null 2>&1; then
		ok "auditwheel agrees" sh -c 'auditwheel show "$1" | tr "\n" " " | grep -q "consistent with.*platform tag: \"manylinux_2_28_"' _ "$wheel"
	else
		skip "auditwheel is not installed"
	fi
	machine=$(sed -n 's/^MACHINE.* = "\(.*\)", .*/\1/p' "$package/__main__.py")
	if [ "$machine" != "$(uname -m)" ]; then
		skip "running it: the wheel is for $machine"
		finish
	fi
fi

# ---- a virtual environment whose path has a space --------------------------------------------------------------------------
venv=$work/a\ folder/venv
bin=$venv/bin
listed() { (cd "$venv" && find . -not -name '*.pyc' -not -name __pycache__ | sort); }
listed >"$work/before"
ok "pip installs it" "$bin/pip" install -q "$wheel"
version=$(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"/\1/p' "$build/config.h")
ok "the script starts the command" sh -c '[ "$("$1" --version)" = "syncwatch $2" ]' _ "$bin/syncwatch" "$version"
ok "the module starts the command" sh -c '[ "$("$1" -m syncwatch --version)" = "syncwatch $2" ]' _ "$bin/python" "$version"
ok "the module knows its version" "$bin/python" -c "import syncwatch; assert syncwatch.__version__ == '$version'"
ok "the module's paths exist" "$bin/python" -c 'import os, syncwatch
assert os.access(syncwatch.command_path(), os.X_OK) and os.path.isfile(syncwatch.preload_path())
assert os.path.isfile(os.path.join(syncwatch.include_path(), "syncwatch", "syncwatch.h"))
assert not syncwatch.active()'
ok "the module has its parts" "$bin/python" -c 'import syncwatch
assert syncwatch.forbid.__module__ == "syncwatch._gate" and syncwatch.window.__module__ == "syncwatch._record"'

# The command takes the place of Python: its process is the one that was started, and so are status and signals.
status() { # status WANTED COMMAND...
	local wanted=$1 got
	shift
	"$@"
	got=$?
	echo "status $got, $wanted wanted"
	[ $got -eq "$wanted" ]
}
cd "$work" || exit 2
ok "the program's status" status 7 "$bin/python" -m syncwatch run sh -c 'exit 7'
ok "wrong usage" status 2 "$bin/syncwatch" run --no-such-option
ok "no Python stays behind" sh -c '"$1" -m syncwatch run sh -c "tr \"\\0\" \" \" </proc/\$PPID/cmdline" | grep -q "^syncwatch run "' _ "$bin/python"
signalled() {
	"$bin/python" -m syncwatch run sh -c 'kill -TERM $$' 2>/dev/null
	[ $? -eq 143 ]
}
ok "a program that a signal ends" signalled
ok "a program's Python is recorded" "$bin/python" -m syncwatch run "$bin/python" -c 'import syncwatch, sys; sys.exit(not syncwatch.active())'

races() { # races SYNCWATCH...: the first example: its findings, with lines and call stacks
	"$@" run --sim --force -o "$work/demo.swt" "$demo" >"$work/report" 2>&1
	grep -q 'SW101 race-read-after-write (certain, 8 launches)' "$work/report" && grep -q 'SW301 sync-copy' "$work/report" &&
		grep -q '#0  main .*demo_pipeline.cu:28' "$work/report" || { cat "$work/report"; return 1; }
	rm -f "$work/demo.swt"
}
silent() {
	"$@" run --sim --force --error-exitcode 9 -o "$work/demo.swt" "$demo" --fixed >"$work/report" 2>&1 && ! grep -q 'SW101' "$work/report"
}
demo=$package/lib/syncwatch/demo/demo_pipeline
if [ -f "$demo" ]; then
	demo=$("$bin/python" -c 'import os, syncwatch; print(os.path.dirname(syncwatch.preload_path()))')/demo/demo_pipeline
	ok "the first example" races "$bin/syncwatch"
	ok "its fixed twin is silent" silent "$bin/syncwatch"
	mkdir "$work/here" "$work/temporary"
	chmod 777 "$work" "$work/a folder" "$work/temporary"
	demonstrates() { # demonstrates FOLDER COMMAND...: the demo leaves its files there
		local folder=$1
		shift
		(cd "$work/here" && TMPDIR=$work/temporary "$@" demo --sim 2>&1) >"$work/report" && cat "$work/report" &&
			grep -q 'SW101 race-read-after-write (certain, 8 launches)' "$work/report" &&
			timeline=$(sed -n 's/^The timeline is \(.*\): open it.*/\1/p' "$work/report") &&
			case $timeline in "$folder"*) ;; *) false ;; esac && "$python" -m json.tool "$timeline" >/dev/null &&
			[ -s "${timeline%.json}.swt" ] || return
		if [ -n "${WHEEL:-}" ]; then # its source lies next to the program: the report has the names of variables
			grep -qF 'cudaStreamWaitEvent(filter, event, 0)' "$work/report" && grep -q '^The source of the program: .*/demo_pipeline.cu$' "$work/report"
		fi
	}
	ok "syncwatch demo" demonstrates "$work/here/" "$bin/syncwatch"
	ok "syncwatch demo, again" demonstrates "$work/here/" "$bin/syncwatch"
	ok "syncwatch demo --fixed" sh -c 'cd "$1" && "$2" demo --sim --fixed 2>&1 | grep "no hazards"' _ "$work/here" "$bin/syncwatch"
	if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1; then
		ok "syncwatch demo where nobody may write" demonstrates "$work/temporary/syncwatch-demo-" \
			setpriv --reuid=65534 --regid=65534 --clear-groups "$bin/python" -m syncwatch
	fi
else
	skip "the first example: its program was not built (nvcc)"
	ok "syncwatch demo says that its program is not there" sh -c '"$1" demo --sim 2>&1 | grep "not part of this installation"' _ "$bin/syncwatch"
	demo=
fi

own_unwind() {
	LD_DEBUG=files "$bin/syncwatch" run --sim --force -o "$work/demo.swt" "$demo" 2>&1 | grep -qE 'calling init: .*/(lib/syncwatch|syncwatch-[A-Za-z0-9]+/lib)/libunwind\.so\.8$'
}
[ -z "${WHEEL:-}" ] || ok "the recorder loads the libunwind next to it" own_unwind

# ---- environments for children ---------------------------------------------------------------------------------------------
cat >"$work/recorded.py" <<'PY'
import os, subprocess, sys
import syncwatch
before = dict(os.environ)
try:
    with syncwatch.recorded(json="r.json"):
        inside = subprocess.run([sys.executable, "-c", "import syncwatch, sys; sys.exit(not syncwatch.active())"]).returncode
        assert inside == 0 and os.environ["SYNCWATCH_OPTIONS"] == "json=r.json"
    assert " " not in syncwatch.preload_path(), "a path with a space was not refused"
except ValueError as error:
    assert " " in syncwatch.preload_path() and "has a space" in str(error)
assert dict(os.environ) == before
PY
ok "recorded() refuses a path that LD_PRELOAD cannot name" "$bin/python" "$work/recorded.py"

# ---- read-only, as another user would have it ------------------------------------------------------------------------------
chmod -R a-w "$venv"
[ -z "$demo" ] || ok "read-only" races "$bin/syncwatch"
chmod -R u+w "$venv"

# ---- it leaves nothing -----------------------------------------------------------------------------------------------------
ok "pip uninstalls it" "$bin/pip" uninstall -q -y syncwatch
listed >"$work/after"
ok "nothing stays behind" diff "$work/before" "$work/after"

# ---- pip install --target, and installers that link instead of copying -----------------------------------------------------
ok "pip installs it into a folder" "$bin/pip" install -q --target "$work/target" "$wheel"
ok "the module, from a folder" env PYTHONPATH="$work/target" "$bin/python" -m syncwatch --version
ok "recorded()" env PYTHONPATH="$work/target" "$bin/python" "$work/recorded.py"
with_folder() { # with_folder FOLDER COMMAND...
	local folder=$1
	shift
	env PYTHONPATH="$folder" "$@"
}
if [ -n "$demo" ]; then
	demo=$work/target/syncwatch/lib/syncwatch/demo/demo_pipeline
	ok "the first example, from a folder" races with_folder "$work/target" "$bin/python" -m syncwatch
	# uv's --link-mode: each file is a link to the same file of its cache.
	for mode in symlink hardlink; do
		how=--symbolic-link
		[ $mode = symlink ] || how=--link
		cp -r $how "$work/target" "$work/$mode"
		demo=$work/$mode/syncwatch/lib/syncwatch/demo/demo_pipeline
		ok "the first example, each file a $mode" races with_folder "$work/$mode" "$bin/python" -m syncwatch
	done
	mv "$work/target" "$work/moved"
	demo=$work/moved/syncwatch/lib/syncwatch/demo/demo_pipeline
	ok "the first example, from a folder that was moved" races with_folder "$work/moved" "$bin/python" -m syncwatch
	mv "$work/moved" "$work/target"
fi

# ---- where it cannot run: one line -----------------------------------------------------------------------------------------
line() { # line TEXT PYTHON: after these statements, main() says one line that holds TEXT
	local text=$1 statements=$2
	env PYTHONPATH="$work/target" "$bin/python" -c "
import os, sys
sys.argv = ['syncwatch', '--version']
import syncwatch.__main__ as it
$statements
sys.exit(it.main())" 2>"$work/err"
	[ $? -eq 126 ] || { echo "it did not fail with 126"; return 1; }
	cat "$work/err"
	[ "$(wc -l <"$work/err")" -eq 1 ] && grep -qF "$text" "$work/err"
}
ok "glibc is too old" line "it needs glibc 2.28, this system has glibc 2.17" "os.confstr = lambda name: 'glibc 2.17'"
no_name="
def none(name): raise ValueError('unrecognized configuration name')
os.confstr = none"
ok "musl" line "(musl?)" "$no_name"
ok "the wrong processor" line "this machine is riscv64" "os.uname = lambda: type('', (), {'machine': 'riscv64'})"
ok "another system" line "this is darwin" "sys.platform = 'darwin'"
chmod a-x "$work/target/syncwatch/bin/syncwatch"
ok "the command lost its mode" line "Permission denied" ""
chmod u+x "$work/target/syncwatch/bin/syncwatch"
finish
