/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stretch of the run in which the changed calls lie, in parts: from one such call to the next.  What comes before
 * and after (starting, loading libraries) differs by more from run to run than what is to be measured, and so may a
 * part: where it does, it is left out.  A part in which the two kinds of runs differ by more than runs of one kind
 * stays: a change moves waiting from many parts to a later one, often the last.
 */
#include "confirm/saving_spans.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/map.h"

/* Fewer parts are compared as they are. */
#define LEAST_PARTS 16u
#define TIMES	    2	/* so many times as much, differences added as those of independent things are */
#define FEW	    8u	/* one of so many parts */
#define TOLD	    12u /* parts in the log */
/* 2000 samples of up to 400 parts, fewer of more. */
#define WORK	      800000u
#define MOST_SAMPLES  2000u
#define LEAST_SAMPLES 200u

struct parts {
	size_t n, runs;	  /* runs: those without the change, then those with it */
	int64_t *ns;	  /* of each run: of each part */
	int64_t *typical; /* of each part: median of the runs without the change */
	int64_t *differ;  /* of each part: by how much runs of one kind do */
	int64_t *moved;	  /* of each part: by how much the medians of the two kinds do */
	bool *out;
	struct sw_mark *from; /* of each part: the call that begins it */
};

/* Frees the marks. */
void sw_marks_free(struct sw_marks *marks)
{
	free(marks->at.at);
	*marks = (struct sw_marks){0};
}

/* Key of a marked call: its place, and which of its calls it is. */
static uint64_t key_of(const struct sw_mark *mark)
{
	return (uint64_t)mark->site << 32 | mark->nth;
}

/* For qsort(): by value. */
static int compare_ns(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

/* The median of n numbers, which it sorts; of an even number the upper one of the middle two. */
static int64_t upper_median(int64_t *numbers, size_t n)
{
	qsort(numbers, n, sizeof *numbers, compare_ns);
	return numbers[n / 2];
}

/* By how much most of the numbers, which are sorted, differ; one run that was disturbed is the median's business. */
static int64_t spread_of(const int64_t *sorted, size_t n)
{
	return n >= 5 ? sorted[n - 2] - sorted[1] : sorted[n - 1] - sorted[0];
}

/* Counts in how many runs each marked call was made: only calls that all runs made are compared. */
static void count_runs(struct sw_map *runs, const struct sw_marks *marks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < marks[i].at.n; k++)
			++*sw_map_put(runs, key_of(&marks[i].at.at[k]));
}

/* The marks of a run: those without the change come first. */
static const struct sw_marks *run_of(const struct sw_marks *base, const struct sw_marks *with, size_t pairs, size_t run)
{
	return run < pairs ? &base[run] : &with[run - pairs];
}

/* Fills in the times of a run's parts: between the marked calls, in the order of the first run; the last one ends with
   the wait. */
static void time_parts(struct parts *parts, size_t run, const struct sw_marks *marks)
{
	struct sw_map times = {0};
	int64_t *ns = parts->ns + run * parts->n;
	for (size_t k = 0; k < marks->at.n; k++)
		*sw_map_put(&times, key_of(&marks->at.at[k])) = marks->at.at[k].ns;
	for (size_t k = 0; k < parts->n; k++) {
		const uint64_t from = sw_map_get(&times, key_of(&parts->from[k]));
		const uint64_t to = k + 1 < parts->n ? sw_map_get(&times, key_of(&parts->from[k + 1])) : marks->end_ns;
		ns[k] = (int64_t)(to - from);
	}
	sw_map_free(&times);
}

/* Finds by how much a part differs between runs of one kind, and between the two kinds. */
static void describe_part(struct parts *parts, size_t k)
{
	const size_t pairs = parts->runs / 2;
	int64_t *numbers = sw_calloc(pairs, sizeof *numbers);
	for (size_t kind = 0; kind < 2; kind++) {
		for (size_t i = 0; i < pairs; i++)
			numbers[i] = parts->ns[(kind * pairs + i) * parts->n + k];
		const int64_t median = upper_median(numbers, pairs), differ = spread_of(numbers, pairs);
		if (!kind)
			parts->typical[k] = median;
		parts->moved[k] = llabs(median - parts->typical[k]);
		parts->differ[k] = !kind || differ > parts->differ[k] ? differ : parts->differ[k];
	}
	free(numbers);
}

/* Cuts the runs into parts at the calls that all of them made; false: there are none. */
static bool make_parts(struct parts *parts, const struct sw_marks *base, const struct sw_marks *with, size_t pairs)
{
	struct sw_map runs = {0};
	*parts = (struct parts){.runs = 2 * pairs};
	count_runs(&runs, base, pairs);
	count_runs(&runs, with, pairs);
	parts->from = sw_calloc(base->at.n + 1, sizeof *parts->from);
	for (size_t k = 0; k < base->at.n; k++)
		if (sw_map_get(&runs, key_of(&base->at.at[k])) == parts->runs)
			parts->from[parts->n++] = base->at.at[k];
	sw_map_free(&runs);
	parts->ns = sw_calloc(parts->n * parts->runs + 1, sizeof *parts->ns);
	parts->typical = sw_calloc(parts->n + 1, sizeof *parts->typical);
	parts->differ = sw_calloc(parts->n + 1, sizeof *parts->differ);
	parts->moved = sw_calloc(parts->n + 1, sizeof *parts->moved);
	parts->out = sw_calloc(parts->n + 1, sizeof *parts->out);
	for (size_t run = 0; run < parts->runs && parts->n; run++)
		time_parts(parts, run, run_of(base, with, pairs, run));
	for (size_t k = 0; k < parts->n; k++)
		describe_part(parts, k);
	return parts->n > 0;
}

/* For qsort_r() of indexes: the parts that differ most between runs of one kind first. */
static int by_difference(const void *a, const void *b, void *arg)
{
	const struct parts *parts = arg;
	const int64_t x = parts->differ[*(const size_t *)a], y = parts->differ[*(const size_t *)b];
	return x > y ? -1 : x < y;
}

/* Does the change take effect in part k of the run: does that move more than it differs between equal runs? */
static bool has_effect(const struct parts *parts, size_t k)
{
	return parts->moved[k] > parts->differ[k];
}

/* Leaves out a few parts of the run that differ much: as many as possible, where each differs more than all that stay
   do together. */
static void leave_out(struct parts *parts)
{
	size_t *order = sw_calloc(parts->n, sizeof *order), candidates = 0, n = 0;
	double rest = 0;
	for (size_t k = 0; k < parts->n; k++)
		if (has_effect(parts, k))
			rest += (double)parts->differ[k] * (double)parts->differ[k];
		else
			order[candidates++] = k;
	qsort_r(order, candidates, sizeof *order, by_difference, parts);
	for (size_t k = candidates; k-- > 0;) {
		const double differs = (double)parts->differ[order[k]];
		if (k < parts->n / FEW && differs * differs > TIMES * TIMES * rest) {
			n = k + 1;
			break;
		}
		rest += differs * differs;
	}
	for (size_t k = 0; k < n && parts->n >= LEAST_PARTS; k++)
		parts->out[order[k]] = true;
	free(order);
}

/* Writes the times of a part into the log. */
static void tell_part(FILE *log, const struct parts *parts, size_t k)
{
	fprintf(log, "  part from call %" PRIu32 " of site %" PRIu32 "%s, ms:", parts->from[k].nth, parts->from[k].site,
		parts->out[k] ? ", left out" : "");
	for (size_t run = 0; run < parts->runs; run++)
		fprintf(log, "%s %.3f", run == parts->runs / 2 ? " ->" : "",
			(double)parts->ns[run * parts->n + k] / 1e6);
	fputc('\n', log);
}

/* Prints the parts that are left out, and the longest of the others. */
static void log_parts(FILE *log, const struct parts *parts)
{
	size_t told = 0;
	int64_t least = 0, *sorted = sw_calloc(parts->n, sizeof *sorted);
	for (size_t k = 0; k < parts->n; k++)
		sorted[k] = parts->typical[k];
	qsort(sorted, parts->n, sizeof *sorted, compare_ns);
	least = sorted[parts->n > TOLD ? parts->n - TOLD : 0];
	for (size_t k = 0; k < parts->n; k++)
		if (parts->out[k] || (parts->typical[k] >= least && told++ < TOLD))
			tell_part(log, parts, k);
	free(sorted);
}

/* ---- what is saved ----------------------------------------------------------------------------------------------- */

/* The median of n numbers, which it sorts. */
static int64_t median_of(int64_t *numbers, size_t n)
{
	const int64_t upper = upper_median(numbers, n);
	return n % 2 ? upper : numbers[n / 2 - 1] + (upper - numbers[n / 2 - 1]) / 2;
}

/* The time of a run made of the median of each part, of these pairs, without the change (kind 0) or with it: whatever
   disturbs a run disturbs few of its parts. */
static int64_t typical_run(const struct parts *parts, const size_t *pairs, size_t kind)
{
	const size_t n = parts->runs / 2;
	int64_t numbers[SW_BOOTSTRAP_MOST], sum = 0;
	for (size_t k = 0; k < parts->n; k++) {
		for (size_t i = 0; i < n; i++)
			numbers[i] = parts->ns[(kind * n + pairs[i]) * parts->n + k];
		sum += parts->out[k] ? 0 : median_of(numbers, n);
	}
	return sum;
}

/* The interval of the saving, from samples of the pairs, as sw_bootstrap_median() does it. */
static struct sw_interval saved_of(const struct parts *parts, int64_t *base)
{
	const size_t n = parts->runs / 2, most = WORK / parts->n;
	const size_t samples = most > MOST_SAMPLES ? MOST_SAMPLES : most < LEAST_SAMPLES ? LEAST_SAMPLES : most;
	int64_t saved[MOST_SAMPLES];
	size_t pairs[SW_BOOTSTRAP_MOST];
	uint64_t dice = SW_FNV_START;
	for (size_t s = 0; s < samples; s++) {
		for (size_t i = 0; i < n; i++) {
			dice = sw_hash_u64(dice + 1);
			pairs[i] = dice % n;
		}
		saved[s] = typical_run(parts, pairs, 0) - typical_run(parts, pairs, 1);
	}
	qsort(saved, samples, sizeof *saved, compare_ns);
	for (size_t i = 0; i < n; i++)
		pairs[i] = i;
	*base = typical_run(parts, pairs, 0);
	const size_t tail = samples / 40; /* 2.5 % at each end: an interval of 95 % */
	return (struct sw_interval){*base - typical_run(parts, pairs, 1), saved[tail], saved[samples - 1 - tail]};
}

/* Compares the stretches of the runs in which the changed calls lie, part by part. */
void sw_saving_compare(const struct sw_marks *base, const struct sw_marks *with, size_t pairs, FILE *log,
		       struct sw_saving_stretch *out)
{
	struct parts parts;
	*out = (struct sw_saving_stretch){.parts = 0};
	if (make_parts(&parts, base, with, pairs)) {
		leave_out(&parts);
		out->saved = saved_of(&parts, &out->base_ns);
		for (size_t k = 0; k < parts.n; k++) {
			out->left_out += parts.out[k];
			out->left_out_ns += parts.out[k] ? parts.typical[k] : 0;
		}
		out->parts = parts.n;
		if (log)
			log_parts(log, &parts);
	}
	free(parts.ns);
	free(parts.typical);
	free(parts.differ);
	free(parts.moved);
	free(parts.out);
	free(parts.from);
}
