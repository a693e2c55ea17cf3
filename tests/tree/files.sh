#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every source file says its licence; shell scripts are clean for shellcheck where it is installed.
set -uo pipefail
cd "${top_srcdir:-$(dirname "$0")/../..}" || exit 2
passed=0 failed=0 skipped=0
result() { # result STATUS NAME
	if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		echo "FAIL: $2"
	fi
}

missing=$(find src include tools kernels tests -type f \( -name '*.[chS]' -o -name '*.cu' -o -name '*.def' -o -name '*.py' -o -name '*.sh' \) \
	-not -path '*/corpus*' -not -path '*/golden/*' -exec grep -L 'SPDX-License-Identifier: Apache-2.0' {} +)
[ -z "$missing" ] || printf 'no licence line in %s\n' $missing
result "$([ -z "$missing" ]; echo $?)" "licence lines"

# Each promise has its tests, which make check runs.
missing=$(grep -oE '`tests/[^`]*`' doc/promises.md | tr -d '`' | sort -u | while read -r name; do
	{ [ -f "$name" ] || [ -f "$name.c" ]; } && { grep -rqE "^(TESTS|[a-z]+_tests) \+?=.*$name|^\s+.*$name" --include='*.mk' tests || grep -q "(here)*/$(basename "$name")\|$name" tests/gpu/run tests/gpu/local.mk; } || echo "$name"
done)
[ -z "$missing" ] || printf 'doc/promises.md names no test: %s\n' "$missing"
result "$([ -z "$missing" ]; echo $?)" "doc/promises.md"

# make has rules of its own that build X from X.c: a script X next to a source X.c, newer by chance of the check-out,
# would be overwritten by the compiler (seen with tests/gpu/soak in a fresh clone).
built=$(for script in $(grep -rlE '^#!' bootstrap tools tests .ci 2>/dev/null); do
	for suffix in c cc cpp sh; do [ ! -f "$script.$suffix" ] || echo "$script $script.$suffix"; done
done)
[ -z "$built" ] || printf 'make would build this script from a source of its name: %s\n' "$built"
result "$([ -z "$built" ]; echo $?)" "scripts and sources have names of their own"

if command -v shellcheck >/dev/null; then
	scripts=$(grep -rlE '^#!/bin/(ba)?sh' bootstrap tools tests .ci 2>/dev/null)
	# shellcheck disable=SC2086  # a list of files without blanks
	shellcheck --severity=warning --exclude=SC2154 $scripts
	result $? "shellcheck"
else
	echo "SKIP: shellcheck is not installed"
	skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
