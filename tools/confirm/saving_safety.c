/* SPDX-License-Identifier: Apache-2.0 */
/* Is the order needed that goes away when work leaves the legacy default stream?  The trace is judged without it. */
#include "confirm/savings.h"

/* The judge sees what every piece of work touches: else no hazard says nothing. */
static bool all_is_known(const struct sw_judgement *j)
{
	const struct sw_coverage *c = &j->coverage;
	return !c->indirect_kernels && !c->symbol_kernels && !c->object_kernels && !c->wild_kernels &&
	       !c->codeless_kernels && !c->unreadable_kernels && !c->unknown_graph_launches && !c->unclassified_calls &&
	       !c->records_lost && !c->unknown_streams && !c->forgotten_accesses;
}

static bool has(const struct sw_report *report, uint64_t fingerprint)
{
	for (size_t i = 0; i < report->shown.n; i++)
		if (report->shown.at[i].fingerprint == fingerprint)
			return true;
	return false;
}

static bool new_hazard(const struct sw_report *before, const struct sw_report *with)
{
	for (size_t i = 0; i < with->shown.n; i++)
		if (sw_is_hazard(with->shown.at[i].finding) && !has(before, with->shown.at[i].fingerprint))
			return true;
	return false;
}

static void refuse(struct sw_saving_trial *trial, enum sw_saving_reason why)
{
	trial->result.verdict = SW_SAVING_REFUSED;
	trial->result.reason = why;
}

int sw_saving_judge_moved(struct sw_savings *savings, struct sw_saving_trial *trial)
{
	const struct sw_judge_options more = {.moved = trial->moved, .n_moved = trial->n_moved};
	struct sw_analysis analysis, base;
	/* Possible hazards count, too. */
	struct sw_options options = *savings->in->options;
	options.all = true;
	int status = sw_analysis_judge_more(&base, savings->trace, &options, true, NULL);
	if (!status && base.report) {
		status = sw_analysis_judge_more(&analysis, savings->trace, &options, true, &more);
		if (!status && analysis.report && !all_is_known(analysis.judgement))
			refuse(trial, SW_SAVING_BY_UNKNOWN);
		else if (!status && (!analysis.report || new_hazard(base.report, analysis.report)))
			refuse(trial, SW_SAVING_BY_HAZARD);
		sw_analysis_free(&analysis);
	}
	sw_analysis_free(&base);
	return status;
}
