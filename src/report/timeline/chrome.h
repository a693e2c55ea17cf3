/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the Chrome trace writer:
 *
 *     chrome.c          the run, as slices; slices of the devices that were measured; processes, threads and streams
 *                       of the viewer; the counter of pending work; ranges of NVTX
 *     chrome_hazards.c  the critical path; work as the replay estimates it, on the streams' own rows; hazards, as
 *                       slices of the work that meets and of the later call; arrows between slices: edges of the
 *                       order
 *     trace_out.c       the text of each event
 */
#ifndef SW_REPORT_TIMELINE_CHROME_H
#define SW_REPORT_TIMELINE_CHROME_H

#include "base/map.h"
#include "base/memory.h"
#include "report/symbols/stack.h"
#include "report/timeline/labels.h"
#include "report/timeline/timeline.h"
#include "report/timeline/trace_out.h"

/*
 * When did enqueued work run, as far as the host could observe?
 *
 * Known are the enqueue, the order within the stream, and the moment at which the host learnt that it was done.  Work
 * that one observation covers is laid end to end: each piece starts no earlier than its own enqueue and the end of the
 * one before, and together they fill the time up to the observation in equal parts.  So slices of a stream never
 * overlap.  Memory is bounded: the oldest work of a stream that nothing waits for is dropped as never
 * observed.
 */

/* The slice of the call that enqueued it; tid 0: it was not drawn. */
struct sw_drawn {
	uint32_t tid;
	uint64_t start, end;
};

enum { SW_WORK_KERNEL, SW_WORK_COPY, SW_WORK_SET, SW_WORK_HOST, SW_WORK_OTHER };

struct sw_work {
	uint64_t seq, enqueued;
	uint64_t not_before; /* it can't have started earlier */
	struct sw_label name;
	struct sw_drawn call;
	uint32_t released_tid; /* a call of the host that waited for it, 0: none; where its arrow ends: */
	uint64_t released_ns;
	uint64_t bytes;
	uint32_t grid[3], block[3], shared_bytes;
	uint32_t stack, function; /* of the call */
	uint8_t kind, ctx;
};

/* Where a piece of work came to lie. */
struct sw_laid {
	uint64_t start, end;
	uint64_t known_ns;    /* the observation, 0: never known to be done */
	uint32_t part, parts; /* one of so many that this observation covered */
};

typedef void sw_slice_layout_draw(void *arg, uint32_t stream, const struct sw_work *work, const struct sw_laid *laid);

struct sw_slice_layout_stream {
	SW_VEC(struct sw_work) work; /* by sequence number, from `first` on */
	size_t first, done;	     /* so many are known to be done, by done_ns */
	uint64_t done_ns, done_seq;
	uint64_t end; /* of what was drawn last */
};

struct sw_slice_layout {
	SW_VEC(struct sw_slice_layout_stream) streams;
	sw_slice_layout_draw *draw;
	void *arg;
};

void sw_slice_layout_push(struct sw_slice_layout *lay, uint32_t stream, const struct sw_work *work);
/* Notes that all work of the stream up to this sequence number is done by then.  Returns how many pieces of it were not
   known to be done before. */
size_t sw_slice_layout_done(struct sw_slice_layout *lay, uint32_t stream, uint64_t seq, uint64_t t_ns);
/* The last work up to this sequence number that has not been drawn yet, NULL: none. */
struct sw_work *sw_slice_layout_find(struct sw_slice_layout *lay, uint32_t stream, uint64_t seq);
/* Lays out and draws the work that no observation covered: it may have run until end_ns, the end of the run. */
void sw_slice_layout_finish(struct sw_slice_layout *lay, uint64_t end_ns);
void sw_slice_layout_free(struct sw_slice_layout *lay);

/* Numbers of processes and threads.  Each host thread and each stream has room for its overflow. */
enum {
	PID_HOST = 1,
	PID_DEVICE = 100, /* + device */
	TID_HAZARDS = 1,
	PID_PATH = 2,
	TID_PATH = 1,
	TID_THREAD = 16,	/* + LANES * thread */
	TID_NVTX = 1 << 23,	/* + number of a track of NVTX ranges */
	TID_STREAM = 1000,	/* + stream; DevTools prints it after the name */
	TID_INFERRED = 2 << 24, /* + stream: work without time stamps where others have some */
	TID_OVERLAP = 3 << 24,	/* + OVERLAPS * stream */
	OVERLAPS = 16,
	TID_ESTIMATED = 64 << 24, /* + stream: estimates of a run of which other work was measured */
	LANES = 4,
	MAX_THREAD = 1 << 20
};

enum {
	REMEMBERED = 1 << 16, /* calls to which an arrow can still be drawn */
	EDGES = 4096,	      /* edges whose call has not been reported yet */
	RELEASE_NS = 1000,    /* how long the end of a wait is drawn at most */
	COUNTER_NS = 1000     /* the counter is drawn at most so often */
};

#define TIMING	  "observed: enqueue to earliest known completion"
#define MEASURED  "measured on the device (CUPTI)"
#define ESTIMATED "estimated by a replay of the run, between waits"

struct thread {
	uint64_t end[LANES]; /* of the last slice */
	bool named[LANES];
};

/* A call that never returned: drawn to the end of the run. */
struct open_call {
	struct sw_operation op;
	struct sw_rec rec;
	struct sw_record record;
};

struct hazard {
	struct sw_access side[2];
	struct sw_finding finding; /* of these two, set before they are drawn */
};

/* The fields of an operation that are kept until the end. */
struct known {
	uint64_t seq;
	struct sw_label call, work; /* work.n 0: it put none on a stream */
	uint32_t stack, function;
	uint32_t tid; /* of its measured slice, 0: none */
	uint8_t ctx, kind;
};

/* Work as the replay of the run estimates it. */
struct estimate {
	uint64_t seq, start, end;
	uint64_t room; /* it may have begun earlier by so much */
	uint32_t stream;
};

struct counter {
	uint64_t value, ns, last_ns;
	bool changed, used;
};

struct stream_track {
	struct sw_label name; /* n 0: not asked for yet */
	bool drawn, inferred, estimated;
	uint64_t untimed, shown;    /* pieces of work without times of the device; of them, estimated and drawn */
	uint8_t lanes;		    /* that measured slices lie on: 0 is the stream's own track */
	uint64_t end[1 + OVERLAPS]; /* of the last slice of each */
};

/* A track of ranges of NVTX. */
struct nvtx_track {
	uint32_t tid, thread;
	uint64_t domain;
	uint64_t end_ns; /* of the last range */
	bool started;
};

/* A measured slice to which an arrow can still be drawn. */
struct timed {
	uint64_t seq;
	uint32_t pid;
	struct sw_drawn slice;
};

struct sw_chrome {
	bool path_drawn;
	struct sw_observer observer;
	struct sw_reader *reader;
	struct sw_events events;
	struct sw_labels labels;
	struct sw_export_window window;
	struct sw_slice_layout lay;
	const struct sw_judgement *judgement;
	SW_VEC(struct thread) threads;
	SW_VEC(struct stream_track) streams;
	SW_VEC(struct nvtx_track) nvtx;
	struct sw_arena nvtx_names;
	SW_VEC(struct counter) counters; /* pending work of each device */
	struct remembered {
		uint64_t seq;
		struct sw_drawn call;
		struct sw_label work; /* n 0: none */
	} * calls;
	struct timed *timed; /* ring by sequence number, like calls */
	struct waiting {
		struct sw_hb_edge edge;
		uint32_t from_stream;
		uint64_t reported; /* operations reported when it came */
	} * edges;
	size_t edge_n;
	uint64_t reported, end_ns;
	SW_VEC(struct open_call) open;
	SW_VEC(struct hazard) hazards;
	size_t hazards_left;	    /* too many to draw */
	uint64_t hazard_end;	    /* of the last slice on the host's row of hazards */
	struct sw_map hazard_parts; /* sequence number -> hazards of the work, those drawn << 32 */
	SW_VEC(struct known) known;
	bool known_sorted;
	SW_VEC(struct estimate) estimates;
	struct sw_map estimate_of; /* sequence number -> index + 1 */
	struct sw_map sites;	   /* function and stack -> index + 1 */
	SW_VEC(struct sw_label) site_labels;
	struct sw_map variant_of; /* name and which variant -> index + 1 */
	SW_VEC(struct sw_label) variants;
};

/* ---- chrome.c ---- */

/* The work of a call whose time on the device was recorded; NULL: not measured, not shown, or too long ago. */
const struct timed *sw_chrome_timed_find(const struct sw_chrome *c, uint64_t seq);

/* ---- chrome.c ---- */

uint32_t sw_chrome_device(const struct sw_chrome *c, uint32_t stream);
struct sw_label sw_chrome_stream(struct sw_chrome *c, uint32_t stream);
/* A name with something before and after it, made once for each `which`. */
struct sw_label sw_chrome_variant(struct sw_chrome *c, struct sw_label name, const char *before, const char *after,
				  unsigned which);
struct stream_track *sw_chrome_track(struct sw_chrome *c, uint32_t stream);

/* ---- chrome_hazards.c ---- */

/* Draws an arrow from the end of one slice to the start of another; earlier within the first where the clock would have
   it run back. */
void sw_chrome_arrow(struct sw_chrome *c, uint32_t from_pid, const struct sw_drawn *from, struct sw_place to,
		     const char *name, const char *category);
void sw_chrome_arrow_from_call(struct sw_chrome *c, uint64_t from_seq, const struct sw_drawn *to, const char *name,
			       const char *category);
void sw_chrome_edge(void *arg, const struct sw_hb_edge *edge, uint32_t from_stream, uint32_t to_stream);
/* Draws the edges that lead to this call, whose slice is written. */
void sw_chrome_edges(struct sw_chrome *c, uint64_t seq, const struct sw_drawn *call);
/* For the observer, at the end: draws a stretch of the critical path on a row of its own. */
void sw_chrome_path(void *arg, const struct sw_stretch *stretch);

/* ---- chrome_hazards.c ---- */

void sw_chrome_hazard(void *arg, const struct sw_finding *finding, const struct sw_access *earlier,
		      const struct sw_access *later);
/* At the end of the run: draws the hazards that sw_chrome_hazard() kept, and frees them. */
void sw_chrome_hazards(struct sw_chrome *c);

/* ---- chrome_hazards.c ---- */

/* Keeps the operation's names and place until the end, when hazards and estimates are drawn (chrome_hazards.c); of a
   run with more than a million operations only those of the first million. */
void sw_chrome_remember_operation(struct sw_chrome *c, const struct sw_operation *op, struct sw_label call);
/* For the observer, at the end: takes the times of one piece of work as the replay estimates them. */
void sw_chrome_work(void *arg, const struct sw_stretch *stretch);
/* At the end of the run: draws the work that has estimated times only. */
void sw_chrome_estimates(struct sw_chrome *c);
void sw_chrome_estimates_free(struct sw_chrome *c);
/* Adds the place in the program that made a call as an argument of the slice that is open; nothing where it is
   unknown. */
void sw_chrome_put_site(struct sw_chrome *c, const char *key, uint32_t stack, uint32_t function);

#endif
