# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154,SC2034
# Sourced: sets $here, $browser, $cache (where node finds playwright-core and axe-core, as package-lock.json pins them) and
# $dir, which is removed at the end; or skips the test.
here="$top_srcdir/tests/browser"
sha256=$(sha256sum "$here/package-lock.json" | cut -c1-64)
cache="${HOME:-/tmp}/.cache/syncwatch-tests/$sha256" # XDG_CACHE_HOME is that of the tested programs: there is none

skip() {
	echo "SKIP: $1: nothing is opened in a browser"
	exit 77
}
browser=$(command -v chromium || command -v chromium-browser) || skip "no chromium"
command -v node >/dev/null || skip "no node"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$cache"
# Two tests may fetch at the same time.
exec 9>"$cache/lock"
flock 9 2>/dev/null || :
if ! [ -f "$cache/ready" ]; then
	command -v npm >/dev/null || skip "no npm"
	cp "$here/package.json" "$here/package-lock.json" "$cache"
	if ! (cd "$cache" && npm ci --silent --ignore-scripts --cache "$dir/npm" --fetch-retries 0 --fetch-timeout 60000 \
		--loglevel error) >"$dir/npm.log" 2>&1; then
		if grep EINTEGRITY "$dir/npm.log"; then
			exit 1
		fi
		skip "playwright-core and axe-core can't be fetched"
	fi
	: >"$cache/ready"
fi
exec 9>&-
