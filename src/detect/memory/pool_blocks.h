/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that a caching allocator (PyTorch's, CuPy's) hands out from the memory that it keeps: the range of each, and
 * from which record to which it was allocated.
 *
 * A block begins and ends when the host allocates and frees it, not at a point of a stream.  Work that uses it may run
 * after its end, and the allocator orders only the block's own stream.  So a block has no access map of its own:
 * accesses stay in the map of the allocation around it, each with the block that its pointer leads to.  Accesses to two
 * blocks that had the same bytes are compared there.
 *
 * Addresses are those of the one address space of all devices.  Not thread-safe.
 */
#ifndef SW_DETECT_MEMORY_POOL_BLOCKS_H
#define SW_DETECT_MEMORY_POOL_BLOCKS_H

#include "base/memory.h"
#include "detect/detect.h"
#include "detect/memory/access.h"

/* The call that allocated or freed a block; seq 0: not recorded. */
struct sw_pool_block_call {
	uint64_t seq, t_ns;
	uint32_t thread, stack, nvtx;
	int device;
	uint16_t api, flags;
};

struct sw_pool_block {
	struct sw_interval at;
	uint32_t refs;
	uint32_t number;   /* 1, 2, ... in the order in which they were handed out */
	uint32_t mention;  /* index + 1 in the judgement's allocations, 0: no finding mentions it */
	uint64_t from, to; /* steps of the model; to: UINT64_MAX until it is freed */
	struct sw_pool_block_call allocated, freed;
	uint64_t reported;	  /* the reuse that was reported last of it (hazards/shared_uses.h), 0: none ... */
	int reported_as;	  /* ... enum sw_severity */
	bool one_stream;	  /* its allocator has no record_stream() */
	uint32_t own, own_serial; /* the lane of the stream that it was handed out for; serial 0: not known */
};

struct sw_pool_blocks {
	const uint64_t *now; /* step of the current record */
	struct sw_intervals live;
	SW_VEC(struct sw_pool_block *) ended; /* in the order of their ends: deferred accesses may need them */
	size_t trimmed;			      /* length of `ended` after the last trim */
	uint32_t made;
};

void sw_pool_blocks_free(struct sw_pool_blocks *pool_blocks);
/* Records were lost: it is no longer known which block is where. */
void sw_pool_blocks_forget(struct sw_pool_blocks *pool_blocks);
/* Returns NULL for a block of 0 bytes. */
struct sw_pool_block *sw_pool_block_begin(struct sw_pool_blocks *pool_blocks, uint64_t address, uint64_t bytes,
					  const struct sw_access *call);
/* Returns the block that ended, valid until the next trim; NULL: none begins at `address`. */
struct sw_pool_block *sw_pool_block_end(struct sw_pool_blocks *pool_blocks, uint64_t address,
					const struct sw_access *call);
/* Ends all blocks in memory that was itself freed. */
void sw_pool_blocks_leave(struct sw_pool_blocks *pool_blocks, uint64_t lo, uint64_t hi);
/* The block that held the address at `step`; NULL: none. */
struct sw_pool_block *sw_pool_block_at(const struct sw_pool_blocks *pool_blocks, uint64_t address, uint64_t step);
/* Are so many blocks remembered that trimming is due? */
bool sw_pool_blocks_must_trim(const struct sw_pool_blocks *pool_blocks);
/* Forgets blocks that ended at or before step `oldest`, the first that a later look-up may name. */
void sw_pool_blocks_trim(struct sw_pool_blocks *pool_blocks, uint64_t oldest);

/* Takes a reference to the block; NULL is allowed. */
struct sw_pool_block *sw_pool_block_keep(struct sw_pool_block *pool_block);
/* Gives a reference back, the last of which frees the block; NULL is allowed. */
void sw_pool_block_drop(struct sw_pool_block *pool_block);

/* The call that allocated (SW_ALLOC) or freed (SW_FREE) the block, as the third access of a finding. */
struct sw_access sw_pool_block_access(const struct sw_pool_block *pool_block, enum sw_role role);

#endif
