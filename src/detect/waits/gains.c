/* SPDX-License-Identifier: Apache-2.0 */
/* What each finding's fix would gain: one change of the schedule each. */
#include "detect/model/model.h"

#include <stdlib.h>

#include "detect/waits/schedule_feed.h"

/* The costliest findings count.  Together they take some ten replays; on its own each takes four, so of a long run
   fewer are replayed: less than 0.1 s, at up to 5 ns a node and replay. */
#define MOST_REPLAYED 64u
#define LEAST_ALONE   4u
#define MOST_REPLAYS  15000000u

/* What becomes of the calls at the place when its advice is followed. */
static const struct {
	int id;
	enum sw_what_if_kind kind;
	bool only_idle;
} changes[] = {
	{SW_FINDING_SYNC_COPY, SW_IF_PINNED, false},	  {SW_FINDING_PAGEABLE_ASYNC_COPY, SW_IF_PINNED, false},
	{SW_FINDING_SYNC_MEMSET, SW_IF_NO_WAIT, false},	  {SW_FINDING_LEGACY_SERIALISATION, SW_IF_NO_LEGACY, false},
	{SW_FINDING_DEVICE_ALLOC, SW_IF_NO_CALL, false},  {SW_FINDING_DEVICE_FREE, SW_IF_NO_CALL, false},
	{SW_FINDING_HOST_PIN, SW_IF_NO_CALL, false},	  {SW_FINDING_MODULE_LOAD, SW_IF_NO_CALL, false},
	{SW_FINDING_DEVICE_CONFIG, SW_IF_NO_CALL, false}, {SW_FINDING_OVER_WIDE_SYNC, SW_IF_LESS, false},
	{SW_FINDING_REDUNDANT_SYNC, SW_IF_NO_CALL, true},
};

/* Pinning costs 0.3 to 0.7 ms a MiB ("cudaHostAlloc 64MiB", "cudaHostRegister 1MiB", measured on H200); the advice may
   need two buffers. */
#define PIN_LEAST_NS_PER_MIB 300000u
#define PIN_MOST_NS_PER_MIB  1400000u

struct asked {
	size_t finding;
	uint64_t ns;
};

static int costliest(const void *x, const void *y)
{
	const struct asked *a = x, *b = y;
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return a->finding < b->finding ? -1 : a->finding > b->finding;
}

/* ---- the change -------------------------------------------------------------------------------------------------- */

/* What stays of a wait that is too wide.  `keep`: room for SW_MAX_NEEDS. */
static void keep_needs(const struct sw_finding *f, struct sw_what_if *change, struct sw_keep *keep)
{
	const struct sw_finding_more *more = sw_finding_more(f);
	change->keep = keep;
	change->keeps = more->needs;
	for (uint32_t i = 0; i < more->needs; i++)
		keep[i] = (struct sw_keep){.queue = more->need[i].stream,
					   .to = more->need[i].to ? more->need[i].to : SW_KEEP_HOST,
					   .seq = more->need[i].whole ? 0 : more->need[i].work.seq};
}

/* What the host does with memory is seen by the guard, and by it only while work uses the memory: of a wait after which
   the host can read a result, or refill a buffer, it is not known whether the program needs it. */
static bool host_may_need(const struct sw_finding *f)
{
	switch (f->id) {
	case SW_FINDING_SYNC_COPY:
		return sw_finding_more(f)->to_host;
	case SW_FINDING_PAGEABLE_ASYNC_COPY:
		/* Code that calls the asynchronous form waits somewhere else. */
		return sw_finding_more(f)->to_host && f->fix == SW_FIX_VALUE;
	default:
		return f->id == SW_FINDING_OVER_WIDE_SYNC;
	}
}

static bool change_of(const struct sw_finding *f, struct sw_what_if *change)
{
	for (size_t i = 0; f->fix && i < sizeof changes / sizeof *changes; i++) {
		if (changes[i].id != f->id)
			continue;
		*change = (struct sw_what_if){.kind = changes[i].kind,
					      .only_idle = changes[i].only_idle,
					      .needed = host_may_need(f) ? SW_NEEDED_MAYBE : SW_NEEDED_NOT,
					      .site = sw_timing_site(f->access[0])};
		if (f->fix == SW_FIX_VALUE)
			change->kind = SW_IF_NO_WAIT;
		return true;
	}
	return false;
}

/* "Allocate once" is one advice for the call that allocates and for the one that releases. */
static bool partners(const struct sw_finding *a, const struct sw_finding *b)
{
	return (sw_finding_more(a)->maker.seq &&
		sw_timing_site(&sw_finding_more(a)->maker) == sw_timing_site(b->access[0])) ||
	       (sw_finding_more(b)->maker.seq &&
		sw_timing_site(&sw_finding_more(b)->maker) == sw_timing_site(a->access[0]));
}

/* ---- what the change itself costs, once -------------------------------------------------------------------------- */

struct price {
	uint64_t least, most;
};

static struct price price_of(const struct sw_finding *f)
{
	uint64_t one = f->cost->calls ? f->cost->total_ns / f->cost->calls : 0;
	switch (f->id) {
	case SW_FINDING_SYNC_COPY:
	case SW_FINDING_PAGEABLE_ASYNC_COPY:
		if (f->fix == SW_FIX_VALUE)
			return (struct price){0};
		return (struct price){(sw_finding_more(f)->unpinned >> 10) * PIN_LEAST_NS_PER_MIB >> 10,
				      (sw_finding_more(f)->unpinned >> 10) * PIN_MOST_NS_PER_MIB >> 10};
	case SW_FINDING_HOST_PIN:
		/* One call stays; what releases, may have waited. */
		return (struct price){sw_finding_more(f)->maker.seq ? 0 : one, one};
	case SW_FINDING_DEVICE_ALLOC:
	case SW_FINDING_DEVICE_FREE:
		return (struct price){0, one};
	case SW_FINDING_MODULE_LOAD:
		/* The same loads, earlier. */
		return (struct price){0, f->cost->total_ns};
	case SW_FINDING_DEVICE_CONFIG:
		return (struct price){0, f->cost->parts.driver_ns};
	default:
		return (struct price){0};
	}
}

/* No wait that goes away saves more than it took.  Other changes let work overlap that did not. */
static bool bounded_by_cost(const struct sw_finding *f)
{
	return f->id != SW_FINDING_LEGACY_SERIALISATION && f->id != SW_FINDING_MODULE_LOAD;
}

/* ---- sets -------------------------------------------------------------------------------------------------------- */

/* Findings whose advice is followed together. */
struct set {
	int id; /* of sets of several findings, 0: of all; unused for single ones */
	SW_VEC(struct sw_what_if) changes;
	struct price price;
	uint64_t most_ns; /* the host time of its calls, where they save no more than that */
};

struct trial {
	struct asked *asked;
	size_t n, alone; /* findings; of them, the first so many have a set of their own */
	struct sw_what_if change[MOST_REPLAYED];
	struct sw_keep keep[MOST_REPLAYED][SW_MAX_NEEDS];
	struct set set[MOST_REPLAYED + SW_JUDGED_IDS + 1];
	struct sw_what_ifs tried[MOST_REPLAYED + SW_JUDGED_IDS + 1];
	struct sw_gain gain[MOST_REPLAYED + SW_JUDGED_IDS + 1];
	size_t sets;
};

static const struct sw_finding *asked(const struct sw_model *m, const struct trial *t, size_t index)
{
	return &m->j->findings.at[t->asked[index].finding];
}

static void choose(struct sw_model *m, struct trial *t)
{
	struct sw_judgement *j = m->j;
	struct sw_what_if ignored;
	uint64_t most = MOST_REPLAYS / ((j->schedule.timed == j->schedule.operations ? 4 : 20) * j->schedule.nodes + 1);
	t->asked = sw_calloc(j->findings.n + 1, sizeof *t->asked);
	for (size_t i = 0; i < j->findings.n; i++)
		if (change_of(&j->findings.at[i], &ignored))
			t->asked[t->n++] = (struct asked){i, j->findings.at[i].cost->total_ns};
	qsort(t->asked, t->n, sizeof *t->asked, costliest);
	t->n = t->n < MOST_REPLAYED ? t->n : MOST_REPLAYED;
	t->alone = t->n;
	if (t->alone > most)
		t->alone = most < LEAST_ALONE ? (t->n < LEAST_ALONE ? t->n : LEAST_ALONE) : most;
}

static void add(struct sw_model *m, struct trial *t, struct set *set, size_t index)
{
	const struct sw_finding *f = asked(m, t, index);
	struct price price = price_of(f);
	*sw_vec_push(&set->changes) = t->change[index];
	set->price.least += price.least;
	set->price.most += price.most;
	if (set->most_ns != UINT64_MAX)
		set->most_ns = bounded_by_cost(f) ? set->most_ns + f->cost->total_ns : UINT64_MAX;
}

static void compose(struct sw_model *m, struct trial *t)
{
	for (size_t i = 0; i < t->n; i++) {
		change_of(asked(m, t, i), &t->change[i]);
		keep_needs(asked(m, t, i), &t->change[i], t->keep[i]);
	}
	for (size_t i = 0; i < t->alone; i++) {
		struct set *set = &t->set[t->sets++];
		add(m, t, set, i);
		for (size_t k = 0; k < t->n; k++)
			if (k != i && partners(asked(m, t, i), asked(m, t, k)))
				add(m, t, set, k);
	}
	for (size_t k = 0; k <= sizeof changes / sizeof *changes; k++) {
		bool all = k == sizeof changes / sizeof *changes;
		struct set *set = &t->set[t->sets];
		set->id = all ? 0 : changes[k].id;
		for (size_t i = 0; i < t->n; i++)
			if (all || asked(m, t, i)->id == set->id)
				add(m, t, set, i);
		t->sets += set->changes.n > 0;
	}
}

/* ---- what comes of it -------------------------------------------------------------------------------------------- */

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void pay(struct sw_gain *gain, const struct set *set)
{
	gain->low_ns = less(least_of(gain->low_ns, set->most_ns), set->price.most);
	gain->sure_ns = less(least_of(gain->sure_ns, set->most_ns), set->price.least);
	gain->high_ns = less(least_of(gain->high_ns, set->most_ns), set->price.least);
}

static void fill(struct sw_cost *cost, const struct sw_gain *gain, bool reliable)
{
	cost->win_low_ns = gain->known ? gain->low_ns : 0;
	cost->win_high_ns = gain->known ? gain->high_ns : 0;
	cost->win_sure_ns = gain->known ? gain->sure_ns : 0;
	cost->replayed = gain->known;
	cost->timed = gain->timed;
	cost->vague = gain->known && gain->vague;
	cost->nothing = gain->nothing;
	cost->reliable = reliable;
}

static void try_all(struct sw_model *m)
{
	struct sw_judgement *j = m->j;
	struct trial *t = sw_calloc(1, sizeof *t);
	choose(m, t);
	compose(m, t);
	for (size_t i = 0; i < t->sets; i++)
		t->tried[i] = (struct sw_what_ifs){t->set[i].changes.at, t->set[i].changes.n};
	if (t->sets)
		sw_schedule_try(m->schedule, t->tried, t->gain, t->sets);
	for (size_t i = 0; i < t->sets; i++) {
		struct sw_gain *gain = &t->gain[i];
		sw_gain_widen(gain);
		pay(gain, &t->set[i]);
		if (i < t->alone)
			fill(sw_collect_own_cost(&m->collect, &j->findings.at[t->asked[i].finding]), gain,
			     j->schedule.reliable);
		else if (gain->known)
			j->together[j->togethers++] =
				(struct sw_together){t->set[i].id, t->set[i].changes.n, gain->low_ns,
						     t->set[i].id ? gain->high_ns : gain->sure_ns, gain->vague};
		free(t->set[i].changes.at);
	}
	free(t->asked);
	free(t);
}

void sw_gains_judge(struct sw_model *m)
{
	if (!m->schedule)
		return;
	sw_schedule_finish(m->schedule);
	m->j->schedule = sw_schedule_facts(m->schedule);
	m->j->sums = sw_schedule_sums(m->schedule);
	try_all(m);
	if (m->observer->work)
		sw_schedule_each_work(m->schedule, m->observer->work, m->observer->arg);
	if (m->observer->path)
		sw_schedule_path(m->schedule, m->observer->path, m->observer->arg);
}
