/* SPDX-License-Identifier: Apache-2.0 */
/* Findings by their cause, as JSON: doc/report.schema.json says what each member means. */
#include <inttypes.h>

#include "report/groups.h"
#include "report/json/json_out.h"
#include "report/json/report_parts.h"
#include "report/symbols/places.h"

static void put_place(struct sw_json *json, const char *key, const struct sw_frame *frame)
{
	if (!frame) {
		sw_json_text(json, key, NULL);
		return;
	}
	sw_json_open(json, key, '{');
	sw_json_text(json, "file", frame->file);
	sw_json_number(json, "line", frame->line > 0 ? (uint64_t)frame->line : 0);
	sw_json_text(json, "function", frame->function);
	sw_json_text(json, "module", frame->module);
	sw_json_number(json, "offset", frame->offset);
	sw_json_close(json, '}');
}

static void put_fix(struct sw_json *json, struct sw_report *report, const struct sw_group *group)
{
	static const char *const where[] = {"once", "after", "before", "instead", "before_use"};
	struct sw_group_fix fix;
	sw_group_fix(report, group, &fix);
	sw_json_open(json, "fix", '{');
	sw_json_text(json, "text", fix.text);
	sw_json_text(json, "note", fix.note);
	sw_json_open(json, "lines", '[');
	for (uint32_t i = 0; i < fix.lines.n; i++) {
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "where", where[fix.lines.line[i].where]);
		put_place(json, "place", fix.lines.line[i].frame);
		sw_json_text(json, "code", fix.lines.line[i].code);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

static void put_fingerprint(struct sw_json *json, const char *key, struct sw_report *report, size_t index)
{
	sw_json_text(json, key, sw_names_format(&report->names, "%016" PRIx64, report->shown.at[index].fingerprint));
}

static void put_edge(struct sw_json *json, struct sw_report *report, const struct sw_group *group)
{
	if (!group->edges) {
		sw_json_text(json, "missing_edge", NULL);
		return;
	}
	sw_json_open(json, "missing_edge", '{');
	sw_json_number(json, "after_sequence", group->after->seq);
	put_place(json, "after", sw_place_of(&report->names, group->after, group->before));
	sw_json_text(json, "from", sw_name_stream(&report->names, group->after->stream));
	sw_json_number(json, "before_sequence", group->before->seq);
	put_place(json, "before", sw_place_of(&report->names, group->before, group->after));
	sw_json_text(json, "to", sw_name_stream(&report->names, group->before->stream));
	sw_json_close(json, '}');
}

static void put_group(struct sw_json *json, struct sw_report *report, const struct sw_group *group)
{
	const struct sw_shown_finding *leader = &report->shown.at[group->leader];
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "id", sw_names_format(&report->names, "SW%03d", leader->finding->id));
	sw_json_text(json, "severity", sw_name_severity(leader->finding->severity));
	sw_json_text(json, "message", sw_report_words(report, leader).message);
	put_place(json, "place", sw_report_site(report, leader->finding));
	put_fingerprint(json, "leader", report, group->leader);
	sw_json_open(json, "members", '[');
	put_fingerprint(json, NULL, report, group->leader);
	for (size_t k = 0; k < group->members.n; k++)
		put_fingerprint(json, NULL, report, group->members.at[k]);
	sw_json_close(json, ']');
	sw_json_number(json, "missing_edges", group->edges);
	put_edge(json, report, group);
	put_fix(json, report, group);
	sw_json_ms(json, "cost_ms", sw_group_cost(report, group));
	sw_json_close(json, '}');
}

void sw_report_json_groups(struct sw_json *json, struct sw_report *report)
{
	sw_json_open(json, "groups", '[');
	for (size_t i = 0; i < report->groups.n; i++) {
		struct sw_names_scope scope;
		sw_names_scope_begin(&report->names, &scope);
		put_group(json, report, &report->groups.at[i]);
		sw_names_scope_end(&report->names, &scope);
	}
	sw_json_close(json, ']');
}
