#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each source compiles without the optional library that it asks for, so that a build without it is possible.
set -uo pipefail
cd "${top_srcdir:-$(dirname "$0")/../..}" || exit 2
config=${top_builddir:-.}/config.h
if [ ! -f "$config" ]; then
	echo "SKIP: no configured build"
	exit 77
fi
passed=0 failed=0 skipped=0
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT

for macro in $(sed -n 's/.*AC_DEFINE(\[\(HAVE_[A-Z0-9_]*\)\].*/\1/p' configure.ac); do
	sources=$(grep -rlw --include='*.c' "$macro" src tools)
	if ! grep -qw "define $macro" "$config"; then
		echo "SKIP: $macro: the build itself is without"
		skipped=$((skipped + 1))
		continue
	fi
	sed "/define $macro /d" "$config" >"$folder/config.h"
	for source in $sources; do
		if ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$folder" -Isrc -Iinclude -fsyntax-only "$source"; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "FAIL: $source without $macro"
		fi
	done
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
