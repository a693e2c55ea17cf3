/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of a schedule: nodes and edges of a window, in the order in which they were added.
 *
 *     nodes.c      windows of the run, their nodes and edges; calls and work -> nodes, edges
 *     estimate.c   times of work without time stamps of the device; replays with a change
 *     calibrate.c  what part of each delay belongs to which edge; nodes by time; threads that wait for each other;
 *                  what keeps out of each other's way
 *     runs.c       the nodes that a replay passes; many of them in one step; critical path; who was blocked, what
 *                  overlapped
 *     replay.c     one pass, for several replays
 *
 * Edges lead to nodes that were added earlier.  Private to src/schedule.
 */
#ifndef SW_SCHEDULE_NODES_H
#define SW_SCHEDULE_NODES_H

#include "base/map.h"
#include "base/memory.h"
#include "schedule/schedule.h"

#define SW_NONE UINT32_MAX

enum sw_node_kind {
	SW_NODE_CALL,	/* a call's begin; its end too when it waits for nothing */
	SW_NODE_RETURN, /* the end of a call that may have waited */
	SW_NODE_WORK,
	SW_NODE_MARK /* a wait of a queue for an event: takes no time */
};

enum {
	SW_NF_TIMED = 1u << 0,	 /* WORK: times are the device's */
	SW_NF_STAGED = 1u << 1,	 /* WORK: the call moves the bytes.  CALL: between host and device, which pinned memory
				    would spare it */
	SW_NF_BRACKET = 1u << 2, /* WORK: when it was done at the latest is known */
	SW_NF_HELD = 1u << 3,	 /* WORK: another operation was in its way, no edge was.  RETURN: the call waited */
	SW_NF_LAG = 1u << 4,	 /* bound by an edge, not by its call (WORK, RETURN) or the call before (CALL) */
	SW_NF_HAS_RETURN = 1u << 5, /* CALL: it waited for work; its end is `return_node` */
	SW_NF_PATH = 1u << 6,	    /* on the critical path: its begin */
	SW_NF_BODY = 1u << 7,	    /* and its end */
};

struct sw_schedule_node {
	uint64_t seq;
	uint64_t start, end; /* recorded or estimated.  CALL with a RETURN, and MARK: the same; RETURN: both its end */
	int64_t lead;	     /* from the call's begin to the start, at least (RETURN: to the return; CALL: from the call
				before) */
	int32_t lag;	     /* from the end of the last edge to the start (RETURN: to the return) */
	uint32_t lane;	     /* thread or queue */
	uint32_t prev;	     /* before it on its thread or queue; RETURN: its CALL */
	uint32_t call;	     /* WORK, MARK: the CALL that made it.  CALL: index of its site */
	uint32_t edges;	     /* its first; they end where those of the next node begin */
	union {
		uint32_t alike;	      /* WORK: its class + 1, 0: none */
		uint32_t return_node; /* CALL with SW_NF_HAS_RETURN: its RETURN */
		uint32_t step_before; /* CALL that replays pass over (never one with a RETURN): the node before it in
					 them, see runs.c */
	};
	uint8_t kind, does;
	uint8_t quarters; /* WORK: of the device */
	uint8_t flags;
	uint32_t
		own; /* CALL: nanoseconds that its like takes when it waits for nothing.  WORK: kilobytes, rounded up */
};

/* An edge: the node that comes first, and why. */
enum sw_edge_why { SW_WHY_EVENT, SW_WHY_LEGACY, SW_WHY_LOAD, SW_WHY_UNTIL, SW_WHY_HANDOVER, SW_WHY_NOT };
#define SW_EDGE_BITS 28u
/* The times of the reading in hand contradict it. */
#define SW_EDGE_DROPPED (1u << 31)
static inline uint32_t sw_edge(enum sw_edge_why why, uint32_t node)
{
	return (uint32_t)why << SW_EDGE_BITS | node;
}
static inline uint32_t sw_edge_node(uint32_t edge)
{
	return edge & ((1u << SW_EDGE_BITS) - 1);
}
static inline enum sw_edge_why sw_edge_why(uint32_t edge)
{
	return edge & SW_EDGE_DROPPED ? SW_WHY_NOT : (enum sw_edge_why)(edge >> SW_EDGE_BITS);
}

/* A node that a replay passes, or a run of them.  before: of a CALL the node before it on its thread, those that are
   passed over apart; of a run its index.  place: of other nodes, in `ordered.other`. */
struct sw_step {
	uint32_t node; /* SW_NONE: a run */
	uint32_t before, place;
};

/* Calls of one thread and work of one queue that nothing else concerns: see runs.c. */
struct sw_run {
	uint32_t host, work;	       /* the nodes before them; SW_NONE: no work */
	uint32_t last_call, last_work; /* of the run; SW_NONE: none */
	/* From the end of `host` to that of the last call, and to that of the last work at least; from the end of
	   `work` to that of the last work, at least. */
	int64_t calls, work_after_host, work_after_work;
};

/* The part that is the same in all readings, and what one of them makes of it. */
struct sw_ordered {
	uint64_t *key;	 /* by node: the time by which it is put in order */
	uint32_t *call;	 /* CALL nodes in order */
	bool moved;	 /* they are in another order than before */
	size_t calls;	 /* as many as there are nodes that are none of `others` */
	uint32_t *other; /* those in order */
	uint32_t *thread_first,
		*thread_node; /* by thread: its CALL and RETURN nodes as they were added; see calibrate.c */
	SW_VEC(uint32_t) gap; /* CALLs after a silence of their thread, in order; only these may have an edge */
	uint8_t *needed;      /* by node; see runs.c */
	/* Work whose ends others wait for: by place in `other` the end of its list, which begins where that of the
	   place before ends. */
	SW_VEC(uint32_t) taken;
	uint32_t *taken_end;
	SW_VEC(uint32_t) pulled;	      /* calls that are to be added */
	SW_VEC(struct sw_step) single, steps; /* node by node; with runs */
	SW_VEC(struct sw_run) runs;
};

struct sw_window {
	SW_VEC(struct sw_schedule_node) nodes;
	SW_VEC(uint32_t) edges;
	SW_VEC(uint32_t) works;	 /* nodes that are WORK, for look-up by sequence number */
	SW_VEC(uint32_t) others; /* nodes that are not CALL: few of a call's properties depend on the reading */
	uint64_t start, end;	 /* of all its nodes, in the reading in hand */
	uint64_t recorded_end;	 /* of those whose times were recorded */
	uint64_t unexplained, dropped;
	struct sw_ordered ordered;
	uint32_t *order;  /* nodes by start, when calibrated; of the first reading */
	uint32_t reading; /* of its times, that was made last */
};

/* Work that is alike, for estimates. */
struct sw_class {
	uint64_t pieces;		       /* all of it */
	uint64_t sum_ns, n, least_ns, most_ns; /* of those that were seen alone, or timed: so many */
};

/* Time that a bus needed for large copies with pinned memory; 0: there were none. */
struct sw_bus {
	uint64_t fast_ns_per_mib, slow_ns_per_mib;
};

struct sw_queue {
	enum sw_queue_kind kind;
	uint8_t ctx;
	int device;
	uint32_t tail;	 /* node, SW_NONE */
	uint32_t joined; /* node of the legacy queue that it has an edge to (of the legacy one: unused) */
	uint32_t taken;	 /* its tail when the legacy queue last joined it */
	uint32_t waited; /* how many waits of the host, of different places, covered its tail */
	uint32_t waiter; /* the place of the last of them + 1 */
	bool live;	 /* in sw_schedule.live */
	uint32_t behind; /* barrier that it has an edge to */
};

struct sw_open_call {
	uint64_t seq;
	uint32_t node, thread;
	uint32_t work; /* the last that it enqueued, SW_NONE */
	bool taken;
	SW_VEC(uint32_t) until;
};

#define SW_WINDOWS 4u

struct sw_schedule {
	uint32_t most; /* nodes a window */
	struct sw_window window[SW_WINDOWS + 1];
	uint64_t place[SW_WINDOWS + 1]; /* of each window in the run, in windows */
	uint32_t windows;		/* in use, the last is being filled */
	uint64_t passed, stride;	/* windows so far; each stride'th is kept */
	bool keep;			/* the one being filled is */
	uint64_t first_ns, last_ns;
	SW_VEC(struct sw_queue) queues;
	SW_VEC(uint32_t) live;	  /* queues with work that the host has hardly waited for */
	SW_VEC(uint32_t) legacy;  /* legacy queues */
	SW_VEC(uint32_t) threads; /* last node of each, SW_NONE */
	SW_VEC(struct sw_open_call) open;
	uint32_t current;	      /* index in open, SW_NONE */
	SW_VEC(uint32_t) barriers;    /* by device: node of the last, SW_NONE */
	struct sw_map pairs;	      /* from queue, to queue: there are waits for events between them */
	struct sw_map events;	      /* handle -> node + 1 */
	struct sw_map sites, classes; /* key -> index + 1 */
	uint32_t site_n;
	SW_VEC(struct sw_class) class_of;
	struct sw_bus bus[2];		 /* up, down */
	uint64_t length[SW_WINDOWS + 1]; /* of the windows, replayed without changes */
};

static inline uint64_t sw_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}
static inline uint64_t sw_earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}
/* Later than any clock says: sums of what a damaged trace holds do not overflow. */
#define SW_TIME_MAX (1ull << 60)
static inline uint64_t sw_less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}
static inline bool sw_node_on_device(const struct sw_schedule_node *n)
{
	return n->kind == SW_NODE_WORK && n->does != SW_DOES_HOST;
}
static inline uint32_t sw_edges_end(const struct sw_window *w, uint32_t node)
{
	return node + 1 < w->nodes.n ? w->nodes.at[node + 1].edges : (uint32_t)w->edges.n;
}

/* When the last of the nodes that hold a node back has ended. */
static inline uint64_t sw_sources_end(const struct sw_window *w, uint32_t node)
{
	uint64_t end = 0;
	for (uint32_t e = w->nodes.at[node].edges; e < sw_edges_end(w, node); e++)
		if (sw_edge_why(w->edges.at[e]) != SW_WHY_NOT)
			end = sw_later(end, w->nodes.at[sw_edge_node(w->edges.at[e])].end);
	return end;
}

/* Typical times where the run itself has none (measured on H200, driver 580: launch to start on an idle device 4 to
   8 us, end of work to return of a wait 5 us, work after work on one stream 1 us). */
#define SW_LEAD_NS 5000
#define SW_TAIL_NS 5000
#define SW_LAG_NS  1000
/* A call whose work is done by the device. */
#define SW_BARE_CALL_NS 5000
/* Clocks of host and device may differ by this much before an edge is said to contradict them. */
#define SW_CLOCK_ERROR_NS 20000

/* ---- nodes.c ---- */
void sw_thin_out(struct sw_schedule *s); /* when there is a window too many */

/* The first work of this call, SW_NONE: none. */
uint32_t sw_work_at(const struct sw_window *w, uint64_t seq);

/* ---- estimate.c ---- */

/*
 * How unknown times are read.  The first reading is the one that timelines and sums show.
 *
 *   share        how the pieces of a row whose classes are not known share its time: equally, or one takes it all
 *   critical     of several queues that a wait covered, 0: all ended with it; n: the n-th did (counted in a circle),
 *                the others at some time before
 *   least        what has only a latest end took no time, and calls that may take long by themselves did so
 *   slow_copies  copies take the longest that is plausible
 */
enum sw_share { SW_SHARE_EQUAL, SW_SHARE_FIRST, SW_SHARE_LAST };
struct sw_reading {
	enum sw_share share;
	uint8_t critical;
	bool least, slow_copies;
};
#define SW_READINGS 7u
extern const struct sw_reading sw_readings[SW_READINGS];

/* How long a copy of so many KiB with pinned memory takes, at most or at least. */
uint64_t sw_estimate_pinned(const struct sw_schedule *s, enum sw_work_kind does, uint64_t kib, bool slow);

/* ---- calibrate.c ---- */
void sw_calibrate(struct sw_schedule *s, struct sw_window *w);

/* ---- calibrate.c ---- */
void sw_ordered_free(struct sw_ordered *ordered);
static inline bool sw_order_before(const struct sw_ordered *o, uint32_t a, uint32_t b)
{
	return o->key[a] != o->key[b] ? o->key[a] < o->key[b] : a < b;
}

/* ---- estimate.c ---- */
/* Gives all windows the times of a reading, if they have not got them. */
void sw_read_times(struct sw_schedule *s, uint32_t reading);

/* ---- calibrate.c: copy engines and multiprocessors ---- */

/* Work that cannot overlap other work of its kind keeps its recorded order. */
#define SW_RESOURCES 4u /* uploads, downloads, kernels, by device; what none of these is runs concurrently with all */
#define SW_RUNNING   64u
/* Replays that are made together: one pass serves all, since most of a node is the same to each. */
#define SW_TOGETHER 8u
/* A moment of each of these replays. */
struct sw_moments {
	int64_t at[SW_TOGETHER];
};
/* Before a loop over replays, which do not depend on each other: so the compiler makes vectors of it. */
#ifdef __clang__
#define SW_IN_EACH
#else
#define SW_IN_EACH _Pragma("GCC ivdep")
#endif
static inline void sw_moments_set(struct sw_moments *m, int64_t t)
{
	SW_IN_EACH
	for (uint32_t k = 0; k < SW_TOGETHER; k++)
		m->at[k] = t;
}
static inline void sw_moments_keep_latest(struct sw_moments *m, const struct sw_moments *other)
{
	SW_IN_EACH
	for (uint32_t k = 0; k < SW_TOGETHER; k++)
		m->at[k] = m->at[k] > other->at[k] ? m->at[k] : other->at[k];
}
/* The last piece of a row that ended: pieces of a queue, none of which ends before the one before it. */
struct sw_ended {
	uint32_t node, row;
	uint64_t number; /* of ends on this resource */
};
/* Ends up to these numbers count for a queue already, by quarters: in all replays, in those that are crowded. */
struct sw_counted {
	uint32_t row;
	uint64_t everywhere[5], crowded[5];
};
struct sw_resource {
	uint64_t seen[5];		  /* by quarters: the latest end, as seen, of what was seen to end before now */
	SW_VEC(struct sw_ended) ended[5]; /* by quarters, one of a row */
	struct {
		uint64_t seen;
		uint32_t node, row;
		uint8_t quarters;
	} running[SW_RUNNING];
	uint64_t next; /* no running piece was seen to end earlier */
	uint64_t ends;
	uint32_t n;
	struct sw_counted *counted; /* by queue */
};
struct sw_resources {
	struct sw_resource at[SW_RESOURCES * 8u];
	uint32_t *row; /* by queue: that its work belongs to now */
	uint32_t rows;
	size_t queues;
};
/* Kernels that may fit together wait for each other only in replays where none do. */
static inline bool sw_taken_when_crowded(const struct sw_schedule_node *n)
{
	return (n->does == SW_DOES_KERNEL || n->does == SW_DOES_GRAPH) && !(n->flags & SW_NF_HELD);
}

/* ---- replay.c ---- */
/* The places in the program that some set of changes concerns. */
struct sw_changed_places {
	uint32_t *row;	  /* by site; 0: no set changes it */
	uint32_t *change; /* by row and set: index of the change in its set + 1, 0: none */
	uint32_t rows;
	size_t sets;
	bool *kept; /* by site: work from there is what a narrower wait is for; NULL: no set has such a wait */
};
struct sw_replay {
	const struct sw_what_ifs *set; /* NULL: nothing changes */
	size_t number;		       /* of the set */
	bool crowded;		       /* kernels keep out of each other's way wherever they may not fit together */
	bool slow;		       /* unmeasured times that the change needs are the longer of the plausible ones */
	bool needed;		       /* the host needs all that it may need */
	uint64_t calls;		       /* out: to which it applied */
	uint64_t length;	       /* out: of the window */
};
/* ---- runs.c ---- */
/* Makes the steps of a calibrated window for replays with changes at these places; NULL: without changes. */
void sw_steps_make(const struct sw_schedule *s, struct sw_window *w, const struct sw_changed_places *places);

/* ---- runs.c ---- */

/* At most SW_TOGETHER, after sw_steps_make().  done: room for one of each node; places: NULL where nothing changes. */
void sw_replay(const struct sw_schedule *s, const struct sw_window *w, const struct sw_changed_places *places,
	       struct sw_replay *how, uint32_t n, struct sw_moments *done);

#endif
