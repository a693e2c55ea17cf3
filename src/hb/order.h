/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the order engine: lanes, contexts, snapshots. */
#ifndef SW_HB_ORDER_H
#define SW_HB_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/memory.h"
#include "hb/hb.h"

/*
 * Vector clocks that are shared until written.
 *
 * For each lane slot a clock has the last tick that is known, and the record by which it became known.  NULL is the
 * clock that knows nothing. A lane's own steps are not kept in its clock, so a step costs no write and an event's
 * snapshot is one reference.
 */

struct sw_known_tick {
	uint64_t tick;
	uint64_t learnt; /* sw_learnt_from(): record and kind of the join that brought it */
};
struct sw_vector_clock {
	uint32_t refs;
	uint32_t n, room;
	struct sw_known_tick at[];
};

#define SW_NO_LANE UINT32_MAX

/* Kinds of sw_learnt_from(): enum sw_edge_kind, and a lane's own step in a merged snapshot. */
#define SW_LEARNT_OWN  15u
#define SW_LEARNT_KEEP UINT64_MAX /* for joins that pass on the source's records */
/* By which record, and which kind of edge, a tick was learnt. */
static inline uint64_t sw_learnt_from(uint64_t seq, unsigned kind)
{
	return seq << 4 | kind;
}

/* The last tick of a lane that the clock knows; 0: none. */
static inline uint64_t sw_clock_get(const struct sw_vector_clock *clock, uint32_t lane)
{
	return clock && lane < clock->n ? clock->at[lane].tick : 0;
}

/* One more reference to the clock (NULL: the clock that knows nothing). */
static inline struct sw_vector_clock *sw_clock_hold(struct sw_vector_clock *clock)
{
	if (clock)
		clock->refs++;
	return clock;
}

/*
 * The clocks of a lane; each holds at least the order of the one before it. measured NULL: as documented, which is the
 * rule; observed NULL: as measured, always so unless host threads have lanes of their own.
 */
struct sw_known {
	struct sw_vector_clock *documented, *measured, *observed;
};
/* The measured clock; it is the documented one where they do not differ. */
static inline struct sw_vector_clock *sw_known_measured(const struct sw_known *known)
{
	return known->measured ? known->measured : known->documented;
}
/* The clock that holds the order of this basis. */
static inline struct sw_vector_clock *sw_known_by(const struct sw_known *known, enum sw_order basis)
{
	if (basis == SW_ORDER_DOCUMENTED)
		return known->documented;
	return basis == SW_ORDER_OBSERVED && known->observed ? known->observed : sw_known_measured(known);
}
/* References to all clocks of a lane. */
struct sw_known sw_known_hold(const struct sw_known *known);
/* Gives up the references to all clocks of a lane. */
void sw_known_drop(size_t *bytes, struct sw_known *known);
/* Raises the tick of a lane in the clock of the basis and those above it.  Returns whether any grew. */
bool sw_known_raise(size_t *bytes, struct sw_known *known, uint32_t lane, uint64_t tick, uint64_t learnt,
		    enum sw_order basis);
/* Joins the clocks of `from` into those of lane `own`: by this basis, the clock of the basis and those above it.
   Returns whether any grew. */
bool sw_known_join(size_t *bytes, struct sw_known *known, const struct sw_known *from, uint32_t own, uint64_t learnt,
		   enum sw_order basis);

typedef SW_VEC(uint32_t) sw_lanes;

/*
 * The clocks of a lane at one of its steps. `at` with tick 0: a merge of several lanes, whose own steps are in the
 * clocks. A lane ticks whenever it has learned something, so a lane that knows a step of another lane knows everything
 * that the other lane knew at that step. Therefore most joins end at one comparison.
 */
struct sw_snap {
	struct sw_point at;
	uint64_t gain; /* the lane's clock is the same from this tick to at.tick */
	uint64_t seq;
	struct sw_known known;
};

/* The last kernel of a stream, if launches that overlap may begin before it ends. */
struct sw_chain {
	uint64_t tick;	       /* of the lane: later steps come after the kernel; 0: there is none */
	uint64_t before;       /* its last step before the kernel */
	struct sw_snap *begin; /* what comes before such a launch, as a merge; NULL: all before the kernel */
	bool late, unsure;     /* of struct sw_hb_grid, and sw_hb_view */
};

struct sw_lane {
	uint64_t tick, base; /* steps made; where this owner of the slot began */
	uint64_t gain;	     /* step before which the clock last changed */
	uint64_t work;	     /* bit i: step tick-i was work */
	uint64_t seq;	     /* record of the last step */
	uint64_t handle;
	struct sw_known known;
	struct sw_chain chain;
	uint32_t serial, thread;
	uint32_t waits;	 /* context-wide waits that this lane has joined */
	uint32_t in_ctx; /* place in its context's lanes, SW_NO_LANE when the context has ended */
	uint8_t ctx, kind;
	bool taken, dead, dirty, unknown;
};

struct sw_context {
	int device;
	bool used;
	uint8_t whole;	     /* the context that this one is a part of, 0: none */
	bool parts;	     /* it may have parts */
	uint32_t legacy;     /* lane + 1; 0: none yet */
	sw_lanes lanes;	     /* all streams, destroyed ones until their slots are reused */
	sw_lanes dirty;	     /* blocking streams that stepped since the legacy stream last joined them */
	struct sw_snap wait; /* all context-wide waits so far, to be joined before each stream's next step */
	uint32_t waits;
};

struct sw_event {
	struct sw_snap snap;
	struct sw_hb_event_state state;
	uint8_t ctx;
};

/* An object that orders host threads, such as a mutex. */
struct sw_sync {
	struct sw_snap snap;
	uint64_t key;
	uint32_t holder; /* lane that acquired last and has all of its order, SW_NO_LANE: none */
};

struct sw_token {
	struct sw_snap snap;
	bool taken;
};

#define SW_CONTEXTS 256 /* format: a context id is 8 bits */

struct sw_hb {
	struct sw_hb_options options;
	SW_VEC(struct sw_lane) lanes;
	sw_lanes free;	     /* slots to reuse */
	sw_lanes dead;	     /* lanes of destroyed streams whose past some lane may not know, oldest first */
	sw_lanes per_thread; /* lanes of per-thread streams, oldest first */
	sw_lanes hosts;
	struct sw_context contexts[SW_CONTEXTS];
	struct sw_map streams, threads, host_threads, events; /* handle, (context, thread), thread -> index + 1 */
	SW_VEC(struct sw_event) event;
	SW_VEC(uint32_t) event_free;
	SW_VEC(struct sw_token) token;
	SW_VEC(uint32_t) token_free;
	struct sw_map unborn, ended, syncs; /* creation -> lane + 1, handle -> thread, key -> index + 1 in sync */
	SW_VEC(struct sw_sync) sync;
	size_t syncs_kept;  /* after they were last looked through */
	struct sw_snap old; /* of all objects that were forgotten to bound memory */
	uint32_t actor;	    /* host lane that acted last, SW_NO_LANE: its slot was reused, and `left` is what it knew */
	struct sw_snap left;
	uint32_t view; /* lane + 1 of kind VIEW, 0: none yet */
	uint32_t serials;
	size_t clock_bytes;
	struct sw_hb_stats stats;
};

static inline struct sw_lane *sw_lane_at(const struct sw_hb *hb, uint32_t lane)
{
	return &hb->lanes.at[lane];
}
/* Does the legacy stream wait for this stream, and this stream for it? */
static inline bool sw_lane_blocking(const struct sw_lane *lane)
{
	return lane->kind == SW_LANE_BLOCKING || lane->kind == SW_LANE_PER_THREAD;
}

/* ---- hb.c: slots ---- */

/* A slot for a new lane; ctx is ignored for hosts. */
uint32_t sw_lane_new(struct sw_hb *hb, enum sw_lane_kind kind, uint8_t ctx, uint32_t thread, uint64_t handle);
/* The host's lane of a thread, for something that the host does now, in the order in which it was recorded. */
uint32_t sw_lane_acts(struct sw_hb *hb, uint32_t thread, enum sw_lane_kind kind, uint64_t seq);
/* A host lane that has ended no longer counts for sw_hb_passed(); it may become active again. */
void sw_lane_end_host(struct sw_hb *hb, uint32_t lane);
/* No kernel of this lane can be overlapped any more.  (step.c) */
void sw_chain_end(struct sw_hb *hb, uint32_t lane);
/* The context with this number, which counts as used from here on. */
struct sw_context *sw_context_use(struct sw_hb *hb, uint8_t ctx);

/* Is there no lane yet, so that sw_hb_lane() would make one? */
bool sw_lane_exists(const struct sw_hb *hb, const struct sw_hb_at *at);

/* ---- step.c ---- */

/* Destroys all events that were recorded in a context. */
void sw_event_end_context(struct sw_hb *hb, uint8_t ctx);

/* ---- step.c: what all operations are made of ---- */

/* Joins the snapshot into the lane; true if the lane's clock grew: then it must tick. */
bool sw_acquire(struct sw_hb *hb, uint32_t lane, const struct sw_snap *from, enum sw_edge_kind kind,
		enum sw_order basis, uint64_t seq);
/* The lane makes a step.  work: it is work of a stream, which a wait of the host can be for. */
struct sw_point sw_step_end(struct sw_hb *hb, uint32_t lane, uint64_t seq, bool work);

/* The lane as it is now, without a reference: valid until the lane changes. */
struct sw_snap sw_snap_peek(const struct sw_hb *hb, uint32_t lane);
/* A copy of a snapshot with references of its own. */
struct sw_snap sw_snap_hold(const struct sw_snap *snap);
/* Gives up a snapshot's references. */
void sw_snap_drop(struct sw_hb *hb, struct sw_snap *snap);
/* Turns a snapshot (an empty one to begin with) into a merge that covers the other one too. */
void sw_snap_merge(struct sw_hb *hb, struct sw_snap *into, const struct sw_snap *from);
/* All streams of a context and its parts, without those that every host lane knows to be done. */
void sw_snap_context(struct sw_hb *hb, struct sw_snap *into, uint8_t ctx);

#endif
