/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are made while a trace is judged: calls, their kinds, order. */
#ifndef SW_QUERY_CALL_ROWS_H
#define SW_QUERY_CALL_ROWS_H

#include "base/map.h"
#include "detect/detect.h"
#include "query/rows.h"
#include "report/symbols/names.h"

struct sw_call_rows {
	struct sw_rows *rows;
	const struct sw_judgement *judgement; /* so far */
	struct sw_observer observer;
	struct sw_map apis;	   /* entry point, API and kind of record -> row of raw_apis */
	struct sw_map launches;	   /* kernel -> how many */
	struct sw_map events;	   /* handle -> number */
	struct sw_map allocations; /* address -> struct sw_rec_alloc of what lives there now, malloc'ed */
	uint64_t last_event;
};

void sw_call_rows_init(struct sw_call_rows *calls, struct sw_rows *rows);
void sw_call_rows_free(struct sw_call_rows *calls);

/* What the judge does not report: errors of calls that waited, and calls after an error that ended their context,
   from another reading of the file. 0, or <0 with error filled. */
int sw_call_rows_add(struct sw_call_rows *calls, const struct sw_judgement *judgement, const char *path,
		     struct sw_error *error);
/* When all calls were seen: what they are called, and memory that was not freed. */
void sw_call_rows_finish(struct sw_call_rows *calls, struct sw_names *names);

#endif
