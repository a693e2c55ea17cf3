/* SPDX-License-Identifier: Apache-2.0 */
/* What the program says of itself: the calls of syncwatch/syncwatch.h. */
#include "detect/model/handlers.h"

#include <stdlib.h>

#include "detect/calls/allocations.h"
#include "detect/calls/tensor_blocks.h"
#include "detect/hazards/deferred.h"
#include "detect/hazards/hazards.h"
#include "detect/hazards/ignored_ranges.h"
#include "detect/kernels/annotated_launches.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/model/call.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"

/* Events of ours: no program can hold these handles, events are pointers. */
static uint64_t tag_event(uint64_t tag)
{
	return UINT64_C(1) << 62 | (tag & (UINT64_MAX >> 2));
}

/* ---- blocks of suballocators --------------------------------------------------------------------------------------
 */

/* At a point of a stream, as cudaMallocAsync and cudaFreeAsync; or now, by the host. */
static bool place(struct sw_model *m, const struct sw_record *r, struct sw_wait *w, const struct sw_rec_annotation *a)
{
	if (!(a->flags & SW_NOTE_ON_HOST))
		return sw_model_enqueue(m, r, a->stream);
	w->what.point = sw_hb_host_step(m->hb, r->thread, r->seq);
	return true;
}

static void begin_block(struct sw_model *m, const struct sw_record *r, struct sw_wait *w,
			const struct sw_rec_annotation *a)
{
	w->what.role = SW_ALLOC;
	if (!place(m, r, w, a))
		return;
	struct sw_block whole = {.address = a->address, .bytes = a->bytes};
	sw_block_born(&whole, &w->what);
	uint64_t at = a->address, end = a->bytes > UINT64_MAX - at ? UINT64_MAX : at + a->bytes;
	for (struct sw_block *old; (old = sw_space_freed_in(&m->space, at, end)); at = old->address + old->bytes)
		if (old->within)
			sw_hazard_reused(m, old, &whole.born);
	struct sw_block *block = sw_space_add_inner(&m->space, a->address, a->bytes);
	if (!block)
		return;
	block->born_passed = a->flags & SW_NOTE_ON_HOST;
	block->born = whole.born;
}

static void end_block(struct sw_model *m, const struct sw_record *r, struct sw_wait *w,
		      const struct sw_rec_annotation *a)
{
	struct sw_block *block = sw_space_inner_from(&m->space, a->address);
	w->what.role = SW_FREE;
	if (!place(m, r, w, a) || !block || block->address != a->address)
		return;
	struct sw_access gone = sw_block_release(m, &w->what, block);
	sw_space_remove(&m->space, block, &gone);
}

/* ---- edges --------------------------------------------------------------------------------------------------------
 */

/* An object through which host threads order each other: no kind of HOST_SYNC has this number. */
static uint64_t tag_object(uint64_t tag)
{
	return UINT64_C(0xff) << 56 | tag;
}

/* With one lane for the host, what it does is after all that it did. */
static void before(struct sw_model *m, const struct sw_record *r, const struct sw_rec_annotation *a)
{
	struct sw_hb_at at = sw_model_at(m, r, a->stream);
	if (a->flags & SW_NOTE_ON_HOST)
		sw_hb_release(m->hb, tag_object(a->address), r->thread, r->seq);
	else if (!sw_model_captured(m, &at))
		sw_hb_event_record(m->hb, tag_event(a->address), &at, 0, NULL);
}

static void after(struct sw_model *m, const struct sw_record *r, const struct sw_rec_annotation *a)
{
	struct sw_hb_at at = sw_model_at(m, r, a->stream);
	struct sw_hb_event_state state;
	/* What another host thread declared reaches a stream through this thread, which enqueues the stream's work. */
	sw_hb_acquire(m->hb, tag_object(a->address), r->thread, r->seq);
	if (a->flags & SW_NOTE_ON_HOST)
		sw_hb_wait_end(m->hb, sw_hb_wait_event(m->hb, tag_event(a->address), &state), r->thread, r->seq,
			       SW_ORDER_DOCUMENTED, NULL);
	else if (!sw_model_captured(m, &at))
		sw_hb_stream_wait(m->hb, &at, tag_event(a->address), 0, &state);
}

void sw_on_annotation(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_annotation *a = (const struct sw_rec_annotation *)(const void *)r->rec;
	uint64_t end = a->bytes > UINT64_MAX - a->address ? UINT64_MAX : a->address + a->bytes;
	/* What came before it counts as it was then. */
	if (a->op == SW_NOTE_BLOCK_BEGIN || a->op == SW_NOTE_BLOCK_END || a->op == SW_NOTE_IGNORE ||
	    a->op == SW_NOTE_JUDGE)
		sw_deferred_flush(m);
	switch (a->op) {
	case SW_NOTE_READS:
	case SW_NOTE_WRITES:
		sw_note_range(m, r, a);
		break;
	case SW_NOTE_BLOCK_BEGIN:
		begin_block(m, r, w, a);
		break;
	case SW_NOTE_BLOCK_END:
		end_block(m, r, w, a);
		break;
	case SW_NOTE_TENSOR_BEGIN:
		sw_tensor_block_begin(m, r, w, a);
		break;
	case SW_NOTE_TENSOR_END:
		sw_tensor_block_end(m, r, w, a);
		break;
	case SW_NOTE_IGNORE:
		if (a->address < end)
			sw_ignore_range(m, a->address, end);
		break;
	case SW_NOTE_JUDGE:
		sw_judge_range_again(m, a->address, end);
		break;
	case SW_NOTE_BEFORE:
		before(m, r, a);
		break;
	case SW_NOTE_AFTER:
		after(m, r, a);
		break;
	default: /* of a newer recorder */
		break;
	}
}
