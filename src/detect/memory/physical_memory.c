/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/memory/physical_memory.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

/* A place where memory is mapped. */
struct place {
	struct sw_block *block;
	uint64_t lo, hi, at; /* offsets in the block, and of lo in the memory */
};

struct memory {
	uint32_t refs; /* handles and pieces of blocks */
	SW_VEC(struct place) places;
};

struct piece {
	struct sw_interval at;
	struct memory *memory;
};

struct sw_mapped_pieces {
	struct sw_intervals pieces;
	SW_VEC(struct sw_alias) aliases;
};

struct sw_physical_set {
	struct sw_map by_handle;
};

struct sw_physical_set *sw_physical_set_new(void)
{
	return sw_calloc(1, sizeof(struct sw_physical_set));
}

/* Releases a reference; memory ends with the last of its handles and mappings. */
static void drop_memory(struct memory *memory)
{
	if (!memory || --memory->refs)
		return;
	free(memory->places.at);
	free(memory);
}

void sw_physical_forget(struct sw_physical_set *set)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&set->by_handle, i, &slot));)
		drop_memory((struct memory *)(uintptr_t)slot.value);
	sw_map_free(&set->by_handle);
	set->by_handle = (struct sw_map){0};
}

void sw_physical_set_free(struct sw_physical_set *set)
{
	sw_physical_forget(set);
	free(set);
}

/* From now on the handle names this memory. */
static void name_memory(struct sw_physical_set *set, uint64_t handle, struct memory *memory)
{
	struct memory *before = sw_map_ptr(&set->by_handle, handle);
	memory->refs++;
	sw_map_put_ptr(&set->by_handle, handle, memory);
	drop_memory(before);
}

void sw_physical_created(struct sw_physical_set *set, uint64_t handle)
{
	name_memory(set, handle, sw_calloc(1, sizeof(struct memory)));
}

void sw_physical_released(struct sw_physical_set *set, uint64_t handle)
{
	drop_memory(sw_map_ptr(&set->by_handle, handle));
	sw_map_delete(&set->by_handle, handle);
}

/* The memory that the handle names; one whose creation was not recorded is made now. */
static struct memory *memory_of(struct sw_physical_set *set, uint64_t handle)
{
	if (!sw_map_ptr(&set->by_handle, handle))
		sw_physical_created(set, handle);
	return sw_map_ptr(&set->by_handle, handle);
}

/* The mapped pieces of the block, made when first wanted. */
static struct sw_mapped_pieces *pieces_of(struct sw_block *block)
{
	if (!block->pieces)
		block->pieces = sw_calloc(1, sizeof *block->pieces);
	return block->pieces;
}

/* Makes the part of physical memory that two places of the address space both show an alias of each block, and tells
   `shared`. */
static void link_places(const struct place *old, const struct place *new,
			void (*shared)(void *arg, struct sw_block *block, const struct sw_alias *alias), void *arg)
{
	uint64_t old_end = old->at + (old->hi - old->lo), new_end = new->at + (new->hi - new->lo);
	uint64_t from = old->at > new->at ? old->at : new->at, to = old_end < new_end ? old_end : new_end;
	if (from >= to)
		return;
	uint64_t x = old->lo + (from - old->at), y = new->lo + (from - new->at);
	struct sw_alias there = {x, x + (to - from), y - x, new->block};
	*sw_vec_push(&pieces_of(old->block)->aliases) = there;
	*sw_vec_push(&pieces_of(new->block)->aliases) = (struct sw_alias){y, y + (to - from), x - y, old->block};
	shared(arg, old->block, &there);
}

void sw_physical_map(struct sw_physical_set *set, uint64_t handle, uint64_t at, struct sw_block *block, uint64_t lo,
		     uint64_t hi, void (*shared)(void *arg, struct sw_block *block, const struct sw_alias *alias),
		     void *arg)
{
	struct memory *memory = memory_of(set, handle);
	struct place place = {block, lo, hi, at};
	if (at > UINT64_MAX - (hi - lo))
		return;
	sw_physical_unmap(block, lo, hi);
	for (size_t i = 0; i < memory->places.n; i++)
		link_places(&memory->places.at[i], &place, shared, arg);
	*sw_vec_push(&memory->places) = place;
	struct piece *piece = sw_calloc(1, sizeof *piece);
	piece->at.lo = lo;
	piece->at.hi = hi;
	piece->memory = memory;
	memory->refs++;
	sw_intervals_insert(&pieces_of(block)->pieces, &piece->at);
}

/* Removes the i-th alias; the order does not matter. */
static void alias_remove(struct sw_mapped_pieces *p, size_t i)
{
	p->aliases.at[i] = p->aliases.at[--p->aliases.n];
}

/* Removes the i-th alias of a block, and the one in the other block that leads back. */
static void alias_end(struct sw_block *block, size_t i)
{
	struct sw_alias gone = block->pieces->aliases.at[i];
	struct sw_mapped_pieces *there = gone.other->pieces;
	alias_remove(block->pieces, i);
	for (size_t k = 0; k < there->aliases.n; k++) {
		const struct sw_alias *a = &there->aliases.at[k];
		if (a->other == block && a->lo == gone.lo + gone.distance && a->distance == -gone.distance) {
			alias_remove(there, k);
			return;
		}
	}
}

/* Removes the mapping of the memory at offset lo of the block. */
static void forget_place(struct memory *memory, const struct sw_block *block, uint64_t lo)
{
	for (size_t i = 0; i < memory->places.n; i++)
		if (memory->places.at[i].block == block && memory->places.at[i].lo == lo) {
			memory->places.at[i] = memory->places.at[--memory->places.n];
			return;
		}
}

/* Unmaps memory at offsets [lo, hi) of the block; aliases of it end, in both blocks. */
void sw_physical_unmap(struct sw_block *block, uint64_t lo, uint64_t hi)
{
	struct sw_mapped_pieces *p = block->pieces;
	struct sw_interval *at;
	/* Parts of one mapping cannot be unmapped: cuda.h, cuMemUnmap. */
	while (p && (at = sw_intervals_from(&p->pieces, lo)) && at->lo < hi) {
		struct piece *piece = (struct piece *)at;
		for (size_t i = 0; i < p->aliases.n; i++) {
			const struct sw_alias *a = &p->aliases.at[i];
			if (a->lo >= at->hi || at->lo >= a->hi)
				continue;
			alias_end(block, i);
			i = SIZE_MAX; /* both may be of this block: from the first again */
		}
		forget_place(piece->memory, block, at->lo);
		drop_memory(piece->memory);
		sw_intervals_remove(&p->pieces, at);
		free(piece);
	}
	if (!p || p->pieces.root)
		return;
	free(p->aliases.at);
	free(p);
	block->pieces = NULL;
}

const struct sw_alias *sw_physical_alias(const struct sw_block *block, size_t index)
{
	return block->pieces && index < block->pieces->aliases.n ? &block->pieces->aliases.at[index] : NULL;
}
