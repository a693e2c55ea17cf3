/* SPDX-License-Identifier: Apache-2.0 */
/* What each finding's fix would gain: one change of the schedule each. */
#include "detect/model/model.h"

#include <stdlib.h>

#include "detect/waits/schedule_feed.h"

/* The costliest findings count.  Together they take some ten replays; on its own each takes four passes, so of a long
   run fewer are replayed: 0.4 s at most, at 12 ns a node and pass. */
#define MOST_REPLAYED 64u
#define LEAST_ALONE   4u
#define MOST_PASSES   25000000u

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

/* What stays of a wait that is too wide.  `keep`: room for SW_MAX_NEEDS. */
static void keep_needs(const struct sw_finding *f, struct sw_what_if *change, struct sw_keep *keep)
{
	change->keep = keep;
	change->keeps = f->needs;
	for (uint32_t i = 0; i < f->needs; i++)
		keep[i] = (struct sw_keep){.queue = f->need[i].stream,
					   .to = f->need[i].to ? f->need[i].to : SW_KEEP_HOST,
					   .seq = f->need[i].seq};
}

static bool change_of(const struct sw_finding *f, struct sw_what_if *change)
{
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
		if (changes[i].id == f->id) {
			*change = (struct sw_what_if){.kind = changes[i].kind,
						      .only_idle = changes[i].only_idle,
						      .site = sw_timing_site(&f->access[0])};
			if (f->access[0].kind == SW_REC_SYNC && f->id == SW_FINDING_SYNC_COPY)
				change->kind = SW_IF_NO_WAIT;
			return true;
		}
	return false;
}

static void fill(struct sw_finding *f, const struct sw_gain *gain, bool reliable)
{
	f->cost.win_low_ns = gain->known ? gain->low_ns : 0;
	f->cost.win_high_ns = gain->known ? gain->high_ns : 0;
	f->cost.replayed = gain->known;
	f->cost.timed = gain->timed;
	f->cost.reliable = reliable;
}

/* Each finding on its own, all findings of an id together, and all together. */
struct trial {
	struct asked *asked;
	size_t n, alone;			     /* findings; of them, the first so many have a set of their own */
	struct sw_what_if change[2 * MOST_REPLAYED]; /* of each finding; then sorted by id */
	struct sw_keep keep[MOST_REPLAYED][SW_MAX_NEEDS];
	struct sw_what_ifs set[MOST_REPLAYED + SW_JUDGED_IDS + 1];
	struct sw_gain gain[MOST_REPLAYED + SW_JUDGED_IDS + 1];
	int id[SW_JUDGED_IDS + 1]; /* of the sets after those of single findings, 0: all */
	size_t ids;
};

static void choose(struct sw_model *m, struct trial *t)
{
	struct sw_judgement *j = m->j;
	struct sw_what_if ignored;
	uint64_t most = MOST_PASSES / (4 * j->schedule.nodes + 1);
	t->asked = sw_calloc(j->findings.n + 1, sizeof *t->asked);
	for (size_t i = 0; i < j->findings.n; i++)
		if (change_of(&j->findings.at[i], &ignored))
			t->asked[t->n++] = (struct asked){i, j->findings.at[i].cost.total_ns};
	qsort(t->asked, t->n, sizeof *t->asked, costliest);
	t->n = t->n < MOST_REPLAYED ? t->n : MOST_REPLAYED;
	t->alone = t->n;
	if (t->alone > most)
		t->alone = most < LEAST_ALONE ? (t->n < LEAST_ALONE ? t->n : LEAST_ALONE) : most;
}

static void compose(struct sw_model *m, struct trial *t)
{
	struct sw_what_if *next = t->change + t->n;
	for (size_t i = 0; i < t->n; i++) {
		change_of(&m->j->findings.at[t->asked[i].finding], &t->change[i]);
		keep_needs(&m->j->findings.at[t->asked[i].finding], &t->change[i], t->keep[i]);
		if (i < t->alone)
			t->set[i] = (struct sw_what_ifs){&t->change[i], 1};
	}
	for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
		struct sw_what_ifs *set = &t->set[t->alone + t->ids];
		*set = (struct sw_what_ifs){next, 0};
		for (size_t i = 0; i < t->n; i++)
			if (m->j->findings.at[t->asked[i].finding].id == changes[k].id)
				next[set->n++] = t->change[i];
		next += set->n;
		if (set->n)
			t->id[t->ids++] = changes[k].id;
	}
	t->set[t->alone + t->ids] = (struct sw_what_ifs){t->change + t->n, t->n};
	t->id[t->ids++] = 0;
}

static void try_all(struct sw_model *m)
{
	struct sw_judgement *j = m->j;
	struct trial *t = sw_calloc(1, sizeof *t);
	choose(m, t);
	if (t->n) {
		compose(m, t);
		sw_schedule_try(m->schedule, t->set, t->gain, t->alone + t->ids);
	}
	for (size_t i = 0; i < t->alone; i++)
		fill(&j->findings.at[t->asked[i].finding], &t->gain[i], j->schedule.reliable);
	for (size_t i = 0; i < t->ids; i++)
		if (t->gain[t->alone + i].known)
			j->together[j->togethers++] =
				(struct sw_together){t->id[i], t->set[t->alone + i].n, t->gain[t->alone + i].low_ns,
						     t->gain[t->alone + i].high_ns};
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
	if (m->observer->path)
		sw_schedule_path(m->schedule, m->observer->path, m->observer->arg);
}
