#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Blocks in which a program forbids calls itself (syncwatch_forbid_begin): what is found in each, and that a program
# without the recorder hears that nothing was checked.
set -uo pipefail
export LC_ALL=C
build=$(cd "${top_builddir:-.}" && pwd)
source=$(cd "$top_srcdir" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
passed=0 failed=0
ok() { # ok STATUS WHAT
	if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		echo "FAIL: $2"
	fi
}

# shellcheck disable=SC2086 # the compiler may be two words
$CC -std=gnu17 -Wall -Wextra -Werror -I"$source/include" -isystem "$CUDA_HOME/include" -o program \
	"$source/tests/preload/gate/program.c" "$build/sim/libcuda.so.1" -ldl -pthread || exit 99

expected() { # what the program prints; WHETHER: 1 under the recorder
	cat <<'END'
before 2
sync_stream        wait     1 wait cuStreamSynchronize
sync_stream        alloc    0 - -
query              any      0 - -
elapsed            any      0 - -
copy_value         wait     1 wait cuMemcpyDtoH_v2
copy_pinned        any      0 - -
copy_pageable_up   any      1 pageable cuMemcpyHtoDAsync_v2
copy_pageable_up   wait     0 - -
copy_pageable_down wait     1 wait cuMemcpyDtoHAsync_v2
copy_pageable_down any      1 pageable cuMemcpyDtoHAsync_v2
copy_unified       pageable 1 pageable cuMemcpyAsync
copy_within        any      0 - -
set                any      0 - -
alloc              alloc    1 alloc cuMemAlloc_v2
alloc_async        any      0 - -
release            free     1 free cuMemFree_v2
release            wait     1 wait cuMemFree_v2
release            any      2 alloc cuMemAlloc_v2
pin                pin      1 pin cuMemAllocHost_v2
enroll             any      2 pin cuMemHostRegister_v2
refused            any      0 - -
sync_elsewhere     any      0 - -
told: wait cuStreamSynchronize
told: alloc cuMemAlloc_v2
told 2, found 2 of 3
unbalanced 1 2: 1 -1 -1, -1 -1
deep -1, then 0
unknown -2 -2 -2
forked 0, 0
END
}
expected >with
# Nothing is known without the recorder: each number is that of "not checked", and no kind is unknown.
sed -E -e 's/^(before) .*/\1 -1/' -e 's/^(.{27}) -?[0-9]+ .*/\1 -1 - -/' -e '/^told:/d' -e 's/^told .*/told 0, found -1 of 0/' \
	-e 's/^unbalanced .*/unbalanced -1 -1: -1 -1 -1, -1 -1/' -e 's/^deep .*/deep -1, then -1/' \
	-e 's/^unknown .*/unknown -1 -1 -1/' -e 's/^forked .*/forked 0, -1/' with >without

export LD_LIBRARY_PATH=$build/sim
./program >out 2>err
ok $? "the program alone"
diff without out; ok $? "the program alone: nothing is checked"

SYNCWATCH_OPTIONS=trace=plain.swt:report=0:quiet=1 LD_PRELOAD=$build/libsyncwatch.so ./program >out 2>err
ok $? "preloaded: $(cat err)"
diff with out; ok $? "preloaded: what is found"

"$build/syncwatch" run --sim --no-cache -o run.swt ./program >out 2>err
ok $? "run: $(cat err)"
diff with out; ok $? "run: what is found"
# Calls that are made when one is told of are not recorded.
[ "$("$build/syncwatch" dump --kinds=ALLOC run.swt | grep -c 'bytes=64 ')" -eq 0 ]; ok $? "run: calls of the program's own hook"

# The judge says the same of the same program, where it can be asked.
"$build/syncwatch" report run.swt --forbid any@program --json r.json >report.out 2>&1
for each in SW601 SW603 SW604 SW605 SW607; do grep -q "$each" report.out; ok $? "report: $each"; done

# Only what the recorder needs is exported.
[ "$(nm -D --defined-only "$build/libsyncwatch-gate.so" | awk '$2 == "T" { print $3 }' | tr '\n' ' ')" = "syncwatch_gate_start " ]
ok $? "libsyncwatch-gate.so exports more or less"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
