/* SPDX-License-Identifier: Apache-2.0 */
/* All waits of a report, one after the other. */
#include "confirm/savings.h"

#include <stdio.h>
#include <stdlib.h>

/* Runs of a program differ by about such a share (doc/confirm.md). */
#define LITTLE 200u

/* Says how a trial ended. */
static void tell_step(const struct sw_savings *s, size_t at)
{
	const struct sw_saving_trial *trial = &s->trials.at[at];
	fprintf(stderr, "syncwatch: %zu of %zu: SW%03d %s\n", at + 1, s->trials.n, trial->shown->finding->id,
		sw_saving_key(trial->result.verdict));
}

/* Is there any change to try? */
static bool any_change(const struct sw_savings *s)
{
	for (size_t i = 0; i < s->trials.n; i++)
		if (s->trials.at[i].result.verdict == SW_SAVING_UNTRIED)
			return true;
	return false;
}

/* Refuses to try the change, for this reason. */
static void refuse_trial(struct sw_saving_trial *trial, enum sw_saving_reason why)
{
	trial->result.verdict = SW_SAVING_REFUSED;
	trial->result.reason = why;
}

/* The predicted saving of all findings that have this change. */
static int64_t predicted_saving(const struct sw_savings *s, const struct sw_saving_trial *trial)
{
	const size_t number = (size_t)(trial - s->trials.at) + 1;
	int64_t sum = (int64_t)trial->shown->finding->cost->recoverable_high_ns;
	for (size_t i = 0; i < s->trials.n; i++)
		if (s->trials.at[i].with == number)
			sum += (int64_t)s->trials.at[i].shown->finding->cost->recoverable_high_ns;
	return sum;
}

/* Refuses to load all code at the start where that takes longer, as measured now, than it may save: among other changes
   it would hide what they save. */
static int bound_loading(struct sw_savings *s, struct sw_saving_trial *trial)
{
	const int64_t most = predicted_saving(s, trial);
	int64_t cost;
	if ((uint64_t)most < s->in->span_ns / LITTLE) {
		refuse_trial(trial, SW_SAVING_BY_LITTLE);
		return SW_EXIT_OK;
	}
	const int status = sw_saving_cost(s, &trial->changes, &trial->result, &cost);
	if (!status && trial->result.verdict == SW_SAVING_UNTRIED && cost > most)
		refuse_trial(trial, SW_SAVING_BY_COST);
	return status;
}

/* Tries one change: each step may refuse it, the last one measures. */
static int try_one(struct sw_savings *s, struct sw_saving_trial *trial)
{
	const enum sw_saving_verdict *verdict = &trial->result.verdict;
	int status = SW_EXIT_OK;
	if (*verdict == SW_SAVING_UNTRIED && trial->n_moved)
		status = sw_saving_judge_moved(s, trial);
	if (!status && *verdict == SW_SAVING_UNTRIED && trial->guarded)
		status = sw_saving_rehearse(s, trial);
	if (!status && *verdict == SW_SAVING_UNTRIED && trial->changes.sites &&
	    trial->changes.site[0].change == SW_CHANGE_NARROW)
		status = sw_saving_judge_narrowed(s, trial);
	if (!status && *verdict == SW_SAVING_UNTRIED && s->total.only && trial->changes.eager)
		status = bound_loading(s, trial);
	if (!status && *verdict == SW_SAVING_UNTRIED && !s->total.only)
		status = sw_saving_measure(s, &trial->changes, &trial->result);
	return status;
}

/* Tries the changes of all waits, one after the other. */
int sw_savings_try(struct sw_savings *s)
{
	const uint32_t most_runs = s->most_runs;
	int status = any_change(s) ? sw_baseline_make(s->in, &s->baseline) : SW_EXIT_OK;
	for (size_t i = 0; i < s->trials.n && !status; i++) {
		struct sw_saving_trial *trial = &s->trials.at[i];
		if (trial->with)
			continue;
		s->most_runs = most_runs > s->kept_runs ? most_runs - s->kept_runs : 0;
		status = try_one(s, trial);
		tell_step(s, i);
	}
	s->most_runs = most_runs;
	for (size_t i = 0; i < s->trials.n; i++) {
		struct sw_saving_trial *trial = &s->trials.at[i];
		if (trial->with) {
			trial->result = s->trials.at[trial->with - 1].result;
			trial->result.runs = 0;
		}
	}
	return status;
}

/* Frees the trials. */
void sw_savings_free(struct sw_savings *s)
{
	sw_baseline_free(s->baseline);
	free(s->trials.at);
	free(s->total.steps.at);
}
