/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --all-waits: the changes together, and the order in which to fix: what saves most alone comes first, and what each
 * one adds to those before it is measured.
 *
 * Not everything that is safe alone is safe together.  The judge's advice on a wait stands on the others that documents
 * promise, and that work may leave the legacy stream was judged with all waits as they are.  Of such kinds only the one
 * that saves most is followed; the others are left out, and named.
 */
#include "confirm/savings.h"

#include <stdlib.h>
#include <string.h>

#define STEP_PAIRS 5u

enum stands_on { ON_NOTHING, ON_WAITS, ON_COPIES, ON_STREAMS, KINDS };

/* Which kind of order the change removes, that other changes may rest on. */
static enum stands_on kind_of(const struct sw_saving_trial *trial)
{
	switch (trial->shown->finding->id) {
	case SW_FINDING_OVER_WIDE_SYNC:
	case SW_FINDING_REDUNDANT_SYNC:
		return ON_WAITS;
	case SW_FINDING_SYNC_COPY:
	case SW_FINDING_SYNC_MEMSET:
		return ON_COPIES;
	case SW_FINDING_LEGACY_SERIALISATION:
		return ON_STREAMS;
	default:
		return ON_NOTHING;
	}
}

/* For qsort(): what saves most alone first. */
static int more_first(const void *a, const void *b)
{
	const struct sw_saving_step *x = a, *y = b;
	if (x->alone_ns != y->alone_ns)
		return x->alone_ns < y->alone_ns ? 1 : -1;
	return x->shown < y->shown ? -1 : x->shown > y->shown;
}

/* The trial of a step. */
static const struct sw_saving_trial *trial_of(const struct sw_savings *s, const struct sw_saving_step *step)
{
	for (size_t i = 0; i < s->trials.n; i++)
		if (s->trials.at[i].shown == step->shown)
			return &s->trials.at[i];
	return NULL;
}

/* Collects the changes that certainly save something, the largest first; where none was measured alone, all that may be
   followed, by what the report predicts. */
static void collect_steps(struct sw_savings *s)
{
	for (size_t i = 0; i < s->trials.n; i++) {
		const struct sw_saving_trial *trial = &s->trials.at[i];
		if (s->total.only && !trial->with && trial->result.verdict == SW_SAVING_UNTRIED)
			*sw_vec_push(&s->total.steps) = (struct sw_saving_step){
				trial->shown, (int64_t)trial->shown->finding->cost->recoverable_high_ns, 0, false};
		if (!trial->with && trial->result.verdict == SW_SAVING_MEASURED && trial->result.low_ns > 0)
			*sw_vec_push(&s->total.steps) =
				(struct sw_saving_step){trial->shown, trial->result.saved_ns, 0, false};
	}
	if (s->total.steps.n)
		qsort(s->total.steps.at, s->total.steps.n, sizeof *s->total.steps.at, more_first);
}

/* Leaves out changes whose safety rests on others: of the kinds of order that they remove, all but the one that saves
   most. */
static void leave_out(struct sw_savings *s)
{
	int64_t saved[KINDS] = {0};
	enum stands_on best = ON_WAITS;
	bool others = false;
	for (size_t i = 0; i < s->total.steps.n; i++)
		saved[kind_of(trial_of(s, &s->total.steps.at[i]))] += s->total.steps.at[i].alone_ns;
	for (int kind = ON_WAITS; kind < KINDS; kind++)
		best = saved[kind] > saved[best] ? (enum stands_on)kind : best;
	for (size_t i = 0; i < s->total.steps.n; i++) {
		struct sw_saving_step *step = &s->total.steps.at[i];
		const enum stands_on kind = kind_of(trial_of(s, step));
		step->left_out = kind != ON_NOTHING && kind != best;
		others |= kind == ON_NOTHING;
	}
	/* A wait that found nothing pending may find something when others do not wait. */
	for (size_t i = 0; i < s->total.steps.n; i++)
		s->total.steps.at[i].left_out |=
			others && s->total.steps.at[i].shown->finding->id == SW_FINDING_REDUNDANT_SYNC;
}

/* How many of the steps make a wait narrower. */
static size_t count_narrowed(const struct sw_savings *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->total.steps.n; i++)
		n += s->total.steps.at[i].shown->finding->id == SW_FINDING_OVER_WIDE_SYNC;
	return n;
}

/* Has the plan this call already?  Two findings may be calls of one stack, from different lines of a script. */
static bool has_site(const struct sw_plan_changes *all, const struct sw_plan_site *site)
{
	for (uint32_t i = 0; i < all->sites; i++)
		if (all->site[i].api == site->api && all->site[i].stack == site->stack)
			return true;
	return false;
}

/* Adds a trial's changes to the plan.  `whole`: also edges that are not needed as long as all other waits are made.
   False: the plan has no room for them. */
static bool add_trial(struct sw_plan_changes *all, const struct sw_saving_trial *trial, bool whole)
{
	const struct sw_plan_changes *one = &trial->changes;
	if (all->sites + one->sites > SW_PLAN_SITES || all->streams + one->streams > SW_PLAN_STREAMS)
		return false;
	for (uint32_t i = 0; i < one->sites; i++) {
		if (has_site(all, &one->site[i]))
			continue;
		struct sw_plan_site *site = &all->site[all->sites++];
		*site = whole && one->site[i].change == SW_CHANGE_NARROW ? trial->whole : one->site[i];
		for (uint32_t k = 0; k < site->needs; k++) {
			site->need[k].stream += all->streams;
			if (site->need[k].to != SW_PLAN_HOST)
				site->need[k].to += all->streams;
		}
		if (site->change == SW_CHANGE_NARROW)
			site->value = one->guard != SW_PLAN_GUARDED;
	}
	for (uint32_t i = 0; i < one->streams; i++)
		all->stream[all->streams++] = one->stream[i];
	all->eager |= one->eager;
	all->room = all->room > one->room ? all->room : one->room;
	all->guard = one->guard > all->guard ? one->guard : all->guard;
	return true;
}

/* Makes one plan of the changes up to step `last`; returns how many they are. */
static size_t merge_changes(const struct sw_savings *s, size_t last, struct sw_saving_trial *out)
{
	const bool whole = count_narrowed(s) > 1;
	size_t n = 0;
	memset(out, 0, sizeof *out);
	for (size_t i = 0; i <= last; i++) {
		struct sw_saving_step *step = &s->total.steps.at[i];
		const struct sw_saving_trial *trial = trial_of(s, step);
		if (step->left_out)
			continue;
		step->left_out = !add_trial(&out->changes, trial, whole);
		n += !step->left_out;
		out->result.did = trial->result.did;
		out->result.change = trial->result.change;
	}
	out->guarded = out->changes.guard == SW_PLAN_GUARDED;
	if (n > 1) {
		out->result.did = "all of these changes together";
		out->result.change = NULL;
	}
	return n;
}

/* Measures all changes up to this step in one run. */
static int measure_together(struct sw_savings *s, size_t last, struct sw_saving *out)
{
	struct sw_saving_trial all;
	int status = SW_EXIT_OK;
	const size_t n = merge_changes(s, last, &all);
	if (n == 1 && !s->total.only) {
		/* The result of one change alone was measured already. */
		for (size_t i = 0; i <= last; i++)
			if (!s->total.steps.at[i].left_out)
				*out = trial_of(s, &s->total.steps.at[i])->result;
		out->runs = 0;
		return SW_EXIT_OK;
	}
	if (all.guarded)
		status = sw_saving_rehearse(s, &all);
	if (!status && all.result.verdict == SW_SAVING_UNTRIED)
		status = sw_saving_measure(s, &all.changes, &all.result);
	*out = all.result;
	return status;
}

/* Measures all changes that saved something together, and what each adds to those before it. */
int sw_savings_together(struct sw_savings *s)
{
	const uint32_t most_pairs = s->most_pairs;
	int status = SW_EXIT_OK;
	collect_steps(s);
	leave_out(s);
	const size_t n = s->total.steps.n;
	if (n)
		status = measure_together(s, n - 1, &s->total.all);
	s->most_pairs = STEP_PAIRS;
	for (size_t i = 0; i < n && !status && !s->total.only; i++) {
		struct sw_saving step = s->total.all;
		if (s->total.steps.at[i].left_out)
			continue;
		if (i + 1 < n)
			status = measure_together(s, i, &step);
		s->total.steps.at[i].total_ns = step.verdict == SW_SAVING_MEASURED ? step.saved_ns : 0;
	}
	s->most_pairs = most_pairs;
	s->total.tried = true;
	return status;
}
