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

/* How a set is replayed: with the least gain, with the most, and with the most that needs nothing of the host's. */
enum { LEAST, MOST, SURE, REPLAYS };

/* Sums over all windows, of one reading of the times. */
static uint64_t try_replay(struct sw_schedule *s, const struct sw_what_ifs *set, const uint32_t *by_site, int replay,
			   uint64_t *calls)
{
	bool least = replay == LEAST;
	uint64_t won = 0;
	struct sw_gate *gates = sw_alloc((s->queues.n + 1) * sizeof *gates);
	*calls = 0;
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_replay how = {.changes = set->at,
					.by_site = by_site,
					.crowded = least,
					.slow = least,
					.needed = replay != MOST,
					.gates = gates};
		for (size_t k = 0; k < s->queues.n; k++)
			gates[k] = (struct sw_gate){SW_NONE, 0};
		won += sw_less(s->base[least][i], sw_replay(s, &s->window[i], &how));
		*calls += how.calls;
	}
	free(gates);
	return won;
}

static bool host_may_need(const struct sw_what_ifs *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->at[i].needed == SW_NEEDED_MAYBE)
			return true;
	return false;
}

/* The range over the readings so far. */
struct tried {
	uint64_t low[REPLAYS], high[REPLAYS];
};

static void try_set(struct sw_schedule *s, const struct sw_what_ifs *set, uint32_t *by_site, struct sw_gain *gain,
		    struct tried *tried, bool first)
{
	uint64_t won = 0;
	choose(s, set, by_site);
	for (int replay = 0; replay < REPLAYS; replay++) {
		if (replay != SURE || host_may_need(set))
			won = try_replay(s, set, by_site, replay, &gain->calls);
		tried->low[replay] = first ? won : sw_earlier(tried->low[replay], won);
		tried->high[replay] = first ? won : sw_later(tried->high[replay], won);
	}
}

/* Intervals of which times of the device would leave less than a half say little: those that matter are marked. */
#define VAGUE_RUN 100u

static void conclude(struct sw_gain *gain, const struct tried *tried, const struct sw_schedule_facts *facts)
{
	gain->low_ns = sw_earlier(tried->low[LEAST], tried->low[SURE]);
	gain->sure_ns = sw_later(tried->high[LEAST], tried->high[SURE]);
	gain->high_ns = sw_later(gain->sure_ns, tried->high[MOST]);
	for (int replay = 0; replay < REPLAYS; replay++) {
		uint64_t open = tried->high[replay] - tried->low[replay];
		gain->vague |= open > tried->high[replay] / 2 && open > facts->kept_ns / VAGUE_RUN;
	}
	gain->known = gain->calls && (gain->timed || facts->timed + facts->bracketed || !facts->operations);
	gain->low_ns = scaled(gain->low_ns, facts->run_ns, facts->kept_ns);
	gain->sure_ns = scaled(gain->sure_ns, facts->run_ns, facts->kept_ns);
	gain->high_ns = scaled(gain->high_ns, facts->run_ns, facts->kept_ns);
}

/* What a replay is off by although all times are known: runs of one program differ, and each call that changes has
   latencies of its own (tests/schedule/study.c; doc/waits.md has the same for programs on H200).  Without times of the
   device, the latencies are not known either. */
#define OFF_PART	 20u
#define OFF_CALL_NS	 5000u
#define OFF_CALL_HOST_NS 10000u
/* A replay that gains less than this gains nothing. */
#define NOTHING_NS 5000u

void sw_gain_widen(struct sw_gain *gain)
{
	uint64_t calls = gain->calls * (gain->timed ? OFF_CALL_NS : OFF_CALL_HOST_NS);
	gain->nothing = gain->high_ns < NOTHING_NS;
	gain->low_ns = sw_less(gain->low_ns - gain->low_ns / OFF_PART, calls);
	gain->sure_ns += gain->sure_ns / OFF_PART + calls;
	gain->high_ns += gain->high_ns / OFF_PART + calls;
}

static void base_lines(struct sw_schedule *s)
{
	for (int crowded = 0; crowded < 2; crowded++)
		for (uint32_t i = 0; i < s->windows; i++) {
			struct sw_replay how = {.crowded = crowded};
			s->base[crowded][i] = sw_replay(s, &s->window[i], &how);
		}
}

static void read_times(struct sw_schedule *s, uint32_t reading)
{
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_window *w = &s->window[i];
		if (w->order && w->reading == reading)
			continue;
		sw_estimate(s, w, reading);
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
	struct tried *tried = sw_calloc(n + 1, sizeof *tried);
	for (uint32_t reading = 0; reading < (timed ? 1 : SW_READINGS); reading++) {
		read_times(s, reading);
		for (size_t i = 0; i < n; i++)
			try_set(s, &sets[i], by_site, &gains[i], &tried[i], !reading);
	}
	read_times(s, 0);
	for (size_t i = 0; i < n; i++)
		conclude(&gains[i], &tried[i], &facts);
	free(tried);
	free(by_site);
}

void sw_schedule_finish(struct sw_schedule *s)
{
	/* The window that is being filled may be one that is passed over. */
	if (!s->keep && s->windows > 1)
		s->windows--;
	sw_thin_out(s);
	for (uint32_t i = 0; i < s->windows; i++)
		sw_estimate_learn(s, &s->window[i]);
	read_times(s, 0);
}
