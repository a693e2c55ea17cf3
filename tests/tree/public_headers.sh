#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone, as C and as C++, includes nothing private, and names nothing without our prefix.
set -uo pipefail
cd "${top_srcdir:-$(dirname "$0")/../..}" || exit 2
passed=0 failed=0 skipped=0
result() { # result STATUS NAME
	if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		echo "FAIL: $2"
	fi
}

for header in include/syncwatch/*.h; do
	name=syncwatch/${header##*/}
	for how in "${CC:-cc} -x c -std=c17" "c++ -x c++ -std=c++17"; do
		if ! command -v "${how%% *}" >/dev/null; then
			echo "SKIP: $name: no ${how%% *}"
			skipped=$((skipped + 1))
			continue
		fi
		# shellcheck disable=SC2086  # a command with its options
		$how -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only - <<<"#include \"$name\""
		result $? "$name: ${how##* }"
	done
	private=$(grep -nE '^[[:space:]]*#[[:space:]]*include "' "$header" | grep -vE '"(format_[a-z]+)\.h"')
	[ -z "$private" ] || echo "$private"
	result "$([ -z "$private" ]; echo $?)" "$name: includes"
	bare=$(grep -nE '^(struct|enum|union|#[[:space:]]*define)[[:space:]]+[A-Za-z_]' "$header" |
		grep -vE '^[0-9]+:(struct|enum|union|#[[:space:]]*define)[[:space:]]+(sw_|SW_|syncwatch|SYNCWATCH_)')
	[ -z "$bare" ] || echo "$bare"
	result "$([ -z "$bare" ]; echo $?)" "$name: names"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
