#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Places where syncwatch cannot work, or not as somebody meant: each is said in one line, and what could run does.
set -uo pipefail
export LC_ALL=C PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1
source_dir=$(cd "${top_srcdir:-.}" && pwd) build=$(cd "${top_builddir:-.}" && pwd)
python=${PYTHON3:-python3}
work=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
chmod 755 "$work" && cd "$work" || exit 2
unset LD_PRELOAD SYNCWATCH_OPTIONS
. "$source_dir/tests/packaging/counting.sh"
says() { # says STATUS LINES TEXT COMMAND...: this status, on stderr as many lines of ours and pip's, one of them with the text
	local wanted=$1 lines=$2 text=$3 got
	shift 3
	"$@" >printed 2>all
	got=$?
	grep -E '^(syncwatch|ERROR|Error)' all | grep -v 'simulated CUDA: kernels take time' >said
	[ $got -eq "$wanted" ] && [ "$(wc -l <said)" -eq "$lines" ] && grep -qF "$text" said || { cat said; echo "status $got, $wanted wanted"; return 1; }
}
run=("$build/syncwatch" run --sim --no-cache --force)
read -ra compiler <<<"${CC:-cc}"
printf 'int main(void) { return 0; }\n' >program.c
"${compiler[@]}" -o glibc program.c || { echo "skipped: no compiler"; exit 77; }

# ---- another libc, another processor -----------------------------------------------------------------------------------------
"${compiler[@]}" -o musl program.c -Wl,--dynamic-linker=/lib/ld-musl-any.so.1
ok "a program of musl" says 126 1 "it was linked for musl ('/lib/ld-musl-any.so.1'), and the recorder needs glibc" "${run[@]}" ./musl
ok "a program of glibc" says 0 1 "no CUDA call was seen" "${run[@]}" ./glibc
"$python" - <<'PY'
import os
code = bytearray(open("glibc", "rb").read())
code[18] = 0xb7 if os.uname().machine == "x86_64" else 0x3e  # e_machine
open("other", "wb").write(code)
os.chmod("other", 0o755)
PY
ok "a program of another processor" says 126 1 "which this machine is not" "${run[@]}" ./other
case $(uname -m) in
x86_64) other=aarch64 ;;
*) other=x86_64 ;;
esac
if "$python" -m venv venv >/dev/null 2>&1; then
	mkdir -p made dist
	for file in config.h syncwatch sim $("$source_dir/packaging/wheel/assemble" --objects); do
		[ ! -e "$build/$file" ] || ln -s "$build/$file" "made/$file"
	done
	"$source_dir/packaging/wheel/assemble" made dist $other manylinux_2_28_$other >/dev/null
	ok "a wheel of another processor, by pip" says 1 1 "is not a supported wheel on this platform" venv/bin/pip install -q dist/*.whl
	"$python" -m zipfile -e dist/*.whl site
	ok "a wheel of another processor, unpacked" says 126 1 "this wheel is for $other, this machine is $(uname -m)" env PYTHONPATH=site "$python" -m syncwatch --version
else
	skip "wheels: python3 has no venv with pip"
fi

# ---- no right to write -------------------------------------------------------------------------------------------------------
demo=$build/kernels/demo_pipeline
if [ ! -x "$demo" ]; then
	skip "runs: the program was not built (nvcc)"
else
	mkdir closed && chmod 555 closed
	as=()
	[ "$(id -u)" != 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	if [ ${#as[@]} -eq 0 ] || { command -v setpriv && "${as[@]}" test -x "$build/syncwatch"; } >/dev/null 2>&1; then
		# The lines lie outside of the folder that is closed.
		says_closed() {
			"${as[@]}" sh -c 'cd closed && exec "$@"' _ "${@:4}" >printed 2>all
			local got=$?
			grep '^syncwatch' all | grep -v 'simulated CUDA: kernels take time' >said
			[ $got -eq "$1" ] && [ "$(wc -l <said)" -eq "$2" ] && grep -qF "$3" said || { cat said; echo "status $got, $1 wanted"; return 1; }
		}
		ok "run: no right to write" says_closed 4 1 "cannot write a trace to '$work/closed': Permission denied" "${run[@]}" "$demo"
		ok "LD_PRELOAD: no right to write, the program runs" says_closed 0 1 "Permission denied; this program runs unrecorded" \
			env LD_LIBRARY_PATH="$build/sim" LD_PRELOAD="$build/libsyncwatch.so" "$demo"
	else
		skip "no right to write: no setpriv, or the build is closed to others"
	fi

	# ---- two recorders, none -------------------------------------------------------------------------------------------------
	mkdir other_version && cp "$build/libsyncwatch.so" other_version/
	ok "two recorders: the first records, the second says so" says 0 2 "the recorder is preloaded twice: $build/libsyncwatch.so records" \
		env LD_LIBRARY_PATH="$build/sim" SYNCWATCH_OPTIONS=report=0:trace=two.swt LD_PRELOAD="$build/libsyncwatch.so $work/other_version/libsyncwatch.so" "$demo"
	whole() { "$build/syncwatch" report --no-cache --error-exitcode 9 two.swt >said 2>&1; [ $? -eq 9 ] && ! grep SW901 said; }
	ok "two recorders: nothing is missing" whole
	ok "one recorder" says 0 1 "recording;" env LD_LIBRARY_PATH="$build/sim" SYNCWATCH_OPTIONS=report=0:trace=one.swt LD_PRELOAD="$build/libsyncwatch.so" "$demo"
	lost() { says "$@" && grep -qF 'the LD_PRELOAD that it was started with lacks the recorder' all; }
	ok "LD_PRELOAD lost by a launcher" lost 6 1 "not all of this run was watched or judged" "${run[@]}" --error-exitcode 9 env -i LD_LIBRARY_PATH="$build/sim" "$demo"
fi
finish
