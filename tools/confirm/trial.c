/* SPDX-License-Identifier: Apache-2.0 */
/* Plans the trial of each finding: its calls, and the bytes that both touch. */
#include "confirm/trial.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/groups.h"

/* Is the finding meant by --finding?  NULL: all that are not suppressed. */
bool sw_finding_is_meant(struct sw_report *report, const struct sw_shown_finding *shown, const char *which)
{
	return which ? sw_report_means(report, shown, which) : !shown->suppressed;
}

/* Finds the bytes that both sides touch, as far as one allocation holds them. */
static void find_overlap(struct sw_trial *trial, const struct sw_judgement *judgement)
{
	const struct sw_access *a = trial->shown->finding->access[0], *b = trial->shown->finding->access[1];
	if (!a->ranged || !b->ranged || !a->allocation || a->allocation != b->allocation ||
	    a->allocation > judgement->allocations.n)
		return;
	const struct sw_allocation *in = &judgement->allocations.at[a->allocation - 1];
	/* Which of the bytes the host touches first is another one in another run: where its page begins, and which one
	   is still protected. */
	const bool any = b->kind == SW_REC_HOST_ACCESS;
	const uint64_t low = a->address > b->address || any ? a->address : b->address;
	const uint64_t a_end = a->address + a->bytes, b_end = b->address + b->bytes;
	const uint64_t high = a_end < b_end || any ? a_end : b_end;
	const bool plain = in->memory == SW_MEM_DEVICE || in->memory == SW_MEM_ASYNC || in->memory == SW_MEM_MANAGED ||
			   in->memory == SW_MEM_PINNED || in->memory == SW_MEM_REGISTERED;
	if (!plain || low >= high || low < in->address || high > in->address + in->bytes || a->used_at || b->used_at)
		return;
	trial->buffer = in->seq;
	trial->offset = low - in->address;
	trial->bytes = high - low;
}

/* Does the side certainly touch each byte that it has in common with the other one?  A finding that is certain rests on
   that; else bounds are all that is known of some kernels.  A free ends all of an allocation. */
static bool touches_all(const struct sw_finding *finding, const struct sw_access *access)
{
	const struct sw_evidence_detail *detail = access->evidence_detail;
	if (finding->confidence == SW_CERTAIN || access->role == SW_FREE || access->role == SW_ALLOC)
		return true;
	return access->extent_known && !access->width &&
	       (access->evidence == SW_EV_EXACT ||
		(access->evidence == SW_EV_FOOTPRINT && detail && detail->extent == SW_EXTENT_BOX));
}

/* Does the access write? */
static bool is_write(const struct sw_access *access)
{
	return access->role == SW_WRITE || access->role == SW_READ_WRITE || access->role == SW_ATOMIC;
}

/* Is it one of the ids of a race between two operations? */
static bool is_race(int id)
{
	return id == SW_FINDING_RACE_RAW || id == SW_FINDING_RACE_WAR || id == SW_FINDING_RACE_WAW;
}

/* Notes why the trial says nothing for certain. */
static void set_doubt(struct sw_trial *trial, enum sw_doubt why)
{
	trial->result.verdict = SW_VERDICT_INCONCLUSIVE;
	trial->result.doubt = why;
}

/* Does the call do its work before it returns: the host's own accesses, and frees that are not stream-ordered? */
static bool is_host(const struct sw_report *report, const struct sw_access *access)
{
	const struct sw_trace_api *api = sw_reader_api(report->reader, access->api);
	return access->stream == 0 || (access->kind == SW_REC_FREE && api && !strstr(api->driver, "Async"));
}

/* Plans the trial of a hazard: its calls, and the bytes that both touch. */
static void add_trial(sw_trials *trials, struct sw_report *report, struct sw_shown_finding *shown)
{
	const struct sw_finding *f = shown->finding;
	const struct sw_access *earlier = f->access[0], *later = f->access[1];
	struct sw_trial *trial = sw_vec_push(trials);
	*trial = (struct sw_trial){.shown = shown,
				   .id = f->id,
				   .later_host = !later->node && is_host(report, later),
				   .host_order = f->host_order};
	trial->fix_on_host = trial->later_host || (f->on_host && !later->node);
	trial->not_executed = report->judgement->simulated && (earlier->function || later->function);
	trial->own_order = earlier->signals || later->signals;
	trial->earlier_whole = touches_all(f, earlier);
	trial->later_whole = touches_all(f, later);
	trial->earlier_writes = is_write(earlier);
	trial->later_writes = is_write(later);
	trial->later_frees = trial->later_host && later->kind == SW_REC_FREE;
	trial->earlier = trial->after = earlier->seq;
	trial->later = trial->before = later->seq;
	const struct sw_group *group = sw_report_group_of(report, shown);
	if (group && group->edges == 1 && group->after && group->before && group->before->stream) {
		trial->after = group->after->seq;
		trial->before = group->before->seq;
	}
	if (is_race(f->id) || f->id == SW_FINDING_HOST_IN_FLIGHT)
		find_overlap(trial, report->judgement);
	trial->earlier_in_graph = earlier->node != 0;
	trial->earlier_node = earlier->node;
	if (f->id == SW_FINDING_GRAPH_BRANCH_RACE && earlier->node && later->node) {
		trial->captured = true;
		trial->earlier = earlier->node;
		trial->later = later->node;
	} else if (f->id == SW_FINDING_GRAPH_BRANCH_RACE ||
		   (f->id == SW_FINDING_USE_BEFORE_ALLOC &&
		    (f->fix == SW_FIX_EVENT_CAPTURED || f->fix == SW_FIX_USE_NODE_LATER)))
		set_doubt(trial, SW_DOUBT_ONE_LAUNCH); /* memory of the graph: its nodes cannot be put apart */
	else if (f->id == SW_FINDING_BATCH_COPY_RACE || earlier->seq == later->seq)
		set_doubt(trial, earlier->node ? SW_DOUBT_ONE_LAUNCH : SW_DOUBT_ONE_CALL);
	else if ((earlier->stream && earlier->stream == later->stream) ||
		 (earlier->kind == SW_REC_FREE && is_host(report, earlier)))
		set_doubt(trial, SW_DOUBT_ORDER_WRONG);
	else if (earlier->stream == 0)
		set_doubt(trial, SW_DOUBT_HOST_EARLIER);
	else if (later->kind == SW_REC_HOST_ACCESS && !trial->buffer)
		set_doubt(trial, SW_DOUBT_BY_INSTRUCTION);
	trial->later_access = later->kind == SW_REC_HOST_ACCESS;
}

/* Plans the trials of the hazards that are meant; false: there are none. */
bool sw_trials_make(sw_trials *trials, struct sw_report *report, const char *which)
{
	*trials = (sw_trials){0};
	for (size_t i = 0; i < report->shown.n; i++) {
		struct sw_shown_finding *shown = &report->shown.at[i];
		if (sw_is_hazard(shown->finding) && shown->finding->accesses >= 2 &&
		    sw_finding_is_meant(report, shown, which))
			add_trial(trials, report, shown);
	}
	return trials->n > 0;
}

/* Plans the trial of two calls that a text such as "117,118" names; false: it is none. */
bool sw_trials_of_calls(sw_trials *trials, const char *text)
{
	unsigned long long earlier, later;
	char more;
	*trials = (sw_trials){0};
	if (sscanf(text, "%llu,%llu%c", &earlier, &later, &more) != 2 || !earlier || !later || earlier == later)
		return false;
	*sw_vec_push(trials) = (struct sw_trial){.earlier = earlier, .later = later, .after = earlier, .before = later};
	return true;
}
