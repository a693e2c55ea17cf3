/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a pool that is allocated again at an old address.
 *
 * The driver hands out what was freed in stream order only where the free comes first: because the allocating stream
 * is ordered after it (CUDA C++ Programming Guide, "Stream Ordered Memory Allocator", cudaMemPoolReuseFollowEvent-
 * Dependencies), because the free was seen to be done (ReuseAllowOpportunistic), or because it adds a dependency of its
 * own (ReuseAllowInternalDependencies).  The last two are facts of this run: in the next one the allocation may get
 * other memory and no edge with it.  So the edge counts as measured: work that nothing else orders is a note.
 */
#include "detect/calls/pools.h"

#include "detect/memory/address_space.h"
#include "detect/model/model.h"

/* Events of ours: no program can hold these handles, events are pointers. */
static uint64_t free_event(const struct sw_block *block)
{
	return UINT64_C(1) << 63 | block->number;
}

static void forget_freed(void *arg, const struct sw_block *block)
{
	struct sw_model *m = arg;
	if (block->memory == SW_MEM_ASYNC)
		sw_hb_event_destroy(m->hb, free_event(block));
}

void sw_pool_init(struct sw_model *m)
{
	m->space.forget = forget_freed;
	m->space.arg = m;
}

void sw_pool_freed(struct sw_model *m, const struct sw_hb_at *at, const struct sw_block *block)
{
	if (block->memory == SW_MEM_ASYNC)
		sw_hb_event_record(m->hb, free_event(block), at, 0, NULL);
}

void sw_pool_reuse(struct sw_model *m, const struct sw_hb_at *at, uint64_t address, uint64_t bytes)
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
