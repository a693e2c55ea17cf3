/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs without and with a change, in pairs: what differs slowly (clocks, heat, other programs) is the same for both.
 */
#include "confirm/savings.h"

#include <stdlib.h>

#include "base/counted.h"
#include "confirm/bootstrap.h"

#define LEAST_PAIRS 5u
/* Enough is known when the interval is narrower on both sides than a share of what is saved, or of the run. */
#define SHARE_OF_SAVED 40
#define SHARE_OF_RUN   200

/* For the whole run, and for the stretch in which the changed calls lie. */
struct pairs {
	int64_t saved[SW_BOOTSTRAP_MOST], base[SW_BOOTSTRAP_MOST], before[SW_BOOTSTRAP_MOST], once[SW_BOOTSTRAP_MOST];
	struct sw_marks marks[2][SW_BOOTSTRAP_MOST]; /* without the change, with it */
	size_t n;
};

struct timed_run {
	uint64_t span, before; /* span 0: it says nothing */
	struct sw_marks marks;
};

/* Is the saving known well enough to stop: is its interval narrow? */
static bool known_well(int64_t base, const struct sw_interval *saved)
{
	const int64_t of_saved = (saved->middle < 0 ? -saved->middle : saved->middle) / SHARE_OF_SAVED;
	const int64_t enough = of_saved > base / SHARE_OF_RUN ? of_saved : base / SHARE_OF_RUN;
	return saved->high - saved->middle <= enough && saved->middle - saved->low <= enough;
}

/* Runs the program once, with or without the change; why a run with it says nothing goes into `out`. */
static int run_once(struct sw_savings *s, const struct sw_plan_changes *changes, struct sw_saving *out,
		    struct timed_run *timed)
{
	struct sw_run_results *run;
	struct sw_saving seen = *out;
	const int status = sw_run_results_make(s->in, changes, false, &run);
	timed->span = status ? 0 : sw_run_results_span(run);
	timed->before = sw_run_results_before(run);
	sw_run_results_take_marks(run, &timed->marks);
	out->runs++;
	if (!status && !changes->dry && !sw_baseline_same(s->baseline, run, &seen)) {
		out->verdict = seen.verdict;
		out->reason = seen.reason;
		timed->span = 0;
	} else if (!status && !timed->span) {
		out->verdict = SW_SAVING_INCONCLUSIVE;
		out->reason = SW_SAVING_BY_NO_SPAN;
	}
	sw_run_results_free(run);
	return status;
}

/* Changes that find and time their calls and make them as they are: both runs of a pair look for the calls. */
static struct sw_plan_changes dry_changes(const struct sw_plan_changes *changes)
{
	struct sw_plan_changes dry = *changes;
	dry.dry = true;
	dry.eager = false;
	dry.room = 0;
	dry.guard = SW_PLAN_UNGUARDED;
	return dry;
}

/* Writes the times of a pair of runs into the log. */
static void tell_pair(const struct sw_savings *s, const struct timed_run *runs)
{
	for (size_t i = 0; i < 2 && s->in->log; i++) {
		const struct sw_marks *m = &runs[i].marks;
		fprintf(s->in->log, "  %s: run %.3f ms, before it %.3f ms", i ? "with the change" : "as it is",
			(double)runs[i].span / 1e6, (double)runs[i].before / 1e6);
		if (m->at.n)
			fprintf(s->in->log, "; %zu %s in %.3f ms; once %.3f ms", m->at.n,
				sw_plural(m->at.n, "call", "calls"), (double)(m->end_ns - m->at.at[0].ns) / 1e6,
				(double)m->once_ns / 1e6);
		fputc('\n', s->in->log);
	}
}

/* Runs the program as it is and with the change, in turn, and adds both times to the pairs. */
static int run_pair(struct sw_savings *s, const struct sw_plan_changes *changes, struct sw_saving *out,
		    struct pairs *pairs)
{
	const struct sw_plan_changes dry = dry_changes(changes);
	struct timed_run runs[2] = {{.span = 0}, {.span = 0}};
	const size_t n = pairs->n;
	int status = SW_EXIT_OK;
	/* Now this one first, now the other. */
	for (uint32_t i = 0; i < 2 && !status && (!i || runs[0].span || runs[1].span); i++) {
		const size_t which = (n + i) % 2;
		status = run_once(s, which ? changes : &dry, out, &runs[which]);
	}
	for (size_t i = 0; i < 2; i++)
		pairs->marks[i][n] = runs[i].marks;
	if (status || !runs[0].span || !runs[1].span) {
		for (size_t i = 0; i < 2; i++)
			sw_marks_free(&pairs->marks[i][n]);
		return status;
	}
	pairs->base[n] = (int64_t)runs[0].span;
	pairs->before[n] = (int64_t)runs[1].before - (int64_t)runs[0].before;
	pairs->once[n] = (int64_t)runs[1].marks.once_ns;
	pairs->saved[n] = (int64_t)runs[0].span - (int64_t)runs[1].span;
	pairs->n++;
	tell_pair(s, runs);
	return SW_EXIT_OK;
}

/* Runs with the change, and compares what the run leaves.  *spoilt: a copy brought other bytes than its memory held. */
static int check_once(struct sw_savings *s, const struct sw_plan_changes *changes, struct sw_saving *out, bool *same,
		      bool *spoilt)
{
	struct sw_run_results *run;
	const int status = sw_run_results_make(s->in, changes, true, &run);
	out->runs++;
	*spoilt = sw_run_results_spoilt(run) > 0;
	*same = !status && sw_baseline_same(s->baseline, run, out);
	sw_run_results_free(run);
	return status;
}

/* Checks whether results stay the same with the change.  Where memory that is pinned does not stay as it is until its
   copy is done, its bytes are taken first. */
static int check_change(struct sw_savings *s, struct sw_plan_changes *changes, struct sw_saving *out, bool *same)
{
	bool spoilt;
	int status = check_once(s, changes, out, same, &spoilt);
	if (status || !spoilt)
		return status;
	for (uint32_t i = 0; i < changes->sites; i++)
		if (changes->site[i].change == SW_CHANGE_PIN)
			changes->site[i].change = SW_CHANGE_STAGE;
	sw_saving_staged(out);
	*out = (struct sw_saving){.change = out->change, .did = out->did, .runs = out->runs};
	return check_once(s, changes, out, same, &spoilt);
}

/* Concludes from the pairs so far.  False: they are too few to be sure. */
static bool conclude_saving(struct sw_savings *s, struct pairs *pairs, bool tell, struct sw_saving *out)
{
	struct sw_saving_stretch stretch;
	sw_saving_compare(pairs->marks[0], pairs->marks[1], pairs->n, tell ? s->in->log : NULL, &stretch);
	const struct sw_interval whole = sw_bootstrap_median(pairs->saved, pairs->n);
	const int64_t whole_base = sw_bootstrap_median(pairs->base, pairs->n).middle;
	out->once_ns = sw_bootstrap_median(pairs->once, pairs->n).middle;
	/* The whole run is what a user waits for.  The stretch is compared where whole runs differ by too much. */
	if (!out->once_ns && known_well(whole_base, &whole))
		stretch.parts = stretch.left_out = 0;
	const struct sw_interval saved = stretch.parts ? stretch.saved : whole;
	const int64_t base = stretch.parts ? stretch.base_ns : whole_base;
	out->pairs = (uint32_t)pairs->n;
	out->saved_ns = saved.middle;
	out->low_ns = saved.low;
	out->high_ns = saved.high;
	out->base_ns = (uint64_t)base;
	out->parts = stretch.parts;
	out->left_out = stretch.left_out;
	out->left_out_ns = stretch.left_out ? stretch.left_out_ns : 0;
	out->whole_ns = whole.middle;
	out->whole_low_ns = whole.low;
	out->whole_high_ns = whole.high;
	out->whole_base_ns = (uint64_t)whole_base;
	out->before_ns = sw_bootstrap_median(pairs->before, pairs->n).middle;
	return pairs->n >= LEAST_PAIRS && known_well(base, &saved);
}

/* Measures pairs of runs until the saving is known well, or there are too many. */
static int measure_pairs(struct sw_savings *s, const struct sw_plan_changes *changes, struct sw_saving *out)
{
	struct pairs *pairs = sw_calloc(1, sizeof *pairs);
	bool same = true, enough = false;
	int status = SW_EXIT_OK;
	while (!status && same && !enough && pairs->n < s->most_pairs && s->in->runs + 2 <= s->most_runs) {
		const size_t before = pairs->n;
		status = run_pair(s, changes, out, pairs);
		same = pairs->n > before;
		enough = same && conclude_saving(s, pairs, false, out);
	}
	if (!status && same && pairs->n >= LEAST_PAIRS) {
		conclude_saving(s, pairs, true, out);
		out->verdict = SW_SAVING_MEASURED;
		out->reason = SW_SAVING_BY_NONE;
	}
	for (size_t i = 0; i < 2 * pairs->n; i++)
		sw_marks_free(&pairs->marks[i % 2][i / 2]);
	free(pairs);
	return status;
}

/* Checks the results with these changes, then measures in pairs of runs. */
int sw_saving_measure(struct sw_savings *s, const struct sw_plan_changes *wanted, struct sw_saving *out)
{
	struct sw_plan_changes changes = *wanted;
	bool same;
	/* A check, and as many pairs as it takes to say anything. */
	if (s->in->runs + 1 + 2 * LEAST_PAIRS > s->most_runs) {
		out->verdict = SW_SAVING_INCONCLUSIVE;
		out->reason = SW_SAVING_BY_RUNS;
		return SW_EXIT_OK;
	}
	const int status = check_change(s, &changes, out, &same);
	return status || !same ? status : measure_pairs(s, &changes, out);
}

/* How much longer one run takes with the change, all in all. */
int sw_saving_cost(struct sw_savings *s, const struct sw_plan_changes *changes, struct sw_saving *out, int64_t *cost_ns)
{
	const struct sw_plan_changes dry = dry_changes(changes);
	struct timed_run as_it_is = {.span = 0}, changed = {.span = 0};
	int status = run_once(s, &dry, out, &as_it_is);
	if (!status && as_it_is.span)
		status = run_once(s, changes, out, &changed);
	*cost_ns = changed.span ? (int64_t)(changed.span + changed.before) - (int64_t)(as_it_is.span + as_it_is.before)
				: INT64_MAX;
	if (changed.span && s->in->log)
		fprintf(s->in->log, "  the change costs %.3f ms in all\n", (double)*cost_ns / 1e6);
	sw_marks_free(&as_it_is.marks);
	sw_marks_free(&changed.marks);
	return status;
}

/* A run in which only the guard knows of the change: the host must not use the memory that it would not wait for. */
int sw_saving_rehearse(struct sw_savings *s, struct sw_saving_trial *trial)
{
	struct sw_run_results *run;
	bool unseen;
	trial->changes.guard = SW_PLAN_REHEARSED;
	const int status = sw_run_results_make(s->in, &trial->changes, false, &run);
	const bool used = sw_run_results_host_uses(run, &unseen) > 0;
	trial->result.runs++;
	trial->changes.guard = used || unseen ? SW_PLAN_UNGUARDED : SW_PLAN_GUARDED;
	if (!trial->host_stays && (used || unseen)) {
		trial->result.verdict = SW_SAVING_REFUSED;
		trial->result.reason = used ? SW_SAVING_BY_HOST_USES : SW_SAVING_BY_NOT_SEEN;
	}
	sw_run_results_free(run);
	return status;
}
