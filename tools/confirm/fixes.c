/* SPDX-License-Identifier: Apache-2.0 */
/* The edges of the advice, put in at run time: all of them in one run, each judged alone. */
#include <stdlib.h>

#include "confirm/confirm_run.h"

/* The finding with this fingerprint in the report; NULL: it is not there. */
static const struct sw_shown_finding *find_shown(const struct sw_report *report, uint64_t fingerprint)
{
	for (size_t i = 0; i < report->shown.n; i++)
		if (report->shown.at[i].fingerprint == fingerprint)
			return &report->shown.at[i];
	return NULL;
}

/* Did the edges remove the finding, and did other errors appear with them? */
static enum sw_fix_check compare_reports(const struct sw_report *before, const struct sw_report *with,
					 uint64_t fingerprint)
{
	if (find_shown(with, fingerprint))
		return SW_FIX_STAYS;
	for (size_t i = 0; i < with->shown.n; i++) {
		const struct sw_shown_finding *shown = &with->shown.at[i];
		if (shown->finding->severity == SW_ERROR && !shown->suppressed &&
		    !find_shown(before, shown->fingerprint))
			return SW_FIX_OTHERS;
	}
	return SW_FIX_VERIFIED;
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

/* Does the trial's advice name two calls, between which an edge can be put? */
static bool has_edge(const struct sw_trial *trial)
{
	const enum sw_doubt doubt = trial->result.doubt;
	return !trial->captured && doubt != SW_DOUBT_ONE_LAUNCH && doubt != SW_DOUBT_ONE_CALL &&
	       doubt != SW_DOUBT_ORDER_WRONG && trial->after_call.api && trial->before_call.api;
}

/* Are two edges between the same places in the program? */
static bool same_place(const struct sw_plan_edge *a, const struct sw_plan_edge *b)
{
	return a->fix == b->fix && a->after_api == b->after_api && a->after_stack == b->after_stack &&
	       a->before_api == b->before_api && a->before_stack == b->before_stack;
}

/* Adds the edge that a finding's advice makes to the plan.  False: there is no room. */
static bool add_edge(struct sw_hold_plan *plan, uint32_t fix, const struct sw_trial *trial)
{
	const struct sw_plan_edge edge = {.fix = fix,
					  .host = trial->fix_on_host,
					  .threads = trial->after_call.thread != trial->before_call.thread,
					  .after_api = trial->after_call.api,
					  .after_stack = trial->after_call.stack,
					  .before_api = trial->before_call.api,
					  .before_stack = trial->before_call.stack};
	for (uint32_t i = 0; i < plan->edges; i++)
		if (same_place(&plan->edge[i], &edge))
			return true;
	if (plan->edges == SW_PLAN_EDGES)
		return false;
	plan->edge[plan->edges++] = edge;
	return true;
}

/* Adds the edges of a finding's advice to the plan: of all findings of this line of the source, which may be several
   stacks, as the advice is for the line.  False: there is no room for the first of them. */
static bool add_fix(struct sw_hold_plan *plan, uint32_t fix, const sw_trials *trials, const struct sw_trial *trial)
{
	const uint32_t edges = plan->edges;
	bool fits = true;
	for (size_t i = 0; i < trials->n && fits; i++)
		if (trials->at[i].shown->fingerprint == trial->shown->fingerprint && has_edge(&trials->at[i]))
			fits = add_edge(plan, fix, &trials->at[i]);
	/* More places than a run has room for: those that it has. */
	if (!fits && edges)
		plan->edges = edges;
	return fits || !edges;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

typedef SW_VEC(struct sw_added_edge) added_edges;

/* Adds the edges of one fix, as the judge takes them. */
static void take_added(const struct sw_outcome *outcome, uint32_t fix, bool on_host, added_edges *out)
{
	for (size_t i = 0; i < outcome->edges.n; i++) {
		const struct sw_outcome_edge *edge = &outcome->edges.at[i];
		if (edge->fix != fix)
			continue;
		*sw_vec_push(out) = edge->added;
		if (on_host && edge->added.end == SW_EDGE_BEFORE)
			out->at[out->n - 1].end = SW_EDGE_BEFORE_ON_HOST;
	}
}

/* How many waits the added edges are: a call that waits for several events waits once. */
static uint64_t count_waits(const added_edges *added)
{
	uint64_t n = 0, last = 0;
	for (size_t i = 0; i < added->n; i++) {
		const struct sw_added_edge *edge = &added->at[i];
		n += edge->end != SW_EDGE_AFTER && edge->seq != last;
		last = edge->end != SW_EDGE_AFTER ? edge->seq : last;
	}
	return n;
}

/* Judges the run as it was with the edges of one fix, as if it had no others. */
static void judge_fix(const struct sw_confirm_run *run, uint32_t fix, uint32_t together, struct sw_trial *trial)
{
	struct sw_analysis analysis;
	added_edges added = {0};
	take_added(&run->outcome, fix, trial->fix_on_host, &added);
	const struct sw_judge_options more = {.added = added.at, .n_added = added.n};
	if (added.n) {
		int status = sw_analysis_judge_more(&analysis, run->trace, run->in->options, true, &more);
		if (!status && analysis.report) {
			struct sw_confirmation *c = &trial->result;
			c->fix = compare_reports(run->in->report, analysis.report, trial->shown->fingerprint);
			c->edges = count_waits(&added);
			c->fix_waited_ns = run->outcome.waits[fix].ns;
			c->fix_timed = run->outcome.waits[fix].timed;
			c->fix_together = together;
		}
		sw_analysis_free(&analysis);
	}
	free(added.at);
}

/* Runs the program with the fixes of these trials in it.  *usable: the run says something of them. */
static int try_together(struct sw_experiments *in, struct sw_hold_plan *plan, struct sw_trial *const *trials,
			uint32_t n, bool *usable)
{
	struct sw_confirm_run run = {0};
	const int status = sw_confirm_run_begin(&run, in, plan);
	*usable = !status && run.has_outcome && !run.outcome.refused && !run.stopped;
	for (uint32_t i = 0; i < n; i++) {
		trials[i]->result.runs++;
		if (*usable)
			judge_fix(&run, i, n, trials[i]);
	}
	sw_confirm_run_end(&run, false);
	return status;
}

/* A plan without edges. */
static struct sw_hold_plan empty_plan(const struct sw_experiments *in)
{
	return (struct sw_hold_plan){.mode = SW_PLAN_EDGE, .bound_ns = in->hold_ns, .total_ns = in->most_ns};
}

/* Tries the fix of one trial in a run of its own. */
static int try_alone(struct sw_experiments *in, const sw_trials *trials, struct sw_trial *trial)
{
	struct sw_hold_plan plan = empty_plan(in);
	bool usable;
	add_fix(&plan, 0, trials, trial);
	return try_together(in, &plan, &trial, 1, &usable);
}

/* Tries the fixes of all trials, as many together as a plan holds. */
int sw_experiment_fixes(struct sw_experiments *in, sw_trials *trials, uint32_t most_runs)
{
	int status = SW_EXIT_OK;
	for (size_t next = 0; next < trials->n && !status && in->runs < most_runs;) {
		struct sw_hold_plan plan = empty_plan(in);
		struct sw_trial *meant[SW_PLAN_EDGES];
		uint32_t n = 0;
		bool usable = true;
		for (; next < trials->n && n < SW_PLAN_EDGES; next++) {
			struct sw_trial *trial = &trials->at[next];
			if (!has_edge(trial))
				continue;
			if (!add_fix(&plan, n, trials, trial))
				break;
			meant[n++] = trial;
		}
		if (n)
			status = try_together(in, &plan, meant, n, &usable);
		for (uint32_t i = 0; i < n && n > 1 && !usable && !status && in->runs < most_runs; i++)
			status = try_alone(in, trials, meant[i]);
	}
	return status;
}
