/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a group, whatever the format. */
#include <inttypes.h>
#include <string.h>

#include "report/groups.h"
#include "report/symbols/places.h"
#include "report/symbols/stack.h"

/* Which of its calls must change, of findings that are no hazards: the wait that comes too early, the record that comes
   too early, the call on the legacy stream; of the others the last. */
static uint32_t call_to_change(const struct sw_finding *finding)
{
	switch (finding->id) {
	case SW_FINDING_EVENT_OVERWRITTEN:
		return finding->accesses > 1;
	case SW_FINDING_WAIT_UNRECORDED:
	case SW_FINDING_WAIT_COVERS_NOTHING:
	case SW_FINDING_CAPTURE_ISOLATION:
	case SW_FINDING_LEGACY_SERIALISATION:
		return 0;
	default:
		return finding->accesses ? finding->accesses - 1 : 0;
	}
}

static bool has_frame(const struct sw_stack_view *view, uint64_t ip)
{
	for (size_t i = 0; i < view->n; i++)
		if (view->at[i].frame->ip == ip)
			return true;
	return false;
}

/* Without any name: the innermost of the program's own frames that the other side does not have, else of all. */
static const struct sw_frame *nameless_site(struct sw_names *names, const struct sw_access *access,
					    const struct sw_access *other)
{
	struct sw_stack_view view = sw_stack_view(names, access->stack, access->function), against = {0};
	const struct sw_frame *best = NULL;
	int most = 0;
	if (other && other->stack != access->stack)
		against = sw_stack_view(names, other->stack, other->function);
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_frame *frame = view.at[i].frame;
		int rank = !frame->module[0]		    ? 0
			   : !sw_stack_is_own(names, frame) ? 1
			   : has_frame(&against, frame->ip) ? 2
							    : 3;
		if (rank > most)
			best = frame;
		most = rank > most ? rank : most;
	}
	return best;
}

const struct sw_frame *sw_report_site(struct sw_report *report, const struct sw_finding *finding)
{
	const bool hazard = sw_is_hazard(finding);
	const uint32_t first = hazard ? 1 : call_to_change(finding);
	const struct sw_frame *site = NULL;
	if (!finding->accesses)
		return NULL;
	site = sw_place_of(&report->names, finding->access[first], hazard ? finding->access[0] : NULL);
	for (uint32_t i = hazard ? 2 : finding->accesses; i-- > 0 && !site;)
		site = sw_place_of(&report->names, sw_finding_access(finding, i), hazard ? finding->access[!i] : NULL);
	return site ? site : nameless_site(&report->names, finding->access[first], hazard ? finding->access[0] : NULL);
}

const char *sw_report_count(struct sw_report *report, const struct sw_finding *finding)
{
	static const struct {
		uint8_t kind;
		const char *one, *many;
	} nouns[] = {{SW_REC_LAUNCH, "launch", "launches"},
		     {SW_REC_COPY, "copy", "copies"},
		     {SW_REC_COPY_ND, "copy", "copies"},
		     {SW_REC_HOST_ACCESS, "access", "accesses"}};
	const char *one = "call", *many = "calls";
	const bool hazard = sw_is_hazard(finding);
	const uint8_t kind = finding->accesses ? finding->access[hazard]->kind : 0;
	const uint64_t n = finding->operations ? finding->operations : finding->count;
	for (size_t i = 0; i < sizeof nouns / sizeof *nouns && hazard; i++)
		if (nouns[i].kind == kind) {
			one = nouns[i].one;
			many = nouns[i].many;
		}
	return sw_names_format(&report->names, "%" PRIu64 " %s", n, n == 1 ? one : many);
}

uint64_t sw_group_cost(const struct sw_report *report, const struct sw_group *group)
{
	uint64_t ns = report->shown.at[group->leader].finding->cost->total_ns;
	for (size_t i = 0; i < group->members.n; i++)
		ns += report->shown.at[group->members.at[i]].finding->cost->total_ns;
	return ns;
}

/* ---- the fix ------------------------------------------------------------------------------------------------------
 */

const char *sw_group_fix_place(struct sw_report *report, const struct sw_fix_line *line)
{
	static const char *const words[] = {"once", "after", "before", "instead of", "before the result is used"};
	if (!line->frame)
		return words[line->where];
	return sw_names_format(&report->names, "%s %s", words[line->where],
			       sw_place_brief(&report->names, line->frame));
}

/* The call that records too early, of SW202 in the same group; NULL: it is not there. */
static const struct sw_access *early_record(const struct sw_report *report, const struct sw_group *group, uint64_t seq)
{
	for (size_t i = 0; i < group->members.n; i++) {
		const struct sw_finding *finding = report->shown.at[group->members.at[i]].finding;
		if (finding->id == SW_FINDING_WAIT_COVERS_NOTHING && finding->accesses &&
		    finding->access[0]->seq == seq)
			return finding->access[0];
	}
	return NULL;
}

static const char *move_record(struct sw_report *report, const struct sw_group *group, const struct sw_finding *finding)
{
	struct sw_names *names = &report->names;
	const struct sw_access *record = early_record(report, group, finding->fix_call.seq);
	if (!record || !group->after)
		return NULL;
	const struct sw_frame *from = sw_place_of(names, record, group->after);
	const struct sw_frame *to = sw_place_of(names, group->after, record);
	if (!from || !to || !from->file || !to->file)
		return NULL;
	return sw_names_format(names, "move %s from %s to after %s (%s)",
			       sw_name_api(names, record->api, record->flags, record->stack),
			       sw_place_brief(names, from), sw_place_brief(names, to),
			       sw_name_operation_brief(names, group->after));
}

static const char *lines_text(struct sw_report *report, const struct sw_fix_lines *lines)
{
	const char *text = "";
	for (uint32_t i = 0; i < lines->n; i++)
		text = sw_names_format(&report->names, "%s%s%s: %s", text, i ? " " : "",
				       sw_group_fix_place(report, &lines->line[i]), lines->line[i].code);
	return text;
}

void sw_group_fix(struct sw_report *report, const struct sw_group *group, struct sw_group_fix *out)
{
	const struct sw_shown_finding *leader = &report->shown.at[group->leader];
	const struct sw_finding *finding = leader->finding;
	*out = (struct sw_group_fix){.text = sw_report_words(report, leader).fix, .note = ""};
	if (group->edges && finding->fix == SW_FIX_MOVE_RECORD) {
		const char *text = move_record(report, group, finding);
		out->text = text ? text : out->text;
		return;
	}
	if (group->edges)
		sw_fix_lines(&report->names, finding->fix, group->after, group->before, &out->lines);
	else
		sw_fix_call(&report->names, finding, &out->lines);
	if (out->lines.n)
		out->text = lines_text(report, &out->lines);
	if (out->lines.n && finding->fix == SW_FIX_ASYNC)
		out->note = "the host memory must be pinned; this wait also ordered what follows it, so re-run "
			    "syncwatch afterwards";
	if (out->lines.streams)
		out->note = out->lines.streams;
	if (group->edges > 1)
		out->note =
			sw_names_format(&report->names,
					"the same is missing between %u other pairs of calls; or put all of them on "
					"one stream",
					group->edges - 1);
}
