/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports for the machines that build and review: SARIF 2.1.0 (editors, code scanning), JUnit's XML (test results),
 * GitLab's code quality, workflow commands of GitHub.  A group of findings is one result of each.
 *
 *     begin, add (a report for each trace), end
 *
 * Not thread-safe.  Errors of the stream are left for the caller to find (ferror).
 */
#ifndef SW_REPORT_CI_CI_H
#define SW_REPORT_CI_CI_H

#include <stdio.h>

#include "report/report.h"

enum sw_ci_format {
#define SW_CI_FORMAT(name, option, golden) SW_CI_##name,
#include "report/ci/formats.def"
	SW_CI_FORMATS
};

struct sw_ci;

/* A result that belongs to no report of a trace: a finding between processes, or a part of the run that was not judged.
 */
struct sw_ci_extra {
	const char *id, *kind, *text; /* "SW505"; id "": not all was judged */
	const char *program;	      /* stands for its place */
	enum sw_severity severity;
	uint64_t fingerprint;
};

/* Begins a file for a build.  version: of syncwatch; root: folder that paths are relative to, NULL: none.  Both must
   outlive it. */
struct sw_ci *sw_ci_begin(FILE *out, enum sw_ci_format format, const char *version, const char *root);
/* Adds the findings of a report. */
void sw_ci_add(struct sw_ci *ci, struct sw_report *report);
/* Adds a finding or gap that stands in no report. */
void sw_ci_add_extra(struct sw_ci *ci, const struct sw_ci_extra *extra);
/* Writes what the format ends with, and frees. */
void sw_ci_end(struct sw_ci *ci);

#endif
