#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reports as pages, in Chromium: no error, no request, no script of the program's names, accessible (axe-core, MPL-2.0, used
# here only) in light and dark, and quick with ten thousand causes.
set -eu
. "$top_srcdir/tests/browser/modules.sh"

passed=0 failed=0
opens() { # opens WHAT PAGE CHECK...
	what=$1
	shift
	if node "$here/html.mjs" "$cache" "$browser" "$@" >"$dir/log" 2>&1; then
		echo "$what: $(cat "$dir/log")"
		passed=$((passed + 1))
	else
		echo "FAIL: $what:"
		head -n 20 "$dir/log"
		failed=$((failed + 1))
	fi
}
refused() { # refused WHAT WHY PAGE CHECK...
	what=$1 why=$2
	shift 2
	if ! node "$here/html.mjs" "$cache" "$browser" "$@" >"$dir/log" 2>&1 && grep -q "$why" "$dir/log"; then
		passed=$((passed + 1))
	else
		echo "FAIL: $what: not \"$why\", but:"
		head -n 20 "$dir/log"
		failed=$((failed + 1))
	fi
}
recorded() { # recorded NAME: the page of a run that was recorded on an H200
	"$top_builddir/syncwatch" report --no-pager --html "$dir/$1.html" "$top_srcdir/tests/golden/traces/$1.swt" >/dev/null
}

recorded gpu-raw_kernel_kernel
opens "a race" "$dir/gpu-raw_kernel_kernel.html" timeline missing groups=1 "text=1 error" "text=SW101" "text=spin_write" \
	"text=Missing edge" "text=looked at"
recorded gpu-raw_kernel_kernel-fixed
opens "its fixed twin" "$dir/gpu-raw_kernel_kernel-fixed.html" "text=no hazards" "text=Nothing was found"
recorded gpu-torch-side_stream
opens "PyTorch" "$dir/gpu-torch-side_stream.html" "text=wait_stream" "text=What if it were fixed" timeline

# With its sources, on the simulated CUDA.
if [ -f "$top_builddir/sim/libcuda.so.1" ]; then
	"$top_builddir/syncwatch" run --sim -o "$dir/t.swt" --html "$dir/sources.html" "$top_builddir/tests/tools/cuda_program" race \
		>/dev/null 2>&1
	opens "a run with its sources" "$dir/sources.html" timeline missing keyboard "text=cuMemsetD8Async, (CUdeviceptr" "text=cuEventRecord"
fi
# Names that are markup.
"$top_builddir/tests/report/test_html" "$dir"
opens "sources and hostile names" "$dir/hostile.html" "text=</script>" "text=<img src=x onerror=alert(1)>" "text=race.cu"
opens "ten thousand causes" "$dir/many.html" groups=10000 fast=60000 "text=5 more are not in this file"
sed 's/textContent = value/innerHTML = value/' "$dir/hostile.html" >"$dir/unsafe.html"
refused "names that become markup" "error\|request\|dialog" "$dir/unsafe.html"
sed 's/--dim: #595959/--dim: #d0d0d0/' "$dir/gpu-raw_kernel_kernel.html" >"$dir/pale.html"
refused "text that is too pale" "color-contrast" "$dir/pale.html"
sed 's/min-width: 8rem/min-width: 40rem/' "$dir/gpu-torch-side_stream.html" >"$dir/wide.html"
refused "a page that is too wide for a phone" "pixels wide on a screen of 400" "$dir/wide.html"
refused "a text that is not there" "nothing says" "$dir/gpu-raw_kernel_kernel.html" "text=no such text"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
