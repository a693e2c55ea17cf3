/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the processes as a set.  Computed at the end, so that partial results need not hold it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "merge/merged.h"

#define CLOCKS_APART_NS 3600000000000u /* ranks of one job start within minutes */
#define NAMED_MANY	8

/* Adds the text, which is owned from then on, to the gaps of the whole report. */
static void add_gap(struct sw_merged *merged, char *text)
{
	*sw_vec_push(&merged->gaps) = text;
}

/* ---- missing ----------------------------------------------------------------------------------------------------- */

/* Writes the numbers that are wanted, runs of them as one: "3, 5 to 7". */
static void put_numbers(FILE *out, const bool *wanted, uint32_t n)
{
	bool first = true;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t last = i;
		if (!wanted[i])
			continue;
		while (last + 1 < n && wanted[last + 1])
			last++;
		fprintf(out, last > i + 1 ? "%s%u to %u" : last > i ? "%s%u, %u" : "%s%u", first ? "" : ", ", i, last);
		first = false;
		i = last;
	}
}

/* Ranks of the job of which there is no trace are a gap of the report; so are processes of jobs of different sizes. */
static void check_missing(struct sw_merged *merged)
{
	uint32_t least = UINT32_MAX;
	for (size_t i = 0; i < merged->ranks.n; i++) {
		const struct sw_merged_rank *r = merged->ranks.at[i];
		if (!r->ranked || !r->size)
			continue;
		merged->expected = r->size > merged->expected ? r->size : merged->expected;
		least = r->size < least ? r->size : least;
	}
	if (!merged->expected)
		return;
	if (least != merged->expected)
		add_gap(merged, sw_format("the processes were started as ranks of jobs of %u and of %u ranks", least,
					  merged->expected));
	bool *missing = sw_alloc(merged->expected * sizeof *missing);
	memset(missing, true, merged->expected * sizeof *missing);
	for (size_t i = 0; i < merged->ranks.n; i++) {
		const struct sw_merged_rank *r = merged->ranks.at[i];
		if (!r->ranked || r->rank >= merged->expected || !missing[r->rank])
			continue;
		missing[r->rank] = false;
		merged->present++;
	}
	if (merged->present < merged->expected) {
		char *text;
		size_t bytes;
		FILE *out = sw_memory_stream(&text, &bytes);
		const uint32_t n = merged->expected - merged->present;
		fprintf(out, "%u of %u ranks %s no trace: ", n, merged->expected, sw_plural(n, "has", "have"));
		put_numbers(out, missing, merged->expected);
		fclose(out);
		add_gap(merged, text);
	}
	free(missing);
}

/* ---- twice ------------------------------------------------------------------------------------------------------- */

/* Did both run at the same time?  By the clocks of day, as they may be of different machines. */
static bool runs_overlap(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	return a->start_real_ns < b->start_real_ns + b->span_ns && b->start_real_ns < a->start_real_ns + a->span_ns;
}

/* Is one the other's worker?  Workers of a rank have its environment: they are its children, or children of the same
   process. */
static bool are_related(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	return strcmp(a->host, b->host) == 0 &&
	       (a->ppid == b->pid || b->ppid == a->pid || (a->ppid == b->ppid && a->ppid > 1));
}

/* Two processes of one rank that ran at the same time are a gap of the report, unless one is the other's worker.
    Processes are sorted, so those of one rank follow each other. */
static void check_twice(struct sw_merged *merged)
{
	size_t listed = 0, more = 0;
	for (size_t i = 0; i < merged->ranks.n; i++) {
		const struct sw_merged_rank *a = merged->ranks.at[i];
		for (size_t k = i + 1; k < merged->ranks.n && a->ranked; k++) {
			const struct sw_merged_rank *b = merged->ranks.at[k];
			if (!b->ranked || b->rank != a->rank)
				break;
			if (!runs_overlap(a, b) || are_related(a, b))
				continue;
			if (listed++ < NAMED_MANY)
				add_gap(merged,
					sw_format("rank %u is there twice, by processes that ran at the same time: "
						  "%s and %s",
						  a->rank, a->trace, b->trace));
			else
				more++;
		}
	}
	if (more)
		add_gap(merged, sw_format("%zu more %s one rank", more,
					  sw_plural(more, "pair of traces has", "pairs of traces have")));
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

struct group {
	const char *name;
	size_t n;
};

/* If the processes differ in something that all should have in common, that is one gap, with the number of processes of
   each value. */
static void check_groups(struct sw_merged *merged, const char *(*value)(const struct sw_merged_rank *),
			 const char *what)
{
	SW_VEC(struct group) groups = {0};
	for (size_t i = 0; i < merged->ranks.n; i++) {
		const char *name = value(merged->ranks.at[i]);
		size_t k = 0;
		while (k < groups.n && strcmp(groups.at[k].name, name) != 0)
			k++;
		if (k == groups.n && *name)
			*sw_vec_push(&groups) = (struct group){name, 0};
		if (*name)
			groups.at[k].n++;
	}
	if (groups.n > 1) {
		char *text;
		size_t bytes;
		FILE *out = sw_memory_stream(&text, &bytes);
		fprintf(out, "%s: ", what);
		for (size_t k = 0; k < groups.n && k < NAMED_MANY; k++)
			fprintf(out, "%s%s (%zu)", k ? ", " : "", groups.at[k].name, groups.at[k].n);
		if (groups.n > NAMED_MANY)
			fprintf(out, " and %zu more", groups.n - NAMED_MANY);
		fclose(out);
		add_gap(merged, text);
	}
	free(groups.at);
}

/* The job of a process, for check_groups(). */
static const char *job_of(const struct sw_merged_rank *rank)
{
	return rank->job;
}

/* The recorder's version of a process, for check_groups(). */
static const char *recorder_of(const struct sw_merged_rank *rank)
{
	return rank->recorder;
}

/* ---- clocks ------------------------------------------------------------------------------------------------------ */

/* Ranks of one job start within minutes: if their clocks of day say otherwise, that is a gap. */
static void check_clocks(struct sw_merged *merged)
{
	const struct sw_merged_rank *first = NULL, *last = NULL;
	for (size_t i = 0; i < merged->ranks.n; i++) {
		const struct sw_merged_rank *r = merged->ranks.at[i];
		if (!r->ranked || r->restart || !r->start_real_ns)
			continue;
		first = !first || r->start_real_ns < first->start_real_ns ? r : first;
		last = !last || r->start_real_ns > last->start_real_ns ? r : last;
	}
	if (!first || strcmp(first->boot, last->boot) == 0 ||
	    last->start_real_ns - first->start_real_ns < CLOCKS_APART_NS)
		return;
	add_gap(merged, sw_format("by their clocks rank %u on %s began %.1f h after rank %u on %s: the clocks of these "
				  "machines differ, or the traces are of different runs",
				  last->rank, last->host, (double)(last->start_real_ns - first->start_real_ns) / 3.6e12,
				  first->rank, first->host));
}

/* Notes what is missing: in single traces first, then in the set of them. */
void sw_merged_check_ranks(struct sw_merged *merged)
{
	for (size_t i = 0; i < merged->unusable.n; i++)
		add_gap(merged, sw_format("%s: %s", merged->unusable.at[i].path, merged->unusable.at[i].why));
	for (size_t i = 0; i < merged->ranks.n; i++)
		for (size_t k = 0; k < merged->ranks.at[i]->gaps.n; k++) {
			char *text;
			size_t bytes;
			FILE *out = sw_memory_stream(&text, &bytes);
			sw_merged_name(out, merged->ranks.at[i]);
			fprintf(out, ": %s", merged->ranks.at[i]->gaps.at[k]);
			fclose(out);
			add_gap(merged, text);
		}
	check_missing(merged);
	check_twice(merged);
	check_groups(merged, job_of, "the traces are of different jobs");
	check_groups(merged, recorder_of, "the traces were recorded by different versions");
	check_clocks(merged);
}
