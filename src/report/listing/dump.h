/* SPDX-License-Identifier: Apache-2.0 */
/* Every record of a trace, one line each, all fields named: KIND name=value ...  For people and for grep. */
#ifndef SW_REPORT_LISTING_DUMP_H
#define SW_REPORT_LISTING_DUMP_H

#include <stdio.h>

#include "reader/reader.h"

struct sw_dump_options {
	const char *kinds; /* names of the kinds to print, with commas between; NULL: all */
};

/*
 * Reads the reader to its end.  First line: the header of the file (TRACE ...); last lines: what was wrong with it
 * (DAMAGE ...).  0, or <0 with error filled (SW_E_USAGE: a kind that does not exist).
 */
int sw_dump(FILE *out, struct sw_reader *reader, const struct sw_dump_options *options, struct sw_error *error);

#endif
