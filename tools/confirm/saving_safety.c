/* SPDX-License-Identifier: Apache-2.0 */
/* Is the order needed that goes away?  The trace is judged without it. */
#include "confirm/savings.h"

/* Does the judge see what every piece of work touches?  Else that it finds no hazard says nothing. */
static bool all_is_known(const struct sw_judgement *j)
{
	const struct sw_coverage *c = &j->coverage;
	return !c->indirect_kernels && !c->symbol_kernels && !c->object_kernels && !c->wild_kernels &&
	       !c->codeless_kernels && !c->unreadable_kernels && !c->unknown_graph_launches && !c->unclassified_calls &&
	       !c->records_lost && !c->unknown_streams && !c->forgotten_accesses;
}

/* Has the report a finding with this fingerprint? */
static bool has_finding(const struct sw_report *report, uint64_t fingerprint)
{
	for (size_t i = 0; i < report->shown.n; i++)
		if (report->shown.at[i].fingerprint == fingerprint)
			return true;
	return false;
}

/* Has the second report a hazard that the first one has not? */
static bool new_hazard(const struct sw_report *before, const struct sw_report *with)
{
	for (size_t i = 0; i < with->shown.n; i++)
		if (sw_is_hazard(with->shown.at[i].finding) && !has_finding(before, with->shown.at[i].fingerprint))
			return true;
	return false;
}

/* Refuses to try the change, for this reason. */
static void refuse_trial(struct sw_saving_trial *trial, enum sw_saving_reason why)
{
	trial->result.verdict = SW_SAVING_REFUSED;
	trial->result.reason = why;
}

/* Judges the trace as it is, and with what `more` says.  *safe: all is known, and no hazard is new; *why: else. */
static int judge_with(struct sw_savings *savings, const struct sw_judge_options *more, bool *safe,
		      enum sw_saving_reason *why)
{
	struct sw_analysis analysis, base;
	/* Possible hazards count, too. */
	struct sw_options options = *savings->in->options;
	options.all = true;
	*safe = false;
	*why = SW_SAVING_BY_HAZARD;
	int status = sw_analysis_judge_more(&base, savings->trace, &options, true, NULL);
	if (!status && base.report && !all_is_known(base.judgement)) {
		*why = SW_SAVING_BY_UNKNOWN;
	} else if (!status && base.report) {
		status = sw_analysis_judge_more(&analysis, savings->trace, &options, true, more);
		*safe = !status && analysis.report && !new_hazard(base.report, analysis.report);
		sw_analysis_free(&analysis);
	}
	sw_analysis_free(&base);
	return status;
}

/* Judges the trace as if the work that moves were on a stream of its own, and refuses the trial where its order is
   needed. */
int sw_saving_judge_moved(struct sw_savings *savings, struct sw_saving_trial *trial)
{
	const struct sw_judge_options more = {.moved = trial->moved, .n_moved = trial->n_moved};
	enum sw_saving_reason why;
	bool safe;
	const int status = judge_with(savings, &more, &safe, &why);
	if (!status && !safe)
		refuse_trial(trial, why);
	return status;
}

/* ---- narrowed waits ---------------------------------------------------------------------------------------------- */

/* Describes the wait of the trial as it is when only the edges of `mask` stay.  With the guard the host waits for
   nothing. */
static void narrow_site(const struct sw_savings *savings, const struct sw_saving_trial *trial, uint32_t mask,
			struct sw_narrowed_site *out)
{
	const struct sw_finding *f = trial->shown->finding;
	const struct sw_judgement *j = savings->in->report->judgement;
	*out = (struct sw_narrowed_site){.api = f->access[0]->api, .stack = f->access[0]->stack};
	for (uint32_t i = 0; i < sw_finding_details(f)->needs; i++) {
		const struct sw_need *need = &sw_finding_details(f)->need[i];
		const bool host = !need->to;
		if (!(mask & 1u << i) || (host && trial->changes.guard == SW_PLAN_GUARDED))
			continue;
		out->edge[out->n].from = j->streams.at[need->stream].handle;
		out->edge[out->n].to = host ? 0 : j->streams.at[need->to].handle;
		out->edge[out->n++].on_host = host;
	}
}

/* Is there no new hazard when only these edges (bits) of the advice are kept? */
static int is_enough(struct sw_savings *savings, const struct sw_saving_trial *trial, uint32_t mask, bool *enough)
{
	struct sw_narrowed_site site;
	enum sw_saving_reason why;
	const struct sw_judge_options more = {.narrowed = &site, .n_narrowed = 1};
	narrow_site(savings, trial, mask, &site);
	return judge_with(savings, &more, enough, &why);
}

/* Leaves in the plan only the needed edges of `mask`: they are those of the finding, in its order. */
static void keep_needs(struct sw_plan_site *site, uint32_t mask)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < site->needs; i++)
		if (mask & 1u << i)
			site->need[n++] = site->need[i];
	site->needs = n;
}

/* Leaves out each edge of the advice without which there is no hazard either. */
int sw_saving_judge_narrowed(struct sw_savings *savings, struct sw_saving_trial *trial)
{
	struct sw_plan_site *site = &trial->changes.site[0];
	uint32_t mask = (1u << site->needs) - 1;
	bool enough;
	trial->whole = *site;
	int status = is_enough(savings, trial, mask, &enough);
	/* Not even what the advice keeps: it stands on what the judge does not see, and the host waits as it says. */
	if (status || !enough) {
		trial->changes.guard = SW_PLAN_UNGUARDED;
		return status;
	}
	for (uint32_t i = 0; i < site->needs && !status; i++) {
		if (site->need[i].to == SW_PLAN_HOST)
			continue;
		status = is_enough(savings, trial, mask & ~(1u << i), &enough);
		if (!status && enough)
			mask &= ~(1u << i);
	}
	keep_needs(site, mask);
	return status;
}
