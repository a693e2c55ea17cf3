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

/* ---- sets of changes --------------------------------------------------------------------------------------------- */

/* A set that is tried, and what its replays say. */
enum { LEAST, MOST, SURE, REPLAYS }; /* the least gain, the most, and the most that needs nothing of the host's */
struct tried {
	const struct sw_what_ifs *set;
	size_t same; /* the first set with the same changes */
	bool may_need;
	uint64_t low[REPLAYS], high[REPLAYS]; /* the range over the readings so far */
	uint64_t won[REPLAYS], calls;	      /* of this reading */
};

struct trial {
	struct sw_schedule *s;
	struct sw_changed_places places;
	struct tried *tried;
	size_t n;
	struct sw_moments *done;
	uint64_t base[2]; /* length of the window that is replayed without a change; 1: crowded */
};

static bool same_change(const struct sw_what_if *a, const struct sw_what_if *b)
{
	return a->kind == b->kind && a->needed == b->needed && a->site == b->site && a->keep == b->keep &&
	       a->keeps == b->keeps && a->only_idle == b->only_idle;
}

static bool same_set(const struct sw_what_ifs *a, const struct sw_what_ifs *b)
{
	size_t i = 0;
	while (a->n == b->n && i < a->n && same_change(&a->at[i], &b->at[i]))
		i++;
	return a->n == b->n && i == a->n;
}

static bool host_may_need(const struct sw_what_ifs *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->at[i].needed == SW_NEEDED_MAYBE)
			return true;
	return false;
}

static void keep(struct trial *t, struct sw_keep *kept)
{
	choose_keep(t->s, kept);
	if (!t->places.kept)
		t->places.kept = sw_calloc(t->s->site_n + 1, sizeof *t->places.kept);
	if (kept->site != SW_NONE)
		t->places.kept[kept->site] = true;
}

/* Of two changes for one place the first counts. */
static void choose(struct trial *t, size_t number)
{
	const struct sw_what_ifs *set = t->tried[number].set;
	for (size_t i = set->n; i-- > 0;) {
		uint64_t index = sw_map_get(&t->s->sites, set->at[i].site);
		if (index)
			t->places.change[t->places.row[index - 1] * t->places.sets + number] = (uint32_t)i + 1;
		for (uint32_t k = 0; k < set->at[i].keeps; k++)
			keep(t, &set->at[i].keep[k]);
	}
}

/* For the replays of any window. */
static struct sw_moments *moments(const struct sw_schedule *s)
{
	size_t most = 1;
	for (uint32_t i = 0; i < s->windows; i++)
		most = s->window[i].nodes.n > most ? s->window[i].nodes.n : most;
	return sw_alloc(most * sizeof(struct sw_moments));
}

static void compose(struct trial *t, struct sw_schedule *s, const struct sw_what_ifs *sets, size_t n)
{
	*t = (struct trial){.s = s, .n = n, .done = moments(s)};
	t->tried = sw_calloc(n + 1, sizeof *t->tried);
	t->places.row = sw_calloc(s->site_n + 1, sizeof *t->places.row);
	t->places.sets = n;
	for (size_t i = 0; i < n; i++) {
		t->tried[i] = (struct tried){.set = &sets[i], .may_need = host_may_need(&sets[i])};
		while (!same_set(&sets[t->tried[i].same], &sets[i]))
			t->tried[i].same++;
		for (size_t k = 0; k < sets[i].n; k++) {
			uint64_t index = sw_map_get(&s->sites, sets[i].at[k].site);
			if (index && !t->places.row[index - 1])
				t->places.row[index - 1] = ++t->places.rows;
		}
	}
	t->places.change = sw_calloc((t->places.rows + 1) * n + 1, sizeof *t->places.change);
	for (size_t i = 0; i < n; i++)
		choose(t, i);
}

static void forget(struct trial *t)
{
	free(t->places.row);
	free(t->places.change);
	free(t->places.kept);
	free(t->tried);
	free(t->done);
}

/* ---- replays ----------------------------------------------------------------------------------------------------- */

/* Replays of one window and one reading, made in groups. */
struct group {
	struct sw_replay how[SW_TOGETHER];
	uint32_t n, window;
};

static void make(struct trial *t, struct group *g)
{
	struct sw_schedule *s = t->s;
	sw_replay(s, &s->window[g->window], &t->places, g->how, g->n, t->done);
	for (uint32_t k = 0; k < g->n; k++) {
		const struct sw_replay *how = &g->how[k];
		struct tried *tried = &t->tried[how->number];
		if (!how->set) {
			t->base[how->crowded] = how->length;
			continue;
		}
		int replay = how->crowded ? LEAST : how->needed ? SURE : MOST;
		tried->won[replay] += sw_less(t->base[how->crowded], how->length);
		tried->calls += replay == MOST ? how->calls : 0;
	}
	g->n = 0;
}

static void add(struct trial *t, struct group *g, size_t number, int replay)
{
	bool least = replay == LEAST;
	if (g->n == SW_TOGETHER)
		make(t, g);
	g->how[g->n++] = (struct sw_replay){.set = t->tried[number].set,
					    .number = number,
					    .crowded = least,
					    .slow = least,
					    .needed = replay != MOST};
}

static void try_window(struct trial *t, uint32_t window)
{
	struct group g = {.window = window, .n = 2, .how = {{.crowded = false}, {.crowded = true}}};
	sw_steps_make(t->s, &t->s->window[window], &t->places);
	for (size_t i = 0; i < t->n; i++)
		for (int replay = 0; replay < REPLAYS && t->tried[i].same == i; replay++)
			if (replay != SURE || t->tried[i].may_need)
				add(t, &g, i, replay);
	make(t, &g);
}

static void try_reading(struct trial *t, bool first)
{
	for (size_t i = 0; i < t->n; i++) {
		memset(t->tried[i].won, 0, sizeof t->tried[i].won);
		t->tried[i].calls = 0;
	}
	for (uint32_t i = 0; i < t->s->windows; i++)
		try_window(t, i);
	for (size_t i = 0; i < t->n; i++) {
		struct tried *tried = &t->tried[i];
		if (!tried->may_need)
			tried->won[SURE] = tried->won[MOST];
		for (int replay = 0; replay < REPLAYS; replay++) {
			uint64_t won = tried->won[replay];
			tried->low[replay] = first ? won : sw_earlier(tried->low[replay], won);
			tried->high[replay] = first ? won : sw_later(tried->high[replay], won);
		}
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

void sw_read_times(struct sw_schedule *s, uint32_t reading)
{
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_window *w = &s->window[i];
		if (w->order && w->reading == reading)
			continue;
		sw_estimate(s, w, reading);
		sw_calibrate(s, w);
	}
}

void sw_schedule_try(struct sw_schedule *s, const struct sw_what_ifs *sets, struct sw_gain *gains, size_t n)
{
	struct sw_schedule_facts facts = sw_schedule_facts(s);
	struct trial t;
	bool timed = true;
	for (uint32_t i = 0; i < s->windows; i++)
		timed &= all_timed(&s->window[i]);
	compose(&t, s, sets, n);
	for (uint32_t reading = 0; reading < (timed ? 1 : SW_READINGS); reading++) {
		sw_read_times(s, reading);
		try_reading(&t, !reading);
	}
	for (size_t i = 0; i < n; i++) {
		const struct tried *tried = &t.tried[t.tried[i].same];
		gains[i] = (struct sw_gain){.timed = timed, .calls = tried->calls};
		conclude(&gains[i], tried, &facts);
	}
	forget(&t);
}

void sw_schedule_finish(struct sw_schedule *s)
{
	/* The window that is being filled may be one that is passed over. */
	if (!s->keep && s->windows > 1)
		s->windows--;
	sw_thin_out(s);
	for (uint32_t i = 0; i < s->windows; i++)
		sw_estimate_learn(s, &s->window[i]);
	sw_read_times(s, 0);
	struct sw_moments *done = moments(s);
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_replay how = {0};
		sw_steps_make(s, &s->window[i], NULL);
		sw_replay(s, &s->window[i], NULL, &how, 1, done);
		s->length[i] = how.length;
	}
	free(done);
}
