/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppression files: one line says what is not to be reported.
 *
 *     # comment
 *     SW305
 *     SW101 kernel=scale* file=pipeline.cu
 *     SW3?? function="my function"
 *
 *     SW103 operation=cudaMemcpyAsync at="main: *" against kernel=fill allocated="main: cudaMalloc(&a, n);"
 *
 * The id is a glob over "SWnnn".  kernel, operation (a call by its name), at (the visible frames, innermost first, with
 * the text of their lines), function, file and module (a library or program by its file name) are globs, all of which
 * must fit one of the finding's operations or visible frames; `against` separates the keys of two operations.
 * allocated is a glob over the library or program that allocated the memory of all sides, or over the frames that did.
 * severity is the highest that is hidden.  Quotes keep blanks, a backslash takes the next character as it is.
 */
#ifndef SW_REPORT_SUPPRESS_H
#define SW_REPORT_SUPPRESS_H

#include <stdio.h>

#include "report/symbols/names.h"

struct sw_report;
struct sw_suppress_file;
struct sw_suppressions;

enum sw_suppress_source {
	SW_SUPPRESS_FILE,     /* every line is a suppression */
	SW_SUPPRESS_CONFIG,   /* a file that holds options, too: only lines that begin with SW are taken */
	SW_SUPPRESS_ALLOW,    /* exceptions to rules of the gate: SW6 alone, each line ends with "# REASON" */
	SW_SUPPRESS_BASELINE, /* the same without reasons; lines that match nothing are not told */
	SW_SUPPRESS_KNOWN     /* installed with syncwatch: its lines need not match anything, and hide no error */
};
/* Adds the lines of a file to *out, which is made where it is NULL.  0, or -errno / SW_E_FORMAT with error filled
   ("file:line: what is wrong"); *out is as it was then. */
int sw_suppress_load(const char *path, enum sw_suppress_source source, struct sw_suppressions **out,
		     struct sw_error *error);
/* Reads the lines of a file that is open; path is its name. */
int sw_suppress_read(FILE *file, const char *path, enum sw_suppress_source source, struct sw_suppressions **out,
		     struct sw_error *error);
void sw_suppress_free(struct sw_suppressions *suppressions);

/* Is the finding suppressed?  Every line that fits counts it.  NULL suppresses nothing.  *known: only by lines that
   come with syncwatch. */
bool sw_suppress_fits(struct sw_suppressions *suppressions, struct sw_names *names, const struct sw_finding *finding,
		      bool *known);

/* Lines that matched nothing, as "file:line: text"; index from 0, NULL ends.  Valid until the next call. */
const char *sw_suppress_unused(struct sw_suppressions *suppressions, size_t index);

/* A line and how many findings it hid; index from 0, false after the last.  Lines that come with syncwatch, too. */
struct sw_suppress_use {
	const char *place, *text; /* "file:line", and what stands there; valid until the next call of either function */
	uint32_t findings, errors;
};
bool sw_suppress_used(struct sw_suppressions *suppressions, size_t index, struct sw_suppress_use *out);

/* The line that would suppress this finding and nothing else, for the buffer of its sides (0) or one of the others that
   it was seen for (1, 2, ...).  Lives as long as the names. */
const char *sw_suppress_line(struct sw_names *names, const struct sw_finding *finding, uint32_t buffer);

/* Writes what a report shows as a file of suppressions, with a comment for each, to be reviewed. */

/* Begins a file of lines that hide findings; gate: of calls that a rule forbids alone, as lines of --allow. */
struct sw_suppress_file *sw_suppress_file_begin(FILE *out, bool gate);
/* Adds lines for the findings of a report that are shown and not suppressed; a line that stands there already is not
   repeated. */
void sw_suppress_file_add(struct sw_suppress_file *file, struct sw_report *report);
void sw_suppress_file_end(struct sw_suppress_file *file);

#endif
