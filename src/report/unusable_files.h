/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the run that are missing or changed where it is judged, so that the report says less than it could. */
#ifndef SW_REPORT_UNUSABLE_FILES_H
#define SW_REPORT_UNUSABLE_FILES_H

#include "report/report.h"

struct sw_unusable_file {
	const char *path;
	bool changed;	  /* not what the program had loaded; else missing */
	uint64_t kernels; /* launched ones whose code is in it */
	bool names;	  /* call stacks of findings lead through it */
};
typedef SW_VEC(struct sw_unusable_file) sw_unusable_file_vec;

/* Those with code first.  Free files->at. */
void sw_unusable_files(const struct sw_report *report, sw_unusable_file_vec *files);

/* How to get a report that needs none of them. */
const char *sw_unusable_files_fix(struct sw_report *report);

/* Members "unusable_files" and "fix" of the coverage. */
struct sw_json;
void sw_json_unusable_files(struct sw_json *json, struct sw_report *report);

#endif
