/* SPDX-License-Identifier: Apache-2.0 */
/* From calls to the schedule of the run, and from the schedule to what each finding's fix would gain. */
#ifndef SW_DETECT_WAITS_SCHEDULE_FEED_H
#define SW_DETECT_WAITS_SCHEDULE_FEED_H

#include "detect/model/call.h"

struct sw_model;
struct sw_schedule_feed;

/* Passes a judged call to the schedule, with the work that it enqueued and what it waited for; at the first record
   of those that have two.  Not for calls that failed. */
void sw_timing_call(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w);
/* Passes the end of a call of two records to the schedule. */
void sw_timing_return(struct sw_model *m, const struct sw_record *begin, uint64_t dur_ns);

struct sw_schedule_feed *sw_schedule_feed_new(void);
void sw_schedule_feed_free(struct sw_schedule_feed *feed);

/* ---- schedule_feed.c ---- */

/* At the end: fills what is recoverable into the findings, and sums of the run into the judgement. */
void sw_gains_judge(struct sw_model *m);

#endif
