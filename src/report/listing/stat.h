/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace covers: calls by entry point, kernels, bytes moved, losses, and what recording cost. */
#ifndef SW_REPORT_LISTING_STAT_H
#define SW_REPORT_LISTING_STAT_H

#include <stdio.h>

#include "reader/reader.h"
#include "report/listing/call_times.h"

/* Reads the reader to its end.  0, or <0 with error filled; nothing is printed then.  times: printed after the rest. */
int sw_stat(FILE *out, struct sw_reader *reader, struct sw_call_times *times, struct sw_error *error);

/* The tables alone. */
void sw_stat_tables_text(FILE *out, struct sw_call_times *times);
void sw_stat_csv(FILE *out, struct sw_call_times *times);
void sw_stat_json(FILE *out, struct sw_call_times *times); /* doc/stat.schema.json */

#endif
