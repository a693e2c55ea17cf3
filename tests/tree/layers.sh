#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A folder of src includes only what HACKING.md's table allows it: modules in one direction, and the layers inside a module.
set -euo pipefail
cd "${top_srcdir:-$(dirname "$0")/../..}"

# Modules, and inside a module its layers; a folder may always include its own files and those of its module's root.
declare -A may=(
	[base]="base"
	[api]="api"
	[preload]="preload base api syncwatch"
	[guard]="guard preload/platform preload/recorder/companion.h base syncwatch"
	[reader]="reader base syncwatch"
	[hb]="hb base"
	[schedule]="schedule base"
	[image]="image base syncwatch"
	[footprint]="footprint image base syncwatch"
	[detect]="detect schedule hb reader footprint/footprint.h footprint/library.h footprint/launch_memo.h footprint/launch_spans.h footprint/rules.h image api base syncwatch"
	[report]="report/report.h report/groups.h report/suppress.h report/excerpts.h report/words report/symbols detect schedule hb reader footprint/footprint.h footprint/library.h image api base syncwatch"
	[query]="query report/report.h report/groups.h report/words report/symbols report/json/json_out.h report/text/text_out.h detect reader base syncwatch"
	[pack]="pack report/symbols detect/kernels/kernel_code.h detect/behaviour/behaviour.h reader footprint/footprint.h footprint/library.h image base syncwatch"
	[merge]="merge report/report.h report/json/json_out.h report/json/report_parts.h report/text/text_out.h report/symbols detect reader base syncwatch"
	[simcuda]="simcuda image api base syncwatch"

	[preload/platform]="preload/platform base"
	[preload/stacks]="preload/stacks preload/recorder preload/platform base syncwatch"
	[preload/recorder]="preload/recorder preload/stacks preload/handoff preload/session preload/platform base syncwatch"
	[preload/session]="preload/session"
	[preload/handoff]="preload/handoff preload/stacks preload/platform syncwatch"
	[preload/intercept]="preload/intercept preload/recorder preload/platform api base syncwatch"
	[preload/calls]="preload/calls preload/pools/pools.h preload/intercept preload/recorder preload/platform api base syncwatch"
	[preload/gpu]="preload/gpu preload/recorder/companion.h preload/platform syncwatch"
	[preload/nccl]="preload/nccl preload/recorder/companion.h preload/platform base syncwatch"
	[preload/libraries]="preload/libraries preload/recorder/companion.h preload/platform base/arch.h syncwatch"
	[preload/nvtx]="preload/nvtx preload/recorder/companion.h preload/platform syncwatch"
	[preload/pools]="preload/pools preload/recorder/companion.h preload/platform syncwatch"
	[preload/savings]="preload/savings preload/confirm preload/recorder preload/platform api base syncwatch"
	[preload/confirm]="preload/confirm preload/savings preload/recorder preload/platform api base syncwatch"
	[preload/strict]="preload/strict preload/recorder base syncwatch"

	[detect/behaviour]="detect/behaviour base"
	[detect/memory]="detect/memory detect/detect.h hb reader base syncwatch"
	[detect/model]="detect/model detect/memory detect/detect.h detect/findings.def detect/behaviour hb reader base syncwatch"
	[detect/libraries]="detect/libraries detect/model detect/memory detect/detect.h hb reader base syncwatch"
	[detect/waits]="detect/waits detect/model detect/memory detect/detect.h detect/behaviour schedule hb reader base syncwatch"
	[detect/hazards]="detect/hazards detect/waits detect/model detect/memory detect/detect.h detect/shared_use.h hb reader base syncwatch"
	[detect/kernels]="detect/kernels detect/libraries detect/hazards detect/waits detect/model detect/memory detect/detect.h footprint/footprint.h footprint/library.h footprint/launch_memo.h footprint/launch_spans.h footprint/rules.h image hb reader base syncwatch"
	[detect/calls]="detect/calls detect/libraries detect/kernels detect/hazards detect/waits detect/model detect/memory detect/behaviour detect/detect.h hb reader base syncwatch"
	[detect/graphs]="detect/graphs detect/calls detect/kernels detect/hazards detect/waits detect/model detect/memory detect/detect.h hb reader base syncwatch"

	[report/symbols]="report/symbols detect schedule hb reader footprint/footprint.h footprint/library.h image api base syncwatch"
	[report/words]="report/words report/symbols detect schedule hb reader footprint/footprint.h footprint/library.h image api base syncwatch"
	[report/text]="report/text report/report.h report/groups.h report/excerpts.h report/words report/symbols detect schedule hb reader footprint/footprint.h footprint/library.h image api base syncwatch"
	[report/json]="report/json report/report.h report/groups.h report/excerpts.h report/words report/symbols detect schedule hb reader footprint/footprint.h footprint/library.h image api base syncwatch"
	[report/timeline]="report/timeline report/excerpts.h report/words report/symbols detect schedule hb reader footprint/footprint.h footprint/library.h image api base syncwatch"
	[report/kineto]="report/kineto report/report.h report/groups.h report/timeline/trace_out.h report/words report/symbols detect schedule hb reader footprint/footprint.h footprint/library.h image api base syncwatch"
	[report/listing]="report/listing report/json/json_out.h report/text/text_out.h report/report.h report/symbols detect schedule hb reader footprint/footprint.h footprint/library.h image api base syncwatch"
	[report/html]="report/html report/json/json_out.h report/report.h report/groups.h report/excerpts.h report/words report/symbols detect schedule hb reader footprint/footprint.h footprint/library.h image api base syncwatch"
	[report/ci]="report/ci report/json/json_out.h report/report.h report/groups.h report/excerpts.h report/words report/symbols detect schedule hb reader footprint/footprint.h footprint/library.h image api base syncwatch"
	[report/diff]="report/diff report/json/json_out.h report/text/text_out.h report/report.h report/symbols detect schedule hb reader footprint/footprint.h footprint/library.h image api base syncwatch"

	[footprint/instructions/ptx]="footprint/instructions/ptx footprint/code.h image base"
	[footprint/instructions/sass]="footprint/instructions/sass footprint/code.h image base"
	[footprint/kernel/values]="footprint/kernel/values footprint/rules.h footprint/footprint.h base"
	[footprint/kernel/flow]="footprint/kernel/flow footprint/kernel/values footprint/code.h footprint/ops.def base"
	[footprint/kernel/sites]="footprint/kernel/sites footprint/rules.h footprint/kernel/flow footprint/kernel/values footprint/footprint.h base"
	[footprint/kernel/store]="footprint/kernel/store footprint/footprint.h footprint/library.h footprint/version.h footprint/ops.def image base"
	[footprint/launch/linear]="footprint/launch/linear base"
	[footprint/launch/evaluation]="footprint/launch/evaluation footprint/rules.h footprint/launch/linear footprint/footprint.h footprint/launch_memo.h footprint/ops.def base"
	[footprint/launch/spans]="footprint/launch/spans footprint/rules.h footprint/launch/linear footprint/launch_spans.h footprint/footprint.h footprint/ops.def base"
)
passed=0 failed=0

# allowed FOLDER TARGET: may files of FOLDER include TARGET, a path below src or include?
allowed() {
	local prefix
	for prefix in ${may[$1]}; do
		case $2 in "$prefix" | "$prefix"/*) return 0 ;; esac
	done
	return 1
}

while read -r folder; do
	layer=${folder#src/}
	bad=
	rule=$layer
	[ -n "${may[$rule]:-}" ] || rule=${layer%%/*}
	if [ -z "${may[$rule]:-}" ]; then
		bad="unknown module $layer: say in this test what it may include"$'\n'
	else
		while IFS=: read -r file line text; do
			target=$(sed -E 's/^[^"]*"([^"]*)".*/\1/' <<<"$text")
			case $target in
			config.h) continue ;; # belongs to the build
			*/*) ;;
			*) [ -f "$(dirname "$file")/$target" ] && continue ;;
			esac
			allowed "$rule" "$target" || bad+="$file:$line: $layer must not include $target"$'\n'
		done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$folder"/*.[chS] "$folder"/*.def /dev/null 2>/dev/null || true)
	fi
	if [ -n "$bad" ]; then
		printf '%s' "$bad"
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
done < <(find src -mindepth 1 -type d | sort)
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
