/* SPDX-License-Identifier: Apache-2.0 */
/* What the program says of itself: the calls of syncwatch/syncwatch.h. */
#include "detect/model/model.h"

#include <stdlib.h>

/* Ranges that may be told of one launch, and that no launch has come for. */
#define SW_MAX_SAID 4096u

/* Events of ours: no program can hold these handles, events are pointers. */
static uint64_t tag_event(uint64_t tag)
{
	return UINT64_C(1) << 62 | (tag & (UINT64_MAX >> 2));
}

/* ---- what the next launch touches ---------------------------------------------------------------------------------
 */

static void say(struct sw_model *m, const struct sw_record *r, const struct sw_rec_annotation *a)
{
	struct sw_hb_at at = sw_model_at(m, r, a->stream);
	uint32_t lane;
	sw_model_lane(m, &at, &lane);
	if (m->annotated.n >= SW_MAX_SAID)
		m->annotated.n = 0;
	*sw_vec_push(&m->annotated) = (struct sw_annotated_range){
		.lane = lane,
		.serial = sw_hb_lane_serial(m->hb, lane),
		.range = sw_range_bytes(a->address, a->bytes, a->op == SW_NOTE_READS ? SW_READ : SW_WRITE, SW_EV_EXACT),
	};
}

bool sw_note_launch(struct sw_model *m, struct sw_wait *w)
{
	uint32_t lane = w->what.point.lane, serial = sw_hb_lane_serial(m->hb, lane);
	size_t kept = 0;
	bool any = false;
	for (size_t i = 0; i < m->annotated.n; i++) {
		const struct sw_annotated_range said = m->annotated.at[i];
		if (said.lane != lane || said.serial != serial) {
			m->annotated.at[kept++] = said;
			continue;
		}
		any = true;
		sw_model_touch(m, &w->what, &said.range, &(struct sw_touch){0});
	}
	m->annotated.n = kept;
	return any;
}

/* ---- ranges that are not judged -----------------------------------------------------------------------------------
 */

static void judge_again(struct sw_model *m, uint64_t lo, uint64_t hi)
{
	struct sw_interval *at;
	while ((at = sw_intervals_from(&m->ignored, lo)) && at->lo < hi) {
		sw_intervals_remove(&m->ignored, at);
		free(at);
	}
}

static void ignore(struct sw_model *m, uint64_t lo, uint64_t hi)
{
	judge_again(m, lo, hi);
	struct sw_interval *at = sw_calloc(1, sizeof *at);
	at->lo = lo;
	at->hi = hi;
	sw_intervals_insert(&m->ignored, at);
}

bool sw_note_ignored(const struct sw_model *m, const struct sw_range *range)
{
	if (!m->ignored.n)
		return false;
	const struct sw_interval *at = sw_intervals_from(&m->ignored, range->address);
	return at && at->lo <= range->address && (!range->bounded || sw_range_span(range) <= at->hi - range->address);
}

void sw_notes_free(struct sw_model *m)
{
	judge_again(m, 0, UINT64_MAX);
	free(m->annotated.at);
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

/* An object through which host threads tell each other: no kind of HOST_SYNC has this number. */
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
	/* What another host thread told reaches a stream through this one, which gives it its work. */
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
	switch (a->op) {
	case SW_NOTE_READS:
	case SW_NOTE_WRITES:
		say(m, r, a);
		break;
	case SW_NOTE_BLOCK_BEGIN:
		begin_block(m, r, w, a);
		break;
	case SW_NOTE_BLOCK_END:
		end_block(m, r, w, a);
		break;
	case SW_NOTE_IGNORE:
		if (a->address < end)
			ignore(m, a->address, end);
		break;
	case SW_NOTE_JUDGE:
		judge_again(m, a->address, end);
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
