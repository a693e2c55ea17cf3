/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When work ran on its device: ACTIVITY records joined to the calls that put the work there.
 *
 * Time stamps are written long after their calls, so a pass of its own over the trace makes a table of (sequence
 * number, start, end) first, and the judge looks up what passes by.  An activity has CUPTI's correlation id; a CALL
 * activity with the same id says which thread was in which driver call when; the one call of ours that encloses it is
 * the one.
 *
 * Memory: 24 bytes a timed call, at most SW_TIMES_MOST of them, and windows of fixed size for what waits to be joined.
 *
 *     device_times.c  the table; the pass over the trace; the clock of the time stamps; what the order of cause and
 *                     effect says of its error
 */
#ifndef SW_DETECT_WAITS_DEVICE_TIMES_H
#define SW_DETECT_WAITS_DEVICE_TIMES_H

#include "base/map.h"
#include "detect/detect.h"

#define SW_TIMES_MOST (16u << 20)

/* ---- device_times.c ---- */

struct sw_time_pair {
	uint64_t gpu_ns, ticks, t_ns; /* t_ns: of the trace */
};
struct sw_time_clock {
	SW_VEC(struct sw_time_pair) pairs;
	uint64_t ticks_per_second;
	uint64_t width_ns;     /* of the widest reading: how well the pairs are known; 0: by construction */
	uint64_t jumps;	       /* pairs between which the clock did not run evenly: times there are not known */
	SW_VEC(size_t) jumped; /* index of the pair before each of the first of them */
};

/* ---- device_times.c ---- */

struct sw_time {
	uint64_t seq, start, end; /* of GPU_CLOCK's clock; nanoseconds of the trace after times_finish() */
};
struct sw_times {
	SW_VEC(struct sw_time) at; /* by sequence number, one each, once finished */
	struct sw_gpu_summary summary;
};
/* When the work of a call ran, by its record's number; NULL: not known. */
const struct sw_time *sw_times_find(const struct sw_times *times, uint64_t seq);
void sw_times_free(struct sw_times *times);

/* ---- device_times.c ---- */

/* Reads the trace of this reader, which stays where it is.  0, also where it has no time stamps (summary.recorded
   false); <0 with error filled. */
int sw_times_load(const struct sw_reader *of, struct sw_times *out, struct sw_error *error);

#endif
