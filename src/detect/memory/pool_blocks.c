/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/memory/pool_blocks.h"

#include <stdlib.h>
#include <string.h>

/* Ended blocks that are kept for late accesses at most; an older one is not found, and its accesses count as those of
   memory that nothing describes. */
#define MAX_ENDED  (1u << 20)
#define MANY_ENDED 1024u

struct sw_pool_block *sw_pool_block_keep(struct sw_pool_block *pool_block)
{
	if (pool_block)
		pool_block->refs++;
	return pool_block;
}

/* Releases a reference; NULL is allowed. */
void sw_pool_block_drop(struct sw_pool_block *pool_block)
{
	if (pool_block && !--pool_block->refs)
		free(pool_block);
}

/* The part that is kept of the call that allocated or freed a block. */
static struct sw_pool_block_call call_of(const struct sw_access *call)
{
	return (struct sw_pool_block_call){.seq = call->seq,
					   .t_ns = call->t_ns,
					   .thread = call->thread,
					   .stack = call->stack,
					   .nvtx = call->nvtx,
					   .device = call->device,
					   .api = call->api,
					   .flags = call->flags};
}

/* Forgets the n blocks that ended first. */
static void drop_ended(struct sw_pool_blocks *pool_blocks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sw_pool_block_drop(pool_blocks->ended.at[i]);
	pool_blocks->ended.n -= n;
	if (n)
		memmove(pool_blocks->ended.at, pool_blocks->ended.at + n,
			pool_blocks->ended.n * sizeof *pool_blocks->ended.at);
}

bool sw_pool_blocks_must_trim(const struct sw_pool_blocks *pool_blocks)
{
	return pool_blocks->ended.n > MANY_ENDED + 2 * pool_blocks->trimmed;
}

/* Forgets blocks that ended at or before step `oldest`: no deferred access asks for them any more. */
void sw_pool_blocks_trim(struct sw_pool_blocks *pool_blocks, uint64_t oldest)
{
	size_t n = 0;
	while (n < pool_blocks->ended.n && pool_blocks->ended.at[n]->to <= oldest)
		n++;
	if (pool_blocks->ended.n - n > MAX_ENDED)
		n = pool_blocks->ended.n - MAX_ENDED / 2;
	drop_ended(pool_blocks, n);
	pool_blocks->trimmed = pool_blocks->ended.n;
}

/* Ends a live block now, by this call; call NULL: its end was not recorded. */
static void end_block(struct sw_pool_blocks *pool_blocks, struct sw_pool_block *pool_block,
		      const struct sw_access *call)
{
	sw_intervals_remove(&pool_blocks->live, &pool_block->at);
	pool_block->to = *pool_blocks->now;
	if (call)
		pool_block->freed = call_of(call);
	*sw_vec_push(&pool_blocks->ended) = pool_block; /* with the reference of the living */
}

void sw_pool_blocks_leave(struct sw_pool_blocks *pool_blocks, uint64_t lo, uint64_t hi)
{
	struct sw_interval *at;
	while ((at = sw_intervals_from(&pool_blocks->live, lo)) && at->lo < hi)
		end_block(pool_blocks, (struct sw_pool_block *)at, NULL);
}

void sw_pool_blocks_forget(struct sw_pool_blocks *pool_blocks)
{
	sw_pool_blocks_leave(pool_blocks, 0, UINT64_MAX);
	drop_ended(pool_blocks, pool_blocks->ended.n);
	pool_blocks->trimmed = 0;
}

void sw_pool_blocks_free(struct sw_pool_blocks *pool_blocks)
{
	sw_pool_blocks_forget(pool_blocks);
	free(pool_blocks->ended.at);
}

struct sw_pool_block *sw_pool_block_begin(struct sw_pool_blocks *pool_blocks, uint64_t address, uint64_t bytes,
					  const struct sw_access *call)
{
	if (!bytes || bytes > UINT64_MAX - address)
		return NULL;
	sw_pool_blocks_leave(pool_blocks, address, address + bytes);
	struct sw_pool_block *pool_block = sw_calloc(1, sizeof *pool_block);
	pool_block->at.lo = address;
	pool_block->at.hi = address + bytes;
	pool_block->refs = 1;
	pool_block->number = ++pool_blocks->made;
	pool_block->from = *pool_blocks->now;
	pool_block->to = UINT64_MAX;
	pool_block->allocated = call_of(call);
	sw_intervals_insert(&pool_blocks->live, &pool_block->at);
	return pool_block;
}

struct sw_pool_block *sw_pool_block_end(struct sw_pool_blocks *pool_blocks, uint64_t address,
					const struct sw_access *call)
{
	struct sw_interval *at = sw_intervals_from(&pool_blocks->live, address);
	if (!at || at->lo != address)
		return NULL;
	end_block(pool_blocks, (struct sw_pool_block *)at, call);
	return (struct sw_pool_block *)at;
}

/* Did the block hold the address, and had it begun at that step?  Whether it had ended is asked by the caller. */
static bool holds_address(const struct sw_pool_block *pool_block, uint64_t address, uint64_t step)
{
	return pool_block->at.lo <= address && address < pool_block->at.hi && pool_block->from <= step;
}

/* Index of the first block that ended after the step. */
static size_t first_after(const struct sw_pool_blocks *pool_blocks, uint64_t step)
{
	size_t lo = 0, hi = pool_blocks->ended.n;
	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;
		if (pool_blocks->ended.at[middle]->to <= step)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

struct sw_pool_block *sw_pool_block_at(const struct sw_pool_blocks *pool_blocks, uint64_t address, uint64_t step)
{
	struct sw_pool_block *pool_block = (struct sw_pool_block *)sw_intervals_from(&pool_blocks->live, address);
	if (pool_block && holds_address(pool_block, address, step))
		return pool_block;
	/* Most blocks do not live long: the one that was there then ended soon. */
	for (size_t i = first_after(pool_blocks, step); i < pool_blocks->ended.n; i++) {
		pool_block = pool_blocks->ended.at[i];
		if (holds_address(pool_block, address, step))
			return pool_block;
	}
	return NULL;
}

struct sw_access sw_pool_block_access(const struct sw_pool_block *pool_block, enum sw_role role)
{
	const struct sw_pool_block_call *call = role == SW_FREE ? &pool_block->freed : &pool_block->allocated;
	return (struct sw_access){
		.role = role,
		.kind = SW_REC_ANNOTATION,
		.api = call->api,
		.flags = call->flags,
		.nvtx = call->nvtx,
		.seq = call->seq,
		.t_ns = call->t_ns,
		.thread = call->thread,
		.stack = call->stack,
		.device = call->device,
		.param = -1,
		.ranged = true,
		.extent_known = true,
		.address = pool_block->at.lo,
		.bytes = pool_block->at.hi - pool_block->at.lo,
		.evidence = SW_EV_EXACT,
	};
}
