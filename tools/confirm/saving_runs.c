/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs without and with a change, in pairs: what differs slowly (clocks, heat, other programs) is the same for both.
 */
#include "confirm/savings.h"

#include "confirm/bootstrap.h"

#define LEAST_PAIRS 5u
/* Enough is known when the interval is narrower on both sides than a share of what is saved, or of the run. */
#define SHARE_OF_SAVED 40
#define SHARE_OF_RUN   200

struct pairs {
	int64_t saved[SW_BOOTSTRAP_MOST], base[SW_BOOTSTRAP_MOST], before[SW_BOOTSTRAP_MOST];
	size_t n;
};

static bool known_well(const struct pairs *pairs, const struct sw_interval *saved)
{
	const int64_t base = sw_bootstrap_median(pairs->base, pairs->n).middle;
	const int64_t of_saved = (saved->middle < 0 ? -saved->middle : saved->middle) / SHARE_OF_SAVED;
	const int64_t enough = of_saved > base / SHARE_OF_RUN ? of_saved : base / SHARE_OF_RUN;
	return saved->high - saved->middle <= enough && saved->middle - saved->low <= enough;
}

/* One run; its span, 0: it says nothing, and why is filled where it is one with the change. */
static int run_once(struct sw_savings *s, const struct sw_plan_changes *changes, struct sw_saving *out, uint64_t *span,
		    uint64_t *before)
{
	struct sw_run_results *run;
	struct sw_saving seen = *out;
	const int status = sw_run_results_make(s->in, changes, false, &run);
	*span = status ? 0 : sw_run_results_span(run);
	*before = sw_run_results_before(run);
	out->runs++;
	if (!status && changes && !sw_baseline_same(s->baseline, run, &seen)) {
		out->verdict = seen.verdict;
		out->reason = seen.reason;
		*span = 0;
	} else if (!status && !*span) {
		out->verdict = SW_SAVING_INCONCLUSIVE;
		out->reason = SW_SAVING_BY_NO_SPAN;
	}
	sw_run_results_free(run);
	return status;
}

static int run_pair(struct sw_savings *s, const struct sw_plan_changes *changes, struct sw_saving *out,
		    struct pairs *pairs)
{
	uint64_t span[2] = {0}, before[2] = {0};
	int status = SW_EXIT_OK;
	/* Now this one first, now the other. */
	for (uint32_t i = 0; i < 2 && !status && (!i || span[0] || span[1]); i++) {
		const size_t which = (pairs->n + i) % 2;
		status = run_once(s, which ? changes : NULL, out, &span[which], &before[which]);
	}
	if (!status && span[0] && span[1]) {
		pairs->base[pairs->n] = (int64_t)span[0];
		pairs->before[pairs->n] = (int64_t)before[1] - (int64_t)before[0];
		pairs->saved[pairs->n++] = (int64_t)span[0] - (int64_t)span[1];
	}
	return status;
}

static int check(struct sw_savings *s, const struct sw_plan_changes *changes, struct sw_saving *out, bool *same)
{
	struct sw_run_results *run;
	const int status = sw_run_results_make(s->in, changes, true, &run);
	out->runs++;
	*same = !status && sw_baseline_same(s->baseline, run, out);
	sw_run_results_free(run);
	return status;
}

int sw_saving_measure(struct sw_savings *s, const struct sw_plan_changes *changes, struct sw_saving *out)
{
	struct pairs pairs = {.n = 0};
	struct sw_interval saved = {0};
	bool same, enough = false;
	/* A check, and as many pairs as it takes to say anything. */
	if (s->in->runs + 1 + 2 * LEAST_PAIRS > s->most_runs) {
		out->verdict = SW_SAVING_INCONCLUSIVE;
		out->reason = SW_SAVING_BY_RUNS;
		return SW_EXIT_OK;
	}
	int status = check(s, changes, out, &same);
	while (!status && same && !enough && pairs.n < s->most_pairs) {
		const size_t before = pairs.n;
		if (s->in->runs + 2 > s->most_runs)
			break;
		status = run_pair(s, changes, out, &pairs);
		same = pairs.n > before;
		saved = sw_bootstrap_median(pairs.saved, pairs.n);
		enough = same && pairs.n >= LEAST_PAIRS && known_well(&pairs, &saved);
	}
	if (status || !same || pairs.n < LEAST_PAIRS)
		return status;
	out->verdict = SW_SAVING_MEASURED;
	out->reason = SW_SAVING_BY_NONE;
	out->pairs = (uint32_t)pairs.n;
	out->saved_ns = saved.middle;
	out->low_ns = saved.low;
	out->high_ns = saved.high;
	out->before_ns = sw_bootstrap_median(pairs.before, pairs.n).middle;
	out->base_ns = (uint64_t)sw_bootstrap_median(pairs.base, pairs.n).middle;
	return status;
}

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
