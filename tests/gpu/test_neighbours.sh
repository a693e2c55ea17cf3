#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What of tests/gpu/neighbours and tests/gpu/soak needs no GPU.
case ${missing:-} in *libdw*) echo "skipped: built without$missing"; exit 77 ;; esac
[ "$PYTHON3" != no ] || { echo "skipped: no python3"; exit 77; }
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
"$PYTHON3" "$top_srcdir/tests/gpu/neighbours" "$top_builddir" "$out" --sim || status=1
"$top_srcdir/tests/gpu/soak" "$top_builddir" "$out" 600 --sim || { cat "$out/soak.log"; status=1; }
exit ${status:-0}
