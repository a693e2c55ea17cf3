/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reserved addresses (cuMemAddressReserve), of which parts are mapped and unmapped.
 *
 * The reservation is the block: an allocator that lets its segments grow maps piece next to piece, and what it hands
 * out spans many of them (PyTorch's expandable segments, TensorFlow's virtual memory allocator).  Only what is mapped
 * is memory: a word that happens to point elsewhere in the reservation means nothing.
 */
#include "detect/memory/address_space.h"

#include <stdlib.h>
#include <string.h>

/* Unmapped parts that are remembered, for use-after-free: the oldest go first. */
#define SW_MAX_UNMAPPED 256u

typedef SW_VEC(struct sw_piece) pieces;

struct sw_mapping {
	pieces mapped;	 /* sorted, never touching each other */
	pieces unmapped; /* in the order of the calls */
	uint64_t reach;
};

struct sw_block *sw_space_reserve(struct sw_address_space *space, uint64_t address, uint64_t bytes)
{
	struct sw_block *block = sw_space_add(space, address, bytes, SW_MEM_MAPPED, 0);
	block->mapping = sw_calloc(1, sizeof *block->mapping);
	return block;
}

static void drop(pieces *list, size_t from, size_t to)
{
	if (from == to)
		return;
	memmove(list->at + from, list->at + to, (list->n - to) * sizeof *list->at);
	list->n -= to - from;
}

static struct sw_piece *insert(pieces *list, size_t i)
{
	sw_vec_push(list);
	memmove(list->at + i + 1, list->at + i, (list->n - 1 - i) * sizeof *list->at);
	return &list->at[i];
}

/* First of the pieces that end after x. */
static size_t behind(const pieces *list, uint64_t x)
{
	size_t lo = 0, hi = list->n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (list->at[mid].hi > x)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* Takes [lo, hi) out of a list of any order. */
static void forget(pieces *list, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < list->n; i++) {
		struct sw_piece *p = &list->at[i];
		if (p->hi <= lo || p->lo >= hi)
			continue;
		struct sw_piece above = *p;
		above.lo = hi;
		p->hi = lo;
		if (above.lo < above.hi && p->lo < p->hi)
			*insert(list, ++i) = above;
		else if (above.lo < above.hi)
			*p = above;
		else if (p->lo >= p->hi)
			drop(list, i, i + 1), i--;
	}
}

void sw_block_map(struct sw_block *block, uint64_t lo, uint64_t hi)
{
	pieces *mapped = &block->mapping->mapped;
	forget(&block->mapping->unmapped, lo, hi);
	size_t i = behind(mapped, lo ? lo - 1 : 0), end = i;
	while (end < mapped->n && mapped->at[end].lo <= hi) {
		lo = mapped->at[end].lo < lo ? mapped->at[end].lo : lo;
		hi = mapped->at[end].hi > hi ? mapped->at[end].hi : hi;
		end++;
	}
	drop(mapped, i, end);
	*insert(mapped, i) = (struct sw_piece){.lo = lo, .hi = hi};
	if (hi > block->mapping->reach)
		block->mapping->reach = hi;
}

void sw_block_unmap(struct sw_address_space *space, struct sw_block *block, uint64_t lo, uint64_t hi,
		    const struct sw_access *gone)
{
	pieces *unmapped = &block->mapping->unmapped;
	forget(&block->mapping->mapped, lo, hi);
	forget(unmapped, lo, hi);
	sw_shadow_forget(&block->shadow, &space->uses, lo, hi);
	sw_space_doubt(space, block);
	if (unmapped->n >= SW_MAX_UNMAPPED)
		drop(unmapped, 0, 1);
	*sw_vec_push(unmapped) = (struct sw_piece){.lo = lo, .hi = hi, .gone = *gone};
}

uint64_t sw_block_mapped(const struct sw_block *block, uint64_t offset)
{
	const pieces *mapped = &block->mapping->mapped;
	size_t i = behind(mapped, offset);
	return i < mapped->n && mapped->at[i].lo <= offset ? mapped->at[i].hi : 0;
}

const struct sw_access *sw_block_gone(const struct sw_block *block, uint64_t offset)
{
	const pieces *unmapped = &block->mapping->unmapped;
	for (size_t i = 0; i < unmapped->n; i++)
		if (unmapped->at[i].lo <= offset && offset < unmapped->at[i].hi)
			return &unmapped->at[i].gone;
	return NULL;
}

uint64_t sw_block_reach(const struct sw_block *block)
{
	return block->mapping ? block->mapping->reach : block->bytes;
}

void sw_block_mapping_free(struct sw_block *block)
{
	if (!block->mapping)
		return;
	free(block->mapping->mapped.at);
	free(block->mapping->unmapped.at);
	free(block->mapping);
}
