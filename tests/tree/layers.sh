#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A module includes only the modules that HACKING.md's table allows it.
set -euo pipefail
cd "${top_srcdir:-$(dirname "$0")/../..}"

declare -A may=(
	[base]="base"
	[api]="api"
	[preload]="preload base api syncwatch"
	[guard]="guard preload base syncwatch"
	[reader]="reader base syncwatch"
	[hb]="hb base"
	[schedule]="schedule base"
	[image]="image base syncwatch"
	[footprint]="footprint image base syncwatch"
	[detect]="detect schedule hb reader footprint image api base syncwatch"
	[report]="report detect schedule hb reader footprint image api base syncwatch"
	[simcuda]="simcuda image base syncwatch"
)
passed=0 failed=0
for folder in src/*/; do
	module=$(basename "$folder")
	bad=
	if [ -z "${may[$module]:-}" ]; then
		bad="unknown module: say in this test what it may include"$'\n'
	else
		# Includes in quotes name modules, or files of the own folder; config.h belongs to the build.
		while IFS=: read -r file line text; do
			target=$(sed -E 's/^[^"]*"([^"]*)".*/\1/' <<<"$text")
			case $target in
			config.h) continue ;;
			*/*) first=${target%%/*} ;;
			*) [ -f "$(dirname "$file")/$target" ] && continue || first=$target ;;
			esac
			[[ " ${may[$module]} " == *" $first "* ]] || bad+="$file:$line: $module must not include $target"$'\n'
		done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$folder" --include='*.[chS]' --include='*.def' || true)
	fi
	if [ -n "$bad" ]; then
		printf '%s' "$bad"
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
