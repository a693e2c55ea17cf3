/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block that record_stream() was called for is freed: for each of those streams, the allocator records an event
 * there before it takes the block back, and hands the block out again only when it has seen that event to be done.
 * Those events are known by their call stacks: recorded by the very call that takes the block back.  None was needed if
 * the block's own stream had waited by then for all that the other stream was given: whatever reuses the block comes
 * after it.
 */
#include "detect/calls/tensor_blocks.h"

#include <stdlib.h>

#include "detect/hazards/deferred.h"
#include "detect/hazards/touch.h"
#include "detect/memory/address_space.h"
#include "detect/model/collect.h"
#include "detect/model/events.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"

/* Streams that one tensor is recorded for, and other threads' events in between. */
#define RECENT 16u
/* The call that frees a block has at most so many frames of its own when it reports that; its caller is
   the same, down to the first frame.  A program that records an event and then frees a tensor has its own frames in
   between. */
#define OWN_FRAMES   2u
#define LEAST_FRAMES 3u

struct sw_tensor_blocks {
	struct recent {
		uint64_t seq, event;
		uint32_t thread, stack;
	} recent[RECENT];
	unsigned n;
};

struct sw_tensor_blocks *sw_tensor_blocks_new(void)
{
	return sw_calloc(1, sizeof(struct sw_tensor_blocks));
}

void sw_tensor_blocks_free(struct sw_tensor_blocks *blocks)
{
	free(blocks);
}

void sw_tensor_event_recorded(struct sw_model *m, const struct sw_record *r, uint64_t event)
{
	struct sw_tensor_blocks *t = m->tensors;
	if (m->space.pool_blocks.made)
		t->recent[t->n++ % RECENT] = (struct recent){r->seq, event, r->thread, r->stack};
}

void sw_tensor_block_begin(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w,
			   const struct sw_rec_annotation *a)
{
	uint64_t offset;
	const struct sw_block *block = sw_space_find_outer(&m->space, a->address, &offset);
	m->j->coverage.pool_blocks++;
	if (!block || a->bytes > block->bytes - offset) {
		m->j->coverage.pool_blocks_unplaced++;
		return;
	}
	struct sw_pool_block *pool_block = sw_pool_block_begin(&m->space.pool_blocks, a->address, a->bytes, &w->what);
	if (pool_block)
		pool_block->one_stream = a->flags & SW_NOTE_ONE_STREAM;
	if (!pool_block || a->flags & SW_NOTE_ON_HOST)
		return;
	const struct sw_hb_at at = sw_model_at(m, r, a->stream);
	pool_block->own = sw_hb_lane(m->hb, &at);
	pool_block->own_serial = sw_hb_lane_serial(m->hb, pool_block->own);
}

static bool within_call(const struct sw_trace_stack *free, const struct sw_trace_stack *event)
{
	uint32_t same = 0;
	while (free && event && same < free->depth && same < event->depth &&
	       free->ips[free->depth - 1 - same] == event->ips[event->depth - 1 - same])
		same++;
	return same >= LEAST_FRAMES && free->depth - same <= OWN_FRAMES;
}

/* Every event of this free: was the block's own stream past it?  The last one is reported. */
struct event_counts {
	unsigned needed, needless;
	uint32_t stream;
};

static void count_event(struct sw_model *m, const struct recent *recent, uint32_t own,
			struct event_counts *event_counts)
{
	const struct sw_event_state *event = sw_event_find(m, recent->event);
	if (!event || event->record.seq != recent->seq || event->work == UINT64_MAX)
		return;
	const struct sw_point work = {event->record.point.lane, event->work};
	if (event->work && sw_hb_ordered(m->hb, work, own) != SW_ORDER_DOCUMENTED) {
		event_counts->needed++;
		return;
	}
	event_counts->needless++;
	event_counts->stream = event->record.stream;
}

/* One that was needed removes the finding for its place in the program. */
static void report_needless(struct sw_model *m, const struct sw_access *free, struct sw_pool_block *pool_block,
			    const struct event_counts *event_counts)
{
	uint64_t offset;
	struct sw_access at = *free;
	struct sw_finding seen = {.id = SW_FINDING_RECORD_NEEDLESS,
				  .severity = SW_NOTE,
				  .confidence = SW_CERTAIN,
				  .accesses = 1,
				  .access[0] = &at,
				  .fix = SW_FIX_NO_RECORD,
				  .fix_stream = event_counts->stream};
	const struct sw_finding *known = sw_collect_find(&m->collect, seen.id, free);
	if (known && !known->count)
		return;
	struct sw_block *block = sw_space_find_outer(&m->space, pool_block->at.lo, &offset);
	if (block && !event_counts->needed && sw_collect_describes(&m->collect, &seen))
		at.allocation = sw_model_mention_pool_block(m, block, pool_block);
	struct sw_finding *f = sw_collect_add(&m->collect, &seen, NULL);
	if (f && event_counts->needed)
		sw_collect_drop(&m->collect, f);
}

static void judge_events(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w,
			 struct sw_pool_block *pool_block)
{
	const struct sw_tensor_blocks *t = m->tensors;
	const struct sw_trace_stack *free = sw_reader_stack(m->reader, r->stack);
	struct event_counts event_counts = {0};
	for (unsigned i = 0; i < RECENT && i < t->n; i++) {
		const struct recent *recent = &t->recent[(t->n - 1 - i) % RECENT];
		if (recent->seq < pool_block->allocated.seq)
			break;
		if (recent->thread == r->thread && within_call(free, sw_reader_stack(m->reader, recent->stack)))
			count_event(m, recent, pool_block->own, &event_counts);
	}
	if (event_counts.needed || event_counts.needless)
		report_needless(m, &w->what, pool_block, &event_counts);
}

void sw_tensor_block_end(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w,
			 const struct sw_rec_annotation *a)
{
	struct sw_pool_block *pool_block =
		sw_pool_block_keep(sw_pool_block_end(&m->space.pool_blocks, a->address, &w->what));
	if (pool_block && !pool_block->one_stream && pool_block->own_serial && m->tensors->n &&
	    pool_block->own_serial == sw_hb_lane_serial(m->hb, pool_block->own))
		judge_events(m, r, w, pool_block);
	sw_pool_block_drop(pool_block);
	if (sw_pool_blocks_must_trim(&m->space.pool_blocks))
		sw_pool_blocks_trim(&m->space.pool_blocks, sw_deferred_oldest(m));
}
