/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as an SQLite database: `syncwatch query` and `syncwatch export --sqlite`.
 *
 *     sw_query_new(NULL, &query, &error);                    // a private file that vanishes, or a path
 *     sw_query_ask(query, "SELECT ...", &error);             // only what it reads is loaded; without it: all
 *     judge_options.observer = sw_query_observer(query);
 *     sw_judge(reader, &judge_options, &judgement, &error);
 *     sw_query_load(query, reader, judgement, report, &error); // while reader and judgement still live
 *     sw_query_print(query, sinks, n, &error);
 *
 * Memory does not grow with the trace, but for call stacks and what the judge itself needs.  Not thread-safe.
 */
#ifndef SW_QUERY_QUERY_H
#define SW_QUERY_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/map.h"
#include "detect/detect.h"
#include "report/report.h"
#include "report/symbols/names.h"

struct sw_query;

/* Makes a database for the rows of a trace; path NULL: a temporary one, where SQLITE_TMPDIR or TMPDIR say, else in
   /var/tmp; its cache is in memory.  0, or <0 with error filled. */
int sw_query_new(const char *path, struct sw_query **out, struct sw_error *error);
void sw_query_free(struct sw_query *query);

/* Prepares one SELECT; SW_E_USAGE with one line for all else, before anything is loaded. */
int sw_query_ask(struct sw_query *query, const char *sql, struct sw_error *error);

/* Does an answer need findings, footprints or the schedule? Otherwise judging may leave them out. */
bool sw_query_needs_report(const struct sw_query *query);

const struct sw_observer *sw_query_observer(struct sw_query *query);

/* Loads the rest, once the trace was judged.  report NULL: it is not needed.  -ENOSPC: the database cannot be written;
   -ENOMEM. */
int sw_query_load(struct sw_query *query, const struct sw_reader *reader, const struct sw_judgement *judgement,
		  struct sw_report *report, struct sw_error *error);

enum sw_query_form { SW_QUERY_TABLE, SW_QUERY_CSV, SW_QUERY_JSON };
/* Where rows go.  Errors of the stream are left for the caller to find (ferror). */
struct sw_query_sink {
	FILE *out;
	enum sw_query_form form;
	bool terminal;	  /* what a terminal would obey becomes '?' (tables: always) */
	unsigned columns; /* tables wider than this are printed with a line a value; 0: never */
};

/* Prints the answer.  SW_E_USAGE: the statement fails (division of a text, a value that is too large); -ENOMEM;
   -ENOSPC: the temporary database is full; what was printed before stays. */
int sw_query_print(struct sw_query *query, const struct sw_query_sink *sinks, size_t n, struct sw_error *error);

/* Relations and columns with their meaning. */
void sw_query_tables(FILE *out);

#endif
