#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/toolkit: which toolkit it finds, and what it says when NVIDIA's packages cannot be had. A python3 of the test
# plays pip, so nothing is fetched; what failed must leave nothing behind and say one line.
set -uo pipefail
toolkit=${top_srcdir:-.}/tools/toolkit
work=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
unset XDG_CACHE_HOME

ok() { # ok NAME COMMAND...
	local name=$1
	shift
	if "$@" >/dev/null 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL: $name"
		[ ! -f "$work/out" ] || sed 's/^/  /' "$work/out"
	fi
}
finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}
if [ -e /usr/local/cuda/include/cuda.h ]; then
	echo "SKIP: an installed toolkit would be taken"
	skipped=1
	finish
fi

# What the machine has, without its nvcc.
mkdir -p "$work/bin" "$work/home"
for tool in sh sed cat cmp cut cp du dirname basename grep head id ln ls mkdir mktemp mv readlink rm uname; do
	ln -s "$(command -v $tool)" "$work/bin/$tool"
done
cat >"$work/bin/python3" <<'END'
#!/bin/sh
# pip, venv: behaves as $MODE says
case "$*" in
*--version) [ "$MODE" != no-pip ] ; exit ;;
"-m venv"*) echo "Error: ensurepip is not available" ; exit 1 ;;
esac
while [ $# -gt 0 ]; do
	[ "$1" != --target ] || target=$2
	shift
done
home=$target/nvidia/cu13
mkdir -p "$home/bin" "$home/include" "$home/lib"
case $MODE in
unreachable) echo "ERROR: Could not find a version that satisfies the requirement nvidia-cuda-nvcc==13.0.88" >&2; exit 1 ;;
half) echo x >"$home/lib/half"; echo "ERROR: Exception: connection broken: IncompleteRead" >&2; exit 2 ;;
hash) echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE." >&2; exit 1 ;;
other-layout) exit 0 ;;
esac
echo '#define CUDA_VERSION 13000' >"$home/include/cuda.h"
: >"$home/lib/libcudart.so.13"
cp /bin/true "$home/bin/nvcc"
END
chmod +x "$work/bin/python3"
run() { # run MODE [ARGUMENT]: status in $status, output in out
	env -i PATH="$work/bin" HOME="$work/home" MODE="$1" ${CACHE:+XDG_CACHE_HOME="$CACHE"} "$toolkit" "${@:2}" >"$work/out" 2>&1
	status=$?
}
# shellcheck disable=SC2317  # called by ok
one_line() { # one_line TEXT: exactly one line says why, and has TEXT
	[ "$(grep -c '^no CUDA toolkit: ' "$work/out")" -eq 1 ] && grep -qF "$1" "$work/out" && [ "$(wc -l <"$work/out")" -le 2 ]
}
# shellcheck disable=SC2317
nothing_left() {
	[ -z "$(ls -A "$work/home/.cache/syncwatch" 2>/dev/null)" ]
}
refused() { # refused MODE TEXT
	run "$1"
	ok "$1: fails" [ "$status" -eq 1 ]
	ok "$1: one line" one_line "$2"
	ok "$1: nothing half-installed" nothing_left
	run "$1" --find
	ok "$1: none is found" [ "$status" -eq 1 ]
}
refused unreachable "could not be fetched (Could not find a version"
refused half "could not be fetched (Exception: connection broken"
refused hash "another hash than tools/toolkit.pins has, nothing was installed"
refused other-layout "another layout"
refused no-pip "python3 has neither pip nor a working venv (package python3-venv)"
CACHE=/dev/null run whole
ok "a cache that cannot be written: fails" [ "$status" -eq 1 ]
ok "a cache that cannot be written: one line" one_line "the folder /dev/null/syncwatch cannot be made"
mv "$work/bin/python3" "$work/python3"
run whole
ok "no python3: one line" one_line "python3, which is missing"
mv "$work/python3" "$work/bin/python3"

# An installed toolkit that is too old is passed over, in one line; one that is new enough wins.
mkdir -p "$work/old/bin" "$work/old/include"
cp /bin/true "$work/old/bin/nvcc"
echo '#define CUDA_VERSION 12090' >"$work/old/include/cuda.h"
ln -s "$work/old/bin/nvcc" "$work/bin/nvcc"
run whole --find
ok "12.9 is passed over" [ "$status" -eq 1 ]
ok "12.9 is named" grep -qF "the CUDA toolkit in $work/old is 12.9, syncwatch builds with 13.0 or newer: it is passed over" "$work/out"
echo '#define CUDA_VERSION 13050' >"$work/old/include/cuda.h"
run whole --find
ok "13.5 is found by its nvcc" [ "$(cat "$work/out")" = "$work/old" ]
run unreachable
ok "13.5 is new enough: nothing is fetched, nothing said" [ "$status" -eq 0 ] && ok "silent" [ ! -s "$work/out" ]
rm "$work/bin/nvcc"

here=$work/home/.cache/syncwatch/cuda-13.0
run whole
ok "packages come" [ "$status" -eq 0 ]
ok "where and how large is said" grep -qE "^CUDA toolkit: $here, [0-9]+ MB$" "$work/out"
run whole --find
ok "it is found" [ "$(cat "$work/out")" = "$here" ]
ok "lib64 is there" [ -f "$here/lib64/libcudart.so.13" ]
ok "names without version are there" [ -f "$here/lib64/libcudart.so" ]
run unreachable
ok "nothing is fetched twice" [ "$status" -eq 0 ]
echo "# others" >>"$here/toolkit.pins"
run unreachable
ok "other pins: it is fetched again, and stays when that fails" [ -f "$here/include/cuda.h" ]
run whole
ok "other pins: it is replaced" cmp "$here/toolkit.pins" "${top_srcdir:-.}/tools/toolkit.pins"
ok "nothing else is left" [ "$(ls "$work/home/.cache/syncwatch")" = cuda-13.0 ]
finish
