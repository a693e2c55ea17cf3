/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/hazards/reused_blocks.h"

#include "base/hash.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"

static bool overlap(const struct sw_interval *a, const struct sw_interval *b)
{
	return a->lo < b->hi && b->lo < a->hi;
}

enum sw_crowding sw_pool_blocks_crowding(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later)
{
	const struct sw_block *block = later->block;
	const struct sw_pool_block *a = earlier->pool_block, *b = later->pool_block;
	if (!a || !b || !overlap(&a->at, &b->at))
		return sw_block_crowding(block);
	return sw_block_crowding_in(block, b->at.lo - block->address, b->at.hi - block->address);
}

/* A kernel that was not understood exactly touches the block of its pointer: no correct one leaves it.  One that
   certainly touches all of its bytes may be wrong. */
static bool strays(const struct sw_shadow_use *use, const struct sw_shadow_use *other)
{
	const struct sw_range *range = &use->range;
	uint64_t lo = range->address > other->range.address ? range->address : other->range.address;
	uint64_t hi = use->end < other->end ? use->end : other->end;
	const struct sw_interval met = {.lo = use->block->address + lo, .hi = use->block->address + hi};
	bool sure = range->bounded && !range->vague && !range->loose && !range->perhaps;
	return use->pool_block && !sure && !overlap(&use->pool_block->at, &met);
}

struct sw_verdict sw_verdict_in_blocks(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later,
				       struct sw_verdict verdict)
{
	if (strays(earlier, later) || strays(later, earlier))
		return (struct sw_verdict){SW_NOTE, SW_POSSIBLE};
	return verdict;
}

bool sw_block_reused(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later)
{
	const struct sw_pool_block *a = earlier->pool_block, *b = later->pool_block;
	return a && b && a != b && a->freed.seq && a->to <= b->from && overlap(&a->at, &b->at);
}

bool sw_reuse_was_reported(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later,
			   enum sw_severity severity)
{
	struct sw_pool_block *now = later->pool_block;
	const uint64_t lanes = (uint64_t)earlier->access.point.lane << 32 | later->access.point.lane;
	const uint64_t reuse = sw_hash_u64(sw_hash_u64(lanes) ^ earlier->pool_block->number) | 1;
	if (now->reported == reuse && now->reported_as >= (int)severity)
		return true;
	now->reported = reuse;
	now->reported_as = (int)severity;
	return false;
}
