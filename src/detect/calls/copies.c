/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and sets: which memory they touch, and whom they make wait.
 *
 * Source of the rules: CUDA driver API, "API synchronization behavior" (memcpy and memset); of copies between devices
 * at others_of().
 */
#include "detect/calls/copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "detect/calls/streams.h"
#include "detect/hazards/hazards.h"
#include "detect/hazards/stored_values.h"
#include "detect/hazards/touch.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/memory/shadow.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/lanes.h"
#include "detect/model/handlers.h"
#include "detect/model/model.h"
#include "detect/waits/waits.h"

/* Elements of a call that are compared, and pairs that are reported of it: all have the same call site. */
#define SW_MAX_ELEMENTS 1000000u
#define SW_MAX_PAIRS	64u

struct element {
	struct sw_access access;
	struct sw_range range; /* in its allocation */
	uint64_t end;	       /* offset after the last byte */
	uint64_t most;	       /* of all writes up to this one */
	uint32_t allocation;   /* its number; 0: host memory that CUDA does not know of */
	bool array;
	uint64_t address; /* or handle of the array */
};
typedef SW_VEC(struct element) element_vec;

struct batch {
	uint32_t thread;
	element_vec reads, writes;
};

struct sw_batches {
	SW_VEC(struct batch) at; /* threads are few */
};

/* The batches of copies that threads are in, none yet. */
struct sw_batches *sw_batches_new(void)
{
	return sw_calloc(1, sizeof(struct sw_batches));
}

void sw_batches_free(struct sw_batches *batches)
{
	for (size_t i = 0; i < batches->at.n; i++) {
		free(batches->at.at[i].reads.at);
		free(batches->at.at[i].writes.at);
	}
	free(batches->at.at);
	free(batches);
}

/* The batch of copies that the current thread is in, added if it has none. */
static struct batch *batch_of(struct sw_model *m)
{
	uint32_t thread = sw_model_thread(m, m->record->thread);
	for (size_t i = 0; i < m->batches->at.n; i++)
		if (m->batches->at.at[i].thread == thread)
			return &m->batches->at.at[i];
	struct batch *batch = sw_vec_push(&m->batches->at);
	*batch = (struct batch){.thread = thread};
	return batch;
}

/* Begins a batch of copies of the thread; what is left of an earlier one, which failed or was lost in part, is
   dropped. */
static void batch_begin(struct sw_model *m)
{
	struct batch *batch = batch_of(m);
	batch->writes.n = batch->reads.n = 0;
}

void sw_batches_forget(struct sw_batches *batches)
{
	for (size_t i = 0; i < batches->at.n; i++)
		batches->at.at[i].writes.n = batches->at.at[i].reads.n = 0;
}

/* The block at an address, or of an array's handle, and the offset in it; memory that CUDA does not know of counts as
   pageable. */
static struct sw_block *block_of(struct sw_model *m, bool array, uint64_t address, uint64_t *offset)
{
	struct sw_block *block =
		array ? sw_space_find_array(&m->space, address) : sw_space_find_outer(&m->space, address, offset);
	if (array)
		*offset = 0;
	else if (!block)
		*offset = address;
	return block ? block : &m->space.pageable;
}

/* Keeps a range that the current element of a batch reads or writes, for batch_end(). */
static void batch_touch(struct sw_model *m, const struct sw_range *range, const struct sw_touch *how)
{
	struct batch *batch = batch_of(m);
	element_vec *into = sw_role_writes(range->role) ? &batch->writes : &batch->reads;
	uint64_t offset, address = how->array ? how->handle : range->address;
	if (!range->width || !range->bounded || into->n == SW_MAX_ELEMENTS)
		return;
	struct sw_block *block = block_of(m, how->array, address, &offset);
	struct sw_range inside = *range;
	if (!how->array)
		inside.address = inside.base = offset;
	struct sw_shadow_use *use = sw_model_use(m, &m->wait->what, &inside, block, address);
	*sw_vec_push(into) = (struct element){.access = use->access,
					      .range = inside,
					      .end = use->end,
					      .allocation = block->number,
					      .array = how->array,
					      .address = address};
	sw_use_drop(&m->space.uses, use);
}

/* For qsort(): by allocation, then by offset. */
static int by_place(const void *x, const void *y)
{
	const struct element *a = x, *b = y;
	if (a->allocation != b->allocation)
		return a->allocation < b->allocation ? -1 : 1;
	return (a->range.address > b->range.address) - (a->range.address < b->range.address);
}

/* Reports two elements of one batch of copies that conflict: nothing orders them (SW_FINDING_BATCH_COPY_RACE). */
static void report_race(struct sw_model *m, const struct element *a, const struct element *b)
{
	uint64_t offset;
	const struct element *first = a->access.seq < b->access.seq ? a : b, *second = first == a ? b : a;
	struct sw_access side[2] = {first->access, second->access};
	struct sw_finding seen = {
		.id = SW_FINDING_BATCH_COPY_RACE,
		.severity = SW_ERROR,
		.confidence = SW_CERTAIN,
		.basis = SW_BASIS_DOCUMENTED,
		.accesses = 2,
		.access = {&side[0], &side[1]},
		.fix = SW_FIX_OWN_BATCH,
	};
	sw_hazard_lower(m, &seen, m->record->rec->ctx);
	if (sw_hazard_is_dropped(m, &seen))
		return;
	struct sw_block *block = block_of(m, second->array, second->address, &offset);
	side[0].allocation = side[1].allocation = sw_model_mention(m, block);
	sw_collect_add(&m->collect, &seen, NULL);
}

/* Reports the writes of a batch that overlap the element, until there are `pairs` of SW_MAX_PAIRS.  The writes are
   sorted: from the last one that begins before the element's end, back to where none reaches it (`most`). */
static unsigned compare_writes(struct sw_model *m, const element_vec *writes, const struct element *x, unsigned pairs)
{
	size_t lo = 0, hi = writes->n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct element *w = &writes->at[mid];
		if (w->allocation < x->allocation || (w->allocation == x->allocation && w->range.address < x->end))
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- && pairs < SW_MAX_PAIRS) {
		const struct element *w = &writes->at[lo];
		if (w->allocation != x->allocation || w->most <= x->range.address)
			break;
		bool once = w->access.seq != x->access.seq && (x->range.role == SW_READ || w < x);
		if (once && sw_range_overlap(&w->range, &x->range)) {
			report_race(m, w, x);
			pairs++;
		}
	}
	return pairs;
}

/* At the last element of a batch: compares each write of the batch with the other elements that overlap it, and
   reports those that conflict.  Then the batch is forgotten. */
static void batch_end(struct sw_model *m)
{
	struct batch *batch = batch_of(m);
	element_vec *writes = &batch->writes;
	unsigned pairs = 0;
	if (writes->n)
		qsort(writes->at, writes->n, sizeof *writes->at, by_place);
	for (size_t i = 0; i < writes->n; i++) {
		struct element *w = &writes->at[i];
		bool more = i && w[-1].allocation == w->allocation && w[-1].most > w->end;
		w->most = more ? w[-1].most : w->end;
	}
	for (size_t i = 0; i < writes->n && pairs < SW_MAX_PAIRS; i++)
		pairs = compare_writes(m, writes, &writes->at[i], pairs);
	for (size_t i = 0; i < batch->reads.n && pairs < SW_MAX_PAIRS; i++)
		pairs = compare_writes(m, writes, &batch->reads.at[i], pairs);
	batch->writes.n = batch->reads.n = 0;
}

enum place { PAGEABLE, PINNED, MANAGED, DEVICE };

/* How the host joins a copy. */
enum join {
	NO,	/* it continues at once */
	FULL,	/* documented: it returns when the copy is done */
	BEFORE, /* documented for what preceded; the transfer itself may still be in flight */
	MAY,	/* the documents leave it open */
};

/* [asynchronous][source][destination].  MANAGED, cudaMallocManaged's: copies wait (measured, see place_in_copy()). */
static const enum join joins[2][4][4] = {
	{
		/*            PAGEABLE PINNED MANAGED DEVICE */
		[PAGEABLE] = {FULL, FULL, BEFORE, BEFORE},
		[PINNED] = {FULL, FULL, FULL, FULL},
		[MANAGED] = {FULL, FULL, FULL, FULL},
		[DEVICE] = {FULL, FULL, FULL, NO},
	},
	{
		[PAGEABLE] = {FULL, FULL, MAY, MAY},
		[PINNED] = {FULL, FULL, NO, NO},
		[MANAGED] = {MAY, NO, NO, NO},
		[DEVICE] = {MAY, NO, NO, NO},
	},
};

struct side {
	enum place place;
	const struct sw_block *block;
	struct sw_range range;
	struct sw_touch how;
};

/* The kind of memory on one side of a copy, for the table `joins`; `said` is what the call said of it, where the
   address is not known. */
static enum place place_of(const struct sw_block *block, uint8_t said)
{
	static const enum place places[] = {
		[SW_MEM_UNKNOWN] = DEVICE,  [SW_MEM_DEVICE] = DEVICE,	  [SW_MEM_ASYNC] = DEVICE,
		[SW_MEM_MANAGED] = MANAGED, [SW_MEM_PINNED] = PINNED,	  [SW_MEM_REGISTERED] = PINNED,
		[SW_MEM_ARRAY] = DEVICE,    [SW_MEM_MAPPED] = DEVICE,	  [SW_MEM_IPC] = DEVICE,
		[SW_MEM_SYMBOL] = DEVICE,   [SW_MEM_PAGEABLE] = PAGEABLE,
	};
	if (block && (unsigned)sw_block_memory(block) < sizeof places / sizeof *places)
		return places[sw_block_memory(block)];
	return said == SW_SIDE_DEVICE || said == SW_SIDE_ARRAY ? DEVICE : PAGEABLE;
}

/* ---- what is touched --------------------------------------------------------------------------------------------- */

/* One side of a copy: its block, its range, and which kind of memory it is. */
static struct side side_of(struct sw_model *m, uint64_t address, uint8_t said, uint64_t bytes, enum sw_role role)
{
	struct side side = {.range = sw_range_bytes(address, bytes, role, SW_EV_EXACT)};
	uint64_t offset;
	if (said == SW_SIDE_ARRAY) {
		side.block = sw_space_find_array(&m->space, address);
		side.how = (struct sw_touch){.array = true, .handle = address};
		side.range = sw_range_open(0, role, SW_EV_EXACT, -1);
	} else {
		side.block = sw_space_find(&m->space, address, &offset);
	}
	side.place = place_of(side.block, said);
	return side;
}

/* One side of a copy of rows: in an array the box of its elements, which have fixed pitches there (SW_ARRAY_PITCH),
   else the rows in memory. */
static struct side side_of_box(struct sw_model *m, const struct sw_box *box, const struct sw_rec_copy_nd *copy,
			       enum sw_role role)
{
	const uint64_t size[3] = {copy->width, copy->height, copy->depth};
	uint64_t slice, at;
	struct side side = side_of(m, box->base, box->side, copy->width, role);
	if (box->side == SW_SIDE_ARRAY) {
		if (box->x >= SW_ARRAY_PITCH || box->y >= SW_ARRAY_SLICE / SW_ARRAY_PITCH || box->z >= SW_ARRAY_MAX_Z)
			return side;
		at = sw_space_level(&m->space, box->base) + box->z * SW_ARRAY_SLICE + box->y * SW_ARRAY_PITCH + box->x;
		side.range = sw_range_box(at, size, SW_ARRAY_PITCH, SW_ARRAY_SLICE, role, SW_EV_EXACT);
		return side;
	}
	if (__builtin_mul_overflow(box->pitch, box->slice_rows, &slice))
		slice = UINT64_MAX;
	side.range = sw_range_box(box->base, size, box->pitch, slice, role, SW_EV_EXACT);
	return side;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* The context of the device memory on this side where it is not `ctx`, else 0. */
static uint8_t other_context(const struct sw_model *m, const struct side *side, uint8_t ctx)
{
	if (side->place != DEVICE || !side->block || !side->block->ctx || side->block->ctx == ctx ||
	    side->block->device == m->context[ctx].device)
		return 0;
	return side->block->ctx;
}

/*
 * What a copy takes part in besides its own stream.
 *
 * CUDA Runtime API, cudaMemcpyPeer: "serialized with respect all pending and future asynchronous work in to the current
 * device, srcDevice, and dstDevice (use cudaMemcpyPeerAsync to avoid this synchronization)".  CUDA C++ Programming
 * Guide, "Peer-to-Peer Memory Copy": "a copy (in the implicit NULL stream) between the memories of two different
 * devices does not start until all commands previously issued to either device have completed and runs to completion
 * before any commands issued after the copy to either device can start".  (Measured on two H200, driver 580: it waits
 * for the blocking streams of both and for no others.) The two documents differ on an asynchronous copy on the default
 * stream: the order that one of them promises is kept, and counted.
 *
 * Of other copies on the default stream with memory of another device no document says more than that each device has a
 * default stream of its own.  Measured there: they wait for both ("cudaMemcpy D2H of device-1 memory", "cudaMemcpy H2D
 * pinned to device-1 memory", "cudaMemcpy D2D within device 1").
 */
static struct sw_others others_of(struct sw_model *m, const struct sw_record *r, const struct sw_hb_at *at,
				  const struct side *dst, const struct side *src, uint32_t flags, const uint8_t peer[2])
{
	bool synchronous = r->rec->flags & SW_RF_SYNCHRONOUS, asked = flags & SW_COPY_PEER;
	enum sw_lane_kind kind = sw_hb_lane_kind(m->hb, sw_hb_lane(m->hb, at));
	bool crosses = dst->place == DEVICE && src->place == DEVICE && dst->block && src->block &&
		       dst->block->device != src->block->device;
	if (!synchronous && kind != SW_LANE_LEGACY)
		return (struct sw_others){0};
	if (crosses || (asked && synchronous)) {
		m->j->coverage.edges_for_safety += !synchronous;
		uint8_t to = asked && peer[0] ? peer[0] : crosses ? dst->block->ctx : at->ctx;
		uint8_t from = asked && peer[1] ? peer[1] : crosses ? src->block->ctx : at->ctx;
		return (struct sw_others){.all = true, .n = 3, .ctx = {at->ctx, to, from}};
	}
	uint8_t other = other_context(m, dst, at->ctx);
	if (!other)
		other = other_context(m, src, at->ctx);
	return (struct sw_others){.n = other != 0, .ctx = {other}};
}

/* Makes the host wait for the copy, as a document or a measurement says. */
static void join_host(struct sw_model *m, struct sw_wait *w, enum join join)
{
	if (join == FULL)
		sw_wait_add(m, w, sw_hb_wait_point(m->hb, w->what.point.lane), SW_ORDER_DOCUMENTED);
	else if (join == BEFORE || join == MAY)
		sw_wait_add(m, w, sw_hb_wait_point(m->hb, w->what.point.lane), SW_ORDER_MEASURED);
}

/* To a copy, memory of a managed pool is device memory, wherever its pages are: one between two such sides, or with
   cudaMalloc's, does not make the host wait, and one from pageable memory is in flight when the call returns.  A set of
   it waits, and so do all copies with cudaMallocManaged's (measured on H200, driver 580.159.04, CUDA 13.0:
   tests/gpu/managed/copies.cu; no document names managed memory among the copies). */
static enum place place_in_copy(const struct side *side)
{
	bool pooled = side->place == MANAGED && side->block->memory == SW_MEM_ASYNC;
	return pooled ? DEVICE : side->place;
}

/* How the host joins the copy, by the kinds of memory of both sides.  Memory with SYNC_MEMOPS makes it wait in full
   (CU_POINTER_ATTRIBUTE_SYNC_MEMOPS). */
static enum join join_of(const struct sw_record *r, const struct side *dst, const struct side *src)
{
	if ((dst->block && dst->block->sync_memops) || (src->block && src->block->sync_memops))
		return FULL;
	return joins[!(r->rec->flags & SW_RF_SYNCHRONOUS)][place_in_copy(src)][place_in_copy(dst)];
}

/* Does the call wait for its stream?  Where no document decides that (MAY: asynchronous copies with pageable
   memory), the measured rule says it. */
static bool may_wait(const struct sw_model *m, const struct sw_record *r, enum join join, const struct side *src,
		     uint64_t bytes)
{
	if (join != MAY)
		return true;
	if (src->place != PAGEABLE)
		return sw_model_wait_rule(m, r->rec->ctx, SW_WAIT_RULE_D2H_ASYNC);
	return sw_model_wait_rule(m, r->rec->ctx,
				  bytes <= 65536 ? SW_WAIT_RULE_H2D_ASYNC_SMALL : SW_WAIT_RULE_H2D_ASYNC_LARGE);
}

/* Notes how long the copy needs itself, and which finding it is if it waits. */
static void expect_wait(struct sw_wait *w, enum join join, bool synchronous, bool pageable, uint64_t bytes)
{
	w->own_ns = sw_wait_own(pageable ? SW_OWN_PAGEABLE_COPY : SW_OWN_COPY, bytes);
	if (synchronous && join != NO) {
		w->id = SW_FINDING_SYNC_COPY;
		w->fix = SW_FIX_ASYNC;
		w->basis = SW_BASIS_DOCUMENTED;
		w->promised = w->always = true;
	} else if (!synchronous && pageable) {
		w->id = SW_FINDING_PAGEABLE_ASYNC_COPY;
		w->fix = SW_FIX_PIN;
		w->basis = join == FULL ? SW_BASIS_DOCUMENTED : SW_BASIS_MAY;
		w->promised = join == FULL;
		w->always = true;
	}
}

/* Touches the source of a copy that may read it out of stream order, as if the host read it now.  CUDA driver API,
   cuMemcpyBatchAsync: access to the source "can be out of stream order", and is either "complete before the API call
   returns" or "can happen even after the API call returns".  In both cases what still writes the source when the call
   is made is too late. */
static void touch_out_of_order(struct sw_model *m, const struct sw_wait *w, const struct side *side)
{
	struct sw_touch how = side->how;
	struct sw_access what = w->what;
	how.host = true;
	what.stream = 0;
	what.point = sw_hb_host_step(m->hb, m->record->thread, what.seq);
	sw_model_touch(m, &what, &side->range, &how);
}

/* Begins a batch of copies at its first element. */
static void batch_begins(struct sw_model *m, uint32_t flags)
{
	if (flags & SW_COPY_BATCH_FIRST)
		batch_begin(m);
}

/* Keeps both sides of an element of a batch: its copies are not ordered among themselves. */
static void touch_batch(struct sw_model *m, const struct side *dst, const struct side *src, uint32_t flags)
{
	if (flags & SW_COPY_BATCH) {
		batch_touch(m, &src->range, &src->how);
		batch_touch(m, &dst->range, &dst->how);
	}
}

/* Touches the memory on one side of a copy: by the host inside of the call for a synchronous copy out of pageable
   memory, else by the stream. */
static void touch_side(struct sw_model *m, struct sw_wait *w, const struct side *side, enum join join, bool synchronous)
{
	struct sw_touch how = side->how;
	if (side->range.role == SW_READ && side->place == PAGEABLE && synchronous && join == BEFORE) {
		w->host_range = side->range;
		return;
	}
	how.may_wait = join == BEFORE || join == MAY;
	how.blocks = synchronous && (join == FULL || join == BEFORE);
	sw_model_touch(m, &w->what, &side->range, &how);
}

/* The way of a copy over the bus: up to the device, down from it, within it. */
static enum sw_copy_way moves_of(const struct side *dst, const struct side *src)
{
	bool to = dst->place == DEVICE, from = src->place == DEVICE;
	if (to && from)
		return SW_MOVES_WITHIN;
	return to ? SW_MOVES_UP : from ? SW_MOVES_DOWN : SW_MOVES_OTHER;
}

/* The bytes of the source that the record holds; NULL: none.  head: bytes of the record's structure before them. */
static const void *content_of(const struct sw_rec *r, size_t head, uint32_t flags, uint64_t bytes)
{
	bool whole = flags & SW_COPY_CONTENT && bytes <= SW_COPY_CONTENT_MAX && head + bytes <= r->words * 8u;
	return whole ? (const char *)r + head : NULL;
}

/* May the source be changed after the call, before the copy reads it?  Pageable memory was read inside the call (CUDA
   driver API, "API synchronization behavior", memcpy), pinned memory is read when the copy runs. */
static bool source_may_change(const struct sw_record *r, const struct side *src, uint32_t flags)
{
	bool inside = r->rec->flags & SW_RF_SYNCHRONOUS || src->place == PAGEABLE || flags & SW_COPY_SRC_DURING;
	return !inside || flags & SW_COPY_SRC_ANYTIME;
}

#define SW_VALUE_BYTES 64u

/* Judges a copy: what it waits for, whom it makes wait, and the memory that it touches.  ctx: the contexts that a peer
   copy names, of destination and source.  False: it became part of a capture. */
static bool judge_copy(struct sw_model *m, const struct sw_record *r, struct sw_wait *w, uint64_t stream,
		       struct side *dst, struct side *src, uint32_t flags, const uint8_t ctx[2], uint64_t bytes)
{
	struct sw_hb_at at = sw_model_at(m, r, stream);
	bool synchronous = r->rec->flags & SW_RF_SYNCHRONOUS;
	bool pageable = dst->place == PAGEABLE || src->place == PAGEABLE;
	struct sw_others others = others_of(m, r, &at, dst, src, flags, ctx);
	enum join join = join_of(r, dst, src);
	w->moves = moves_of(dst, src);
	w->staged = pageable;
	w->bytes = bytes;
	sw_hb_token before = join != NO || pageable ? sw_hb_wait_stream(m->hb, &at) : 0;
	sw_wait_look(m, w, before);
	if (join == BEFORE)
		sw_wait_add(m, w, before, SW_ORDER_DOCUMENTED);
	else
		sw_hb_wait_drop(m->hb, before);
	if (!sw_model_enqueue_with(m, r, stream, &others))
		return false;
	m->j->coverage.copies++;
	m->j->coverage.bytes_copied += bytes;
	if (may_wait(m, r, join, src, bytes))
		join_host(m, w, join);
	expect_wait(w, join, synchronous, pageable, bytes);
	/* A value that the host asks for (tensor.item()): no other kind of memory makes that faster. */
	if (dst->place != DEVICE && src->place == DEVICE && bytes <= SW_VALUE_BYTES) {
		w->fix = w->id ? SW_FIX_VALUE : w->fix;
		*sw_model_value(m, r->thread) = w->what;
	}
	touch_batch(m, dst, src, flags);
	if (flags & (SW_COPY_SRC_DURING | SW_COPY_SRC_ANYTIME))
		touch_out_of_order(m, w, src);
	if (!(flags & SW_COPY_SRC_DURING))
		touch_side(m, w, src, join, synchronous);
	touch_side(m, w, dst, join, synchronous);
	return true;
}

/* After an element of a batch of copies: if it is the last one, compares the elements with each other.  Traces before
   minor 8 do not say which elements are of one call, and compare none. */
static void batch_over(struct sw_model *m, uint32_t flags)
{
	if (flags & SW_COPY_BATCH && !(flags & SW_COPY_BATCH_MORE))
		batch_end(m);
}

/* Handles a copy of consecutive bytes, and notes the content that it brings to the device if the trace has it. */
void sw_on_copy(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_copy *c = (const struct sw_rec_copy *)(const void *)r->rec;
	struct side dst = side_of(m, c->dst, c->dst_side, c->bytes, SW_WRITE);
	struct side src = side_of(m, c->src, c->src_side, c->bytes, SW_READ);
	const void *content = content_of(r->rec, sizeof *c, c->flags, c->bytes);
	batch_begins(m, c->flags);
	if (c->bytes &&
	    judge_copy(m, r, w, c->stream, &dst, &src, c->flags, (uint8_t[]){c->dst_ctx, c->src_ctx}, c->bytes) &&
	    content && dst.place == DEVICE && (src.place == PAGEABLE || src.place == PINNED)) {
		bool may_change = source_may_change(r, &src, c->flags);
		uint64_t word = 0;
		sw_uploaded(m, &w->what, c->dst, (uint32_t)c->bytes, content, may_change);
		if (c->bytes == 4 || c->bytes == 8)
			memcpy(&word, content, c->bytes);
		if ((c->bytes == 4 || c->bytes == 8) && !may_change)
			sw_value_filled(m, w->what.point, c->dst, c->dst + c->bytes, word);
	}
	batch_over(m, c->flags);
}

/* Handles a copy of rows in two or three dimensions. */
void sw_on_copy_nd(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_copy_nd *c = (const struct sw_rec_copy_nd *)(const void *)r->rec;
	struct side dst = side_of_box(m, &c->dst, c, SW_WRITE), src = side_of_box(m, &c->src, c, SW_READ);
	struct sw_range dense =
		sw_range_box(0, (uint64_t[]){c->width, c->height, c->depth}, c->width, 0, SW_READ, SW_EV_EXACT);
	uint64_t bytes = dense.width * dense.slices;
	batch_begins(m, c->flags);
	if (c->width)
		judge_copy(m, r, w, c->stream, &dst, &src, c->flags, (uint8_t[]){c->dst.ctx, c->src.ctx}, bytes);
	batch_over(m, c->flags);
}

/* The value of a set, repeated to 8 bytes. */
static uint64_t word_of(const struct sw_rec_set *s)
{
	uint64_t word = s->value;
	if (s->element_bytes == 1)
		word = (word & 0xff) * 0x0101u;
	if (s->element_bytes <= 2)
		word = (word & 0xffff) * 0x00010001u;
	return (word & UINT32_MAX) * 0x0000000100000001u;
}

/* Handles a set (memset), and notes the value that it leaves in device memory. */
void sw_on_set(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_set *s = (const struct sw_rec_set *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, s->stream);
	struct side dst = side_of(m, s->dst, SW_SIDE_DEVICE, s->width, SW_WRITE);
	bool waits =
		r->rec->flags & SW_RF_SYNCHRONOUS && (dst.place != DEVICE || (dst.block && dst.block->sync_memops));
	if (!s->width)
		return;
	dst.range = sw_range_box(s->dst, (uint64_t[]){s->width, s->height, 1}, s->pitch, 0, SW_WRITE, SW_EV_EXACT);
	if (waits)
		sw_wait_peek(m, w, sw_hb_wait_stream(m->hb, &at));
	if (!sw_model_enqueue(m, r, s->stream))
		return;
	m->j->coverage.sets++;
	if (waits) {
		sw_wait_add(m, w, sw_hb_wait_point(m->hb, w->what.point.lane), SW_ORDER_DOCUMENTED);
		w->id = SW_FINDING_SYNC_MEMSET;
		w->fix = SW_FIX_ASYNC;
		w->promised = w->always = true;
		w->own_ns = sw_wait_own(SW_OWN_SET, sw_range_span(&dst.range));
	}
	sw_model_touch(m, &w->what, &dst.range, &dst.how);
	if (dst.place == DEVICE && s->height <= 1)
		sw_value_filled(m, w->what.point, s->dst, s->dst + s->width, word_of(s));
}

/* ---- as nodes of a graph: what they touch, apart from who waits -------------------------------------------------- */

/* Judges what the copy node of a graph touches. */
void sw_copy_touches(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_copy_nd *c = (const struct sw_rec_copy_nd *)(const void *)r->rec;
	struct side dst = side_of_box(m, &c->dst, c, SW_WRITE), src = side_of_box(m, &c->src, c, SW_READ);
	if (!c->width)
		return;
	sw_model_touch(m, &w->what, &src.range, &src.how);
	sw_model_touch(m, &w->what, &dst.range, &dst.how);
}

void sw_copy_uploads(struct sw_model *m, const struct sw_record *r, const struct sw_access *what)
{
	const struct sw_rec_copy_nd *c = (const struct sw_rec_copy_nd *)(const void *)r->rec;
	const void *content = content_of(r->rec, sizeof *c, c->flags, c->width);
	struct side dst = side_of_box(m, &c->dst, c, SW_WRITE), src = side_of_box(m, &c->src, c, SW_READ);
	if (content && c->height == 1 && c->depth == 1 && dst.place == DEVICE && !dst.how.array &&
	    (src.place == PAGEABLE || src.place == PINNED))
		sw_uploaded(m, what, dst.range.address, (uint32_t)c->width, content, true);
}

/* Judges what the set node of a graph touches. */
void sw_set_touches(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_set *s = (const struct sw_rec_set *)(const void *)r->rec;
	struct sw_range range =
		sw_range_box(s->dst, (uint64_t[]){s->width, s->height, 1}, s->pitch, 0, SW_WRITE, SW_EV_EXACT);
	if (s->width)
		sw_model_touch(m, &w->what, &range, &(struct sw_touch){0});
}
