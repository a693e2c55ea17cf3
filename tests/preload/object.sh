#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The preload object as a file: it runs wherever glibc 2.34 is, needs nothing else, and is small.
# (That it exports the table's names and no others is compared in tests/api/coverage.sh.)
set -uo pipefail
export LC_ALL=C
object=${top_builddir:-.}/libsyncwatch.so
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
	failed=$((failed + 1))
	echo "FAIL: $1"
}

newest=$(objdump -T "$object" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
[ -n "$newest" ] || { echo "FAIL: no versions in $object"; exit 1; }
[ "$(printf '%s\n' "$newest" GLIBC_2.34 | sort -V | tail -n 1)" = GLIBC_2.34 ] || fail "$newest is needed"

others=$(objdump -p "$object" | awk '$1 == "NEEDED" && $2 !~ /^lib(c|dl|pthread)\.so\.[0-9]+$/ { print $2 }')
[ -z "$others" ] || fail "needs $others"
objdump -p "$object" | grep -q 'NEEDED *libc\.so\.6' || fail "libc is not among what it needs: was it read?"

strip -o "$work/object" "$object" || exit 2
bytes=$(stat -c %s "$work/object")
[ "$bytes" -lt 300000 ] || fail "$bytes bytes"

echo "$newest, $bytes bytes; $failed failed"
[ "$failed" -eq 0 ]
