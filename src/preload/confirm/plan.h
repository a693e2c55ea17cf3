/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a confirming run: which call is held back, which one is watched; or which calls are made otherwise.
 * `syncwatch confirm` writes it from a trace, libsyncwatch-confirm.so follows it, and writes what happened into the
 * file of results.
 *
 * A call is found again by what does not change from run to run: its thread, the entry point, its call stack as
 * offsets in modules, and how many calls of this stack the thread had made before.
 */
#ifndef SW_PRELOAD_CONFIRM_PLAN_H
#define SW_PRELOAD_CONFIRM_PLAN_H

#include <inttypes.h>
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
	bool frees; /* in no stream's order: done when it returns */
};

enum { SW_PLAN_NODE_EARLIER = 1, SW_PLAN_NODE_LATER = 2 };

#define SW_PLAN_MODES(X)                                                                                               \
	X(HOLD, "hold")	      /* the earlier call's stream waits before it */                                          \
	X(EXPLORE, "explore") /* short holds before calls that a seed chooses */                                       \
	X(CHANGE, "change")   /* calls of some sites are made otherwise, and the run is timed */                       \
	X(EDGE, "edge")	      /* an event after each such call, a wait before each later one */
enum sw_plan_mode {
#define SW_PLAN_MODE(name, text) SW_PLAN_##name,
	SW_PLAN_MODES(SW_PLAN_MODE)
#undef SW_PLAN_MODE
};

/* Changes that SW_PLAN_CHANGE makes to calls. */
enum sw_run_change {
	SW_CHANGE_NONE,
#define SW_RUN_CHANGE(name, key, text) SW_CHANGE_##name,
#include "base/run_changes.def"
	SW_CHANGES
};
#define SW_PLAN_SITES	64u
#define SW_PLAN_STREAMS 32u
#define SW_PLAN_NEEDS	8u
#define SW_PLAN_HOST	UINT32_MAX
#define SW_PLAN_ANY	0u /* for a stack: all calls of the entry point that are of no other site */

/* All calls of one stack, of any thread. */
struct sw_plan_site {
	enum sw_run_change change;
	uint32_t api;
	uint64_t stack;
	uint64_t value; /* LIMIT: the largest value; NARROW: 1, the host waits also where the guard watches */
	uint32_t needs; /* NARROW: what stays of the wait */
	struct {
		uint32_t stream, to; /* places in `streams`; to SW_PLAN_HOST: the host waits for it */
	} need[SW_PLAN_NEEDS];
};

/* The guard watches what the host does with memory that it does not wait for any more. */
enum sw_plan_guard {
	SW_PLAN_UNGUARDED,
	SW_PLAN_REHEARSED, /* it knows the changes, but the calls are made unchanged */
	SW_PLAN_GUARDED	   /* what the host touches is waited for then */
};

struct sw_plan_changes {
	enum sw_plan_guard guard;
	bool outputs;  /* what leaves the device is hashed: the run is not timed then */
	bool dry;      /* calls are found and timed, and made as they are */
	bool eager;    /* no part of the plan's text: the environment says so */
	uint64_t room; /* STAGE, PIN, UNPIN: bytes of the largest copy */
	uint32_t sites, streams;
	struct sw_plan_site site[SW_PLAN_SITES];
	struct sw_plan_call stream[SW_PLAN_STREAMS]; /* which call makes it; api 0: the legacy default stream */
};

/* An edge that the advice adds: an event after each call of one stack, a wait before each of another.  Several make one
   fix: a line of the source may be several stacks. */
#define SW_PLAN_EDGES 64u
struct sw_plan_edge {
	uint32_t fix;
	bool host;    /* the host waits */
	bool threads; /* the two calls are of different threads */
	uint32_t after_api, before_api;
	uint64_t after_stack, before_stack;
};

struct sw_hold_plan {
	enum sw_plan_mode mode;
	uint64_t bound_ns; /* one hold lasts no longer */
	uint64_t total_ns; /* all holds together */
	struct sw_plan_call earlier, later;
	bool captured;	   /* both calls are captured: the launch of their graph is held at the earlier one */
	uint32_t nodes;	   /* SW_PLAN_NODE_*: which of the calls add a node to a graph, or are captured */
	bool later_access; /* no call: an access of the host to the buffer, as the guard sees it */
	bool later_host;   /* what the later call touches, it touches before it returns */
	/* The bytes that both calls touch, in what this call allocates.  No such call: the bytes are not compared. */
	struct sw_plan_call buffer;
	uint64_t offset, bytes;
	/* Exploration: so many calls of a thousand, of these those after the first and up to the last. */
	uint64_t seed, rate, first, last;
	struct sw_plan_changes changes;
	uint32_t edges;
	struct sw_plan_edge edge[SW_PLAN_EDGES];
	char result[1024];
};

/* Chains the frames of a stack; `offset`: return address less load address.  Frames in no module are left out. */
static inline uint64_t sw_plan_frame(uint64_t hash, uint64_t offset)
{
	return sw_hash_u64(hash ^ offset) + hash;
}

/*
 * Lines of the plan: SW_PLAN_MAGIC, then one for each member that is set, its key first.  tools/confirm/plan_file.c
 * writes them, plan_text.c reads them; a format serves printf() and scanf(), whose letters for these types are the
 * same.
 */
#define SW_PLAN_FLAGS(X)	X("host %d", later_host) X("captured %d", captured) X("access %d", later_access)
#define SW_PLAN_CHANGE_FLAGS(X) X("outputs %d", outputs) X("dry %d", dry)
#define SW_PLAN_NUMBERS(X)	X("bound-ns %" PRIu64, bound_ns) X("total-ns %" PRIu64, total_ns)
#define SW_PLAN_CALLS(X)	X("earlier", earlier) X("later", later) X("buffer", buffer)
#define SW_PLAN_CALL		" %" PRIu32 " %" PRIu32 " %" PRIx64 " %" PRIu64 /* after its key: thread, api, stack, nth */
#define SW_PLAN_STREAM		"stream" SW_PLAN_CALL
#define SW_PLAN_NODES		"nodes %" PRIu32
#define SW_PLAN_BYTES		"bytes %" PRIu64 " %" PRIu64			       /* offset, bytes */
#define SW_PLAN_SEED		"explore %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 /* seed, rate, first, last */
#define SW_PLAN_ROOM		"room %" PRIu64
#define SW_PLAN_GUARD		"guard %d"			    /* enum sw_plan_guard */
#define SW_PLAN_SITE		" %" PRIu32 " %" PRIx64 " %" PRIu64 /* after "site KEY": api, stack, value */
#define SW_PLAN_NEED		"need %" PRIu32 " %" PRIu32	    /* of the last site: stream, to */
/* fix, host, threads, api and stack of the call after which, then of the one before which */
#define SW_PLAN_EDGE_AT "edge %" PRIu32 " %d %d %" PRIu32 " %" PRIx64 " %" PRIu32 " %" PRIx64

/*
 * Lines of the file of results: a word, then numbers.
 *
 *   earlier SEQ US         the earlier call was reached, its stream is held
 *   left US                the earlier call has returned
 *   swapped                the later call came first, on another thread: from here on it is the earlier one
 *   later SEQ US           the later one was reached, `held` or not
 *   released US WHY PROBE LATER    probe and later: 1 when the work before, and of, the later call was done
 *   done US                the later call's work was done, after the release
 *   bytes N CHANGED_BY_LATER CHANGED_BY_EARLIER CHANGED CHANGED_BY_EACH    snapshots of what both touch: before,
 *                          after the later, after the earlier
 *   after SEQ FIX EVENT, before SEQ FIX EVENT   an edge was put in after, before this call
 *   waited FIX NS N        the later sides of N edges waited so long for them, in all
 *   held SEQ INDEX NS      exploration: this call was held
 *   output N SEQ BYTES HASH   what the n-th copy brought to the host
 *   holds N missed M outputs K
 *   changed SITE N PASSED  so many calls of a site were made otherwise, so many as they are
 *   marks SITE.NTH.NS ...  when the n-th call of a site began; not of all where there are many
 *   marked NS ONCE LOST    when the host had waited for the device after the last of them, or the run ended; what the
 *                          changes did once, which these times leave out; calls for which there was no room
 *   pinned RANGES COPIES SPOILT UNKNOWN REFILLED   memory that was pinned, copies from it; of these, in a run with
 *                          outputs, those that brought other bytes than it held, or may have; changed between copies
 *   host N CALLS UNGUARDED the host used memory in flight, so often in system calls; uses that could not be guarded
 *   span NS US             from the first work for a device to the end of the last call; what came before
 *   failed WHAT STATUS     a call of ours, or the earlier one, was refused: WHAT is a key of SW_REFUSALS
 *   unplaced STATUS        our nodes could not be put into the graph
 *   late                   the earlier call's record came after it
 *   captured               the earlier call is captured
 *   end                    the program ended in order
 */
#define SW_REFUSALS(X)                                                                                                 \
	X("memory", "cuMemHostRegister")                                                                               \
	X("address", "cuMemHostGetDevicePointer")                                                                      \
	X("hold", "cuStreamWaitValue32")                                                                               \
	X("mark", "cuStreamWriteValue32")                                                                              \
	X("edge", "an event or a wait for one")                                                                        \
	X("thread", "pthread_create")                                                                                  \
	X("call", "the earlier call itself")
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
