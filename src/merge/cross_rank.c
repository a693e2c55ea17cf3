/* SPDX-License-Identifier: Apache-2.0 */
/* Findings between the ranks of a job: collectives that do not match, late ranks, clocks that were compared. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "base/hash.h"
#include "merge/collectives.h"
#include "merge/merged.h"

#define LATE_NS 1000000000u /* jobs that are killed end their ranks within less */

static const struct sw_between_info infos[] = {
#define SW_BETWEEN(name, number, kind, title, text) {number, kind, title, text},
#include "merge/findings.def"
#undef SW_BETWEEN
};
enum {
#define SW_BETWEEN(name, number, kind, title, text) SW_BETWEEN_##name = number,
#include "merge/findings.def"
#undef SW_BETWEEN
};

const struct sw_between_info *sw_between_info_at(size_t index)
{
	return index < sizeof infos / sizeof *infos ? &infos[index] : NULL;
}

/* Name and texts of a kind of finding, by its number. */
const struct sw_between_info *sw_between_info(int number)
{
	for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
		if (infos[i].number == number)
			return &infos[i];
	return NULL;
}

/* A new finding.  Its fingerprint is made of number and `what`, so that it is the same for each run of the job. */
struct sw_between *sw_between_add(struct sw_merged *merged, int number, enum sw_severity severity,
				  const char *confidence, uint64_t what)
{
	const uint64_t words[] = {(uint64_t)number, what};
	struct sw_between *b = sw_calloc(1, sizeof *b);
	*b = (struct sw_between){.number = number,
				 .severity = severity,
				 .confidence = confidence,
				 .fingerprint = sw_hash_words(words, sizeof words)};
	*sw_vec_push(&merged->between) = b;
	return b;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static const char *const ops[] = {
	[0] = "?",
	[SW_COLLECTIVE_ALL_REDUCE] = "all-reduce",
	[SW_COLLECTIVE_BROADCAST] = "broadcast",
	[SW_COLLECTIVE_REDUCE] = "reduce",
	[SW_COLLECTIVE_ALL_GATHER] = "all-gather",
	[SW_COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
	[SW_COLLECTIVE_ALL_TO_ALL] = "all-to-all",
	[SW_COLLECTIVE_GATHER] = "gather",
	[SW_COLLECTIVE_SCATTER] = "scatter",
	[SW_COLLECTIVE_SEND] = "send",
	[SW_COLLECTIVE_RECEIVE] = "receive",
};
/* ncclDataType_t and ncclRedOp_t (wrappers.c 2.30) as words, by their numbers. */
static const char *const types[] = {"int8", "uint8", "int32",  "uint32",   "int64",	    "uint64",
				    "half", "float", "double", "bfloat16", "float8 (e4m3)", "float8 (e5m2)"};
static const char *const reductions[] = {"sum", "product", "maximum", "minimum", "average"};

/* Writes a collective: "all-reduce of 1024 float (sum)", with the root where the call has one. */
static void put_call(FILE *out, const struct sw_collective_call *call)
{
	fprintf(out, "%s of %" PRIu64 " ", call->op < sizeof ops / sizeof *ops ? ops[call->op] : ops[0], call->count);
	if (call->type < sizeof types / sizeof *types)
		fputs(types[call->type], out);
	else
		fprintf(out, "type %u", call->type);
	if (call->op == SW_COLLECTIVE_ALL_REDUCE || call->op == SW_COLLECTIVE_REDUCE ||
	    call->op == SW_COLLECTIVE_REDUCE_SCATTER)
		fprintf(out, " (%s)",
			call->reduction < sizeof reductions / sizeof *reductions ? reductions[call->reduction]
										 : "own operation");
	if (call->root >= 0)
		fprintf(out, ", root %d", call->root);
}

/* Writes ranks of a communicator, in order: "rank 3", "ranks 0 to 2, 7". */
static void put_ranks(FILE *out, const uint32_t *ranks, size_t n)
{
	fputs(sw_plural(n, "rank ", "ranks "), out);
	for (size_t i = 0; i < n; i++) {
		size_t last = i;
		while (last + 1 < n && ranks[last + 1] == ranks[last] + 1)
			last++;
		fprintf(out, "%s%u", i ? ", " : "", ranks[i]);
		if (last > i)
			fprintf(out, "%s%u", last > i + 1 ? " to " : ", ", ranks[last]);
		i = last;
	}
}

/* ---- sequences --------------------------------------------------------------------------------------------------- */

/* The call of a member at a place: 0 unknown. */
static uint32_t call_at(const struct sw_collective_sequence *s, uint32_t place)
{
	return place < s->calls.n ? s->calls.at[place] : 0;
}

struct group {
	uint32_t call; /* kind + 1; 0: not recorded; UINT32_MAX: they never called it */
	SW_VEC(uint32_t) ranks;
	SW_VEC(const struct sw_collective_member *) members;
};
struct groups {
	SW_VEC(struct group) at;
};

/* Order of numbers of ranks, for qsort. */
static int by_rank(const void *a, const void *b)
{
	return sw_merged_by_number(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Groups the members by what they called at this place; their ranks are sorted, as put_ranks() expects. */
static void group_at(struct groups *groups, const struct sw_communicator *c, uint32_t place)
{
	for (size_t i = 0; i < c->sequences.n; i++)
		for (size_t k = 0; k < c->sequences.at[i]->members.n; k++) {
			const struct sw_collective_member *m = &c->sequences.at[i]->members.at[k];
			const uint32_t call = place < m->calls ? call_at(c->sequences.at[i], place) : UINT32_MAX;
			size_t g = 0;
			while (g < groups->at.n && groups->at.at[g].call != call)
				g++;
			if (g == groups->at.n)
				*sw_vec_push(&groups->at) = (struct group){.call = call};
			*sw_vec_push(&groups->at.at[g].ranks) = m->rank;
			*sw_vec_push(&groups->at.at[g].members) = m;
		}
	for (size_t g = 0; g < groups->at.n; g++)
		qsort(groups->at.at[g].ranks.at, groups->at.at[g].ranks.n, sizeof(uint32_t), by_rank);
}

/* Frees the arrays of each group; the members are the communicator's. */
static void free_groups(struct groups *groups)
{
	for (size_t g = 0; g < groups->at.n; g++) {
		free(groups->at.at[g].ranks.at);
		free(groups->at.at[g].members.at);
	}
	free(groups->at.at);
}

/* Names the processes of the group in the finding. */
static void add_ranks(struct sw_between *b, const struct group *group)
{
	for (size_t i = 0; i < group->members.n; i++)
		*sw_vec_push(&b->ranks) = group->members.at[i]->process;
}

/* Number of calls of the rank that called most. */
static uint32_t longest_sequence(const struct sw_communicator *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->sequences.n; i++)
		n = c->sequences.at[i]->calls.n > n ? c->sequences.at[i]->calls.n : n;
	return (uint32_t)n;
}

/* The first place where two that both got there differ; UINT32_MAX: none. */
static uint32_t first_difference(const struct sw_communicator *c)
{
	const uint32_t n = longest_sequence(c);
	for (uint32_t place = 0; c->sequences.n > 1 && place < n; place++) {
		uint32_t call = 0;
		for (size_t i = 0; i < c->sequences.n; i++) {
			const uint32_t other = call_at(c->sequences.at[i], place);
			if (call && other && call != other)
				return place;
			call = call ? call : other;
		}
	}
	return UINT32_MAX;
}

/* Reports that two ranks called different collectives at the same place of a communicator's sequence. */
static void report_mismatch(struct sw_merged *merged, const struct sw_communicator *c, uint32_t place)
{
	struct groups groups = {0};
	struct sw_between *b = sw_between_add(merged, SW_BETWEEN_MISMATCH, SW_ERROR, "certain", place);
	size_t bytes;
	FILE *out = sw_memory_stream(&b->title, &bytes);
	group_at(&groups, c, place);
	fprintf(out, "collective %u of a communicator of %u ranks is not the same on all", place + 1, c->size);
	fclose(out);
	out = sw_memory_stream(&b->text, &bytes);
	for (size_t g = 0; g < groups.at.n; g++) {
		const struct group *group = &groups.at.at[g];
		fputs("  ", out);
		put_ranks(out, group->ranks.at, group->ranks.n);
		if (group->call == UINT32_MAX) {
			fputs(": none\n", out);
		} else if (!group->call) {
			fputs(": not recorded\n", out);
		} else {
			fputs(": ", out);
			put_call(out, &c->kinds.at[group->call - 1]);
			putc('\n', out);
		}
		add_ranks(b, group);
	}
	fputs("\n  fix:           let every rank call the same collectives in the same order\n", out);
	fclose(out);
	free_groups(&groups);
}

/* ---- missing ----------------------------------------------------------------------------------------------------- */

/* The clock of the machine that the process ran on, NULL: there is none yet. */
static const struct sw_merged_clock *clock_of(const struct sw_merged *merged, const struct sw_merged_rank *rank)
{
	for (size_t i = 0; i < merged->clocks.n; i++)
		if (strcmp(merged->clocks.at[i].boot, sw_merged_machine(rank)) == 0)
			return &merged->clocks.at[i];
	return NULL;
}

/* How long the missing ranks had to make the call: from the first rank's call until the last trace of its machine
   ends. */
static uint64_t waited_for(const struct sw_merged *merged, const struct sw_communicator *c, uint32_t place)
{
	uint64_t longest_ns = 0;
	for (size_t i = 0; i < c->machines.n; i++)
		for (size_t k = 0; k < c->machines.at[i]->at.n; k++) {
			const struct sw_arrival *a = &c->machines.at[i]->at.at[k];
			if (a->number != place + 1)
				continue;
			for (size_t r = 0; r < c->sequences.n; r++)
				for (size_t n = 0; n < c->sequences.at[r]->members.n; n++) {
					const struct sw_collective_member *m = &c->sequences.at[r]->members.at[n];
					const struct sw_merged_clock *clock = clock_of(merged, m->process);
					if (clock && strcmp(clock->boot, c->machines.at[i]->boot) == 0 &&
					    m->end_ns > a->first_ns && m->end_ns - a->first_ns > longest_ns)
						longest_ns = m->end_ns - a->first_ns;
				}
		}
	return longest_ns;
}

/* Are the traces of all members whole?  A rank of which a part is missing may have made the call there. */
static bool all_whole(const struct group *group)
{
	for (size_t i = 0; i < group->members.n; i++)
		if (group->members.at[i]->process->gaps.n)
			return false;
	return true;
}

/* Did each process of the group end by itself?  One that was killed may have been about to make the call. */
static bool all_ended(const struct group *group)
{
	for (size_t i = 0; i < group->members.n; i++)
		if (!group->members.at[i]->process->ended_in_order)
			return false;
	return true;
}

/* Reports ranks that never called a collective that others called: an error where those ranks ended in order, a warning
   where the job was ended. */
static void report_missing(struct sw_merged *merged, const struct sw_communicator *c, uint32_t place,
			   const struct group *missing, const struct group *called)
{
	const uint64_t waited_ns = waited_for(merged, c, place);
	const bool certain = all_ended(missing) && all_whole(missing);
	if (!certain && (waited_ns < LATE_NS || !all_whole(missing)))
		return;
	struct sw_between *b = sw_between_add(merged, SW_BETWEEN_MISSING, certain ? SW_ERROR : SW_WARNING,
					      certain ? "certain" : "likely", place);
	size_t bytes;
	FILE *out = sw_memory_stream(&b->title, &bytes);
	put_ranks(out, missing->ranks.at, missing->ranks.n);
	fprintf(out, " never called collective %u of a communicator of %u ranks", place + 1, c->size);
	fclose(out);
	out = sw_memory_stream(&b->text, &bytes);
	fputs("  ", out);
	put_ranks(out, called->ranks.at, called->ranks.n);
	fputs(" called it: ", out);
	if (called->call)
		put_call(out, &c->kinds.at[called->call - 1]);
	fprintf(out, "; %s, %.1f s after the first call of it.\n",
		certain ? "the others ended in order" : "the job was ended", (double)waited_ns / 1e9);
	for (size_t i = 0; i < missing->members.n && i < 4; i++) {
		const struct sw_collective_member *m = missing->members.at[i];
		fprintf(out, "  rank %u made its last call of CUDA %.1f s before its trace ends\n", m->rank,
			(double)(m->end_ns - m->last_ns) / 1e9);
	}
	fclose(out);
	add_ranks(b, missing);
}

/* Looks for calls that some ranks never made, at the first place that one did not reach; what follows there is missing
   for the same cause. */
static void check_missing(struct sw_merged *merged, const struct sw_communicator *c)
{
	uint32_t least = UINT32_MAX;
	for (size_t i = 0; i < c->sequences.n; i++)
		for (size_t k = 0; k < c->sequences.at[i]->members.n; k++)
			if (c->sequences.at[i]->members.at[k].calls < least)
				least = c->sequences.at[i]->members.at[k].calls;
	if (least >= longest_sequence(c))
		return;
	struct groups groups = {0};
	const struct group *missing = NULL, *called = NULL;
	group_at(&groups, c, least);
	for (size_t g = 0; g < groups.at.n; g++)
		*(groups.at.at[g].call == UINT32_MAX ? &missing : &called) = &groups.at.at[g];
	if (missing && called)
		report_missing(merged, c, least, missing, called);
	free_groups(&groups);
}

#define LEAST_COLLECTIVES 4
#define LEAST_NS	  1000000u /* that a rank holds up the others in all */
#define LEAST_MEAN_NS	  20000u   /* ... and each time: threads of the host are scheduled with less */
#define LEAST_SHARE	  10u	   /* ... and of the time between its collectives, one part of so many */

/* ---- clocks ------------------------------------------------------------------------------------------------------ */

/* Does the collective end on each rank only after all ranks have called it? */
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

/* The collective of this number on the machine, NULL: it was not kept there. */
static const struct sw_arrival *find_arrival(const struct sw_arrivals *m, uint32_t number)
{
	const size_t at = sw_arrivals_place(m, number);
	return at < m->at.n && m->at.at[at].number == number ? &m->at.at[at] : NULL;
}

/* The arrivals on the machine of this boot, NULL: the communicator has no rank there. */
static const struct sw_arrivals *arrivals_on(const struct sw_communicator *c, const char *boot)
{
	for (size_t i = 0; i < c->machines.n; i++)
		if (strcmp(c->machines.at[i]->boot, boot) == 0)
			return c->machines.at[i];
	return NULL;
}

/* Finds how far a machine's clock is from the reference's.  A collective that joins all ranks is complete on neither
   machine before both have called it: each one bounds the difference of the clocks from both sides, and the least
   interval holds it. */
static void find_clock(struct sw_merged *merged, struct sw_merged_clock *clock, const char *reference)
{
	int64_t low = INT64_MIN, high = INT64_MAX;
	for (size_t i = 0; i < merged->collectives.communicators.n; i++) {
		const struct sw_communicator *c = merged->collectives.communicators.at[i];
		const struct sw_arrivals *a = arrivals_on(c, reference), *b = arrivals_on(c, clock->boot);
		for (size_t k = 0; a && b && k < a->at.n; k++) {
			const struct sw_arrival *here = &a->at.at[k], *there = find_arrival(b, here->number);
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

/* Makes a clock for each machine; the first one's is the reference for the others. */
static void find_clocks(struct sw_merged *merged)
{
	for (size_t i = 0; i < merged->ranks.n; i++) {
		const struct sw_merged_rank *r = merged->ranks.at[i];
		bool there = false;
		for (size_t k = 0; k < merged->clocks.n && !there; k++)
			there = strcmp(merged->clocks.at[k].boot, sw_merged_machine(r)) == 0;
		if (there)
			continue;
		struct sw_merged_clock *clock = sw_vec_push(&merged->clocks);
		*clock = (struct sw_merged_clock){.boot = sw_merged_machine(r), .host = r->host};
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

/* A collective's arrivals on all machines whose clocks are known as one; *error: how well they are. */
static struct sw_arrival put_together(const struct sw_merged *merged, const struct sw_communicator *c, uint32_t number,
				      uint64_t *error)
{
	struct sw_arrival all = {0};
	*error = 0;
	for (size_t i = 0; i < merged->clocks.n; i++) {
		const struct sw_merged_clock *clock = &merged->clocks.at[i];
		const struct sw_arrivals *m = arrivals_on(c, clock->boot);
		const struct sw_arrival *a = m ? find_arrival(m, number) : NULL;
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

/* Finds who came last to each collective of a communicator.  The first one shows how ranks started, which no rank is to
   blame for. */
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

/* Time of the host between the collectives that the rank came last to. */
static uint64_t late_time(const struct late *late)
{
	return late->wait_ns + late->copy_ns + late->host_ns;
}

/* SW503: a rank that came last to many collectives, and by how much the others waited for it. */
static void report_straggler(struct sw_merged *merged, struct sw_merged_rank *rank, const struct late *late,
			     uint64_t compared, uint32_t stride)
{
	struct sw_between *b = sw_between_add(merged, 503, SW_NOTE, "likely", rank->rank);
	const double n = (double)late->last;
	size_t bytes;
	FILE *out = sw_memory_stream(&b->title, &bytes);
	sw_merged_name(out, rank);
	fprintf(out, " comes last to %" PRIu64 " of %" PRIu64 " %s and holds up the others for about %.1f ms",
		late->last, compared, sw_plural(compared, "collective", "collectives"), (double)late->held_ns / 1e6);
	fclose(out);
	out = sw_memory_stream(&b->text, &bytes);
	fprintf(out,
		"  That is %.1f %% of the time between its collectives. Since the one before, on average, its host\n"
		"  waited %.3f ms for devices, copied for %.3f ms, and did %.3f ms of other work.\n"
		"  basis:         when the hosts made the calls%s\n",
		100.0 * (double)late->held_ns / (double)late_time(late), (double)late->wait_ns / n / 1e6,
		(double)late->copy_ns / n / 1e6, (double)late->host_ns / n / 1e6,
		stride > 1 ? "; of a long run every few collectives are compared" : "");
	fclose(out);
	*sw_vec_push(&b->ranks) = rank;
}

/* Finds the ranks of a communicator that came last to its collectives often and by much. */
static void find_stragglers(struct sw_merged *merged)
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
		    held_ns >= l->last * LEAST_MEAN_NS && held_ns * LEAST_SHARE >= late_time(l))
			report_straggler(merged, merged->ranks.at[i], l, compared[i], stride);
	}
	free(compared);
	free(late);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Adds each communicator's mismatch, or else its missing call, since after a mismatch the counts mean nothing; then
   findings of shared memory and late ranks. */
void sw_between_find(struct sw_merged *merged)
{
	sw_collective_set_sort(&merged->collectives);
	find_clocks(merged);
	for (size_t i = 0; i < merged->collectives.communicators.n; i++) {
		const struct sw_communicator *c = merged->collectives.communicators.at[i];
		const uint32_t place = first_difference(c);
		if (place != UINT32_MAX)
			report_mismatch(merged, c, place);
		else
			check_missing(merged, c);
	}
	sw_between_shared(merged);
	find_stragglers(merged);
	for (size_t i = 0; i < merged->between.n; i++)
		++*(merged->between.at[i]->severity == SW_ERROR	    ? &merged->errors
		    : merged->between.at[i]->severity == SW_WARNING ? &merged->warnings
								    : &merged->notes);
}
