#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Calls of cuBLAS and others (libraries that behave like them): names, handles, workspaces, and that nothing changes.
set -uo pipefail
export LC_ALL=C
build=$(cd "${top_builddir:-.}" && pwd)
source=$(cd "$top_srcdir" && pwd)
case ${missing:-} in *libdw*) echo "skipped: built without$missing"; exit 77 ;; esac
[ "$PYTHON3" != no ] || { echo "skipped: no python3"; exit 77; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
dir=$source/tests/preload/libraries
"$PYTHON3" "$dir/functions.py" "$CUDA_HOME/include" "$source/src/preload/libraries/functions.def" || exit 1
include=(-std=gnu17 -Wall -isystem "$CUDA_HOME/include")
# shellcheck disable=SC2086 # the compiler may be two words
{
	$CC "${include[@]}" -shared -fPIC -Wl,-soname,libcublas.so.13 -o libcublas.so.13 "$dir/fake_libraries.c" "$build/sim/libcuda.so.1" &&
		$CC "${include[@]}" -g -o program "$dir/program.c" ./libcublas.so.13 "$build/sim/libcuda.so.1" &&
		$CC "${include[@]}" -g -DOBJECT -shared -fPIC -o object.so "$dir/program.c" ./libcublas.so.13 "$build/sim/libcuda.so.1" &&
		$CC "${include[@]}" -shared -fPIC -Wl,-soname,libcublas.so.13.other -o libcublas.so.13.other "$dir/fake_libraries.c" "$build/sim/libcuda.so.1" &&
		mkdir other &&
		$CC "${include[@]}" -g -DOBJECT -shared -fPIC -o other/object.so "$dir/program.c" ./libcublas.so.13.other "$build/sim/libcuda.so.1" &&
		$CC "${include[@]}" -DOTHER=./other/object.so -o both "$source/tests/preload/nccl/loader.c" -ldl &&
		$CC "${include[@]}" -o loader "$source/tests/preload/nccl/loader.c" -ldl &&
		$CC "${include[@]}" -g '-DNAMED="./libcublas.so.13"' -o named "$dir/program.c" "$build/sim/libcuda.so.1" -ldl &&
		$CC "${include[@]}" -g '-DNAMED="./libcublas.so.13"' -DEVERYWHERE -o everywhere "$dir/program.c" "$build/sim/libcuda.so.1" -ldl &&
		$CC "${include[@]}" -g -DOBJECT '-DNAMED="./libcublas.so.13.other"' -shared -fPIC -o other/named.so "$dir/program.c" "$build/sim/libcuda.so.1" -ldl &&
		$CC "${include[@]}" -DOTHER=./other/named.so -o both_named "$source/tests/preload/nccl/loader.c" -ldl &&
		$CC -std=gnu17 -Wall -D_GNU_SOURCE -o alone "$dir/alone.c" -ldl
} || exit 99
export LD_LIBRARY_PATH=$work:$build/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} XDG_CACHE_HOME=/dev/null
exec "$PYTHON3" "$dir/check.py" "$build" "$source"
