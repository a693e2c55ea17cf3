/* SPDX-License-Identifier: Apache-2.0 */
/* GitLab's code quality report: an array of issues, each with a fingerprint of its own. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/ci/ci_parts.h"

/* Writes an issue; line 0: not known. */
static void put_members(struct sw_ci *ci, const char *text, const char *check, const char *fingerprint,
			const char *severity, const char *path, int line)
{
	struct sw_json *json = &ci->json;
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "description", text);
	sw_json_text(json, "check_name", check);
	sw_json_text(json, "fingerprint", fingerprint);
	sw_json_text(json, "severity", severity);
	sw_json_open(json, "location", '{');
	sw_json_text(json, "path", path);
	sw_json_open(json, "lines", '{');
	sw_json_number(json, "begin", line ? (uint64_t)line : 1);
	sw_json_close(json, '}');
	sw_json_close(json, '}');
	sw_json_close(json, '}');
}

static const char *const severities[] = {[SW_NOTE] = "info", [SW_WARNING] = "minor", [SW_ERROR] = "critical"};

/* Writes a finding of no single report, or a gap; each once. */
static void extra_gitlab(struct sw_ci *ci, const struct sw_ci_extra *extra)
{
	char fingerprint[17], *check = sw_format("%s%s%s", extra->id, *extra->id ? " " : "", extra->kind);
	snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, extra->fingerprint);
	if ((*sw_map_put(&ci->written, extra->fingerprint))++ == 0)
		put_members(ci, extra->text, check, fingerprint, *extra->id ? severities[extra->severity] : "major",
			    extra->program, 0);
	free(check);
}

/* Writes a result as an issue.  A path is required: without a line the program stands for it. */
static void put_issue(struct sw_ci *ci, struct sw_report *report, const struct sw_ci_result *result)
{
	put_members(
		ci, result->text,
		sw_names_format(&report->names, "SW%03d %s", result->leader->finding->id, result->leader->info->kind),
		sw_names_format(&report->names, "%016" PRIx64, result->leader->fingerprint),
		severities[result->leader->finding->severity], *result->path ? result->path : sw_ci_program(report),
		result->line);
}

/* Begins the array of issues. */
static void begin_gitlab(struct sw_ci *ci)
{
	sw_json_open(&ci->json, NULL, '[');
}

/* Writes the causes of a report, each once, and what it does not know. */
static void add_gitlab(struct sw_ci *ci, struct sw_report *report)
{
	struct sw_names_scope scope;
	struct sw_ci_result result;
	for (size_t i = 0; i < report->groups.n; i++) {
		sw_names_scope_begin(&report->names, &scope);
		if (sw_ci_result(ci, report, i, &result) && !result.leader->suppressed && sw_ci_first(ci, &result))
			put_issue(ci, report, &result);
		sw_names_scope_end(&report->names, &scope);
	}
	for (size_t i = 0; i < report->gaps.n; i++) {
		const struct sw_ci_extra gap = sw_ci_gap(report, i);
		extra_gitlab(ci, &gap);
	}
}

/* Ends the array of issues. */
static void end_gitlab(struct sw_ci *ci)
{
	sw_json_close(&ci->json, ']');
}

const struct sw_ci_writer sw_ci_gitlab = {
	.begin = begin_gitlab, .add = add_gitlab, .extra = extra_gitlab, .end = end_gitlab};
