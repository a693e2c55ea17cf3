/* SPDX-License-Identifier: Apache-2.0 */
/* GitLab's code quality report: an array of issues, each with a fingerprint of its own. */
#include <inttypes.h>

#include "report/ci/ci_parts.h"

static void put_issue(struct sw_ci *ci, struct sw_report *report, const struct sw_ci_result *result)
{
	static const char *const severities[] = {"info", "minor", "critical"};
	struct sw_json *json = &ci->json;
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "description", result->text);
	sw_json_text(json, "check_name", result->leader->info->kind);
	sw_json_text(json, "fingerprint", sw_names_format(&report->names, "%016" PRIx64, result->leader->fingerprint));
	sw_json_text(json, "severity", severities[result->leader->finding->severity]);
	sw_json_open(json, "location", '{');
	/* A path is required: without a line the program stands for it. */
	sw_json_text(json, "path", *result->path ? result->path : sw_ci_program(report));
	sw_json_open(json, "lines", '{');
	sw_json_number(json, "begin", result->line ? (uint64_t)result->line : 1);
	sw_json_close(json, '}');
	sw_json_close(json, '}');
	sw_json_close(json, '}');
}

void sw_ci_gitlab_begin(struct sw_ci *ci)
{
	sw_json_open(&ci->json, NULL, '[');
}

void sw_ci_gitlab_add(struct sw_ci *ci, struct sw_report *report)
{
	struct sw_names_scope scope;
	struct sw_ci_result result;
	for (size_t i = 0; i < report->groups.n; i++) {
		sw_names_scope_begin(&report->names, &scope);
		if (sw_ci_result(ci, report, i, &result) && !result.leader->suppressed && sw_ci_first(ci, &result))
			put_issue(ci, report, &result);
		sw_names_scope_end(&report->names, &scope);
	}
}

void sw_ci_gitlab_end(struct sw_ci *ci)
{
	sw_json_close(&ci->json, ']');
}
