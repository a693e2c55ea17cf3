/* SPDX-License-Identifier: Apache-2.0 */
/* Draws what was joined as a process of the profile. */
#ifndef SW_REPORT_KINETO_MERGE_DRAW_H
#define SW_REPORT_KINETO_MERGE_DRAW_H

#include "report/kineto/join.h"
#include "report/report.h"
#include "report/timeline/chrome_events.h"

struct sw_kineto_drawn {
	uint64_t work, hazards, waits;
	uint64_t hazards_outside, waits_outside; /* of calls that the profile does not hold */
	uint64_t crowded;			 /* too many at once for the rows that there are */
};

struct sw_kineto_merge {
	const struct sw_profile *profile;
	const struct sw_own_calls *own;
	const struct sw_join *join;
	struct sw_report *report;
	struct sw_events events; /* begun: the events of the profile are written */
	uint32_t pid;		 /* that no process of the profile has */
	struct sw_kineto_drawn drawn;
};

void sw_kineto_draw(struct sw_kineto_merge *merge);

#endif
