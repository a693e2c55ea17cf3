/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address space: allocated memory, its kind, and what was freed recently.
 *
 * Pinned memory may have a second, device-side address: both lead to one block, so that a kernel that uses the alias
 * meets a copy that uses the host address.  Host memory that CUDA does not know of is "pageable": one block that spans
 * every address.  Arrays are looked up by handle.  Not thread-safe.
 */
#ifndef SW_DETECT_MEMORY_ADDRESS_SPACE_H
#define SW_DETECT_MEMORY_ADDRESS_SPACE_H

#include "base/map.h"
#include "detect/memory/shadow.h"

struct sw_mapped_pieces;
struct sw_mapping;
struct sw_variables;

/* How many objects an allocation holds, by the starts known in it. MANY: a pool whose blocks are unknown. */
enum sw_crowding { SW_CROWDING_FEW, SW_CROWDING_SEVERAL, SW_CROWDING_MANY };

/* Addresses that no memory has (not canonical), of module variables whose address the program did not take. */
#define SW_NOWHERE 0x5357000000000000ull
static inline bool sw_is_nowhere(uint64_t address)
{
	return address - SW_NOWHERE < 1ull << 48;
}

struct sw_view; /* an interval of addresses of a block */

/* A part of reserved addresses: mapped, or unmapped by the call `gone`. */
struct sw_piece {
	uint64_t lo, hi; /* offsets */
	struct sw_access gone;
};

/* Where an object starts, and the step that showed it. */
struct sw_start {
	uint64_t offset, step;
};

/* The last access of a lane. */
struct sw_last_touch {
	struct sw_point point;
	uint64_t seq, step;
	struct sw_overlaps deferred; /* where in the block those lie that are deferred */
};

/* The last accesses to a block, or to any block, by lane, for hazards/deferred.h; dropped once all later work is
   ordered after them. */
struct sw_touched {
	SW_VEC(struct sw_last_touch) lanes;
};

/* The last content of a part of a block that a set, or a copy of one word, left there; hi 0: unknown, or overwritten by
   something else (hazards/stored_values.h). */
struct sw_filling {
	uint64_t lo, hi; /* addresses */
	uint64_t word;	 /* repeated, from lo on */
	uint64_t step;
	struct sw_point point;
};

struct sw_block {
	uint64_t address, bytes;
	enum sw_memory memory;
	enum sw_memory pool_memory; /* ASYNC, MAPPED: what its pool, or a piece of it, is where that is not the device's
				       memory, else UNKNOWN */
	uint8_t ctx;
	int device;
	uint32_t number;
	uint32_t mention;      /* index + 1 in the judgement's allocations, 0: no finding mentions it */
	uint64_t owner;	       /* SYMBOL: module or library */
	uint64_t shared;       /* hash of the IPC handle by which it was exported or opened, 0: none */
	uint32_t opens;	       /* of that handle, in addition to the first: each needs a close */
	bool passed_on;	       /* other processes may use it by a handle that is not followed */
	bool used;	       /* host memory: by work on a stream */
	bool sync_memops;      /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS is set */
	struct sw_access born; /* the call that made it; ASYNC: at a point of a stream */
	struct sw_access gone; /* the call that freed it, once freed */
	bool mipmapped;	       /* ARRAY: it has levels */
	bool nowhere;	       /* SYMBOL: made without an address; findings give offsets */
	bool born_passed;      /* ASYNC: everything to come is ordered after its allocation */
	bool perhaps;	       /* counted in the address space's `perhaps` */
	struct sw_shadow shadow;
	SW_VEC(struct sw_start) starts; /* sorted by offset, 0 not among them */
	struct sw_touched touched;
	struct sw_view *view[2];
	const char *name;
	struct sw_mapping *mapping;	 /* reserved addresses: what of them is mapped; NULL all of it is memory */
	struct sw_mapped_pieces *pieces; /* what is mapped where (physical_memory.h), NULL nothing */
	struct sw_block *within;	 /* a block of a suballocator: of this allocation */
	uint32_t blocks;		 /* of this allocation, that are allocated or were lately */
	struct sw_filling filling;
};

struct sw_address_space {
	struct sw_intervals live, freed;
	struct sw_intervals inner;	   /* blocks of suballocators that live inside others */
	struct sw_pool_blocks pool_blocks; /* of caching allocators */
	struct sw_map arrays;		   /* handle -> block */
	struct sw_map pools;		   /* handle -> MANAGED or PINNED; of device memory: absent */
	struct sw_map host_pieces;	   /* handles of cuMemCreate that are memory of the host */
	struct sw_map levels;		   /* handle of a level of a mipmapped array -> block's handle ... */
	struct sw_map level_numbers;	   /* ... and the level */
	struct sw_use_pool uses;
	struct sw_block pageable;
	struct sw_view *oldest, *newest; /* freed ones, in the order of the frees */
	size_t freed_n;
	/* Live blocks where a use may be reported for itself, not only for its conflicts: blocks of pools may not be
	   memory yet; a part of a reservation may be unmapped, or show memory that another part shows. */
	size_t perhaps;
	/* Called before a block of a pool is forgotten that was freed in stream order; NULL: not wanted. */
	void (*forget)(void *arg, const struct sw_block *block);
	/* Called before a block ends; NULL: not wanted. */
	void (*leave)(void *arg, struct sw_block *block);
	void *arg;
	uint32_t made;
	uint64_t lowest, highest; /* of all that was ever alive: most scalars of a kernel lie outside */
};

void sw_space_init(struct sw_address_space *space);
void sw_space_free(struct sw_address_space *space);

/* Adds a block that begins to exist at [address, address + bytes), and at `alias` unless 0.  A block that is still
   known there has ended without a record and is removed.  The caller fills in the rest. */
struct sw_block *sw_space_add(struct sw_address_space *space, uint64_t address, uint64_t bytes, enum sw_memory memory,
			      uint64_t alias);
/* Ends a block; device memory is remembered for a while as freed (bounded), with `gone`. */
void sw_space_remove(struct sw_address_space *space, struct sw_block *block, const struct sw_access *gone);
/* Counts the block in `perhaps` until it ends. */
void sw_space_doubt(struct sw_address_space *space, struct sw_block *block);
/* Forgets freed blocks: records were lost. */
void sw_space_forget_freed(struct sw_address_space *space);

/* The live block that holds the address, and the offset in it; NULL: none. */
struct sw_block *sw_space_find(const struct sw_address_space *space, uint64_t address, uint64_t *offset);
/* The allocation that holds the address, without regard to blocks of suballocators. */
struct sw_block *sw_space_find_outer(const struct sw_address_space *space, uint64_t address, uint64_t *offset);
/* The block of an array, or of a level of one, by its handle; NULL: none. */
struct sw_block *sw_space_find_array(const struct sw_address_space *space, uint64_t handle);
/* Notes that a handle stands for a level of a mipmapped array.  False: that one is not known. */
bool sw_space_add_level(struct sw_address_space *space, uint64_t handle, uint64_t mipmap, uint64_t level);
/* Where the texels of the handle begin in the block that is found by it. */
uint64_t sw_space_level(const struct sw_address_space *space, uint64_t handle);
/* Where it lies, and who reaches it. */
static inline enum sw_memory sw_block_memory(const struct sw_block *block)
{
	return block->pool_memory ? block->pool_memory : block->memory;
}
/* Can the host read and write it without a call? */
static inline bool sw_host_sees(const struct sw_block *block)
{
	enum sw_memory memory = sw_block_memory(block);
	return memory == SW_MEM_PINNED || memory == SW_MEM_REGISTERED || memory == SW_MEM_MANAGED ||
	       memory == SW_MEM_PAGEABLE;
}
/* Bytes that offsets in the block reach. */
static inline uint64_t sw_block_room(const struct sw_block *block)
{
	return block->memory == SW_MEM_ARRAY ? SW_ARRAY_ROOM : block->bytes;
}
/* The freed block that held the address and whose place nothing has taken since, or the live reservation whose part
   there was unmapped; NULL: none.  The block's `gone` is the call that freed or unmapped it, *offset the address's
   place in the block. */
struct sw_block *sw_space_find_freed(const struct sw_address_space *space, uint64_t address, uint64_t *offset);

/* The freed block that overlaps [lo, hi) first, also where something lives since; NULL: none. */
struct sw_block *sw_space_freed_in(const struct sw_address_space *space, uint64_t lo, uint64_t hi);

/* ---- address_space.c: reserved addresses ---- */

/* Addresses are reserved: a block of which nothing is memory yet. */
struct sw_block *sw_space_reserve(struct sw_address_space *space, uint64_t address, uint64_t bytes);
/* The reservation that holds all of [address, address + bytes), mapped or not; NULL: none. */
struct sw_block *sw_space_reservation(const struct sw_address_space *space, uint64_t address, uint64_t bytes);
/* Offsets [lo, hi) of a reservation become memory. */
void sw_block_map(struct sw_block *block, uint64_t lo, uint64_t hi);
/* Offsets [lo, hi) cease to be memory; `gone` is remembered for a while. */
void sw_block_unmap(struct sw_address_space *space, struct sw_block *block, uint64_t lo, uint64_t hi,
		    const struct sw_access *gone);
/* Where the mapped part that holds the offset ends; 0: the offset is not mapped. */
uint64_t sw_block_mapped(const struct sw_block *block, uint64_t offset);
/* Bytes up to the end of what was ever mapped; of other blocks: all. */
uint64_t sw_block_reach(const struct sw_block *block);

/* ---- blocks of suballocators ---- */

/* Makes the allocated part of a block a block of its own, of the same memory.  NULL: nothing lives there, or the range
   is not inside one allocation. */
struct sw_block *sw_space_add_inner(struct sw_address_space *space, uint64_t address, uint64_t bytes);
/* The first block of a suballocator that ends after the address; NULL: none. */
struct sw_block *sw_space_inner_from(const struct sw_address_space *space, uint64_t address);
/* Where in [lo, hi) the block that holds lo ends, or a block inside it begins. */
uint64_t sw_space_cut(const struct sw_address_space *space, uint64_t lo, uint64_t hi);

/* The first live block that ends after the address; NULL: none. */
struct sw_block *sw_space_from(const struct sw_address_space *space, uint64_t address, uint64_t *start);

/* The next live block (arrays excepted), in address order; NULL starts and ends. */
struct sw_block *sw_space_next(const struct sw_address_space *space, const struct sw_block *block);

/* Notes that an object starts here: from this step on, accesses of unknown extent from lower addresses end here. */
void sw_block_start(struct sw_block *block, uint64_t offset, uint64_t step);
/* How many objects it holds, by the known starts. */
enum sw_crowding sw_block_crowding(const struct sw_block *block);
/* How many objects lie between the offsets [lo, hi) of the block. */
enum sw_crowding sw_block_crowding_in(const struct sw_block *block, uint64_t lo, uint64_t hi);
/* Where an access of unknown extent from `offset` ends at the latest, by the starts known at that step. */
uint64_t sw_block_extent(const struct sw_block *block, uint64_t offset, uint64_t step);
/* Lowest offset of one that may also go down from `offset`: the last start before it. */
uint64_t sw_block_floor(const struct sw_block *block, uint64_t offset, uint64_t step);

/*
 * Module variables: memory with an identity of its own, (context, image, name).
 *
 * Kernels use them without any address, so the first kernel that does makes the variable: a block at an address that no
 * memory has.  When the program asks for the real address (cudaGetSymbolAddress, copies to and from symbols) the block
 * has both, and an access by either meets the same uses, earlier ones included.  Not thread-safe.
 */

/* One of them, as code names it. */
struct sw_variable_key {
	uint32_t image;
	uint8_t ctx;
	const char *name; /* mangled, `bytes` long */
	size_t bytes;
};

struct sw_variables *sw_variables_new(void);
void sw_variables_free(struct sw_variables *variables);
void sw_variables_loaded(struct sw_variables *variables, uint64_t module, uint32_t image);
/* The program asked a module or library where the variable is (key->image 0: one whose image is not known; key->ctx 0:
   the variable is there for all contexts): `asked` is the block that was made for the answer.  Returns the block that
   is the variable from then on. */
struct sw_block *sw_variables_asked(struct sw_variables *variables, struct sw_address_space *space,
				    const struct sw_variable_key *key, struct sw_block *asked, uint64_t address);
/* The image of a module or library, 0 not known. */
uint32_t sw_variables_image(const struct sw_variables *variables, uint64_t owner);
/* Where a kernel's variable is.  One whose address the program did not take is made, of `size` bytes (0: not known):
   made is its block, else NULL.  0: it cannot be distinguished from others of its name. */
uint64_t sw_variables_find(struct sw_variables *variables, struct sw_address_space *space,
			   const struct sw_variable_key *key, uint64_t size, struct sw_block **made);

#endif
