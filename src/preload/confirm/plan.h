/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a confirming run: which call is held back, which one is watched.  `syncwatch confirm` writes it from a
 * trace, libsyncwatch-confirm.so follows it, and writes what happened into the file of results.
 *
 * A call is found again by what does not change from run to run: its thread, the entry point, its call stack as
 * offsets in modules, and how many calls of this stack the thread had made before.
 */
#ifndef SW_PRELOAD_CONFIRM_PLAN_H
#define SW_PRELOAD_CONFIRM_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

#define SW_PLAN_VARIABLE "SYNCWATCH_CONFIRM" /* path of the plan */
#define SW_PLAN_MAGIC	 "syncwatch-plan 1"

struct sw_plan_call {
	uint32_t thread; /* as THREAD records number them */
	uint32_t api;	 /* index in cuda.def, 0: there is no such call */
	uint64_t stack;	 /* sw_plan_frame() over its frames, innermost first */
	uint64_t nth;	 /* from 1 */
	/* No part of the plan's text: of its record in the trace, on the legacy default stream. */
	uint8_t kind;
	bool legacy;
};

enum sw_plan_mode {
	SW_PLAN_HOLD,	 /* the earlier call's stream waits before it */
	SW_PLAN_EXPLORE, /* short holds before calls that a seed chooses */
	SW_PLAN_EDGE	 /* an event after each such call, a wait before each later one */
};

struct sw_hold_plan {
	enum sw_plan_mode mode;
	uint64_t bound_ns; /* one hold lasts no longer */
	uint64_t total_ns; /* all holds together */
	struct sw_plan_call earlier, later;
	bool captured;	   /* both calls are captured: the launch of their graph is held at the earlier one */
	bool later_access; /* no call: an access of the host to the buffer, as the guard sees it */
	bool later_host;   /* what the later call touches, it touches before it returns */
	/* What both touch: bytes of what this call allocates.  No such call: it is not looked at. */
	struct sw_plan_call buffer;
	uint64_t offset, bytes;
	/* Exploration: so many calls of a thousand, of these those after the first and up to the last. */
	uint64_t seed, rate, first, last;
	char result[1024];
};

/* Chains the frames of a stack; `offset`: return address less load address.  Frames in no module are left out. */
static inline uint64_t sw_plan_frame(uint64_t hash, uint64_t offset)
{
	return sw_hash_u64(hash ^ offset) + hash;
}

/*
 * Lines of the file of results: a word, then numbers.
 *
 *   earlier SEQ US         the earlier call was reached, its stream is held
 *   left US                the earlier call has returned
 *   swapped                the later call came first, on another thread: from here on it is the earlier one
 *   later SEQ US           the later one was reached, `held` or not
 *   released US WHY PROBE LATER    probe and later: 1 when the work before, and of, the later call was done
 *   done US                the later call's work was done, after the release
 *   bytes N CHANGED_BY_LATER CHANGED_BY_EARLIER CHANGED    snapshots of what both touch: before, after the later,
 *                          after the earlier
 *   after SEQ, before SEQ  an edge was put in after, before this call
 *   waited NS N            the later sides of N edges waited so long for them, in all
 *   held SEQ INDEX NS      exploration: this call was held
 *   output N SEQ BYTES HASH   what the n-th copy brought to the host
 *   holds N missed M outputs K
 *   failed WHAT STATUS     a call of ours was refused
 *   end                    the program ended in order
 */
#define SW_RELEASES(X)                                                                                                 \
	X(DONE, "done")	  /* the later call's work is done: it did not wait */                                         \
	X(BOUND, "bound") /* the time was over */                                                                      \
	X(HOST, "host")	  /* the host was about to wait for what is held */                                            \
	X(EXIT, "exit")	  /* the program ended */
enum sw_release {
#define SW_RELEASE_ENUM(name, text) SW_RELEASE_##name,
	SW_RELEASES(SW_RELEASE_ENUM)
#undef SW_RELEASE_ENUM
};

#endif
