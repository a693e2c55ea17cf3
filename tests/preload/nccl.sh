#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Collectives of NCCL (a library that behaves like it): what they touch is known exactly, however the library was loaded.
set -uo pipefail
export LC_ALL=C
build=$(cd "${top_builddir:-.}" && pwd)
source=$(cd "$top_srcdir" && pwd)
case ${missing:-} in *libdw*) echo "skipped: built without$missing"; exit 77 ;; esac
[ "$PYTHON3" != no ] || { echo "skipped: no python3"; exit 77; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
dir=$source/tests/preload/nccl
include=(-std=gnu17 -Wall -isystem "$CUDA_HOME/include")
# shellcheck disable=SC2086 # the compiler may be two words
{
	$CC "${include[@]}" -shared -fPIC -Wl,-soname,libnccl.so.2 -o libnccl.so.2 "$dir/fake_nccl.c" "$build/sim/libcuda.so.1" &&
		$CC "${include[@]}" -g -o program "$dir/program.c" ./libnccl.so.2 "$build/sim/libcuda.so.1" &&
		$CC "${include[@]}" -g -DOBJECT -shared -fPIC -o object.so "$dir/program.c" ./libnccl.so.2 "$build/sim/libcuda.so.1" &&
		$CC "${include[@]}" -shared -fPIC -Wl,-soname,libnccl.so.2.other -o libnccl.so.2.other "$dir/fake_nccl.c" "$build/sim/libcuda.so.1" &&
		mkdir other &&
		$CC "${include[@]}" -g -DOBJECT -shared -fPIC -o other/object.so "$dir/program.c" ./libnccl.so.2.other "$build/sim/libcuda.so.1" &&
		$CC "${include[@]}" -g '-DNAMED="./libnccl.so.2"' -o named "$dir/program.c" "$build/sim/libcuda.so.1" -ldl &&
		$CC "${include[@]}" -DOTHER=./other/object.so -o both "$dir/loader.c" -ldl &&
		$CC "${include[@]}" -o loader "$dir/loader.c" -ldl
} || exit 99
export LD_LIBRARY_PATH=$work:$build/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} XDG_CACHE_HOME=/dev/null
exec "$PYTHON3" "$dir/check.py" "$build/syncwatch"
