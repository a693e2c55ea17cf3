/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which allocations a computed range means.
 *
 * A range that lies in one allocation is taken as it is.  One that does not is too large: no correct program leaves an
 * allocation, so a guard was not understood.  What is left of it inside the allocation of its pointer is loose then;
 * one that sticks out on both sides says no more than the pointer.
 */
#include "detect/kernels/range_placement.h"

#include "detect/hazards/touch.h"
#include "detect/kernels/launch_plan.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/model/model.h"

/* Allocations that one range of an unknown pointer is spread over. */
#define SW_MAX_SPREAD 64u

static uint64_t end_of(uint64_t address, uint64_t bytes)
{
	return bytes > UINT64_MAX - address ? UINT64_MAX : address + bytes;
}

/* Virtual memory is mapped piece by piece, one allocation of the program over many of ours. */
static bool may_mean(const struct sw_block *owner, const struct sw_block *block)
{
	return !owner || block == owner || (owner->memory == SW_MEM_MAPPED && block->memory == SW_MEM_MAPPED);
}

static bool touch_parts(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
			const struct sw_block *owner)
{
	uint64_t lo = range->address, hi = end_of(lo, sw_range_span(range)), start;
	bool any = false;
	if (!sw_is_nowhere(lo) && hi > SW_NOWHERE)
		hi = SW_NOWHERE;
	const struct sw_block *block = sw_space_from(&m->space, lo, &start);
	for (unsigned i = 0; i < SW_MAX_SPREAD && block && start < hi; i++) {
		uint64_t end = end_of(start, block->bytes), from = lo > start ? lo : start;
		struct sw_range part = *range;
		if (from != lo || end < hi) {
			part = sw_range_bytes(from, (hi < end ? hi : end) - from, range->role, range->evidence);
			part.base = range->base;
			part.param = range->param;
			part.evidence_detail = range->evidence_detail;
			part.polls = range->polls;
			part.unplaced = range->unplaced;
			part.phase = range->phase;
			part.loose = true;
			part.vague = lo < start && end < hi;
		}
		if (may_mean(owner, block))
			any |= sw_model_touch(m, what, &part, &(struct sw_touch){.guess = true});
		block = sw_space_from(&m->space, end, &start);
	}
	return any;
}

static bool touch_box(struct sw_model *m, const struct sw_access *what, const struct sw_plan_touch *touch)
{
	const struct sw_range *range = &touch->range;
	uint64_t offset, span = sw_range_span(range);
	struct sw_touch how = {.guess = touch->guess};
	const struct sw_block *block = sw_space_find(&m->space, range->address, &offset);
	if (block && span <= block->bytes - offset)
		return sw_model_touch(m, what, range, &how);
	const struct sw_block *owner = sw_space_find(&m->space, range->base, &offset);
	if (owner && touch_parts(m, what, range, owner))
		return true;
	/* What was freed lies where nothing lives; sw_model_touch() knows. */
	return (block && touch_parts(m, what, range, block)) || touch_parts(m, what, range, NULL) ||
	       sw_model_touch(m, what, range, &how);
}

/* A texture or surface over an array may reach all of it, one over a level of a mipmapped array all of that; where the
   code says which, only some layers. */
static bool touch_array(struct sw_model *m, const struct sw_access *what, const struct sw_plan_touch *touch)
{
	const struct sw_block *block = sw_space_find_array(&m->space, touch->array);
	struct sw_range range = touch->range;
	if (!block)
		return false;
	bool level = touch->array != block->address;
	range.address = range.base = sw_space_level(&m->space, touch->array);
	if (touch->layers) {
		range.address += touch->layer * SW_ARRAY_SLICE;
		range.width = touch->layers * SW_ARRAY_SLICE;
		range.pitch = range.slice = SW_ARRAY_LEVEL;
		range.rows = level || !block->mipmapped ? 1 : SW_ARRAY_ROOM / SW_ARRAY_LEVEL;
		range.base = range.address;
	} else {
		range.width = range.pitch = range.slice = level ? SW_ARRAY_LEVEL : sw_block_room(block);
	}
	return sw_model_touch(m, what, &range, &(struct sw_touch){.array = true, .handle = touch->array});
}

/* The launch leaves the allocation that its pointer leads to. */
static bool leads_elsewhere(const struct sw_model *m, const struct sw_plan_touch *touch)
{
	uint64_t offset;
	const struct sw_block *block = sw_space_find(&m->space, touch->range.address, &offset);
	return m->scope && touch->hi && block &&
	       (touch->hi <= block->address || touch->lo >= end_of(block->address, block->bytes));
}

/* Somewhere in between, in whatever lives there. */
static bool touch_elsewhere(struct sw_model *m, const struct sw_access *what, const struct sw_plan_touch *touch)
{
	struct sw_range range = touch->range;
	range.address = touch->lo;
	range.width = range.pitch = range.slice = touch->hi - touch->lo;
	range.bounded = range.loose = range.vague = true;
	return touch_parts(m, what, &range, NULL);
}

bool sw_place_touch(struct sw_model *m, const struct sw_access *what, const struct sw_plan_touch *touch)
{
	if (touch->array)
		return touch_array(m, what, touch);
	if (touch->range.bounded)
		return touch_box(m, what, touch);
	if (leads_elsewhere(m, touch))
		return touch_elsewhere(m, what, touch);
	return sw_model_touch(m, what, &touch->range,
			      &(struct sw_touch){.guess = touch->guess, .lo = touch->lo, .hi = touch->hi});
}
