/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses as the maps of allocations (shadow.h) remember them, and which two of them conflict.  Not thread-safe.
 */
#ifndef SW_DETECT_MEMORY_SHADOW_USES_H
#define SW_DETECT_MEMORY_SHADOW_USES_H

#include "base/memory.h"
#include "detect/memory/access.h"
#include "detect/memory/pool_blocks.h"
#include "hb/hb.h"

struct sw_block;

/* One access as it is remembered; shared by the segments that it touches. */
struct sw_shadow_use {
	uint32_t refs;
	uint32_t stamp;		 /* serial of the use that met it last ... */
	bool goes;		 /* ... which takes its place */
	bool meets;		 /* ... which conflicts with it, and was not yet where both have bytes */
	bool by_rows;		 /* a box that lies in the segments of its rows; else in all of its hull */
	bool forgotten;		 /* in a part of its bytes: too many others are there */
	uint32_t entry;		 /* its own serial: which of two of one record was entered first */
	uint64_t step;		 /* number of its record: which of two came first */
	struct sw_range range;	 /* offsets */
	uint64_t end;		 /* offset after the last byte touched, unbounded ones: as assumed */
	struct sw_access access; /* as findings want it */
	struct sw_block *block;
	struct sw_pool_block
		*pool_block;	  /* the block of a caching allocator that its pointer leads to; NULL not known */
	struct sw_point function; /* the host function in which it was made, tick 0: none */
	uint32_t node;		  /* of the graph that is launched: its number + 1, 0: none */
	uint32_t view; /* of a kernel's start: the lane, + 1, whose order counts for it as the later one; 0: its own */
	bool unsure;   /* perhaps it comes after the kernel's wait, or the kernel before it does not trigger */
	uint8_t ctx;
	bool host;     /* by the host itself, inside a call */
	bool may_wait; /* the documents leave open whether the call waited for it */
	bool mirrored; /* made by another address of the same memory */
	struct sw_shadow_use *free_next;
};

/* Uses come from a pool. */
struct sw_use_pool {
	struct sw_shadow_use *free;
	struct sw_arena arena;
	size_t live, links; /* uses, and how often segments refer to one */
	uint64_t forgotten; /* uses that were dropped at a limit: conflicts with them are missed */
};
struct sw_shadow_use *sw_use_new(struct sw_use_pool *pool);
void sw_use_free(struct sw_use_pool *pool, struct sw_shadow_use *use);
/* Gives a reference back. */
static inline void sw_use_drop(struct sw_use_pool *pool, struct sw_shadow_use *use)
{
	if (use && !--use->refs)
		sw_use_free(pool, use);
}

/* The lane whose last step tells what comes before the use. */
static inline uint32_t sw_use_view(const struct sw_shadow_use *use)
{
	return use->view ? use->view - 1 : use->access.point.lane;
}

/* Consecutive bytes; an unbounded use is taken to touch all of its assumed extent. */
static inline bool sw_use_is_dense(const struct sw_shadow_use *use)
{
	return !use->range.bounded || sw_range_dense(&use->range);
}

/* Two uses in one block: do they share bytes that one of them writes?  Atomic updates do not conflict. */
bool sw_use_conflicts(const struct sw_shadow_use *m, const struct sw_shadow_use *x);
/* Do they share bytes in [lo, hi)? */
bool sw_use_shares_bytes_within(const struct sw_shadow_use *m, const struct sw_shadow_use *x, uint64_t lo, uint64_t hi);
/* May x supersede m, if it is ordered after m?  (Both lie in one segment, which a dense x covers.) */
bool sw_use_stands_for(const struct sw_shadow_use *x, const struct sw_shadow_use *m);

#endif
