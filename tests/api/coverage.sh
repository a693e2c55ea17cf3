#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The table against the driver: every function that the toolkit's stub libcuda exports and every prototype of its
# headers is classified; what the preload object exports is what the table says and nothing else; the runtime functions
# that were measured to go through an entry point are the ones that the table names.
set -uo pipefail
export LC_ALL=C
build=${top_builddir:-.}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

same() { # same WHAT FILE: the file lists what is wrong
	if [ -s "$2" ]; then
		failed=$((failed + 1))
		echo "FAIL: $1:"
		sed 's/^/  /' "$2"
	else
		passed=$((passed + 1))
	fi
}
skip() {
	skipped=$((skipped + 1))
	echo "SKIP: $1"
}

"$build/tests/api/table_list" | sort >"$work/table" || exit 2
cut -d' ' -f1 "$work/table" >"$work/known"
[ -s "$work/known" ] || { echo "FAIL: the table is empty"; exit 1; }

# 1. exported by the stub driver
if [ -n "${CUDA_STUB:-}" ]; then
	nm -D --defined-only "$CUDA_STUB" | awk '$2 == "T" && $3 ~ /^cu/ { print $3 }' | sort >"$work/stub"
	comm -13 "$work/known" "$work/stub" >"$work/missing"
	same "exported by the driver, not classified" "$work/missing"
	same "the stub driver was read" <([ "$(wc -l <"$work/stub")" -gt 500 ] || echo "only $(wc -l <"$work/stub") names")
else
	skip "no stub libcuda: exports not compared"
fi

# 2. declared by the headers, all versions, and by the interoperability headers (whose own includes may be missing)
headers=$CUDA_HOME/include
{
	echo '#define __CUDA_API_VERSION_INTERNAL'
	echo '#include <cuda.h>'
	echo '#include <cudaProfiler.h>'
} | ${CC:-cc} -E -P -I"$headers" -x c - >"$work/declared.i" || exit 2
{
	grep -oE '\bcu[A-Z][A-Za-z0-9]*(_v[0-9]+)?(_pts[zs]|_ptds)? *\(' "$work/declared.i"
	grep -hoE 'CUresult CUDAAPI cu[A-Za-z0-9_]+ *\(' "$headers"/cuda{GL,EGL,VDPAU}.h 2>/dev/null | grep -oE 'cu[A-Z][A-Za-z0-9_]+ *\('
} | tr -d ' (' | sort -u >"$work/declared"
# Left out on purpose, each with its reason; tests/api/toolkits compares with the headers of all toolkits.
sed -n 's/^\(cu[A-Za-z0-9_]*\)\t.*/\1/p' "$top_srcdir/tests/api/unclassified.txt" | sort >"$work/excused"
comm -13 "$work/known" "$work/declared" | sed -E 's/_pts[zs]$|_ptds$//' | sort -u | comm -23 - "$work/excused" >"$work/missing"
same "declared by cuda.h, not classified" "$work/missing"

# 3. no name that nobody exports or declares: a typing error would never be called
version=$(sed -n 's/^#define CUDA_VERSION *//p' "$headers/cuda.h")
"$build/tests/api/table_list" | awk -v version="$version" '$4 <= version { print $1 }' | sort >"$work/then"
cat "$work/declared" "$work/stub" 2>/dev/null | sort -u >"$work/real"
comm -23 "$work/then" "$work/real" | grep -vE '_ptds$|_ptsz$|^cuGL|^cuVDPAU' >"$work/unreal"
same "in the table, known to no header" "$work/unreal"

# 4. what the preload object exports
nm -D --defined-only "$build/libsyncwatch.so" | awk '{ print $3 }' | sort >"$work/exports"
{
	awk '$2 != "PASS" { print $1 }' "$work/table"
	printf '%s\n' cuGetProcAddress cuGetProcAddress_v2 dlsym syncwatch_annotate syncwatch_companion
} | sort >"$work/expected"
diff "$work/expected" "$work/exports" >"$work/difference"
same "exports (< the table's, > the object's)" "$work/difference"
grep -E '^cuda' "$work/exports" >"$work/cudart"
same "functions of the runtime must not be exported" "$work/cudart"
readelf -d "$build/libsyncwatch.so" | grep NEEDED | grep -vE 'libc\.so\.6|ld-linux' >"$work/needed"
same "depends on nothing but libc" "$work/needed"
nm -D "$build/libsyncwatch.so" | grep -oE 'GLIBC_2\.[0-9]+' | sort -u -t. -k2n | awk -F. '$2 > 34' >"$work/newer"
same "no symbol version newer than glibc 2.34" "$work/newer"

# 5. the one-to-one table runtime to driver, as measured
while read -r runtime symbols; do
	for symbol in $symbols; do
		got=$(awk -v s="$symbol" '$1 == s { print $3 }' "$work/table")
		[ "$got" = "$runtime" ] || echo "$symbol stands for $got, measured: $runtime"
	done
done >"$work/runtime" <<END
cudaMalloc cuMemAlloc_v2
cudaMallocManaged cuMemAllocManaged
cudaMallocAsync cuMemAllocAsync cuMemAllocAsync_ptsz
cudaFree cuMemFree_v2
cudaFreeAsync cuMemFreeAsync
cudaFreeHost cuMemFreeHost
cudaHostRegister cuMemHostRegister_v2
cudaLaunchKernel cuLaunchKernel cuLaunchKernel_ptsz
cudaLaunchKernelExC cuLaunchKernelEx
cudaLaunchCooperativeKernel cuLaunchCooperativeKernel
cudaEventRecord cuEventRecord cuEventRecord_ptsz
cudaStreamWaitEvent cuStreamWaitEvent
cudaEventSynchronize cuEventSynchronize
cudaStreamSynchronize cuStreamSynchronize cuStreamSynchronize_ptsz
cudaDeviceSynchronize cuCtxSynchronize_v2 cuCtxSynchronize
cudaEventElapsedTime cuEventElapsedTime_v2
cudaMemcpy cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuMemcpyDtoD_v2 cuMemcpy cuMemcpyHtoD_v2_ptds
cudaMemcpyAsync cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2 cuMemcpyDtoDAsync_v2 cuMemcpyAsync
cudaMemcpy2D cuMemcpy2DUnaligned_v2
cudaMemcpy3DAsync cuMemcpy3DAsync_v2
cudaMemcpyPeerAsync cuMemcpyPeerAsync
cudaMemset cuMemsetD8_v2
cudaMemset2DAsync cuMemsetD2D8Async
cudaLaunchHostFunc cuLaunchHostFunc
cudaStreamAddCallback cuStreamAddCallback
cudaMemPrefetchAsync cuMemPrefetchAsync_v2
cudaStreamBeginCapture cuStreamBeginCapture_v2
cudaGraphInstantiate cuGraphInstantiateWithFlags
cudaGraphLaunch cuGraphLaunch
cudaDeviceReset cuDevicePrimaryCtxReset_v2
END
same "runtime functions" "$work/runtime"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
