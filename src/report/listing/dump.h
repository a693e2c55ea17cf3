/* SPDX-License-Identifier: Apache-2.0 */
/* Every record of a trace, one line each, all fields named: KIND name=value ...  For people and for grep. */
#ifndef SW_REPORT_LISTING_DUMP_H
#define SW_REPORT_LISTING_DUMP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "reader/reader.h"
#include "report/report.h"
#include "syncwatch/format.h"

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
