/* SPDX-License-Identifier: Apache-2.0 */
#include "merge/between.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

const struct sw_between_info *sw_between_info(int number)
{
	for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
		if (infos[i].number == number)
			return &infos[i];
	return NULL;
}

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

static const char *const ops[] = {"?",		"all-reduce", "broadcast", "reduce", "all-gather", "reduce-scatter",
				  "all-to-all", "gather",     "scatter",   "send",   "receive"};
static const char *const types[] = {"int8", "uint8", "int32",  "uint32",   "int64",	    "uint64",
				    "half", "float", "double", "bfloat16", "float8 (e4m3)", "float8 (e5m2)"};
static const char *const reductions[] = {"sum", "product", "maximum", "minimum", "average"};

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

/* "rank 3", "ranks 0 to 2, 7": of the communicator, in order. */
static void put_ranks(FILE *out, const uint32_t *ranks, size_t n)
{
	fputs(n == 1 ? "rank " : "ranks ", out);
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

/* What a member called at a place: 0 unknown. */
static uint32_t call_at(const struct sw_collective_sequence *s, uint32_t place)
{
	return place < s->calls.n ? s->calls.at[place] : 0;
}

struct group {
	uint32_t call; /* kind + 1; 0: it never called it */
	SW_VEC(uint32_t) ranks;
	SW_VEC(const struct sw_collective_member *) members;
};
struct groups {
	SW_VEC(struct group) at;
};

static int by_rank(const void *a, const void *b)
{
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : *(const uint32_t *)a > *(const uint32_t *)b;
}

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

static void free_groups(struct groups *groups)
{
	for (size_t g = 0; g < groups->at.n; g++) {
		free(groups->at.at[g].ranks.at);
		free(groups->at.at[g].members.at);
	}
	free(groups->at.at);
}

static void add_ranks(struct sw_between *b, const struct group *group)
{
	for (size_t i = 0; i < group->members.n; i++)
		*sw_vec_push(&b->ranks) = group->members.at[i]->process;
}

static uint32_t longest(const struct sw_communicator *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->sequences.n; i++)
		n = c->sequences.at[i]->calls.n > n ? c->sequences.at[i]->calls.n : n;
	return (uint32_t)n;
}

/* The first place where two that both got there differ; UINT32_MAX: none. */
static uint32_t first_difference(const struct sw_communicator *c)
{
	const uint32_t n = longest(c);
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

static const struct sw_merged_clock *clock_of(const struct sw_merged *merged, const struct sw_merged_rank *rank)
{
	const char *boot = *rank->boot ? rank->boot : rank->host;
	for (size_t i = 0; i < merged->clocks.n; i++)
		if (strcmp(merged->clocks.at[i].boot, boot) == 0)
			return &merged->clocks.at[i];
	return NULL;
}

/* When the first rank called it, and the longest that a trace continues after that: how long the missing ones had. */
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

/* A rank whose trace is not whole may have called it. */
static bool all_whole(const struct group *group)
{
	for (size_t i = 0; i < group->members.n; i++)
		if (group->members.at[i]->process->gaps.n)
			return false;
	return true;
}

static bool all_ended(const struct group *group)
{
	for (size_t i = 0; i < group->members.n; i++)
		if (!group->members.at[i]->process->ended_in_order)
			return false;
	return true;
}

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

static void check_missing(struct sw_merged *merged, const struct sw_communicator *c)
{
	uint32_t least = UINT32_MAX;
	for (size_t i = 0; i < c->sequences.n; i++)
		for (size_t k = 0; k < c->sequences.at[i]->members.n; k++)
			if (c->sequences.at[i]->members.at[k].calls < least)
				least = c->sequences.at[i]->members.at[k].calls;
	if (least >= longest(c))
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

void sw_between_find(struct sw_merged *merged)
{
	sw_collective_set_sort(&merged->collectives);
	sw_merged_find_clocks(merged);
	for (size_t i = 0; i < merged->collectives.communicators.n; i++) {
		const struct sw_communicator *c = merged->collectives.communicators.at[i];
		const uint32_t place = first_difference(c);
		if (place != UINT32_MAX)
			report_mismatch(merged, c, place);
		else
			check_missing(merged, c);
	}
	sw_between_shared(merged);
	sw_between_stragglers(merged);
	for (size_t i = 0; i < merged->between.n; i++)
		++*(merged->between.at[i]->severity == SW_ERROR	    ? &merged->errors
		    : merged->between.at[i]->severity == SW_WARNING ? &merged->warnings
								    : &merged->notes);
}
