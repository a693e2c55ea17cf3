/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what a report shows as a file of suppressions, with a comment for each, to be reviewed. */
#ifndef SW_REPORT_SUPPRESS_FILE_H
#define SW_REPORT_SUPPRESS_FILE_H

#include "report/report.h"

struct sw_suppress_file;

struct sw_suppress_file *sw_suppress_file_begin(FILE *out);
/* Findings that are shown and not suppressed; a line that stands there already is not repeated. */
void sw_suppress_file_add(struct sw_suppress_file *file, struct sw_report *report);
void sw_suppress_file_end(struct sw_suppress_file *file);

#endif
