/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppression files: one line says what is not to be reported.
 *
 *     # comment
 *     SW305
 *     SW101 kernel=scale* file=pipeline.cu
 *     SW3?? function="my function"
 *
 * The id is a glob over "SWnnn"; kernel, function, file and module (a library or program by its file name) are globs,
 * all of which must fit one of the finding's operations or visible frames.  Quotes keep blanks, a backslash takes the
 * next character as it is.
 */
#ifndef SW_REPORT_SUPPRESS_H
#define SW_REPORT_SUPPRESS_H

#include "report/symbols/names.h"

struct sw_suppressions;

/* 0, or -errno / SW_E_FORMAT with error filled ("file:line: what is wrong"). */
int sw_suppress_load(const char *path, struct sw_suppressions **out, struct sw_error *error);
void sw_suppress_free(struct sw_suppressions *suppressions);

/* Is the finding suppressed?  Every line that fits is marked as used.  NULL suppresses nothing. */
bool sw_suppress_fits(struct sw_suppressions *suppressions, struct sw_names *names, const struct sw_finding *finding);

/* Lines that fitted nothing, as "file:line: text"; index from 0, NULL ends.  Valid until the next call. */
const char *sw_suppress_unused(struct sw_suppressions *suppressions, size_t index);

/* The line that would suppress this finding and as little else as possible. Lives as long as the names. */
const char *sw_suppress_line(struct sw_names *names, const struct sw_finding *finding);

#endif
