#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The Performance panel of Chromium shows our timelines: every slice on its track, with its times; and what it can't show
# fails this test.  playwright-core (Apache-2.0), which drives the browser, is pinned by package-lock.json and used here only.
set -eu
. "$top_srcdir/tests/browser/modules.sh"
export="$top_builddir/tests/report/timeline/export"

passed=0 failed=0
panel() {
	node "$here/panel.mjs" "$cache" "$browser" "$@" >"$dir/log" 2>&1
}
opens() { # opens WHAT TRACE TRACK=SLICE...
	what=$1
	shift
	if panel "$@"; then
		echo "$what: $(cat "$dir/log")"
		passed=$((passed + 1))
	else
		echo "FAIL: $what:"
		head -n 20 "$dir/log"
		failed=$((failed + 1))
	fi
}
refused() { # refused WHAT WHY TRACE TRACK=SLICE...: not opened, for that reason
	what=$1 why=$2
	shift 2
	if ! panel "$@" && grep -q "$why" "$dir/log"; then
		passed=$((passed + 1))
	else
		echo "FAIL: $what: not \"$why\", but:"
		head -n 20 "$dir/log"
		failed=$((failed + 1))
	fi
}
recorded() { # recorded NAME: exports a run that was recorded on an H200
	"$top_builddir/syncwatch" export --chrome "$dir/$1.json" "$top_srcdir/tests/golden/traces/$1.swt"
}

recorded gpu-raw_kernel_kernel
opens "a race, recorded" "$dir/gpu-raw_kernel_kernel.json" "stream 1=spin_write(" "stream 2=quick_copy(" \
	"thread 1 'raw_kernel_kern'=cudaDeviceSynchronize" "critical path=in cuda" "stream 2=SW101 race-read-after-write"
recorded gpu-torch-side_stream
opens "PyTorch, recorded" "$dir/gpu-torch-side_stream.json"
"$export" timed "$dir/timed.swt" "$dir/timed.json" >"$dir/said"
opens "times of the device" "$dir/timed.json"
head -c 20000 "$dir/gpu-raw_kernel_kernel.json" >"$dir/cut.json"
refused "a file that ends early" "not loaded: .*JSON" "$dir/cut.json"
refused "a kernel on another stream" "shows no slice quick_copy( on a track stream 1" \
	"$dir/gpu-raw_kernel_kernel.json" "stream 1=quick_copy("
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
