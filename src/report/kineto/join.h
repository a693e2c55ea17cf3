/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which call of a profile is which of ours?
 *
 * Ids of the profile are not ours.  The thread, the function and the time are known.  A call of the runtime encloses
 * our record of the driver call that it makes; our record of a call of the driver encloses what CUPTI saw of it.  So
 * each pair bounds the difference of the clocks from both sides, and pairs that do not belong together rarely agree
 * with their neighbours.  A run of calls in the profile is looked up by its names; among the places that fit by time,
 * the one from which most calls of the profile find a partner wins.  The clocks are not trusted: that both begin at a
 * time of day only decides between places that fit equally well.
 */
#ifndef SW_REPORT_KINETO_JOIN_H
#define SW_REPORT_KINETO_JOIN_H

#include "report/kineto/own_calls.h"

struct sw_join {
	uint64_t calls;	   /* of the profile, of functions that our trace has on that thread */
	uint64_t matched;  /* of them */
	int64_t offset;	   /* add it to a time of ours for a time of the profile */
	uint64_t error_ns; /* by so much the offset may be wrong, by all pairs */
};

/*
 * Fills `match` of both sides.  0; SW_E_FORMAT with one line: the two are not of one run, then nothing is matched.
 * own: sorted.
 */
int sw_join(struct sw_profile *profile, struct sw_own_calls *own, struct sw_join *join, struct sw_error *error);

#endif
