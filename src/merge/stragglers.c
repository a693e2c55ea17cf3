/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of machines as one, and which rank comes last to collectives. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "merge/between.h"
#include "merge/collectives.h"
#include "merge/merged.h"

#define LEAST_COLLECTIVES 4
#define LEAST_NS	  1000000u /* that a rank holds up the others in all */
#define LEAST_MEAN_NS	  20000u   /* ... and each time: threads of the host are scheduled with less */
#define LEAST_SHARE	  10u	   /* ... and of the time between its collectives, one part of so many */

/* ---- clocks ------------------------------------------------------------------------------------------------------ */

static const char *boot_of(const struct sw_merged_rank *rank)
{
	return *rank->boot ? rank->boot : rank->host;
}

/* It ends on no rank before all have called it. */
static bool joins_all(const struct sw_communicator *c, uint32_t number)
{
	for (size_t i = 0; i < c->sequences.n; i++) {
		const struct sw_collective_sequence *s = c->sequences.at[i];
		const uint32_t kind = number <= s->calls.n ? s->calls.at[number - 1] : 0;
		const uint32_t op = kind ? c->kinds.at[kind - 1].op : 0;
		if (op != SW_COLLECTIVE_ALL_REDUCE && op != SW_COLLECTIVE_ALL_GATHER &&
		    op != SW_COLLECTIVE_REDUCE_SCATTER && op != SW_COLLECTIVE_ALL_TO_ALL)
			return false;
	}
	return true;
}

static const struct sw_arrival *find(const struct sw_arrivals *m, uint32_t number)
{
	size_t low = 0, high = m->at.n;
	while (low < high) {
		const size_t middle = (low + high) / 2;
		if (m->at.at[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->at.n && m->at.at[low].number == number ? &m->at.at[low] : NULL;
}

static const struct sw_arrivals *machine(const struct sw_communicator *c, const char *boot)
{
	for (size_t i = 0; i < c->machines.n; i++)
		if (strcmp(c->machines.at[i]->boot, boot) == 0)
			return c->machines.at[i];
	return NULL;
}

/*
 * A collective that joins all ranks is complete on neither machine before both have called it: each one bounds the
 * difference of the clocks from both sides, and the least interval holds it.
 */
static void find_clock(struct sw_merged *merged, struct sw_merged_clock *clock, const char *reference)
{
	int64_t low = INT64_MIN, high = INT64_MAX;
	for (size_t i = 0; i < merged->collectives.communicators.n; i++) {
		const struct sw_communicator *c = merged->collectives.communicators.at[i];
		const struct sw_arrivals *a = machine(c, reference), *b = machine(c, clock->boot);
		for (size_t k = 0; a && b && k < a->at.n; k++) {
			const struct sw_arrival *here = &a->at.at[k], *there = find(b, here->number);
			if (!there || !joins_all(c, here->number))
				continue;
			if (there->done_ns != UINT64_MAX && (int64_t)(here->last_ns - there->done_ns) > low)
				low = (int64_t)(here->last_ns - there->done_ns);
			if (here->done_ns != UINT64_MAX && (int64_t)(here->done_ns - there->last_ns) < high)
				high = (int64_t)(here->done_ns - there->last_ns);
			clock->collectives++;
		}
	}
	if (low == INT64_MIN || high == INT64_MAX || low > high)
		return;
	clock->offset_ns = low + (high - low) / 2;
	clock->error_ns = (uint64_t)(high - low) / 2 + 1;
}

void sw_merged_find_clocks(struct sw_merged *merged)
{
	for (size_t i = 0; i < merged->ranks.n; i++) {
		const struct sw_merged_rank *r = merged->ranks.at[i];
		bool there = false;
		for (size_t k = 0; k < merged->clocks.n && !there; k++)
			there = strcmp(merged->clocks.at[k].boot, boot_of(r)) == 0;
		if (there)
			continue;
		struct sw_merged_clock *clock = sw_vec_push(&merged->clocks);
		*clock = (struct sw_merged_clock){.boot = boot_of(r), .host = r->host};
		if (merged->clocks.n == 1)
			continue;
		clock->error_ns = UINT64_MAX;
		find_clock(merged, clock, merged->clocks.at[0].boot);
	}
}

/* ---- late ranks ------------------------------------------------------------------------------------------------- */

struct late {
	uint64_t last, held; /* collectives that it came last to by more than the clocks' error, and that it held up */
	int64_t held_ns;
	uint64_t wait_ns, copy_ns, host_ns; /* between its collectives */
};

/* One collective on all machines whose clocks are known as one; *error: how well. */
static struct sw_arrival put_together(const struct sw_merged *merged, const struct sw_communicator *c, uint32_t number,
				      uint64_t *error)
{
	struct sw_arrival all = {0};
	*error = 0;
	for (size_t i = 0; i < merged->clocks.n; i++) {
		const struct sw_merged_clock *clock = &merged->clocks.at[i];
		const struct sw_arrivals *m = machine(c, clock->boot);
		const struct sw_arrival *a = m ? find(m, number) : NULL;
		if (!a || clock->error_ns == UINT64_MAX)
			continue;
		struct sw_arrival moved = *a;
		moved.first_ns += (uint64_t)clock->offset_ns;
		moved.last_ns += (uint64_t)clock->offset_ns;
		moved.second_ns += moved.second_ns ? (uint64_t)clock->offset_ns : 0;
		*error = clock->error_ns > *error ? clock->error_ns : *error;
		all = all.n ? sw_arrival_join(&all, &moved) : moved;
	}
	return all;
}

/*
 * How long its last rank made the last but one wait for a collective.  That does not begin before the collective before
 * is complete: `before_ns`, when its last rank called it.  A host that calls ahead of its device says nothing of when
 * the device is there; of such a rank, what the last rank's host did more since its collective before counts, and what
 * it did less counts against it: in sum, how much further ahead the other host got.
 */
static int64_t held_up(const struct sw_arrival *a, uint64_t before_ns)
{
	const uint64_t busy = a->copy_ns + a->host_ns, own_ns = a->last_ns - (busy + a->wait_ns);
	const uint64_t from_ns = before_ns > own_ns ? before_ns : own_ns;
	if (a->second_ns > from_ns)
		return (int64_t)(a->last_ns - a->second_ns);
	const int64_t more = (int64_t)(busy - a->second_busy_ns), most = (int64_t)(a->last_ns - from_ns);
	return more < most ? more : most;
}

/* The first collective of a communicator shows how ranks started, which no rank is to blame for. */
static void compare_all(const struct sw_merged *merged, const struct sw_communicator *c, struct late *late,
			uint64_t *compared)
{
	uint32_t most = 0;
	for (size_t i = 0; i < c->machines.n; i++)
		if (c->machines.at[i]->at.n && c->machines.at[i]->at.at[c->machines.at[i]->at.n - 1].number > most)
			most = c->machines.at[i]->at.at[c->machines.at[i]->at.n - 1].number;
	uint64_t error, before_ns = 0;
	for (uint32_t number = 1; number <= most;
	     number = number == 1 && c->stride > 1 ? c->stride : number + c->stride) {
		const struct sw_arrival a = put_together(merged, c, number, &error);
		if (a.n < 2 || !joins_all(c, number))
			continue;
		const int64_t held = held_up(&a, before_ns);
		before_ns = a.last_ns;
		if (number == 1)
			continue;
		++*compared;
		struct late *l = &late[a.last->index];
		if (a.last_ns - a.second_ns <= error)
			continue;
		l->last++;
		l->held += held > (int64_t)error;
		l->held_ns += held;
		l->wait_ns += a.wait_ns;
		l->copy_ns += a.copy_ns;
		l->host_ns += a.host_ns;
	}
}

static uint64_t between(const struct late *late)
{
	return late->wait_ns + late->copy_ns + late->host_ns;
}

static void report_straggler(struct sw_merged *merged, struct sw_merged_rank *rank, const struct late *late,
			     uint64_t compared, uint32_t stride)
{
	struct sw_between *b = sw_between_add(merged, 503, SW_NOTE, "likely", rank->rank);
	const double n = (double)late->last;
	size_t bytes;
	FILE *out = sw_memory_stream(&b->title, &bytes);
	sw_merged_name(out, rank);
	fprintf(out, " comes last to %" PRIu64 " of %" PRIu64 " collectives and holds up the others for about %.1f ms",
		late->last, compared, (double)late->held_ns / 1e6);
	fclose(out);
	out = sw_memory_stream(&b->text, &bytes);
	fprintf(out,
		"  That is %.1f %% of the time between its collectives. Since the one before, on average, its host\n"
		"  waited %.3f ms for devices, copied for %.3f ms, and did %.3f ms of other work.\n"
		"  basis:         when the hosts made the calls%s\n",
		100.0 * (double)late->held_ns / (double)between(late), (double)late->wait_ns / n / 1e6,
		(double)late->copy_ns / n / 1e6, (double)late->host_ns / n / 1e6,
		stride > 1 ? "; of a long run every few collectives are compared" : "");
	fclose(out);
	*sw_vec_push(&b->ranks) = rank;
}

void sw_between_stragglers(struct sw_merged *merged)
{
	struct late *late = sw_calloc(merged->ranks.n + 1, sizeof *late);
	uint32_t stride = 1;
	uint64_t *compared = sw_calloc(merged->ranks.n + 1, sizeof *compared);
	for (size_t i = 0; i < merged->collectives.communicators.n; i++) {
		const struct sw_communicator *c = merged->collectives.communicators.at[i];
		uint64_t n = 0;
		compare_all(merged, c, late, &n);
		stride = c->stride > stride ? c->stride : stride;
		for (size_t k = 0; k < c->sequences.n; k++)
			for (size_t m = 0; m < c->sequences.at[k]->members.n; m++)
				compared[c->sequences.at[k]->members.at[m].process->index] += n;
	}
	for (size_t i = 0; i < merged->ranks.n; i++) {
		const struct late *l = &late[i];
		const uint64_t held_ns = l->held_ns > 0 ? (uint64_t)l->held_ns : 0;
		if (l->held >= LEAST_COLLECTIVES && 2 * l->last > compared[i] && held_ns >= LEAST_NS &&
		    held_ns >= l->last * LEAST_MEAN_NS && held_ns * LEAST_SHARE >= between(l))
			report_straggler(merged, merged->ranks.at[i], l, compared[i], stride);
	}
	free(compared);
	free(late);
}
