/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/memory/address_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "detect/memory/physical_memory.h"

static const struct sw_access *block_gone(const struct sw_block *block, uint64_t offset);
static void block_mapping_free(struct sw_block *block);

/* Freed blocks that are remembered, for use-after-free: the oldest go first. */
#define SW_MAX_FREED 4096u
/* Starts kept per block, and how many of them make it a pool without annotations: a caching allocator's segment holds
   hundreds of tensors, a program that slices an array for its streams a few dozen.  From "several" on neighbours of a
   range that is only roughly known may be strangers. */
#define SW_MAX_STARTS	  4096u
#define SW_POOL_STARTS	  64u
#define SW_SEVERAL_STARTS 8u

struct sw_view {
	struct sw_interval at;
	uint64_t base; /* address of offset 0 */
	struct sw_block *block;
	struct sw_view *older, *newer; /* freed ones */
};

/* Makes an empty address space: of all addresses only "pageable" is known. */
void sw_space_init(struct sw_address_space *space)
{
	*space = (struct sw_address_space){.lowest = UINT64_MAX};
	space->pageable = (struct sw_block){.bytes = UINT64_MAX, .memory = SW_MEM_PAGEABLE, .born_passed = true};
}

/* Frees a block with all that is kept for it. */
static void block_free(struct sw_address_space *space, struct sw_block *block)
{
	sw_shadow_clear(&block->shadow, &space->uses);
	sw_physical_unmap(block, 0, UINT64_MAX);
	block_mapping_free(block);
	free(block->starts.at);
	free(block->touched.lanes.at);
	free(block);
}

/* The set of live intervals that the block belongs to: allocations, or blocks of suballocators inside of them. */
static struct sw_intervals *place_of(struct sw_address_space *space, const struct sw_block *block)
{
	return block->within ? &space->inner : &space->live;
}

/* Makes the block found at this address.  which: 0 its own address, 1 a second one (the device's alias of pinned
   memory). */
static void view_live(struct sw_address_space *space, struct sw_block *block, int which, uint64_t address)
{
	struct sw_view *view = sw_calloc(1, sizeof *view);
	view->at.lo = view->base = address;
	view->at.hi = address + block->bytes;
	view->block = block;
	block->view[which] = view;
	sw_intervals_insert(place_of(space, block), &view->at);
	if (sw_is_nowhere(address))
		return;
	space->lowest = address < space->lowest ? address : space->lowest;
	space->highest = view->at.hi > space->highest ? view->at.hi : space->highest;
}

/* Forgets a freed block for good. */
static void freed_drop(struct sw_address_space *space, struct sw_view *view)
{
	sw_intervals_remove(&space->freed, &view->at);
	*(view->older ? &view->older->newer : &space->oldest) = view->newer;
	*(view->newer ? &view->newer->older : &space->newest) = view->older;
	space->freed_n--;
	if (space->forget)
		space->forget(space->arg, view->block);
	block_free(space, view->block);
	free(view);
}

/* Forgets the freed blocks that overlap [lo, hi): the addresses were allocated again. */
static void forget_freed(struct sw_address_space *space, uint64_t lo, uint64_t hi)
{
	struct sw_interval *at;
	while ((at = sw_intervals_from(&space->freed, lo)) && at->lo < hi)
		freed_drop(space, (struct sw_view *)at);
}

/* Remembers a block as freed, for use-after-free; the oldest of too many goes. */
static void freed_keep(struct sw_address_space *space, struct sw_block *block)
{
	forget_freed(space, block->address, block->address + block->bytes);
	struct sw_view *view = sw_calloc(1, sizeof *view);
	view->at.lo = view->base = block->address;
	view->at.hi = block->address + block->bytes;
	view->block = block;
	view->older = space->newest;
	*(space->newest ? &space->newest->newer : &space->oldest) = view;
	space->newest = view;
	sw_intervals_insert(&space->freed, &view->at);
	if (++space->freed_n > SW_MAX_FREED)
		freed_drop(space, space->oldest);
}

void sw_space_forget_freed(struct sw_address_space *space)
{
	while (space->oldest)
		freed_drop(space, space->oldest);
}

/* Ends the suballocator's blocks in [lo, hi), with the allocation that they lie in. */
static void end_inner(struct sw_address_space *space, uint64_t lo, uint64_t hi)
{
	struct sw_interval *at;
	while ((at = sw_intervals_from(&space->inner, lo)) && at->lo < hi)
		sw_space_remove(space, ((struct sw_view *)at)->block, NULL);
}

/* Ends all that lives in [lo, hi), or was freed there: memory begins to exist there, so its end was not recorded. */
static void make_room(struct sw_address_space *space, uint64_t lo, uint64_t hi)
{
	struct sw_interval *at;
	forget_freed(space, lo, hi);
	while ((at = sw_intervals_from(&space->live, lo)) && at->lo < hi)
		sw_space_remove(space, ((struct sw_view *)at)->block, NULL);
}

void sw_space_doubt(struct sw_address_space *space, struct sw_block *block)
{
	space->perhaps += !block->perhaps;
	block->perhaps = true;
}

struct sw_block *sw_space_add(struct sw_address_space *space, uint64_t address, uint64_t bytes, enum sw_memory memory,
			      uint64_t alias)
{
	if (memory != SW_MEM_ARRAY) {
		/* An allocation of nothing has an address too; the last address of all has no room for any. */
		address -= address == UINT64_MAX;
		bytes += bytes == 0;
		if (bytes > UINT64_MAX - address)
			bytes = UINT64_MAX - address;
		if (alias && (bytes > UINT64_MAX - alias || (alias < address + bytes && address < alias + bytes)))
			alias = 0;
		make_room(space, address, address + bytes);
		if (alias)
			make_room(space, alias, alias + bytes);
	}
	struct sw_block *block = sw_calloc(1, sizeof *block);
	block->address = address;
	block->bytes = bytes;
	block->memory = memory;
	block->number = ++space->made;
	block->born_passed = memory != SW_MEM_ASYNC;
	if (memory == SW_MEM_ASYNC)
		sw_space_doubt(space, block);
	if (memory == SW_MEM_ARRAY) {
		struct sw_block *old = sw_space_find_array(space, address);
		if (old)
			block_free(space, old);
		sw_map_put_ptr(&space->arrays, address, block);
	} else {
		view_live(space, block, 0, address);
		if (alias)
			view_live(space, block, 1, alias);
	}
	return block;
}

/* Makes the block of a module variable whose address the program has not taken: at a stand-in address that no memory
   has. */
static struct sw_block *space_add_nowhere(struct sw_address_space *space, uint64_t address, uint64_t bytes)
{
	struct sw_block *block = sw_space_add(space, address, bytes, SW_MEM_SYMBOL, 0);
	space->made--; /* numbers are for allocations of the program */
	block->number = 0;
	block->nowhere = true;
	return block;
}

/* Gives a variable that lived at a stand-in address its real address, that of the block `asked`, which ends; uses by
   either address meet. */
static void space_settle(struct sw_address_space *space, struct sw_block *block, struct sw_block *asked)
{
	uint64_t address = asked->address;
	block->bytes = asked->bytes;
	block->view[0]->at.hi = block->view[0]->at.lo + block->bytes;
	block->born = asked->born;
	block->owner = asked->owner;
	block->name = asked->name;
	sw_space_remove(space, asked, NULL);
	view_live(space, block, 1, address);
}

void sw_space_remove(struct sw_address_space *space, struct sw_block *block, const struct sw_access *gone)
{
	if (space->leave)
		space->leave(space->arg, block);
	if (!block->within && block->memory != SW_MEM_ARRAY)
		sw_pool_blocks_leave(&space->pool_blocks, block->address, block->address + block->bytes);
	space->perhaps -= block->perhaps;
	block->perhaps = false;
	if (block->memory == SW_MEM_ARRAY)
		sw_map_delete(&space->arrays, block->address);
	else if (!block->within)
		end_inner(space, block->address, block->address + block->bytes);
	for (int i = 0; i < 2; i++)
		if (block->view[i]) {
			sw_intervals_remove(place_of(space, block), &block->view[i]->at);
			free(block->view[i]);
			block->view[i] = NULL;
		}
	/* Addresses of host memory continue to be good pageable memory, and managed ones may be mapped again by the
	   host. What a suballocator takes back is its own, of whatever kind. */
	bool device = block->memory == SW_MEM_DEVICE || block->memory == SW_MEM_ASYNC ||
		      block->memory == SW_MEM_MAPPED || block->memory == SW_MEM_IPC;
	if (!gone || block->mapping || !(device || block->within)) {
		block_free(space, block);
		return;
	}
	sw_shadow_clear(&block->shadow, &space->uses);
	block->gone = *gone;
	freed_keep(space, block);
}

/* The block of the set that holds the address, and the offset in it; NULL: none. */
static struct sw_block *find_block(const struct sw_intervals *set, uint64_t address, uint64_t *offset)
{
	const struct sw_view *view = (const struct sw_view *)sw_intervals_from(set, address);
	if (!view || view->at.lo > address)
		return NULL;
	*offset = address - view->base;
	return view->block;
}

struct sw_block *sw_space_find_outer(const struct sw_address_space *space, uint64_t address, uint64_t *offset)
{
	if ((address < space->lowest || address >= space->highest) && !sw_is_nowhere(address))
		return NULL;
	struct sw_block *block = find_block(&space->live, address, offset);
	return block && block->mapping && !sw_block_mapped(block, *offset) ? NULL : block;
}

struct sw_block *sw_space_find(const struct sw_address_space *space, uint64_t address, uint64_t *offset)
{
	struct sw_block *inner = space->inner.n ? find_block(&space->inner, address, offset) : NULL;
	return inner ? inner : sw_space_find_outer(space, address, offset);
}

struct sw_block *sw_space_reservation(const struct sw_address_space *space, uint64_t address, uint64_t bytes)
{
	uint64_t offset;
	struct sw_block *block = find_block(&space->live, address, &offset);
	return block && block->mapping && bytes <= block->bytes - offset ? block : NULL;
}

struct sw_block *sw_space_inner_from(const struct sw_address_space *space, uint64_t address)
{
	const struct sw_view *view = (const struct sw_view *)sw_intervals_from(&space->inner, address);
	return view ? view->block : NULL;
}

uint64_t sw_space_cut(const struct sw_address_space *space, uint64_t lo, uint64_t hi)
{
	const struct sw_interval *inner = sw_intervals_from(&space->inner, lo);
	if (!inner)
		return hi;
	uint64_t cut = inner->lo > lo ? inner->lo : inner->hi;
	return cut < hi ? cut : hi;
}

struct sw_block *sw_space_add_inner(struct sw_address_space *space, uint64_t address, uint64_t bytes)
{
	uint64_t offset;
	struct sw_block *within = sw_space_find_outer(space, address, &offset);
	if (!within || !bytes || bytes > within->bytes - offset)
		return NULL;
	end_inner(space, address, address + bytes);
	forget_freed(space, address, address + bytes);
	sw_block_start(within, offset, 0);
	within->blocks++;
	struct sw_block *block = sw_calloc(1, sizeof *block);
	block->address = address;
	block->bytes = bytes;
	block->memory = within->memory;
	block->ctx = within->ctx;
	block->device = within->device;
	block->number = ++space->made;
	block->sync_memops = within->sync_memops;
	block->born_passed = true;
	block->within = within;
	view_live(space, block, 0, address);
	return block;
}

struct sw_block *sw_space_from(const struct sw_address_space *space, uint64_t address, uint64_t *start)
{
	const struct sw_view *view = (const struct sw_view *)sw_intervals_from(&space->live, address);
	if (!view)
		return NULL;
	*start = view->base;
	return view->block;
}

struct sw_block *sw_space_find_freed(const struct sw_address_space *space, uint64_t address, uint64_t *offset)
{
	if (address < space->lowest || address >= space->highest)
		return NULL;
	struct sw_block *block = find_block(&space->live, address, offset);
	const struct sw_access *gone = block && block->mapping ? block_gone(block, *offset) : NULL;
	if (!gone)
		return find_block(&space->freed, address, offset);
	block->gone = *gone;
	return block;
}

struct sw_block *sw_space_freed_in(const struct sw_address_space *space, uint64_t lo, uint64_t hi)
{
	const struct sw_view *view = (const struct sw_view *)sw_intervals_from(&space->freed, lo);
	return view && view->at.lo < hi ? view->block : NULL;
}

/* The block of an array, or of the mipmapped array that the handle is a level of; NULL: not known. */
struct sw_block *sw_space_find_array(const struct sw_address_space *space, uint64_t handle)
{
	struct sw_block *block = sw_map_ptr(&space->arrays, handle);
	return block ? block : sw_map_ptr(&space->arrays, sw_map_get(&space->levels, handle));
}

bool sw_space_add_level(struct sw_address_space *space, uint64_t handle, uint64_t mipmap, uint64_t level)
{
	struct sw_block *whole = sw_map_ptr(&space->arrays, mipmap);
	if (handle == mipmap || !whole)
		return false;
	whole->mipmapped = true;
	struct sw_block *old = sw_map_ptr(&space->arrays, handle);
	if (old) {
		sw_map_delete(&space->arrays, handle);
		block_free(space, old);
	}
	*sw_map_put(&space->levels, handle) = mipmap;
	*sw_map_put(&space->level_numbers, handle) = level & 31;
	return true;
}

uint64_t sw_space_level(const struct sw_address_space *space, uint64_t handle)
{
	return sw_map_ptr(&space->arrays, handle) ? 0 : sw_map_get(&space->level_numbers, handle) * SW_ARRAY_LEVEL;
}

struct sw_block *sw_space_next(const struct sw_address_space *space, const struct sw_block *block)
{
	const struct sw_view *view =
		(const struct sw_view *)sw_intervals_from(&space->live, block ? block->view[0]->at.hi : 0);
	while (view && view != view->block->view[0])
		view = (const struct sw_view *)sw_intervals_next(&space->live, &view->at);
	return view ? view->block : NULL;
}

/* Index of the first known start of an object above the offset. */
static size_t first_start_above(const struct sw_block *block, uint64_t offset)
{
	size_t lo = 0, hi = block->starts.n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (block->starts.at[mid].offset > offset)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

void sw_block_start(struct sw_block *block, uint64_t offset, uint64_t step)
{
	if (!offset || block->memory == SW_MEM_PAGEABLE || block->memory == SW_MEM_ARRAY)
		return;
	size_t i = first_start_above(block, offset);
	if ((i && block->starts.at[i - 1].offset == offset) || block->starts.n == SW_MAX_STARTS)
		return;
	sw_vec_push(&block->starts);
	memmove(block->starts.at + i + 1, block->starts.at + i, (block->starts.n - 1 - i) * sizeof *block->starts.at);
	block->starts.at[i] = (struct sw_start){offset, step};
}

/* How many objects share an allocation with so many known starts. */
static enum sw_crowding crowding_of(size_t starts)
{
	return starts > SW_POOL_STARTS	    ? SW_CROWDING_MANY
	       : starts > SW_SEVERAL_STARTS ? SW_CROWDING_SEVERAL
					    : SW_CROWDING_FEW;
}

enum sw_crowding sw_block_crowding(const struct sw_block *block)
{
	return crowding_of(block->starts.n);
}

enum sw_crowding sw_block_crowding_in(const struct sw_block *block, uint64_t lo, uint64_t hi)
{
	return crowding_of(hi > lo ? first_start_above(block, hi - 1) - first_start_above(block, lo) : 0);
}

uint64_t sw_block_extent(const struct sw_block *block, uint64_t offset, uint64_t step)
{
	size_t i = first_start_above(block, offset);
	if (block->memory == SW_MEM_ARRAY)
		return SW_ARRAY_ROOM;
	uint64_t mapped = block->mapping ? sw_block_mapped(block, offset) : 0, end = mapped ? mapped : block->bytes;
	while (i < block->starts.n && block->starts.at[i].step > step)
		i++;
	return i < block->starts.n && block->starts.at[i].offset < end ? block->starts.at[i].offset : end;
}

uint64_t sw_block_floor(const struct sw_block *block, uint64_t offset, uint64_t step)
{
	size_t i = offset ? first_start_above(block, offset - 1) : 0;
	while (i && block->starts.at[i - 1].step > step)
		i--;
	return i ? block->starts.at[i - 1].offset : 0;
}

/* Frees all blocks and what is kept of freed ones. */
void sw_space_free(struct sw_address_space *space)
{
	struct sw_map_slot slot;
	sw_space_forget_freed(space);
	while (space->live.root)
		sw_space_remove(space, ((struct sw_view *)space->live.root)->block, NULL);
	for (size_t i = 0; (i = sw_map_next(&space->arrays, i, &slot));)
		block_free(space, (struct sw_block *)(uintptr_t)slot.value);
	sw_pool_blocks_free(&space->pool_blocks);
	sw_map_free(&space->pools);
	sw_map_free(&space->host_pieces);
	sw_map_free(&space->arrays);
	sw_map_free(&space->levels);
	sw_map_free(&space->level_numbers);
	sw_shadow_clear(&space->pageable.shadow, &space->uses);
	sw_arena_free(&space->uses.arena);
}

/* From one variable whose address was not taken to the next; of one whose size is not known. */
#define SW_VARIABLE_STRIDE (1ull << 32)
#define SW_MAX_VARIABLES   65536u

struct sw_variables {
	struct sw_map images; /* module or library -> image */
	struct sw_map
		addresses;    /* context, image and name -> address; image 0: of a module whose load was not recorded */
	struct sw_map placed; /* the same -> address that stands for it */
	uint64_t made;
};

struct sw_variables *sw_variables_new(void)
{
	return sw_calloc(1, sizeof(struct sw_variables));
}

/* Hash of the identity of a variable: context, image and name. */
static uint64_t key_of(const struct sw_variable_key *key, uint32_t image, uint8_t ctx)
{
	return sw_hash_bytes(sw_hash_u64((uint64_t)image << 8 | ctx), key->name, key->bytes);
}

/* Notes the image (code file in the trace) of a module or library; image 0: not known. */
void sw_variables_loaded(struct sw_variables *variables, uint64_t module, uint32_t image)
{
	if (image)
		*sw_map_put(&variables->images, module) = image;
}

uint32_t sw_variables_image(const struct sw_variables *variables, uint64_t owner)
{
	return (uint32_t)sw_map_get(&variables->images, owner);
}

struct sw_block *sw_variables_asked(struct sw_variables *variables, struct sw_address_space *space,
				    const struct sw_variable_key *key, struct sw_block *asked, uint64_t address)
{
	uint64_t hash = key_of(key, key->image, key->ctx), offset, placed;
	*sw_map_put(&variables->addresses, hash) = address;
	placed = sw_map_get(&variables->placed, key_of(key, key->image, asked->ctx));
	struct sw_block *block = placed ? sw_space_find_outer(space, placed, &offset) : NULL;
	if (!block || block == asked)
		return asked;
	space_settle(space, block, asked);
	return block;
}

/* The address of the variable that the program took, 0: none. */
static uint64_t recorded_address(const struct sw_variables *variables, const struct sw_variable_key *key, uint64_t hash)
{
	uint64_t address = sw_map_get(&variables->addresses, hash);
	return address ? address : sw_map_get(&variables->addresses, key_of(key, key->image, 0));
}

uint64_t sw_variables_find(struct sw_variables *variables, struct sw_address_space *space,
			   const struct sw_variable_key *key, uint64_t size, struct sw_block **made)
{
	uint64_t hash = key_of(key, key->image, key->ctx), address = recorded_address(variables, key, hash);
	*made = NULL;
	if (address || !key->image)
		return address;
	if (sw_map_get(&variables->addresses, key_of(key, 0, key->ctx)))
		return 0; /* of a module that was not seen to be loaded, perhaps this one */
	uint64_t *placed = sw_map_put(&variables->placed, hash);
	if (*placed || variables->made == SW_MAX_VARIABLES)
		return *placed;
	if (!size || size > SW_VARIABLE_STRIDE)
		size = SW_VARIABLE_STRIDE;
	*placed = SW_NOWHERE + variables->made++ * SW_VARIABLE_STRIDE;
	*made = space_add_nowhere(space, *placed, size);
	return *placed;
}

void sw_variables_free(struct sw_variables *variables)
{
	sw_map_free(&variables->images);
	sw_map_free(&variables->addresses);
	sw_map_free(&variables->placed);
	free(variables);
}

/*
 * Reserved addresses (cuMemAddressReserve), of which parts are mapped and unmapped.
 *
 * The reservation is the block: an allocator that lets its segments grow maps piece next to piece, and what it hands
 * out spans many of them (PyTorch's expandable segments, TensorFlow's virtual memory allocator).  Only what is mapped
 * is memory: a word that happens to point elsewhere in the reservation means nothing.
 */

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

/* Removes the pieces from index `from` to before `to`. */
static void drop_pieces(pieces *list, size_t from, size_t to)
{
	if (from == to)
		return;
	memmove(list->at + from, list->at + to, (list->n - to) * sizeof *list->at);
	list->n -= to - from;
}

/* Inserts a piece at index i; the caller fills it in. */
static struct sw_piece *insert_piece(pieces *list, size_t i)
{
	sw_vec_push(list);
	memmove(list->at + i + 1, list->at + i, (list->n - 1 - i) * sizeof *list->at);
	return &list->at[i];
}

/* Index of the first piece that ends after offset x. */
static size_t first_piece_beyond(const pieces *list, uint64_t x)
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

/* Takes the offsets [lo, hi) out of a list of pieces in any order, cutting those that stick out. */
static void forget_pieces(pieces *list, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < list->n; i++) {
		struct sw_piece *p = &list->at[i];
		if (p->hi <= lo || p->lo >= hi)
			continue;
		struct sw_piece above = *p;
		above.lo = hi;
		p->hi = lo;
		if (above.lo < above.hi && p->lo < p->hi)
			*insert_piece(list, ++i) = above;
		else if (above.lo < above.hi)
			*p = above;
		else if (p->lo >= p->hi)
			drop_pieces(list, i, i + 1), i--;
	}
}

void sw_block_map(struct sw_block *block, uint64_t lo, uint64_t hi)
{
	pieces *mapped = &block->mapping->mapped;
	forget_pieces(&block->mapping->unmapped, lo, hi);
	size_t i = first_piece_beyond(mapped, lo ? lo - 1 : 0), end = i;
	while (end < mapped->n && mapped->at[end].lo <= hi) {
		lo = mapped->at[end].lo < lo ? mapped->at[end].lo : lo;
		hi = mapped->at[end].hi > hi ? mapped->at[end].hi : hi;
		end++;
	}
	drop_pieces(mapped, i, end);
	*insert_piece(mapped, i) = (struct sw_piece){.lo = lo, .hi = hi};
	if (hi > block->mapping->reach)
		block->mapping->reach = hi;
}

/* Takes the offsets [lo, hi) of the reservation out of what is memory; the call is remembered for a while, for use
   after unmapping. */
void sw_block_unmap(struct sw_address_space *space, struct sw_block *block, uint64_t lo, uint64_t hi,
		    const struct sw_access *gone)
{
	pieces *unmapped = &block->mapping->unmapped;
	forget_pieces(&block->mapping->mapped, lo, hi);
	forget_pieces(unmapped, lo, hi);
	sw_shadow_forget(&block->shadow, &space->uses, lo, hi);
	sw_space_doubt(space, block);
	if (unmapped->n >= SW_MAX_UNMAPPED)
		drop_pieces(unmapped, 0, 1);
	*sw_vec_push(unmapped) = (struct sw_piece){.lo = lo, .hi = hi, .gone = *gone};
}

uint64_t sw_block_mapped(const struct sw_block *block, uint64_t offset)
{
	const pieces *mapped = &block->mapping->mapped;
	size_t i = first_piece_beyond(mapped, offset);
	return i < mapped->n && mapped->at[i].lo <= offset ? mapped->at[i].hi : 0;
}

/* The call that unmapped the offset; NULL: not known. */
static const struct sw_access *block_gone(const struct sw_block *block, uint64_t offset)
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

/* Frees the lists of a reservation's pieces. */
static void block_mapping_free(struct sw_block *block)
{
	if (!block->mapping)
		return;
	free(block->mapping->mapped.at);
	free(block->mapping->unmapped.at);
	free(block->mapping);
}
