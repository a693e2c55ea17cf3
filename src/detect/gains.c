/* SPDX-License-Identifier: Apache-2.0 */
/* What each finding's fix would gain: one change of the schedule each. */
#include <stdlib.h>

#include "detect/timing.h"

/* A replay costs some milliseconds a window; what waits for less than these is not worth one. */
#define MOST_REPLAYED 64u

/* What becomes of the calls at the place when its advice is followed. */
static const struct {
	int id;
	enum sw_what_if_kind kind;
	bool only_idle;
} changes[] = {
	{SW_FINDING_SYNC_COPY, SW_IF_PINNED, false},
	{SW_FINDING_PAGEABLE_ASYNC_COPY, SW_IF_PINNED, false},
	{SW_FINDING_SYNC_MEMSET, SW_IF_NO_WAIT, false},
	{SW_FINDING_LEGACY_SERIALISATION, SW_IF_NO_LEGACY, false},
	{SW_FINDING_DEVICE_ALLOC, SW_IF_NO_CALL, false},
	{SW_FINDING_DEVICE_FREE, SW_IF_NO_CALL, false},
	{SW_FINDING_HOST_PIN, SW_IF_NO_CALL, false},
	{SW_FINDING_MODULE_LOAD, SW_IF_NO_CALL, false},
	{SW_FINDING_DEVICE_CONFIG, SW_IF_NO_CALL, false},
	{SW_FINDING_OVER_WIDE_SYNC, SW_IF_ONE_QUEUE, false},
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

static bool change_of(const struct sw_finding *f, struct sw_what_if *change)
{
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
		if (changes[i].id == f->id) {
			*change = (struct sw_what_if){.kind = changes[i].kind,
						     .only_idle = changes[i].only_idle,
						     .site = sw_timing_site(&f->access[0]),
						     .queue = f->fix_stream};
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

static void try_all(struct sw_model *m)
{
	struct sw_judgement *j = m->j;
	struct asked *asked = sw_calloc(j->findings.n + 1, sizeof *asked);
	struct sw_what_if change[MOST_REPLAYED];
	struct sw_gain gain[MOST_REPLAYED];
	size_t n = 0;
	for (size_t i = 0; i < j->findings.n; i++)
		if (change_of(&j->findings.at[i], &change[0]))
			asked[n++] = (struct asked){i, j->findings.at[i].cost.total_ns};
	qsort(asked, n, sizeof *asked, costliest);
	n = n < MOST_REPLAYED ? n : MOST_REPLAYED;
	for (size_t i = 0; i < n; i++)
		change_of(&j->findings.at[asked[i].finding], &change[i]);
	sw_schedule_try(m->schedule, change, gain, n);
	for (size_t i = 0; i < n; i++)
		fill(&j->findings.at[asked[i].finding], &gain[i], j->schedule.reliable);
	free(asked);
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
