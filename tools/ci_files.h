/* SPDX-License-Identifier: Apache-2.0 */
/* The files for builds and reviews that the options name (--sarif, --junit, --gitlab, --github) and suppressions to
   keep
   (--write-suppressions): a report is added for each trace or process, and they appear whole at the end. */
#ifndef SW_TOOLS_CI_FILES_H
#define SW_TOOLS_CI_FILES_H

#include "command.h"
#include "merge/merged.h"
#include "report/ci/ci.h"

struct sw_ci_files;

bool sw_ci_files_wanted(const struct sw_options *options);
/* Begins the files for builds that the options name; *files is NULL where none is asked for.  SW_EXIT_OK, or a status
   after one line. */
int sw_ci_files_open(const struct sw_options *options, struct sw_ci_files **files);
/* Adds the findings of a report to all of them. */
void sw_ci_files_add(struct sw_ci_files *files, struct sw_report *report);
/* Adds findings that stand in no report of a trace: a part of the run of `program` that was not judged; findings
   between processes. */
void sw_ci_files_gap(struct sw_ci_files *files, const char *program, const char *text);
void sw_ci_files_between(struct sw_ci_files *files, const char *program, const struct sw_merged *merged);
/* Writes them, and frees; commands: where --github prints.  SW_EXIT_OK, or a status after a line for each file that
   could not be written. */
int sw_ci_files_close(struct sw_ci_files *files, FILE *commands);

#endif
