#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The Python side of rules that forbid calls: blocks, and the plugin of pytest, on the simulated CUDA.
set -uo pipefail
export LC_ALL=C
source=$(cd "$top_srcdir" && pwd) build=$(cd "${top_builddir:-.}" && pwd)
[ "$PYTHON3" != no ] || { echo "skipped: no python3"; exit 77; }
"$PYTHON3" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || { echo "skipped: python3 is older than 3.9"; exit 77; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
unset LD_PRELOAD SYNCWATCH_OPTIONS
passed=0 failed=0 skipped=0
ok() { # ok STATUS WHAT
	if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		echo "FAIL: $2"
		sed 's/^/  /' out | tail -n 60
	fi
}

# The package as the wheel has it, of what was built.
mkdir -p site/syncwatch/bin
for each in "$source"/packaging/wheel/syncwatch/*.py; do sed "s/@VERSION@/test/" "$each" >"site/syncwatch/$(basename "$each")"; done
ln -s "$build/syncwatch" site/syncwatch/bin/syncwatch
cp "$source/tests/packaging/simulated.py" "$source/tests/packaging/blocks.py" site/
cp "$source/tests/packaging/marked.py" .
export PYTHONPATH=$work/site PYTHONDONTWRITEBYTECODE=1
run=("$build/syncwatch" run --sim --no-cache --force -o t.swt)

"${run[@]}" "$PYTHON3" site/blocks.py >out 2>&1
ok $? "blocks under the recorder"
LD_LIBRARY_PATH=$build/sim "$PYTHON3" site/blocks.py alone >out 2>&1
ok $? "blocks alone"

"$PYTHON3" -c 'import sys; sys.modules["ctypes"] = None
import syncwatch; syncwatch.command_path()
with syncwatch.window(): pass
try: syncwatch.forbid("wait")
except syncwatch.NotChecked as error: sys.exit("needs ctypes" not in str(error))
sys.exit(2)' >out 2>&1
ok $? "a Python without ctypes has the command"

if ! "$PYTHON3" -c 'import pytest' 2>out; then
	skipped=$((skipped + 1))
	echo "SKIP: the plugin: python3 has no pytest"
else
	tests=("$PYTHON3" -m pytest -p syncwatch.pytest_plugin -p no:cacheprovider -o python_files=marked.py -o "python_functions=good_* bad_*" marked.py)
	"${tests[@]}" --cuda-forbid=sim -k good >out 2>&1
	ok $? "good tests pass"
	grep -q '3 passed' out; ok $? "good tests pass, all of them"
	"${tests[@]}" --cuda-forbid=sim >out 2>&1
	[ $? -eq 1 ]; ok $? "bad tests fail"
	grep -q '2 failed, 4 passed, 3 errors' out; ok $? "bad tests fail, each"
	grep -q 'wait: cuStreamSynchronize took' out && grep -q 'device.wait()' out; ok $? "a failure says the call and the line"
	grep -q 'cuda_step was entered 1 time, and the first 5 are skipped' out; ok $? "a test that checked nothing fails"
	grep -q "unknown kind 'waits'" out; ok $? "a mark with an unknown kind fails"
	LD_LIBRARY_PATH=$build/sim "${tests[@]}" -rs >out 2>&1
	grep -q '1 passed, 6 skipped, 1 error' out && grep -q 'not recorded, so nothing would be checked: pytest --cuda-forbid' out
	ok $? "without the recorder they are skipped by name"
	if "$PYTHON3" -c 'import xdist' 2>out; then
		"${tests[@]}" --cuda-forbid=sim -n 2 >out 2>&1
		grep -q '2 failed, 4 passed, 3 errors' out; ok $? "with workers of xdist"
	else
		skipped=$((skipped + 1))
		echo "SKIP: workers: python3 has no xdist"
	fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
