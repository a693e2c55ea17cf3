/* SPDX-License-Identifier: Apache-2.0 */
/* What the run would gain from a change. */
#include "schedule/nodes.h"

#include <stdlib.h>
#include <string.h>

static bool all_timed(const struct sw_window *w)
{
	for (size_t i = 0; i < w->works.n; i++)
		if (!(w->nodes.at[w->works.at[i]].flags & SW_NF_TIMED))
			return false;
	return true;
}

static uint64_t scaled(uint64_t ns, uint64_t run, uint64_t kept)
{
	return kept && run > kept ? (uint64_t)((double)ns * (double)run / (double)kept) : ns;
}

/* The place that enqueued the work of this call; SW_NONE not known. */
static uint32_t site_of_work(const struct sw_schedule *s, uint64_t seq)
{
	for (uint32_t i = 0; seq && i < s->windows; i++) {
		const struct sw_window *w = &s->window[i];
		uint32_t node = sw_work_at(w, seq);
		if (node != SW_NONE)
			return w->nodes.at[w->nodes.at[node].call].call;
	}
	return SW_NONE;
}

static void choose_keep(const struct sw_schedule *s, struct sw_keep *keep)
{
	keep->site = site_of_work(s, keep->seq);
	keep->ordered = sw_map_get(&s->pairs, (uint64_t)keep->queue << 32 | keep->to);
}

/* Which of the changes each site has. */
static void choose(const struct sw_schedule *s, const struct sw_what_ifs *set, uint32_t *by_site)
{
	memset(by_site, 0, s->site_n * sizeof *by_site);
	for (size_t i = set->n; i-- > 0;) {
		uint64_t index = sw_map_get(&s->sites, set->at[i].site);
		if (index)
			by_site[index - 1] = (uint32_t)i + 1;
		for (uint32_t k = 0; k < set->at[i].keeps; k++)
			choose_keep(s, &set->at[i].keep[k]);
	}
}

/* Sums of one reading of the times, and one of the device's room, over all windows. */
static uint64_t try_reading(struct sw_schedule *s, const struct sw_what_ifs *set, const uint32_t *by_site, bool crowded,
			    uint64_t *calls)
{
	uint64_t won = 0;
	struct sw_gate *gates = sw_alloc((s->queues.n + 1) * sizeof *gates);
	*calls = 0;
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_replay how = {
			.changes = set->at, .by_site = by_site, .crowded = crowded, .slow = crowded, .gates = gates};
		for (size_t k = 0; k < s->queues.n; k++)
			gates[k] = (struct sw_gate){SW_NONE, 0};
		won += sw_less(s->base[crowded][i], sw_replay(s, &s->window[i], &how));
		*calls += how.calls;
	}
	free(gates);
	return won;
}

static void try_set(struct sw_schedule *s, const struct sw_what_ifs *set, uint32_t *by_site, struct sw_gain *gain,
		    bool first)
{
	choose(s, set, by_site);
	for (int crowded = 0; crowded < 2; crowded++) {
		uint64_t won = try_reading(s, set, by_site, crowded, &gain->calls);
		gain->low_ns = first && !crowded ? won : sw_earlier(gain->low_ns, won);
		gain->high_ns = sw_later(gain->high_ns, won);
	}
}

static void base_lines(struct sw_schedule *s)
{
	for (int crowded = 0; crowded < 2; crowded++)
		for (uint32_t i = 0; i < s->windows; i++) {
			struct sw_replay how = {.crowded = crowded};
			s->base[crowded][i] = sw_replay(s, &s->window[i], &how);
		}
}

static void read_times(struct sw_schedule *s, bool short_times)
{
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_window *w = &s->window[i];
		if (w->order && w->short_times == short_times)
			continue;
		sw_estimate(s, w, short_times);
		sw_calibrate(s, w);
	}
	base_lines(s);
}

void sw_schedule_try(struct sw_schedule *s, const struct sw_what_ifs *sets, struct sw_gain *gains, size_t n)
{
	uint32_t *by_site = sw_calloc(s->site_n + 1, sizeof *by_site);
	struct sw_schedule_facts facts = sw_schedule_facts(s);
	bool timed = true;
	for (uint32_t i = 0; i < s->windows; i++)
		timed &= all_timed(&s->window[i]);
	for (size_t i = 0; i < n; i++)
		gains[i] = (struct sw_gain){.timed = timed};
	for (int short_times = 0; short_times < (timed ? 1 : 2); short_times++) {
		read_times(s, short_times);
		for (size_t i = 0; i < n; i++)
			try_set(s, &sets[i], by_site, &gains[i], !short_times);
	}
	read_times(s, false);
	free(by_site);
	for (size_t i = 0; i < n; i++) {
		gains[i].known = gains[i].calls && (timed || facts.timed + facts.bracketed || !facts.operations);
		gains[i].low_ns = scaled(gains[i].low_ns, facts.run_ns, facts.kept_ns);
		gains[i].high_ns = scaled(gains[i].high_ns, facts.run_ns, facts.kept_ns);
	}
}

void sw_schedule_finish(struct sw_schedule *s)
{
	/* The window that is being filled may be one that is passed over. */
	if (!s->keep && s->windows > 1)
		s->windows--;
	sw_thin_out(s);
	for (uint32_t i = 0; i < s->windows; i++)
		sw_estimate_learn(s, &s->window[i]);
	read_times(s, false);
}
