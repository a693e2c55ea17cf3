/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a report in JSON one by one, for files that hold the reports of several processes. */
#ifndef SW_REPORT_JSON_REPORT_PARTS_H
#define SW_REPORT_JSON_REPORT_PARTS_H

#include <stddef.h>

#include "report/json/json_out.h"
#include "report/report.h"

/* Writes all members of a report; the caller opens and closes the object. */
void sw_report_json_members(struct sw_json *json, struct sw_report *report);

/* The parts of sw_report_json_members(), for files that join several reports.  This one writes the members before the
   findings. */
void sw_report_json_head(struct sw_json *json, struct sw_report *report);
/* Writes one finding, whose object stays open, so that the caller can add members and closes it with
   sw_json_close(json, '}'). */
void sw_report_json_open_finding(struct sw_json *json, struct sw_report *report, size_t index);
/* Writes the groups of findings. */
void sw_report_json_groups(struct sw_json *json, struct sw_report *report);
/* Writes the members after findings and summary. */
void sw_report_json_tail(struct sw_json *json, struct sw_report *report);
/* Writes the members of the summary but for "complete" and "gaps", which the caller adds, as it does the object. */
void sw_report_json_summary(struct sw_json *json, struct sw_report *report);
/* Writes what held host threads; kinds that did not are left out. */
void sw_report_json_host_waits(struct sw_json *json, const struct sw_host_wait *host_waits);

/* Writes the saving of following the advice on a wait; nothing where that was not tried. */
void sw_report_json_saving(struct sw_json *json, struct sw_names *names, const char *key,
			   const struct sw_saving *saving);

/* Writes a call stack, as an array.  function: the kernel that the call launched, 0: none. */
void sw_report_json_stack(struct sw_json *json, struct sw_names *names, const char *key, uint32_t stack,
			  uint32_t function);

#endif
