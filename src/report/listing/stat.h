/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of a trace: calls by entry point, kernels, bytes moved, losses, and what recording cost. */
#ifndef SW_REPORT_LISTING_STAT_H
#define SW_REPORT_LISTING_STAT_H

#include <stdio.h>

#include "base/map.h"
#include "detect/detect.h"
#include "reader/reader.h"
#include "report/symbols/names.h"

struct sw_histogram;

/*
 * Times of a run by function of the API, by stream and by kernel.  Watches a judgement:
 *
 *     struct sw_call_times *times = sw_call_times_new(reader);
 *     judge_options.observer = sw_call_times_observer(times);
 *     sw_judge(reader, &judge_options, &judgement, &error);
 *     sw_call_times_sort(times);
 *     ...                           // while reader and judgement still live
 *     sw_call_times_free(times);
 *
 * Not thread-safe.  Memory grows with the number of functions, streams and kernels, not with the run.
 */

struct sw_time_row {
	uint32_t key; /* of the table: function of the API and flags, stream, kernel */
	const char *name;
	uint64_t count;		     /* calls; work of a stream; launches of a kernel */
	uint64_t timed;		     /* of them: with a time */
	uint64_t total_ns, worst_ns; /* host time of calls, device time of the others */
	uint64_t p50_ns, p99_ns;     /* at most a sixteenth off */
	uint64_t waits, wait_ns;     /* calls that waited for work, and their host time */
	uint64_t failed, bytes;
	struct sw_histogram *times; /* NULL: none yet */
};

enum sw_time_table { SW_TIMES_CALLS, SW_TIMES_STREAMS, SW_TIMES_KERNELS, SW_TIME_TABLES };

struct sw_call_times {
	struct sw_observer observer;
	const struct sw_reader *reader;
	struct sw_names names;
	struct {
		struct sw_map index; /* key -> row + 1 */
		SW_VEC(struct sw_time_row) rows;
	} table[SW_TIME_TABLES];
};

struct sw_call_times *sw_call_times_new(struct sw_reader *reader);
const struct sw_observer *sw_call_times_observer(struct sw_call_times *times);
/* Adds calls that are only counted, names the rows, and sorts them: by time, then by count, then by name. */
void sw_call_times_sort(struct sw_call_times *times, const struct sw_judgement *judgement);
void sw_call_times_free(struct sw_call_times *times);

/* Reads the reader to its end.  0, or <0 with error filled; nothing is printed then.  times: printed after the rest. */
int sw_stat(FILE *out, struct sw_reader *reader, struct sw_call_times *times, struct sw_error *error);

void sw_stat_csv(FILE *out, struct sw_call_times *times);
void sw_stat_json(FILE *out, struct sw_call_times *times); /* doc/stat.schema.json */

#endif
