/* SPDX-License-Identifier: Apache-2.0 */
/* Findings by their cause: those that one fix removes are one group. */
#ifndef SW_REPORT_GROUPS_H
#define SW_REPORT_GROUPS_H

#include "report/report.h"
#include "report/words/fix_lines.h"

/*
 * Fills report->groups from report->shown.
 *
 * A hazard between two lanes lasts from the earlier call to the later one.  An event that is recorded on the first lane
 * and waited for by the second at any call in between orders the two.  So the hazards of one pair of lanes that share
 * such a call have one fix: they are one group.  SW201-SW203 belong to the hazard that they explain, uses after one
 * free to that free, waits to their place in the program.  Where an edge between the same two lines and streams is
 * missing in several iterations of a loop, the groups are one.  Where many edges between streams are missing on the
 * same bytes, one at each call, the groups of all of them are one, and `edges` counts them.
 */
void sw_report_group(struct sw_report *report);
void sw_report_ungroup(struct sw_report *report);

/* The group of a finding that is shown. */
const struct sw_group *sw_report_group_of(const struct sw_report *report, const struct sw_shown_finding *shown);

/* The fix of a group: lines to paste, if they are known, and the same in a sentence; "" when there is no cheap fix.
   Strings live as long as the report. */
struct sw_group_fix {
	struct sw_fix_lines lines;
	const char *text;
	const char *note; /* what else must be considered; "" nothing */
	const char *why;  /* why there are no lines to paste; "" there are, or the text is all there is */
};
void sw_group_fix(struct sw_report *report, const struct sw_group *group, struct sw_group_fix *out);
/* The place that the reader of a finding looks at first, NULL unknown. */
const struct sw_frame *sw_report_site(struct sw_report *report, const struct sw_finding *finding);
/* "8 launches", "1 call": what a finding's count counts. */
const char *sw_report_count(struct sw_report *report, const struct sw_finding *finding);
/* Host time of all findings of a group. */
uint64_t sw_group_cost(const struct sw_report *report, const struct sw_group *group);

#endif
