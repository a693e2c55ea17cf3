/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judging a trace record by record: the steps of sw_judge(), for callers that need them one by one.  Not thread-safe.
 *
 *     judge.c     the state of a run, its begin and end
 *     dispatch.c  one table: record kind -> handler; the end of a call: judges what it waited for; what stays known
 *                 after records were lost
 *
 * The folders, each of which includes only those above it:
 *
 *     behaviour/  which calls of the driver wait, as measured
 *     memory/     ranges, allocations, and the last uses of each part
 *     model/      the state of a run: lanes, contexts, events, captures, calls in progress, findings
 *     waits/      what a call waited for, its cost, and whether it was needed
 *     hazards/    conflicts of an access with earlier ones
 *     kernels/    what a launch touches
 *     calls/      what each other kind of call does
 *     graphs/     executable graphs and their launches
 */
#ifndef SW_DETECT_DISPATCH_H
#define SW_DETECT_DISPATCH_H

#include "detect/detect.h"

struct sw_model;

/* Prepares to judge.  All pointers are borrowed until sw_model_free(), which leaves the judgement and the arena to
   their owner. */
void sw_model_init(struct sw_model *m, struct sw_reader *reader, const struct sw_judge_options *options,
		   struct sw_judgement *judgement, struct sw_arena *arena);
void sw_model_free(struct sw_model *m);
/* Judges one record; they come in the order of their sequence numbers. */
void sw_model_step(struct sw_model *m, const struct sw_record *record);
/* After the last record: judges what was deferred and what needs the whole run, and sums up. */
void sw_model_finish(struct sw_model *m);

#endif
