/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confirm --explore: runs with short holds before calls that a seed chooses.  A run in which something else leaves the
 * device than in the runs without holds has a race; halving the holds finds the one that shows it.
 */
#include "confirm/explore.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "confirm/trial.h"
#include "report/symbols/stack.h"

/* So many of a thousand calls are held. */
#define RATE	      200u
#define BASELINES     3u
#define DEFAULT_HOLD  20000000ull
#define MOST_HELD_PER 20000000000ull
#define ALL	      UINT32_MAX

struct output {
	uint64_t seq, bytes, hash;
	bool there, steady;
};

/* Bytes that one run brought to the host, in the order of its copies. */
struct run {
	SW_VEC(struct output) outputs;
	uint64_t holds, held_seq, held_ns; /* candidates; the last one that was held */
	uint32_t held;
	int status;
	char *trace;
};

struct exploration {
	struct sw_experiments *in;
	struct run base;
	uint64_t seed, hold_ns;
	SW_VEC(char *) changed; /* copies that a seed changes, as text */
};

/* Takes a line of a run's results: bytes that came to the host, holds. */
static void take_line(const char *line, struct run *run)
{
	uint64_t seq, bytes, hash, ns;
	unsigned at, missed, holds;
	if (sscanf(line, "output %u %" SCNu64 " %" SCNu64 " %" SCNx64, &at, &seq, &bytes, &hash) == 4 &&
	    at < (1u << 20)) {
		while (run->outputs.n <= at)
			*sw_vec_push(&run->outputs) = (struct output){0};
		run->outputs.at[at] = (struct output){seq, bytes, hash, true, true};
	} else if (sscanf(line, "held %" SCNu64 " %u %" SCNu64, &seq, &at, &ns) == 3) {
		run->held++;
		run->held_seq = seq;
		run->held_ns = ns;
	} else if (sscanf(line, "holds %u missed %u", &holds, &missed) == 2) {
		run->holds = holds;
	}
}

/* Call-back for take_line(). */
static void visit_line(void *arg, const char *line)
{
	take_line(line, arg);
}

/* Frees the results of a run. */
static void run_free(struct run *run)
{
	free(run->outputs.at);
	free(run->trace);
}

/* Runs the program with those of the seed's holds that have the numbers first to last. */
static int run_once(struct exploration *e, uint64_t seed, uint64_t rate, uint64_t first, uint64_t last, struct run *out)
{
	struct sw_hold_plan plan = {.mode = SW_PLAN_EXPLORE,
				    .bound_ns = e->hold_ns,
				    .total_ns = MOST_HELD_PER,
				    .seed = seed,
				    .rate = rate,
				    .first = first,
				    .last = last};
	*out = (struct run){0};
	struct sw_observation how = {.environment = sw_experiment_environment(e->in, true),
				     .line = visit_line,
				     .arg = out,
				     .keep_trace = true};
	const int status = sw_experiment_observe(e->in, &plan, &how);
	out->status = how.program_status;
	out->trace = how.trace;
	return status;
}

/* The first copy to the host that brought other bytes than in the run without holds; -1: none. */
static long first_difference(const struct exploration *e, const struct run *run)
{
	for (size_t i = 0; i < e->base.outputs.n && i < run->outputs.n; i++) {
		const struct output *a = &e->base.outputs.at[i], *b = &run->outputs.at[i];
		if (a->steady && a->there && b->there && a->bytes == b->bytes && a->hash != b->hash)
			return (long)i;
	}
	return -1;
}

/* Outputs that differ without any hold say nothing: times, addresses, a race that is lost anyway. */
static int run_baselines(struct exploration *e)
{
	int status = run_once(e, 0, 0, 0, 0, &e->base);
	if (!status && e->base.trace)
		sw_experiment_count_streams(e->in, e->base.trace);
	for (uint32_t i = 1; i < BASELINES && !status; i++) {
		struct run again;
		status = run_once(e, 0, 0, 0, 0, &again);
		for (size_t k = 0; k < e->base.outputs.n; k++) {
			struct output *a = &e->base.outputs.at[k];
			const struct output *b = k < again.outputs.n ? &again.outputs.at[k] : NULL;
			a->steady = a->steady && b && b->there && a->bytes == b->bytes && a->hash == b->hash;
		}
		remove(again.trace ? again.trace : "");
		run_free(&again);
	}
	return status;
}

/* ---- one seed ---------------------------------------------------------------------------------------------------- */

/* Names a call of the trace by its operation and place, for which the trace is read once more. */
static const char *call_text(struct sw_report *report, uint64_t seq, const char *trace, bool with_number)
{
	struct sw_reader *reader;
	struct sw_record record;
	struct sw_error error;
	const char *text = "a call";
	if (sw_reader_open(trace, &reader, &error))
		return text;
	while (sw_reader_next(reader, &record, &error) > 0)
		if (record.seq == seq) {
			const struct sw_access what = {
				.api = record.rec->api,
				.flags = record.rec->flags,
				.kind = record.rec->kind,
				.stack = record.stack,
				.function = record.rec->kind == SW_REC_LAUNCH
						    ? ((const struct sw_rec_launch *)(const void *)record.rec)->function
						    : 0,
				.seq = seq};
			const char *place = sw_place_brief(&report->names, sw_place_of(&report->names, &what, NULL));
			const char *operation = sw_name_operation_brief(&report->names, &what);
			if (with_number)
				text = sw_names_format(&report->names, "%s (%s%scall %" PRIu64 ")", operation, place,
						       *place ? ", " : "", seq);
			else
				text = sw_names_format(&report->names, "%s (%s)", operation, place);
			break;
		}
	sw_reader_close(reader);
	return text;
}

/* Prints which hold changes what the program brings to the host.  alone: this hold is enough. */
static void print_change(struct exploration *e, uint64_t seed, const struct run *run, long at, bool alone)
{
	struct sw_analysis analysis;
	const uint64_t seq = run->outputs.at[at].seq;
	if (sw_analysis_judge_only(&analysis, run->trace, e->in->options, false) || !analysis.report) {
		sw_analysis_free(&analysis);
		return;
	}
	printf("seed %" PRIu64 ": holding %s%s for %.1f ms changes what %s brings to the host\n", seed,
	       call_text(analysis.report, run->held_seq, run->trace, true), alone ? "" : " and others",
	       run->held_ns / 1e6, call_text(analysis.report, seq, run->trace, true));
	sw_analysis_free(&analysis);
}

/* Has an earlier seed changed what the same place in the program brings to the host?  Then it was reported. */
static bool changed_before(struct exploration *e, uint64_t seed, const struct run *run, long at)
{
	struct sw_analysis analysis;
	bool before = false;
	if (!sw_analysis_judge_only(&analysis, run->trace, e->in->options, false) && analysis.report) {
		const char *text = call_text(analysis.report, run->outputs.at[at].seq, run->trace, false);
		for (size_t i = 0; i < e->changed.n && !before; i++)
			before = strcmp(e->changed.at[i], text) == 0;
		if (before)
			printf("seed %" PRIu64 ": changes what %s brings to the host, too\n", seed, text);
		else
			*sw_vec_push(&e->changed) = sw_strdup(text);
	}
	sw_analysis_free(&analysis);
	return before;
}

/* Runs with a part of the holds; *differs: the first copy that changes, -1 none. */
static int try_part(struct exploration *e, uint64_t seed, uint64_t first, uint64_t last, struct run *run, long *differs)
{
	int status = run_once(e, seed, RATE, first, last, run);
	*differs = status ? -1 : first_difference(e, run);
	return status;
}

/* Frees the results of a run and removes its trace. */
static void drop_run(struct run *run)
{
	if (run->trace)
		remove(run->trace);
	run_free(run);
}

/* Finds which holds make the difference: halves them as long as one half alone shows it in a run. */
static int bisect_holds(struct exploration *e, uint64_t seed, struct run *run, long at)
{
	uint64_t first = 0, last = run->holds;
	int status = SW_EXIT_OK;
	bool narrower = true;
	while (last - first > 1 && narrower && !status) {
		const uint64_t middle = first + (last - first) / 2;
		narrower = false;
		for (int half = 0; half < 2 && !narrower && !status; half++) {
			struct run part;
			long differs;
			status = try_part(e, seed, half ? middle : first, half ? last : middle, &part, &differs);
			narrower = !status && differs >= 0;
			if (narrower) {
				drop_run(run);
				*run = part;
				at = differs;
				*(half ? &first : &last) = middle;
			} else {
				drop_run(&part);
			}
		}
	}
	if (!status)
		print_change(e, seed, run, at, run->held == 1);
	return status;
}

/* Runs the program with random holds, and reports those that change what leaves the device. */
int sw_explore(struct sw_experiments *experiments, uint64_t runs, uint64_t seed, uint64_t hold_ns, uint64_t *found)
{
	struct exploration e = {.in = experiments, .seed = seed, .hold_ns = hold_ns ? hold_ns : DEFAULT_HOLD};
	int status = run_baselines(&e);
	size_t steady = 0;
	for (size_t i = 0; i < e.base.outputs.n; i++)
		steady += e.base.outputs.at[i].there && e.base.outputs.at[i].steady;
	*found = 0;
	if (!status)
		fprintf(stderr, "syncwatch: %zu %s to the host, %zu of them the same in %u runs without holds\n",
			e.base.outputs.n, sw_plural(e.base.outputs.n, "copy", "copies"), steady, BASELINES);
	for (uint64_t i = 0; i < runs && !status; i++) {
		struct run run;
		long differs;
		status = try_part(&e, seed + i, 0, ALL, &run, &differs);
		if (!status && differs >= 0) {
			++*found;
			if (!changed_before(&e, seed + i, &run, differs))
				status = bisect_holds(&e, seed + i, &run, differs);
		}
		drop_run(&run);
	}
	drop_run(&e.base);
	for (size_t i = 0; i < e.changed.n; i++)
		free(e.changed.at[i]);
	free(e.changed.at);
	return status ? status : sw_finish_stdout(SW_EXIT_OK);
}
