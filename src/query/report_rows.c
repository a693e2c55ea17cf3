/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a report: findings, their operations, their causes. */
#include "query/rows.h"

#include <inttypes.h>

#include "report/groups.h"
#include "report/symbols/stack.h"
#include "report/words/evidence_text.h"

/* Adds file, line and function of a frame to the row. */
static void put_place(struct sw_rows *rows, const struct sw_frame *frame)
{
	sw_rows_text(rows, frame ? frame->file : NULL);
	sw_rows_known(rows, frame ? frame->line : 0);
	sw_rows_text(rows, frame ? frame->function : NULL);
}

/* "SW101". */
static const char *id_of(struct sw_report *report, const struct sw_finding *finding)
{
	return sw_names_format(&report->names, "SW%03d", finding->id);
}

/* The fingerprint of a shown finding as text. */
static const char *fingerprint_of(struct sw_report *report, size_t index)
{
	return sw_names_format(&report->names, "%016" PRIx64, report->shown.at[index].fingerprint);
}

/* Adds the host time of a finding's calls to the row. */
static void put_cost(struct sw_rows *rows, const struct sw_cost *cost)
{
	if (cost->calls) {
		sw_rows_number(rows, (int64_t)cost->calls);
		sw_rows_number(rows, (int64_t)cost->waited_calls);
		sw_rows_ms(rows, cost->total_ns);
		sw_rows_ms(rows, cost->worst_ns);
		sw_rows_ms(rows, cost->p50_ns);
		sw_rows_ms(rows, cost->p99_ns);
	} else {
		for (int i = 0; i < 6; i++)
			sw_rows_null(rows);
	}
	if (cost->replayed) {
		sw_rows_ms(rows, cost->recoverable_low_ns);
		sw_rows_ms(rows, cost->recoverable_high_ns);
	} else {
		sw_rows_null(rows);
		sw_rows_null(rows);
	}
}

/* Adds the row of a finding. */
static void put_finding(struct sw_rows *rows, struct sw_report *report, size_t index)
{
	const struct sw_shown_finding *shown = &report->shown.at[index];
	const struct sw_finding *finding = shown->finding;
	if (!sw_rows_begin(rows, SW_QUERY_findings))
		return;
	const struct sw_wording words = sw_report_words(report, shown);
	sw_rows_number(rows, (int64_t)index + 1);
	sw_rows_known(rows, report->group_of ? (int64_t)report->group_of[index] : 0);
	sw_rows_text(rows, id_of(report, finding));
	sw_rows_text(rows, shown->info->kind);
	sw_rows_text(rows, sw_name_severity(finding->severity));
	sw_rows_text(rows, sw_name_confidence(finding->confidence));
	sw_rows_text(rows, sw_name_basis(finding->basis));
	sw_rows_number(rows, (int64_t)finding->count);
	sw_rows_number(rows, (int64_t)finding->operations);
	sw_rows_text(rows, words.message);
	sw_rows_text(rows, words.fix);
	sw_rows_text(rows, words.ordered_by);
	sw_rows_text(rows, words.missing_edge);
	put_place(rows, sw_report_site(report, finding));
	sw_rows_number(rows, finding->hidden);
	put_cost(rows, finding->cost);
	sw_rows_text(rows, sw_report_suppression(report, shown));
	sw_rows_text(rows, fingerprint_of(report, index));
	sw_rows_end(rows);
}

/* Fills the columns about the call that allocated the memory. */
static void put_allocated(struct sw_rows *rows, struct sw_report *report, const struct sw_allocation *info)
{
	const bool known = info && info->seq;
	const struct sw_frame *site = known ? sw_stack_site(&report->names, info->stack, 0) : NULL;
	sw_rows_text(rows, known ? sw_name_api(&report->names, info->api, info->flags, info->stack) : NULL);
	sw_rows_text(rows, site && site->file ? sw_place_full(&report->names, site) : NULL);
	sw_rows_known(rows, known ? (int64_t)info->seq : 0);
}

/* Adds the memory of an access to the row. */
static void put_memory(struct sw_rows *rows, struct sw_report *report, const struct sw_access *access)
{
	const bool known = access->allocation && access->allocation <= report->judgement->allocations.n;
	if (!access->ranged) {
		for (int i = 0; i < 10; i++)
			sw_rows_null(rows);
		return;
	}
	sw_rows_number(rows, (int64_t)access->address);
	sw_rows_number(rows, (int64_t)access->bytes);
	sw_rows_number(rows, access->extent_known);
	sw_rows_text(rows, sw_name_evidence(access->evidence));
	sw_rows_text(rows, sw_evidence_source(&report->names, access));
	sw_rows_text(rows, known ? sw_name_allocation(&report->names, access->allocation) : NULL);
	sw_rows_text(rows,
		     known ? sw_name_memory(report->judgement->allocations.at[access->allocation - 1].memory) : NULL);
	put_allocated(rows, report, known ? &report->judgement->allocations.at[access->allocation - 1] : NULL);
}

/* Adds the row of one side of a finding; role: its position. */
static void put_access(struct sw_rows *rows, struct sw_report *report, size_t index, const struct sw_access *access,
		       const char *role)
{
	struct sw_names *names = &report->names;
	const struct sw_trace_api *api = sw_reader_api(report->reader, access->api);
	const bool on_stream = access->stream && access->stream < report->judgement->streams.n;
	if (!sw_rows_begin(rows, SW_QUERY_accesses))
		return;
	sw_rows_number(rows, (int64_t)index + 1);
	sw_rows_text(rows, role);
	sw_rows_text(rows, sw_name_api(names, access->api, access->flags, access->stack));
	sw_rows_text(rows, api ? api->driver : "");
	sw_rows_text(rows, access->function ? sw_name_kernel(names, access->function, true) : NULL);
	sw_rows_known(rows, on_stream ? access->stream : 0);
	sw_rows_text(rows, on_stream ? sw_name_stream(names, access->stream) : NULL);
	sw_rows_number(rows, access->device);
	sw_rows_number(rows, access->thread);
	sw_rows_number(rows, (int64_t)access->seq);
	sw_rows_ms(rows, access->t_ns);
	sw_rows_text(rows, sw_name_role(access->role));
	if (access->param < 0)
		sw_rows_null(rows);
	else
		sw_rows_number(rows, access->param);
	put_memory(rows, report, access);
	put_place(rows, sw_stack_site(names, access->stack, access->function));
	sw_rows_known(rows, access->stack);
	sw_rows_end(rows);
}

/* Adds the rows of all sides of a finding. */
static void put_accesses(struct sw_rows *rows, struct sw_report *report, size_t index)
{
	const struct sw_finding *finding = report->shown.at[index].finding;
	const bool hazard = sw_is_hazard(finding);
	for (uint32_t i = 0; i < finding->accesses; i++)
		put_access(rows, report, index, sw_finding_access(finding, i),
			   i == 0	      ? hazard ? "earlier" : "call"
			   : i == 1 && hazard ? "later"
					      : "related");
	if (sw_finding_details(finding)->waited_for.seq)
		put_access(rows, report, index, &sw_finding_details(finding)->waited_for, "waited-for");
}

/* Adds the row of a group of findings with one cause. */
static void put_group(struct sw_rows *rows, struct sw_report *report, size_t index)
{
	const struct sw_group *group = &report->groups.at[index];
	const struct sw_shown_finding *leader = &report->shown.at[group->leader];
	struct sw_group_fix fix;
	if (!sw_rows_begin(rows, SW_QUERY_groups))
		return;
	sw_group_fix(report, group, &fix);
	sw_rows_number(rows, (int64_t)index + 1);
	sw_rows_text(rows, id_of(report, leader->finding));
	sw_rows_text(rows, sw_name_severity(leader->finding->severity));
	sw_rows_text(rows, sw_report_words(report, leader).message);
	sw_rows_number(rows, (int64_t)group->members.n + 1);
	sw_rows_number(rows, group->edges);
	put_place(rows, sw_report_site(report, leader->finding));
	sw_rows_text(rows, fix.text);
	sw_rows_text(rows, *fix.note ? fix.note : fix.why);
	sw_rows_ms(rows, sw_group_cost(report, group));
	sw_rows_text(rows, fingerprint_of(report, group->leader));
	sw_rows_end(rows);
}

/* Adds all rows of a report. */
void sw_report_rows(struct sw_rows *rows, struct sw_report *report)
{
	struct sw_names_scope scope;
	for (size_t i = 0; i < report->shown.n; i++) {
		sw_names_scope_begin(&report->names, &scope);
		put_finding(rows, report, i);
		put_accesses(rows, report, i);
		sw_names_scope_end(&report->names, &scope);
	}
	for (size_t i = 0; i < report->groups.n; i++) {
		sw_names_scope_begin(&report->names, &scope);
		put_group(rows, report, i);
		sw_names_scope_end(&report->names, &scope);
	}
}
