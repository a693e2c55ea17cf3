/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/calls/allocations.h"

#include <stdlib.h>
#include <string.h>

#include "detect/behaviour/behaviour.h"
#include "detect/hazards/deferred.h"
#include "detect/hazards/hazards.h"
#include "detect/hazards/touch.h"
#include "detect/hazards/shared_uses.h"
#include "detect/libraries/library_calls.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/memory/shadow.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/lanes.h"
#include "detect/model/handlers.h"
#include "detect/model/model.h"
#include "detect/waits/waits.h"

/*
 * Memory of a pool that is allocated again at an old address.
 *
 * The driver hands out what was freed in stream order only where the free comes first: because the allocating stream
 * is ordered after it (CUDA C++ Programming Guide, "Stream Ordered Memory Allocator", cudaMemPoolReuseFollowEvent-
 * Dependencies), because the free was seen to be done (ReuseAllowOpportunistic), or because it adds a dependency of its
 * own (ReuseAllowInternalDependencies).  The last two are facts of this run: in the next one the allocation may get
 * other memory and no edge with it.  So the edge counts as measured: work that nothing else orders is a note.
 */

/* The event, in the order engine, that stands for the free of this block of a memory pool.  No program can hold its
   handle: events are pointers. */
static uint64_t free_event(const struct sw_block *block)
{
	return UINT64_C(1) << 63 | block->number;
}

/* Call-back before a block of a pool is forgotten: its free is not waited for any more. */
static void forget_freed(void *arg, const struct sw_block *block)
{
	struct sw_model *m = arg;
	if (block->memory == SW_MEM_ASYNC)
		sw_hb_event_destroy(m->hb, free_event(block));
}

/* Makes the address space tell when a freed block of a pool is forgotten. */
void sw_pool_init(struct sw_model *m)
{
	m->space.forget = forget_freed;
	m->space.arg = m;
}

/* Records an event after the last step of the stream, which freed a block of a memory pool, so that a reuse of its
   memory can wait for it. */
static void pool_freed(struct sw_model *m, const struct sw_hb_at *at, const struct sw_block *block)
{
	if (block->memory == SW_MEM_ASYNC)
		sw_hb_event_record(m->hb, free_event(block), at, 0, NULL);
}

/* Before an allocation in a stream: where its memory was freed in another stream without an order, the driver waits
   for that free (measured), so the stream waits here for each such free. */
static void pool_reuse(struct sw_model *m, const struct sw_hb_at *at, uint64_t address, uint64_t bytes)
{
	uint64_t end = bytes > UINT64_MAX - address ? UINT64_MAX : address + bytes;
	struct sw_hb_event_state state;
	for (struct sw_block *old; (old = sw_space_freed_in(&m->space, address, end));) {
		uint32_t lane = sw_hb_lane(m->hb, at);
		if (old->memory == SW_MEM_ASYNC && old->gone.stream &&
		    sw_hb_ordered(m->hb, old->gone.point, lane) == SW_ORDER_NONE)
			sw_hb_stream_wait(m->hb, at, free_event(old), SW_HB_MEASURED, &state);
		address = old->address + old->bytes;
	}
}

/*
 * A block that record_stream() was called for is freed: for each of those streams, the allocator records an event
 * there before it takes the block back, and hands the block out again only when it has seen that event to be done.
 * Those events are known by their call stacks: recorded by the very call that takes the block back.  None was needed if
 * the block's own stream had waited by then for all that the other stream was given: whatever reuses the block comes
 * after it.
 */

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

/* The last records of events, among which those of a caching allocator are found (SW206). */
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

/* Was the event recorded by the very call that frees the block: do both stacks have the same callers, but for a few
   frames of the free's own? */
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

/* Counts an event that the allocator recorded for the block: needed if the block's own stream (lane `own`) is not
   ordered after the work that the event covers, else needless. */
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

/* Reports SW206 for events that an allocator recorded for a block and nothing needed.  If one was needed, the
   finding for this place in the program is dropped, and stays so. */
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

/* After a pool block was freed: counts the events that the allocator recorded for it in this very call of the program,
   and judges them. */
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

/* Ends a block that a caching allocator takes back (annotation), and judges the events recorded for other streams that
   used it. */
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

/* Is it memory of the host that CUDA knows of? */
static bool is_host(enum sw_memory memory)
{
	return memory == SW_MEM_PINNED || memory == SW_MEM_REGISTERED;
}

/* The advice against allocating again and again.  cudaMallocAsync and pools allocate device memory only. */
static enum sw_fix reuse_fix(enum sw_memory memory)
{
	if (is_host(memory))
		return SW_FIX_REUSE_PINNED;
	return memory == SW_MEM_DEVICE ? SW_FIX_REUSE : SW_FIX_REUSE_ONLY;
}

/* ---- allocation -------------------------------------------------------------------------------------------------- */

/* Notes what an allocation may wait for, and how long it needs itself, for SW_FINDING_DEVICE_ALLOC and HOST_PIN. */
static void alloc_cost(struct sw_model *m, const struct sw_record *r, struct sw_wait *w, const struct sw_rec_alloc *a)
{
	bool host = is_host(a->memory);
	if (!host && a->memory != SW_MEM_DEVICE && a->memory != SW_MEM_MANAGED && a->memory != SW_MEM_ARRAY)
		return;
	sw_hb_token token = sw_hb_wait_context(m->hb, r->rec->ctx);
	sw_wait_look(m, w, token);
	if ((a->memory == SW_MEM_DEVICE && sw_model_wait_rule(m, r->rec->ctx, SW_WAIT_RULE_ALLOC)) ||
	    (a->memory == SW_MEM_PINNED && sw_model_wait_rule(m, r->rec->ctx, SW_WAIT_RULE_ALLOC_HOST)))
		sw_wait_add(m, w, token, SW_ORDER_MEASURED);
	else
		sw_hb_wait_drop(m->hb, token);
	w->id = host ? SW_FINDING_HOST_PIN : SW_FINDING_DEVICE_ALLOC;
	w->basis = SW_BASIS_MAY;
	w->fix = reuse_fix(a->memory);
	w->own_ns = sw_wait_own(host ? SW_OWN_PIN : SW_OWN_ALLOC, a->bytes);
	w->pinned = host ? a->bytes : 0;
}

void sw_block_born(struct sw_block *block, const struct sw_access *call)
{
	block->born = *call;
	block->born.ranged = true;
	block->born.address = block->address;
	block->born.bytes = block->bytes;
	block->born.evidence = SW_EV_EXACT;
	block->born.extent_known = true;
}

/* Gives the block the context of the record; memory of a green context belongs to the primary one. */
static void set_context(const struct sw_model *m, const struct sw_record *r, struct sw_block *block)
{
	uint8_t whole = m->context[r->rec->ctx].whole;
	block->ctx = whole ? whole : r->rec->ctx;
	block->device = m->context[r->rec->ctx].device;
}

/* Makes a part of reserved addresses a block of memory, from its physical memory.  False: the reservation was not
   seen. */
static bool map_reserved(struct sw_model *m, const struct sw_record *r, struct sw_wait *w, const struct sw_rec_alloc *a)
{
	struct sw_block *block = sw_space_reservation(&m->space, a->address, a->bytes);
	if (!block)
		return false;
	uint64_t lo = a->address - block->address;
	sw_deferred_flush(m);
	if (!sw_block_reach(block))
		sw_block_born(block, &w->what);
	set_context(m, r, block);
	sw_block_map(block, lo, lo + a->bytes);
	if (a->owner && sw_map_get(&m->space.host_pieces, a->owner))
		block->pool_memory = SW_MEM_PINNED;
	if (a->owner)
		sw_physical_map(m->physical, a->owner, a->extra, block, lo, lo + a->bytes, sw_uses_share, m);
	return true;
}

/* Is the memory in hand one of another process's pool?  External memory (of another API) looks alike but for the
   call. */
static bool is_of_another_pool(const struct sw_model *m)
{
	const struct sw_trace_api *api = sw_reader_api(m->reader, m->record->rec->api);
	return api && strcmp(api->driver, "cuMemPoolImportPointer") == 0;
}

void sw_block_made(struct sw_model *m, const struct sw_rec_alloc *a, const struct sw_access *born)
{
	uint64_t offset;
	struct sw_block *block = sw_space_find_outer(&m->space, a->address, &offset);
	if (a->memory == SW_MEM_SYMBOL && block && !offset && block->memory == SW_MEM_SYMBOL &&
	    block->bytes == a->bytes && block->owner == a->owner)
		return; /* asked for once more */
	/* A handle that is opened again has the address that it had (measured on H200, driver 580), and each needs its
	   close. */
	if (a->memory == SW_MEM_IPC && block && !offset && block->memory == SW_MEM_IPC && block->shared && !a->owner &&
	    block->shared == a->extra) {
		block->opens++;
		return;
	}
	block = sw_space_add(&m->space, a->address, a->bytes, a->memory, a->device_alias);
	block->owner = a->memory == SW_MEM_SYMBOL ? a->owner : 0;
	if (a->memory == SW_MEM_ASYNC && a->owner)
		block->pool_memory = (enum sw_memory)sw_map_get(&m->space.pools, a->owner);
	block->shared = a->memory == SW_MEM_IPC && !a->owner ? a->extra : 0;
	if (a->memory == SW_MEM_IPC)
		sw_sharing_opened(m);
	m->j->shares_memory |= block->shared != 0;
	m->j->shares_pools |= a->memory == SW_MEM_IPC && is_of_another_pool(m);
	set_context(m, m->record, block);
	sw_block_born(block, born);
}

/* Handles an allocation: what it waits for, and the block that begins; stream-ordered memory begins at a point of its
   stream. */
void sw_on_alloc(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_alloc *a = (const struct sw_rec_alloc *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, a->stream);
	w->what.role = SW_ALLOC;
	sw_library_allocated(m, r->thread, a->address, a->bytes);
	if (a->memory == SW_MEM_ARRAY && a->owner && sw_space_add_level(&m->space, a->address, a->owner, a->extra))
		return;
	if (a->memory == SW_MEM_ASYNC) {
		/* In a capture it becomes a node of the graph: this memory is not there yet. */
		if (sw_model_captured(m, &at)) {
			sw_model_enqueue(m, r, a->stream);
			return;
		}
		pool_reuse(m, &at, a->address, a->bytes);
		if (!sw_model_enqueue(m, r, a->stream))
			return;
	} else {
		alloc_cost(m, r, w, a);
	}
	if (a->memory != SW_MEM_MAPPED || !map_reserved(m, r, w, a))
		sw_block_made(m, a, &w->what);
}

/* ---- release ----------------------------------------------------------------------------------------------------- */

/* Judges whether all uses of these bytes are ordered before their release, and returns the access that stands for
   it. */
static struct sw_access release_bytes(struct sw_model *m, const struct sw_access *what, struct sw_block *block,
				      uint64_t lo, uint64_t bytes)
{
	struct sw_range range = sw_range_bytes(lo, bytes, SW_FREE, SW_EV_EXACT);
	sw_deferred_meet(m, block, lo, lo + bytes, what->point);
	struct sw_shadow_use *use = sw_model_use(m, what, &range, block, block->address + lo);
	struct sw_shadow_env env;
	uint64_t unordered = sw_hazards_unordered(m);
	use->host = !what->stream;
	sw_model_env(m, &env);
	sw_shadow_probe(&block->shadow, &env, use);
	/* CUDA C++ Programming Guide, "Stream Ordered Memory Allocator": the free must happen after the allocation and
	   all uses of it.  Where a use is not, that says enough. */
	if (!block->born_passed && !use->host && unordered == sw_hazards_unordered(m))
		sw_hazard_unborn(m, block, use);
	struct sw_access gone = use->access;
	sw_use_drop(&m->space.uses, use);
	return gone;
}

struct sw_access sw_block_release(struct sw_model *m, const struct sw_access *what, struct sw_block *block)
{
	uint64_t end = block->address + block->bytes;
	struct sw_block *inner = block->blocks ? sw_space_inner_from(&m->space, block->address) : NULL;
	for (; inner && inner->address < end; inner = sw_space_inner_from(&m->space, inner->address + inner->bytes))
		release_bytes(m, what, inner, 0, inner->bytes);
	return release_bytes(m, what, block, 0, sw_block_room(block));
}

void sw_block_freed(struct sw_model *m, uint64_t address, const struct sw_access *what)
{
	uint64_t offset;
	struct sw_block *block = sw_space_find_outer(&m->space, address, &offset);
	if (!block || offset)
		return;
	struct sw_access gone = sw_block_release(m, what, block);
	sw_space_remove(&m->space, block, &gone);
}

void sw_blocks_end(struct sw_model *m, uint8_t ctx, const struct sw_access *what)
{
	for (struct sw_block *block = sw_space_next(&m->space, NULL), *next; block; block = next) {
		next = sw_space_next(&m->space, block);
		if (block->ctx != ctx || block->memory == SW_MEM_ASYNC || block->memory == SW_MEM_MAPPED)
			continue;
		if (block->nowhere) { /* the program made no such allocation that it could free too early */
			sw_space_remove(&m->space, block, NULL);
			continue;
		}
		struct sw_access gone = sw_block_release(m, what, block);
		sw_space_remove(&m->space, block, &gone);
	}
}

/* Frees stream-ordered memory: as work of the stream. */
static void free_async(struct sw_model *m, const struct sw_record *r, struct sw_wait *w, const struct sw_rec_free *f,
		       struct sw_block *block)
{
	struct sw_hb_at at = sw_model_at(m, r, f->stream);
	if (!sw_model_enqueue(m, r, f->stream) || !block)
		return;
	struct sw_access gone = sw_block_release(m, &w->what, block);
	pool_freed(m, &at, block);
	sw_space_remove(&m->space, block, &gone);
}

/* Unmaps a part of reserved addresses: judged like a free of these bytes, for which nothing waits.  CUDA Driver API,
   cuMemUnmap: promises no wait.  (PyTorch's allocator: "unlike cudaFree, MemUnmap and MemRelease do not appear to
   synchronize in all cases".) */
static void unmap_bytes(struct sw_model *m, const struct sw_record *r, struct sw_wait *w, const struct sw_rec_free *f,
			struct sw_block *block)
{
	uint64_t lo = f->address - block->address;
	uint64_t end = f->bytes ? lo + f->bytes : sw_block_mapped(block, lo);
	w->what.point = sw_hb_host_step(m->hb, r->thread, r->seq);
	sw_deferred_flush(m);
	while (lo < end) {
		uint64_t mapped = sw_block_mapped(block, lo), hi = mapped < end ? mapped : end;
		if (hi <= lo)
			return;
		struct sw_access gone = release_bytes(m, &w->what, block, lo, hi - lo);
		sw_block_unmap(&m->space, block, lo, hi, &gone);
		sw_physical_unmap(block, lo, hi);
		lo = hi;
	}
}

/* Notes how long a release needs itself, and which call made the memory, for SW_FINDING_DEVICE_FREE and HOST_PIN. */
static void free_cost(struct sw_wait *w, const struct sw_block *block)
{
	bool host = is_host(block->memory);
	w->id = host ? SW_FINDING_HOST_PIN : SW_FINDING_DEVICE_FREE;
	w->basis = SW_BASIS_MAY;
	w->fix = reuse_fix(block->memory);
	w->own_ns = sw_wait_own(host ? SW_OWN_UNPIN : SW_OWN_FREE, block->bytes);
	w->pinned = host ? block->bytes : 0;
	w->maker = block->born;
}

/* Which of the measured rules says whether the release of such memory waits. */
static enum sw_wait_rule release_of(enum sw_memory memory)
{
	switch (memory) {
	case SW_MEM_PINNED:
		return SW_WAIT_RULE_FREE_HOST;
	case SW_MEM_REGISTERED:
		return SW_WAIT_RULE_UNREGISTER;
	case SW_MEM_MANAGED:
		return SW_WAIT_RULE_FREE_MANAGED;
	default:
		return SW_WAIT_RULE_FREE;
	}
}

/* Handles a release: what it waits for as measured, whether all uses come before it, and the end of the block. */
void sw_on_free(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_free *f = (const struct sw_rec_free *)(const void *)r->rec;
	uint64_t offset = 0;
	struct sw_block *block = sw_space_find_array(&m->space, f->address);
	if (block && block->address != f->address)
		return; /* a level of a mipmapped array */
	if (!block)
		block = sw_space_find_outer(&m->space, f->address, &offset);
	w->what.role = SW_FREE;
	if (f->memory == SW_MEM_MAPPED && block && block->mapping) {
		unmap_bytes(m, r, w, f, block);
		return;
	}
	if (f->memory == SW_MEM_ASYNC) {
		free_async(m, r, w, f, offset ? NULL : block);
		return;
	}
	if (!block || offset)
		return;
	if (f->memory == SW_MEM_IPC && block->opens) {
		block->opens--;
		return;
	}
	/* No document promises that a release waits; on H200 with driver 580 all did but for pool memory ("cudaFree of
	   async ptr"), for the context that owns the memory: on another device ("cudaFree of device-1 memory",
	   "cudaFreeHost of memory pinned with device 1 current"), not for other contexts of its own ("cuMemFree of the
	   primary context's memory behind its own kernel").  Where calibrate measured that it never waits, it orders
	   nothing. */
	sw_covered_vec covers = {0};
	if (block->memory != SW_MEM_ASYNC && block->memory != SW_MEM_SYMBOL && block->memory != SW_MEM_MAPPED) {
		sw_hb_token token =
			block->ctx ? sw_hb_wait_context(m->hb, block->ctx) : sw_hb_wait_device(m->hb, block->device);
		sw_wait_look(m, w, token);
		if (sw_model_wait_rule(m, block->ctx, release_of(block->memory))) {
			sw_hb_wait_lanes(m->hb, token, r->thread, SW_ORDER_MEASURED, sw_wait_covers, &covers);
			sw_wait_add(m, w, token, SW_ORDER_MEASURED);
		} else {
			sw_hb_wait_drop(m->hb, token);
		}
		free_cost(w, block);
	}
	w->what.point = sw_hb_host_step(m->hb, r->thread, r->seq);
	sw_hazards_released(m, &covers);
	struct sw_access gone = sw_block_release(m, &w->what, block);
	sw_hazards_released(m, NULL);
	free(covers.at);
	sw_space_remove(&m->space, block, &gone);
}
