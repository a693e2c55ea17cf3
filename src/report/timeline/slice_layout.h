/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When did enqueued work run, as far as the host could observe?
 *
 * Known are the enqueue, the order within the stream, and the moment at which the host learnt that it was done.  Work
 * that one observation covers is laid end to end: each piece starts no earlier than its own enqueue and the end of the
 * one before, and together they fill the time up to the observation in equal parts.  So slices of a stream never
 * overlap.  Memory is bounded: the oldest work of a stream that nothing waits for is dropped as never
 * observed.
 */
#ifndef SW_REPORT_TIMELINE_SLICE_LAYOUT_H
#define SW_REPORT_TIMELINE_SLICE_LAYOUT_H

#include "base/memory.h"
#include "report/timeline/trace_out.h"

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
/* All work of the stream up to this sequence number is done by then. Returns how many pieces of it were not known to be
   done before. */
size_t sw_slice_layout_done(struct sw_slice_layout *lay, uint32_t stream, uint64_t seq, uint64_t t_ns);
/* The last work up to this sequence number that has not been drawn yet, NULL: none. */
struct sw_work *sw_slice_layout_find(struct sw_slice_layout *lay, uint32_t stream, uint64_t seq);
/* Draws all that is left; the run ended at end_ns. */
void sw_slice_layout_finish(struct sw_slice_layout *lay, uint64_t end_ns);
void sw_slice_layout_free(struct sw_slice_layout *lay);

#endif
