/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order engine: which operation happens before which, by CUDA's rules (doc/order.md lists them with their sources).
 *
 * A *lane* is a sequence of operations in program order: a stream of a context, a host thread (or, by default, all host
 * threads together), a host callback.  Each lane carries two vector clocks: *documented* holds the edges that a CUDA
 * document promises, *measured* holds those and the waits that are known by measurement only.
 *
 * Lanes are slots that are reused once nothing can refer to their past any more; ticks of a slot never go back, so a
 * point stays meaningful.  Not thread-safe.  Memory grows with live streams, events and pending tokens, not with time.
 */
#ifndef SW_HB_HB_H
#define SW_HB_HB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_hb;

/* One operation's place: the tick'th step of a lane.  tick 0 is before everything. */
struct sw_point {
	uint32_t lane;
	uint64_t tick;
};

/*
 * How strongly two points are ordered; also the basis of an edge.  OBSERVED only with strict_host: ordered if the host
 * threads had to make their calls in the order in which they did, which is what one lane for all of them assumes.
 */
enum sw_order { SW_ORDER_NONE, SW_ORDER_OBSERVED, SW_ORDER_MEASURED, SW_ORDER_DOCUMENTED };

/* Where a call works: its context, its stream argument, the host thread that made it and its record. */
struct sw_hb_at {
	uint64_t stream; /* CUstream: 0 default, 1 CU_STREAM_LEGACY, 2 CU_STREAM_PER_THREAD, or a handle */
	uint64_t seq;	 /* of the record: returned in edges and explanations */
	uint32_t thread;
	uint8_t ctx; /* context of the default streams (handles 0, 1 and 2); other handles belong to the context that
			they were created in */
	bool per_thread; /* handle 0 means the per-thread stream */
};

enum sw_lane_kind {
	SW_LANE_HOST,
	SW_LANE_BLOCKING,
	SW_LANE_NONBLOCKING,
	SW_LANE_LEGACY,
	SW_LANE_PER_THREAD, /* a blocking stream, one a context and thread */
	SW_LANE_CALLBACK,   /* strict_host: a thread of the driver that runs host functions */
	SW_LANE_VIEW	    /* no work of its own: what the start of a kernel comes after (sw_hb_launch) */
};

enum __attribute__((packed)) sw_edge_kind {
	SW_EDGE_ENQUEUE,   /* host -> work */
	SW_EDGE_EVENT,	   /* record -> wait on a stream */
	SW_EDGE_HOST_WAIT, /* work -> host: synchronize, successful query, synchronous copy */
	SW_EDGE_LEGACY,	   /* legacy default stream semantics, both directions */
	SW_EDGE_CALLBACK,  /* stream -> host function -> stream */
	SW_EDGE_CONTEXT,   /* destroy, reset, context-wide events */
	SW_EDGE_HOST	   /* strict_host: host thread -> host thread: lock, condition, creation, join ... */
};

struct sw_hb_edge {
	enum sw_edge_kind kind;
	enum sw_order basis;
	struct sw_point from; /* the last step of its lane that the edge covers */
	uint64_t from_seq;    /* record of that step (EVENT: of the event's record call) */
	uint32_t to_lane;
	uint64_t to_seq; /* record of the step that acquires */
};

struct sw_hb_options {
	bool strict_host; /* a lane for each host thread instead of one for all */
	/* Called for each edge that adds order (never for one that adds nothing); NULL: not wanted. */
	void (*on_edge)(void *arg, const struct sw_hb_edge *edge);
	void *arg;
};

/* An engine without streams or events.  Options are copied; the caller frees the engine. */
struct sw_hb *sw_hb_new(const struct sw_hb_options *options);
void sw_hb_free(struct sw_hb *hb);

/* ---- contexts, streams ------------------------------------------------------------------------------------------ */

/* Sets the device of a context.  Contexts are created on first use, on device 0. */
void sw_hb_context_create(struct sw_hb *hb, uint8_t ctx, int device);
/* A green context: what is recorded, waits or is waited for in all of `whole` (the primary context) is in `part` too,
   and `part` ends with it.  Ignored where either is a part already. */
void sw_hb_context_within(struct sw_hb *hb, uint8_t part, uint8_t whole);
/* Destroy or reset: the calling host joins everything of the context, whose streams, events and parts end. */
void sw_hb_context_destroy(struct sw_hb *hb, uint8_t ctx, uint32_t thread, uint64_t seq);

/* Adds a stream.  One of the same handle is destroyed first, as handles are reused.  Default streams need no call. */
void sw_hb_stream_create(struct sw_hb *hb, uint8_t ctx, uint64_t stream, bool nonblocking);
/* Ends a stream.  Its pending work continues: the legacy stream and context-wide waits still cover it.  Unknown
   handles are ignored. */
void sw_hb_stream_destroy(struct sw_hb *hb, uint64_t stream);

/* The lane of a call's stream; created here for default streams and, as a blocking stream, for unknown handles (counted
   as precision lost). */
uint32_t sw_hb_lane(struct sw_hb *hb, const struct sw_hb_at *at);
/* The kind of a lane. */
enum sw_lane_kind sw_hb_lane_kind(const struct sw_hb *hb, uint32_t lane);
/* Which lane holds this slot now: a new number each time that a slot is given out, never 0. A table about streams
   that is indexed by lane must check it: also the slots of per-thread streams of idle threads are reused. */
uint32_t sw_hb_lane_serial(const struct sw_hb *hb, uint32_t lane);
/* The lane of a host thread: its own with strict_host, else the one of all threads. */
uint32_t sw_hb_host_lane(struct sw_hb *hb, uint32_t thread);

/* ---- steps ------------------------------------------------------------------------------------------------------ */

/* Enqueue, record, wait and host function are steps of their stream's lane; the first and the last are *work*. */

/* A step of a stream, an operation that is enqueued: the stream joins the host, the legacy rules apply, the lane
   ticks. */
struct sw_point sw_hb_enqueue(struct sw_hb *hb, const struct sw_hb_at *at);

/* A kernel by programmatic dependent launch: what its code does about the kernel before it on the stream, and lets the
   one after it do. */
struct sw_hb_grid {
	bool overlaps;	     /* launched so that it may begin when the kernel before it triggers */
	bool triggers;	     /* launches that overlap may begin before it ends */
	bool triggers_first; /* ... and before it has waited itself */
	bool late;	     /* it triggers after its last access: measured, that is as good as its end */
	bool waits;	     /* it cannot end before the kernel before it has */
	bool unsure;	     /* its code is not known: it may do all that, or not */
};
/* All that comes before accesses of the kernel that precede its wait, as a lane for the questions below: until the next
   call of sw_hb_launch().  The kernel's own lane where that is all that came before it. */
struct sw_hb_view {
	uint32_t lane;
	bool unsure; /* some kernel on the way is */
};
/* sw_hb_enqueue() for a kernel. */
struct sw_point sw_hb_launch(struct sw_hb *hb, const struct sw_hb_at *at, const struct sw_hb_grid *grid,
			     struct sw_hb_view *view);
/* sw_hb_enqueue() for work that is serialised with all of the contexts: after what is pending there, before what will
   be enqueued there. */
struct sw_point sw_hb_enqueue_across(struct sw_hb *hb, const struct sw_hb_at *at, const uint8_t *ctx, size_t n);
/* sw_hb_enqueue() for work on a default stream that was measured to take part in that of another context too: after it
   and, by its rules, what it would wait for; before what comes later there. */
struct sw_point sw_hb_enqueue_joined(struct sw_hb *hb, const struct sw_hb_at *at, uint8_t ctx);
/* Something the host itself does now (reads a pageable buffer, frees memory): the host lane ticks. */
struct sw_point sw_hb_host_step(struct sw_hb *hb, uint32_t thread, uint64_t seq);

/* ---- events ----------------------------------------------------------------------------------------------------- */

/* Adds an event that was never recorded.  One of the same handle is destroyed first, as handles are reused. */
void sw_hb_event_create(struct sw_hb *hb, uint64_t event);
/* Forgets an event; unknown handles are ignored. */
void sw_hb_event_destroy(struct sw_hb *hb, uint64_t event);

/* State of an event when a call looked at it. */
struct sw_hb_event_state {
	bool recorded;	   /* false: never recorded since it was created; waiting for it does nothing */
	bool context_wide; /* recorded for all streams of a context: `record` has tick 0, it is no step of one stream */
	struct sw_point record; /* step of the record on its stream */
	uint64_t record_seq;
	uint32_t waits; /* waits, queries and synchronisations that used this record so far */
};

enum {
	SW_HB_EARLY = 1,   /* may trigger before the launch that follows ends: call it before that launch's enqueue */
	SW_HB_CONTEXT = 2, /* all streams of at->ctx (cuCtxRecordEvent, cuCtxWaitEvent); future ones too when waiting */
	SW_HB_MEASURED = 4 /* a wait that no document promises, but that this run made; not with SW_HB_CONTEXT */
};
/* Records an event: a step of the stream unless SW_HB_CONTEXT.  *before (may be NULL): the record that this one
   replaces. */
void sw_hb_event_record(struct sw_hb *hb, uint64_t event, const struct sw_hb_at *at, unsigned flags,
			struct sw_hb_event_state *before);
/* Makes a stream wait for an event: a step of the stream unless SW_HB_CONTEXT, also when the event was never
   recorded.  *state: the event as it was waited for. */
void sw_hb_stream_wait(struct sw_hb *hb, const struct sw_hb_at *at, uint64_t event, unsigned flags,
		       struct sw_hb_event_state *state);
/* A step of the stream that comes after the steps which all of the events cover, by each clock; after nothing if one
   of them was never recorded.  Not counted in their waits; no edge is reported for several. */
void sw_hb_stream_wait_common(struct sw_hb *hb, const struct sw_hb_at *at, const uint64_t *event, size_t n);
/* The event stands for the lane up to its last step, as if it had been recorded there: no step of its own. */
void sw_hb_event_snapshot(struct sw_hb *hb, uint64_t event, uint32_t lane);
/* *state: the state of an event; that of one never recorded if the handle is unknown. */
void sw_hb_event_state(const struct sw_hb *hb, uint64_t event, struct sw_hb_event_state *state);

/* ---- the host waits --------------------------------------------------------------------------------------------- */

/*
 * A wait is begun (which fixes what it covers), and ended (which releases the host: it joins) or dropped.
 * Tokens are never 0 for a wait that covers something that exists; token 0 is accepted everywhere and does nothing.
 */
typedef uint32_t sw_hb_token;

/* Begins a wait for an event.  *state (may be NULL): the event as it was waited for. */
sw_hb_token sw_hb_wait_event(struct sw_hb *hb, uint64_t event, struct sw_hb_event_state *state);
/* Begins a wait for all that a command enqueued in the stream now would come after. */
sw_hb_token sw_hb_wait_stream(struct sw_hb *hb, const struct sw_hb_at *at);
/* Begins a wait for all streams of a context. */
sw_hb_token sw_hb_wait_context(struct sw_hb *hb, uint8_t ctx);
/* Begins a wait for all contexts of a device. */
sw_hb_token sw_hb_wait_device(struct sw_hb *hb, int device);
/* Begins a wait for all that the lane knows now, its own steps included. */
sw_hb_token sw_hb_wait_point(struct sw_hb *hb, uint32_t lane);

struct sw_hb_waited {
	/* Pending: it covered work (enqueued, host function) that the host did not know to be done, by `basis`.  Exact
	   for the last 64 steps of each lane; what is older counts as work. */
	bool pending;
	uint32_t lanes;	      /* how many lanes had such work */
	uint32_t lane;	      /* one of them, when pending */
	struct sw_point last; /* its last such step */
};
/* Ends a wait: the host joins what it covers.  *waited (may be NULL): the work that the host did not know to be
   done. */
void sw_hb_wait_end(struct sw_hb *hb, sw_hb_token token, uint32_t thread, uint64_t seq, enum sw_order basis,
		    struct sw_hb_waited *waited);
/* Ends a wait that gives no order. */
void sw_hb_wait_drop(struct sw_hb *hb, sw_hb_token token);

/* Which work would a wait for this token still cover? Calls back for each lane with work unknown to the host. */
void sw_hb_wait_lanes(const struct sw_hb *hb, sw_hb_token token, uint32_t thread, enum sw_order basis,
		      void (*each)(void *arg, uint32_t lane, uint64_t known_tick, uint64_t covered_tick), void *arg);

/* ---- host functions --------------------------------------------------------------------------------------------- */

/* Enqueued: a step of the stream.  The token stands for "the function has started"; it must be ended or dropped. */
struct sw_point sw_hb_host_func(struct sw_hb *hb, const struct sw_hb_at *at, sw_hb_token *token);
/* When a host function starts: in default mode the host lane joins it, since the usual callback signals a condition
   variable, and the thread that it wakes may continue before the function returns; of a function of
   which only the return is seen: then. */
void sw_hb_host_func_end(struct sw_hb *hb, sw_hb_token token, uint32_t thread, uint64_t seq);

/* When a host function has returned: work enqueued in its stream from now on comes after it. (Does nothing in
   default mode, where the host lane passes this order on already.) */
void sw_hb_host_func_return(struct sw_hb *hb, const struct sw_hb_at *at);

/* ---- host threads (strict_host; without it these do nothing) ---------------------------------------------------- */

/* A host thread releases an object that orders threads, such as a mutex: later sw_hb_acquire() of it come after.
   Its key differs from those of all other objects in use. */
void sw_hb_release(struct sw_hb *hb, uint64_t key, uint32_t thread, uint64_t seq);
/* A host thread acquires an object: it comes after all earlier releases of it. */
void sw_hb_acquire(struct sw_hb *hb, uint64_t key, uint32_t thread, uint64_t seq);
/* Before a thread is created: what its creator knows, the new thread will know.  `id` is unique; it counts as a host
   thread from now on. */
void sw_hb_thread_create(struct sw_hb *hb, uint64_t id, uint32_t creator, uint64_t seq);
/* At the first action of the new thread: gives it what its creator knew. */
void sw_hb_thread_start(struct sw_hb *hb, uint64_t id, uint32_t thread);
/* Drops `id`, as the thread's creation failed. */
void sw_hb_thread_abandon(struct sw_hb *hb, uint64_t id);
/* The thread ends; a join names it by `handle`. Calls that it still makes (in destructors) count. */
void sw_hb_thread_end(struct sw_hb *hb, uint64_t handle, uint32_t thread);
/* Makes the joiner come after all steps of the thread that ended with this handle. */
void sw_hb_thread_join(struct sw_hb *hb, uint64_t handle, uint32_t joiner, uint64_t seq);

/* ---- queries ---------------------------------------------------------------------------------------------------- */

/* Is `earlier` ordered before the last step of `lane`? */
enum sw_order sw_hb_ordered(const struct sw_hb *hb, struct sw_point earlier, uint32_t lane);

/* The last step of another lane that a document orders before the last step of `lane`; 0: none. */
uint64_t sw_hb_known(const struct sw_hb *hb, uint32_t lane, uint32_t other);

/* Is everything that will ever be recorded ordered after this point in both clocks, so that it can be forgotten?  (What
   the documented clock has passed, the measured one has too.) */
bool sw_hb_passed(const struct sw_hb *hb, struct sw_point point);

/* "Stream 3 last waited for stream 1 at ...": the last step of `from` that `lane` knows by the documented clock, and
   the record that ordered them. */
struct sw_hb_last {
	uint64_t tick; /* 0: never */
	uint64_t seq; /* record of the join that brought it; through the host: of the host's wait, not of the enqueue */
	enum sw_edge_kind kind;
};
struct sw_hb_last sw_hb_last_join(const struct sw_hb *hb, uint32_t lane, uint32_t from);

/* Counts of the engine's work, and the memory that it holds. */
struct sw_hb_stats {
	uint64_t steps, edges;
	uint64_t unknown_streams;  /* calls on streams whose creation was not recorded */
	uint64_t edges_for_safety; /* edges added only because two readings were possible or to bound memory */
	uint32_t lanes, lanes_peak, events;
	size_t bytes; /* held now */
};
struct sw_hb_stats sw_hb_stats(const struct sw_hb *hb);

/* A loss of records: a full barrier. Every lane joins every other; no edge is reported. */
void sw_hb_barrier(struct sw_hb *hb, uint64_t seq);

#endif
