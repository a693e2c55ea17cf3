/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of the last report of this user, for "syncwatch explain FINGERPRINT": a small file in the cache folder.
 */
#ifndef SW_TOOLS_LAST_REPORT_H
#define SW_TOOLS_LAST_REPORT_H

#include "report/report.h"

struct sw_last_report;

/* Begins a new file of the last report's findings; what was there stays until sw_last_report_end().  NULL: no cache
   folder, or not writable; the functions below take it. */
struct sw_last_report *sw_last_report_begin(bool no_cache);
void sw_last_report_add(struct sw_last_report *last, struct sw_report *report, const char *trace);
void sw_last_report_end(struct sw_last_report *last);

/* A finding of the last report; texts are malloc'ed. */
struct sw_last_finding {
	int id;
	char *text;
};
/* Finds a finding of the last report by a fingerprint or the start of one, at least 4 digits, or by FILE:LINE (the
   first finding there).  1: found; 0: none; 2: several; -1: there is no last report. */
int sw_last_report_find(const char *which, struct sw_last_finding *out);

#endif
