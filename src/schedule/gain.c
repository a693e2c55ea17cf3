/* SPDX-License-Identifier: Apache-2.0 */
/* What the run would gain from a change. */
#include "schedule/nodes.h"

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

/* Sums of one reading of the times, and one of the device's room, over all windows. */
static void try_reading(struct sw_schedule *s, const struct sw_what_if *change, uint32_t site, bool crowded, uint64_t *won,
			uint64_t *calls)
{
	*won = *calls = 0;
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_replay how = {change, site, crowded, crowded, 0};
		uint64_t length = sw_replay(s, &s->window[i], &how);
		*won += sw_less(s->base[crowded][i], length);
		*calls += how.calls;
	}
}

static void try_change(struct sw_schedule *s, const struct sw_what_if *change, struct sw_gain *gain, bool first)
{
	uint64_t index = sw_map_get(&s->sites, change->site);
	if (!index)
		return;
	for (int crowded = 0; crowded < 2; crowded++) {
		uint64_t won, calls;
		try_reading(s, change, (uint32_t)index - 1, crowded, &won, &calls);
		gain->low_ns = first && !crowded ? won : sw_earlier(gain->low_ns, won);
		gain->high_ns = sw_later(gain->high_ns, won);
		gain->calls = calls;
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

void sw_schedule_try(struct sw_schedule *s, const struct sw_what_if *changes, struct sw_gain *gains, size_t n)
{
	struct sw_schedule_facts facts = sw_schedule_facts(s);
	bool timed = true;
	for (uint32_t i = 0; i < s->windows; i++)
		timed &= all_timed(&s->window[i]);
	for (size_t i = 0; i < n; i++)
		gains[i] = (struct sw_gain){.timed = timed};
	for (int short_times = 0; short_times < (timed ? 1 : 2); short_times++) {
		read_times(s, short_times);
		for (size_t i = 0; i < n; i++)
			try_change(s, &changes[i], &gains[i], !short_times);
	}
	read_times(s, false);
	for (size_t i = 0; i < n; i++) {
		gains[i].known = gains[i].calls && (timed || facts.timed + facts.bracketed || !facts.operations);
		gains[i].low_ns = scaled(gains[i].low_ns, facts.run_ns, facts.kept_ns);
		gains[i].high_ns = scaled(gains[i].high_ns, facts.run_ns, facts.kept_ns);
	}
}

void sw_schedule_finish(struct sw_schedule *s)
{
	s->finished = true;
	/* The window that is being filled may be one that is passed over. */
	if (!s->keep && s->windows > 1)
		s->windows--;
	for (uint32_t i = 0; i < s->windows; i++)
		sw_estimate_learn(s, &s->window[i]);
	read_times(s, false);
}
