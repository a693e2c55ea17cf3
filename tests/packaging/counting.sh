# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# Sourced: counts what passed, failed and was skipped. $work is the folder of the test that sources it.
passed=0 failed=0 skipped=0
ok() { # ok NAME COMMAND...: the command passes; its output is shown where it does not
	local name=$1
	shift
	if "$@" >"$work/out" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL: $name"
		tail -n 20 "$work/out" | sed 's/^/  /'
	fi
}
skip() {
	skipped=$((skipped + 1))
	echo "SKIP: $*"
}
finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}
