/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schedule of a run: which work and which call could not begin before what, and how long each took.  A
 * replay without one of the waits shows what that wait cost the run.
 *
 *     calls -> nodes and edges -> times (recorded, or estimated between waits) -> replay -> gain, path, sums
 *
 * Nodes are calls of host threads, with the processor's time between them, and work on queues (streams).  Edges: a call
 * after the call before it, work after the call that enqueued it and the work before it on its queue, events, the
 * legacy default stream, waits of the host, copy engines and multiprocessors.  A replay is one pass over all nodes in
 * the order of their recorded times: each begins as early as its edges let it and takes as long as it took.
 * So a replay with fewer edges is never longer, and one with all edges reproduces the run; the difference is the
 * residual.
 *
 * Knows nothing of records.  Memory is bounded: of a run that is too long, up to four windows are kept, spread over it.
 * Not thread-safe.  Times are nanoseconds on one clock, sequence numbers those of the records.
 */
#ifndef SW_SCHEDULE_SCHEDULE_H
#define SW_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_schedule;

struct sw_schedule_options {
	uint32_t window; /* nodes a window, four of which are held at once; 0: 262144, about 100 MB in all */
};
struct sw_schedule *sw_schedule_new(const struct sw_schedule_options *options);
void sw_schedule_free(struct sw_schedule *s);

/* ---- telling the run, in the order of its records --------------------------------------------------------------- */

/* Queues and threads are small numbers that the caller assigns and never reuses. A queue is created by its first
   work. */
enum sw_queue_kind { SW_QUEUE_FREE, SW_QUEUE_BLOCKING, SW_QUEUE_LEGACY };
void sw_schedule_queue(struct sw_schedule *s, uint32_t queue, enum sw_queue_kind kind, uint8_t ctx, int device);

struct sw_schedule_call {
	uint64_t seq, t_ns;
	uint64_t site;	 /* calls of one place in the program share it */
	uint64_t own_ns; /* what a call of this kind plausibly takes when it waits for nothing */
	uint32_t thread;
};
/* Adds a call: enter at its begin, leave at its end, `dur_ns` later.  Its work and waits are added in between; calls
   of several threads may interleave. */
void sw_schedule_enter(struct sw_schedule *s, const struct sw_schedule_call *call);
void sw_schedule_leave(struct sw_schedule *s, uint64_t seq, uint64_t dur_ns);

enum sw_work_kind {
	SW_DOES_KERNEL,
	SW_DOES_UPLOAD,	  /* a copy from host to device */
	SW_DOES_DOWNLOAD, /* from device to host */
	SW_DOES_MOVE,	  /* within a device, or between two */
	SW_DOES_SET,
	SW_DOES_GRAPH,
	SW_DOES_HOST, /* a host function */
	SW_DOES_OTHER
};
struct sw_schedule_work {
	uint64_t seq;  /* of the call that is open */
	uint64_t like; /* work that is known to take about as long shares it: kernel and grid, kind and size; 0 nothing
			  does */
	uint64_t bytes;
	uint32_t queue;
	enum sw_work_kind kind;
	uint32_t quarters; /* kernels: quarters of the device's multiprocessors that it occupies, at least; 1 to 4, 4
			      unknown */
	bool staged;	   /* a copy through pageable memory: the call itself moves the bytes */
};
void sw_schedule_work(struct sw_schedule *s, const struct sw_schedule_work *work);
/* Notes that an event is recorded on the queue. */
void sw_schedule_record(struct sw_schedule *s, uint32_t queue, uint64_t event);
/* Makes the queue's next work wait for what the event recorded last. */
void sw_schedule_wait(struct sw_schedule *s, uint32_t queue, uint64_t event);

/* Makes the work that is enqueued next wait for all work of the device, and all work enqueued later for it (a lazy load
   of code). */
void sw_schedule_barrier(struct sw_schedule *s, uint32_t queue);

/* The open call returns when this is done: the work that it enqueued itself, an event, all of a queue (of the legacy
   one: of the blocking ones too), of a context, or of a device. */
enum sw_until { SW_UNTIL_OWN, SW_UNTIL_EVENT, SW_UNTIL_QUEUE, SW_UNTIL_CONTEXT, SW_UNTIL_DEVICE };
void sw_schedule_until(struct sw_schedule *s, uint64_t seq, enum sw_until what, uint64_t which);

/* Notes that the device's clock recorded work from start to end (a graph's pieces: the hull of all their times).  May
   be called at any time after the work was enqueued. */
void sw_schedule_times(struct sw_schedule *s, uint64_t seq, uint64_t start_ns, uint64_t end_ns);
/* Records were lost: ends the window, since edges from work that is missing would be missing, too. */
void sw_schedule_break(struct sw_schedule *s);
/* Completes the last window at the end of the run; the functions below may be called from then on. */
void sw_schedule_finish(struct sw_schedule *s);

/* ---- what it says ----------------------------------------------------------------------------------------------- */

struct sw_schedule_facts {
	uint64_t nodes, operations; /* of the windows that were kept; operations are pieces of work */
	uint64_t timed;		    /* of them: with times of the device */
	uint64_t bracketed;	    /* with a duration estimated between waits */
	uint64_t run_ns, kept_ns;   /* the run, and what of it the windows cover */
	uint64_t replayed_ns;	    /* kept_ns as a replay without changes gives it */
	uint64_t unexplained_ns;    /* delays of work that no edge explains, on the critical path */
	uint64_t dropped_edges;	    /* that contradict the recorded times */
	uint32_t windows;
	uint32_t residual_permille; /* of kept_ns: |replayed - kept| + unexplained */
	bool reliable;		    /* residual at most 5 %, and something is known of the durations */
};
struct sw_schedule_facts sw_schedule_facts(struct sw_schedule *s);

enum sw_what_if_kind {
	SW_IF_NO_WAIT,	 /* the calls return at once; what they waited for continues */
	SW_IF_NO_CALL,	 /* they are not made at all */
	SW_IF_LESS,	 /* they wait for what is in `keep` only */
	SW_IF_NO_LEGACY, /* their work on the legacy stream orders no other stream */
	SW_IF_PINNED	 /* their copies run from pinned memory: no wait, the bytes move by the copy engine */
};
/* Part of a wait that stays: the host, or what is enqueued later on queue `to`, waits for `queue`; for all of it or,
   when the work of call `seq` is known, for the last work of that place. */
#define SW_KEEP_HOST UINT32_MAX
struct sw_keep {
	uint32_t queue, to;
	uint64_t seq;  /* 0: all */
	uint32_t site; /* the schedule's own, like what follows */
	bool ordered;  /* the program has events between the two, too */
};
/* Does the host need what the calls wait for: does it read it, or write it, before it waits for it again? */
enum sw_needed { SW_NEEDED_NOT, SW_NEEDED_MAYBE, SW_NEEDED };
struct sw_what_if {
	enum sw_what_if_kind kind;
	enum sw_needed needed; /* NO_WAIT, PINNED: then the waits stay.  LESS: then `keep` for the host does */
	uint64_t site;
	struct sw_keep *keep;
	uint32_t keeps;
	bool only_idle; /* only those calls that had nothing to wait for */
};
/*
 * What the run would gain.  Low: kernels that together ask for more than the device has keep out of each other's way,
 * durations that are not known are those that gain least, and the host needs what it may need; high: all may overlap,
 * and the host needs nothing that it is not known to need.
 */
struct sw_gain {
	bool known;   /* else nothing can be said */
	bool vague;   /* most of the interval comes from times that are not known */
	bool nothing; /* widened, but no replay gained anything */
	uint64_t low_ns, high_ns;
	uint64_t sure_ns; /* high, but the host needs what it may need */
	uint64_t calls;	  /* that the change applies to, in the windows */
	bool timed;	  /* all of the work concerned has times of the device */
};
struct sw_what_ifs { /* made together; of two for one place the first counts */
	const struct sw_what_if *at;
	size_t n;
};
void sw_schedule_try(struct sw_schedule *s, const struct sw_what_ifs *sets, struct sw_gain *gains, size_t n);
/* Widens the interval of a gain by as much as replays may be off.  A replay is exact about the recorded times of one
   run, but runs differ, and calls that change have latencies of their own. */
void sw_gain_widen(struct sw_gain *gain);

/* The critical path: pieces that make up the run's length, first to last. */
enum sw_stretch_kind {
	SW_STRETCH_HOST,    /* the processor between calls */
	SW_STRETCH_CALL,    /* a call's own work */
	SW_STRETCH_WORK,    /* work on a queue: `work` says which */
	SW_STRETCH_LATENCY, /* from call to start, from end to return, between pieces of work */
	SW_STRETCHES
};
struct sw_stretch {
	enum sw_stretch_kind kind;
	enum sw_work_kind work;
	uint64_t seq; /* of the call, or of the work */
	uint64_t start_ns, end_ns;
	uint32_t lane;	  /* thread or queue */
	bool timed;	  /* WORK: by the device's clock */
	uint64_t room_ns; /* WORK, estimated: it may have begun earlier by so much */
};
void sw_schedule_path(struct sw_schedule *s, void (*stretch)(void *arg, const struct sw_stretch *stretch), void *arg);

/* Calls back for each piece of work of the windows with its time, recorded or estimated; also pieces for which no time
   is left.  No copy is estimated to take longer than the slowest bus needs for its bytes: it lies at the end of its
   time. */
void sw_schedule_each_work(struct sw_schedule *s, void (*work)(void *arg, const struct sw_stretch *stretch), void *arg);

/* Sums over the windows, of recorded (or, without device times, estimated) times. */
struct sw_schedule_sums {
	uint64_t blocked_ns;	   /* a host thread was held in a wait: all threads together */
	uint64_t busy_ns, idle_ns; /* some device worked; none did */
	uint64_t idle_blocked_ns;  /* no device worked while a host thread was held in a call */
	uint64_t copy_ns, kernel_ns;
	uint64_t overlap_ns, overlap_possible_ns; /* copies that overlap kernels; the smaller of the two */
	uint64_t path_ns[SW_STRETCHES];
	uint64_t path_work_ns[SW_DOES_OTHER + 1];
	/* Least and most over all readings of what the waits say; equal where the device's clock recorded all work. */
	uint64_t path_low_ns[SW_STRETCHES], path_high_ns[SW_STRETCHES];
	uint64_t path_work_low_ns[SW_DOES_OTHER + 1], path_work_high_ns[SW_DOES_OTHER + 1];
};
struct sw_schedule_sums sw_schedule_sums(struct sw_schedule *s);

#endif
