/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/memory/overlaps.h"

#include <stdlib.h>
#include <string.h>

#define SW_RUN 64u

struct sw_overlap_run {
	uint64_t lo, tick; /* of the first */
	uint64_t most_hi, most_tick, most_seq;
	uint32_t n;
	struct sw_overlap *at; /* room for SW_RUN */
};

static void take_in(struct sw_overlap_run *run, const struct sw_overlap *x)
{
	run->most_hi = x->hi > run->most_hi ? x->hi : run->most_hi;
	run->most_tick = x->tick > run->most_tick ? x->tick : run->most_tick;
	run->most_seq = x->seq > run->most_seq ? x->seq : run->most_seq;
}

static void summarise(struct sw_overlap_run *run)
{
	run->lo = run->at[0].lo;
	run->tick = run->at[0].tick;
	run->most_hi = run->most_tick = run->most_seq = 0;
	for (uint32_t i = 0; i < run->n; i++)
		take_in(run, &run->at[i]);
}

static bool follows(uint64_t lo, uint64_t tick, uint64_t other_lo, uint64_t other_tick)
{
	return lo > other_lo || (lo == other_lo && tick > other_tick);
}

/* How many runs do not begin after that. */
static size_t runs_up_to(const struct sw_overlaps *set, uint64_t lo, uint64_t tick)
{
	size_t from = 0, to = set->run.n;
	while (from < to) {
		size_t middle = (from + to) / 2;
		if (!follows(set->run.at[middle].lo, set->run.at[middle].tick, lo, tick))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static struct sw_overlap_run *add_run(struct sw_overlaps *set, size_t at)
{
	sw_vec_push(&set->run);
	struct sw_overlap_run *run = &set->run.at[at];
	memmove(run + 1, run, (set->run.n - 1 - at) * sizeof *run);
	*run = (struct sw_overlap_run){.at = sw_alloc(SW_RUN * sizeof *run->at)};
	return run;
}

static void halve(struct sw_overlaps *set, size_t at)
{
	struct sw_overlap_run *upper = add_run(set, at + 1), *run = upper - 1;
	upper->n = run->n / 2;
	run->n -= upper->n;
	memcpy(upper->at, run->at + run->n, upper->n * sizeof *upper->at);
	summarise(run);
	summarise(upper);
}

void sw_overlaps_insert(struct sw_overlaps *set, const struct sw_overlap *interval)
{
	size_t number = runs_up_to(set, interval->lo, interval->tick);
	number -= number > 0;
	struct sw_overlap_run *run = set->run.n ? &set->run.at[number] : add_run(set, 0);
	uint32_t at = run->n;
	while (at && follows(run->at[at - 1].lo, run->at[at - 1].tick, interval->lo, interval->tick))
		at--;
	memmove(run->at + at + 1, run->at + at, (run->n++ - at) * sizeof *run->at);
	run->at[at] = *interval;
	run->lo = run->at[0].lo;
	run->tick = run->at[0].tick;
	take_in(run, interval);
	set->n++;
	if (run->n == SW_RUN)
		halve(set, number);
}

static void remove_at(struct sw_overlaps *set, size_t number, uint32_t at)
{
	struct sw_overlap_run *run = &set->run.at[number];
	memmove(run->at + at, run->at + at + 1, (--run->n - at) * sizeof *run->at);
	set->n--;
	if (run->n) {
		summarise(run);
		return;
	}
	free(run->at);
	memmove(run, run + 1, (--set->run.n - number) * sizeof *run);
}

void sw_overlaps_remove(struct sw_overlaps *set, uint64_t lo, uint64_t tick, const void *what)
{
	for (size_t number = runs_up_to(set, lo, tick); number-- > 0;) {
		const struct sw_overlap_run *run = &set->run.at[number];
		for (uint32_t i = 0; i < run->n; i++)
			if (run->at[i].lo == lo && run->at[i].tick == tick && run->at[i].what == what) {
				remove_at(set, number, i);
				return;
			}
	}
}

void sw_overlaps_clear(struct sw_overlaps *set)
{
	for (size_t i = 0; i < set->run.n; i++)
		free(set->run.at[i].at);
	free(set->run.at);
	*set = (struct sw_overlaps){0};
}

bool sw_overlaps_later(const struct sw_overlaps *set, uint64_t lo, uint64_t hi, uint64_t tick, uint64_t seq,
		       sw_overlap_vec *out)
{
	bool any = false;
	for (size_t number = 0; number < set->run.n && set->run.at[number].lo < hi; number++) {
		const struct sw_overlap_run *run = &set->run.at[number];
		if (run->most_hi <= lo || (run->most_tick <= tick && run->most_seq < seq))
			continue;
		for (uint32_t i = 0; i < run->n && run->at[i].lo < hi; i++) {
			const struct sw_overlap *x = &run->at[i];
			if (x->hi <= lo || (x->tick <= tick && x->seq < seq))
				continue;
			any = true;
			if (!out)
				return true;
			*sw_vec_push(out) = x->what;
		}
	}
	return any;
}
