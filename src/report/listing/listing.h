/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of a trace: dump, stat, kernels. */
#ifndef SW_REPORT_LISTING_LISTING_H
#define SW_REPORT_LISTING_LISTING_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/map.h"
#include "detect/detect.h"
#include "footprint/library.h"
#include "reader/reader.h"
#include "report/json/json_out.h"
#include "report/report.h"
#include "report/symbols/names.h"
#include "syncwatch/format.h"

struct sw_histogram;

/* Contents of a trace: calls by entry point, kernels, bytes moved, losses, and what recording cost. */

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

/* Lists the kernels' code as it was read: `syncwatch kernels`. */

struct sw_kernel_view {
	const char *name;  /* mangled */
	uint64_t launches; /* 0: of a file, not of a trace */
	const char *image; /* "app at offset 4096", "image 3, PTX" */
	uint32_t device;   /* architecture that it ran on, 0 unknown */
	const struct sw_footprint_entry *entry;
	const struct sw_param *param; /* as the driver says; NULL: as the code says */
	uint32_t params;
};

/* Prints a paragraph about a kernel's code.  sites: every access with its place, not what they come down to. */
void sw_kernel_text(FILE *out, const struct sw_kernel_view *kernel, bool sites);
/* Writes a kernel as JSON; doc/kernels.schema.json says what each member means. */
void sw_kernel_json(struct sw_json *json, const struct sw_kernel_view *kernel);

/* Every record of a trace, one line each, all fields named: KIND name=value ...  For people and for grep. */

struct sw_dump_options {
	const char *kinds; /* names of the kinds to print, with commas between; NULL: all */
};

/*
 * Reads the reader to its end.  First line: the header of the file (TRACE ...); last lines: what was wrong with it
 * (DAMAGE ...).  0, or <0 with error filled (SW_E_USAGE: a kind that does not exist).
 */
int sw_dump(FILE *out, struct sw_reader *reader, const struct sw_dump_options *options, struct sw_error *error);

/* Prints the fields of one record as " name=value" (fields.def). */

/* For the test of the table: the bytes after the header of a kind's struct that fields cover, in `covered` (1 each).
 */
void sw_fields_cover(uint8_t kind, unsigned char *covered, size_t room);

/* Calls that had not returned when the program ended (a crash, a kill). */

/*
 * Adds the calls that had not returned when the trace ends, if it does not end in order: reads the trace once more,
 * from its start.  0 or <0 with error filled; the report is whole without it.
 */
int sw_in_flight_find(struct sw_report *report, struct sw_error *error);

#endif
