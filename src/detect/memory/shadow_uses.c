/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/memory/shadow_uses.h"

#include <string.h>

struct sw_shadow_use *sw_use_new(struct sw_use_pool *pool)
{
	struct sw_shadow_use *use = pool->free;
	if (use)
		pool->free = use->free_next;
	else
		use = sw_arena_alloc(&pool->arena, sizeof *use);
	memset(use, 0, sizeof *use);
	use->refs = 1;
	pool->live++;
	return use;
}

void sw_use_free(struct sw_use_pool *pool, struct sw_shadow_use *use)
{
	sw_pool_block_drop(use->pool_block);
	use->free_next = pool->free;
	pool->free = use;
	pool->live--;
}

/* An unbounded use is taken to touch all of its assumed extent. */
static struct sw_range extent_of(const struct sw_shadow_use *use)
{
	const struct sw_range *range = &use->range;
	return range->bounded ? *range
			      : sw_range_bytes(range->address, use->end - range->address, range->role, range->evidence);
}

/* A box may lie in all segments of its hull. */
static bool share_bytes(const struct sw_shadow_use *m, const struct sw_shadow_use *x)
{
	if (sw_use_is_dense(m) && sw_use_is_dense(x)) {
		uint64_t lo = m->range.address > x->range.address ? m->range.address : x->range.address;
		return lo < m->end && lo < x->end;
	}
	struct sw_range a = extent_of(m), b = extent_of(x);
	return sw_range_overlap(&a, &b);
}

bool sw_use_shares_bytes_within(const struct sw_shadow_use *m, const struct sw_shadow_use *x, uint64_t lo, uint64_t hi)
{
	struct sw_range a = extent_of(m), b = extent_of(x);
	return sw_range_overlap_within(&a, &b, lo, hi);
}

bool sw_use_conflicts(const struct sw_shadow_use *m, const struct sw_shadow_use *x)
{
	bool conflict = sw_role_writes(m->range.role) || sw_role_writes(x->range.role);
	if (m->range.role == SW_ATOMIC && x->range.role == SW_ATOMIC)
		conflict = false;
	return conflict && share_bytes(m, x);
}

bool sw_use_stands_for(const struct sw_shadow_use *x, const struct sw_shadow_use *m)
{
	bool same_box = x->range.address == m->range.address && x->range.width == m->range.width &&
			x->range.pitch == m->range.pitch && x->range.rows == m->range.rows &&
			x->range.slice == m->range.slice && x->range.slices == m->range.slices;
	if (!sw_range_dense(&x->range) && !same_box)
		return false;
	if (sw_range_rank(&x->range) < sw_range_rank(&m->range) || (x->range.polls && !m->range.polls))
		return false;
	if (!x->range.bounded && x->range.address != m->range.address)
		return false;
	if (!sw_role_writes(x->range.role) && sw_role_writes(m->range.role))
		return false;
	if (x->range.role == SW_ATOMIC && m->range.role != SW_ATOMIC)
		return false;
	return !(x->may_wait && !m->may_wait) && !(x->range.perhaps && !m->range.perhaps);
}
