/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The access map of one allocation: for each part of it, what wrote and read it last.
 *
 * An allocation is cut into segments; each holds the uses that a later one could still conflict with.  A use replaces
 * earlier ones that are ordered before it when every conflict with those is also a conflict with it (FastTrack's
 * argument, per segment), so a segment holds at most a few uses per lane.  Segments that end up equal are joined again,
 * uses that everything to come is ordered after are dropped: the map grows with the lanes alive, not with time.
 *
 * A box lies in all segments of its hull, or, where these are many, in those of its rows.
 *
 * Offsets are from the start of the allocation.  Not thread-safe.
 */
#ifndef SW_DETECT_MEMORY_SHADOW_H
#define SW_DETECT_MEMORY_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "detect/memory/access.h"
#include "detect/memory/pool_blocks.h"
#include "hb/hb.h"

struct sw_block;
struct sw_overlap_run;

/*
 * Accesses as the maps of allocations (shadow.h) remember them, and which two of them conflict.  Not thread-safe.
 */

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
	bool blocks;   /* by a call whose thread waits until it is done */
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

/* Does the use touch consecutive bytes?  An unbounded one is taken to touch all of its assumed extent. */
static inline bool sw_use_is_dense(const struct sw_shadow_use *use)
{
	return !use->range.bounded || sw_range_dense(&use->range);
}

/* Two uses in one block: do they share bytes that one of them writes?  Atomic updates do not conflict. */
bool sw_use_conflicts(const struct sw_shadow_use *other, const struct sw_shadow_use *use);
/* May the use supersede the other one, if it is ordered after it: is every later conflict with the other also one with
   it?  (Both lie in one segment, which a dense use covers.) */
bool sw_use_stands_for(const struct sw_shadow_use *use, const struct sw_shadow_use *other);

struct sw_shadow {
	struct sw_intervals segments;
	size_t swept; /* segments left by the last sweep */
};

typedef SW_VEC(struct sw_shadow_use *) sw_use_vec;

/* Functions and facts that the map needs from its owner. */
struct sw_shadow_env {
	struct sw_use_pool *pool;
	const struct sw_hb *hb;
	uint32_t serial; /* of the use that is entered, later ones have higher ones: for counting each pair once */
	/* Uses made in [keep_from, keep_to] are kept although they are ordered before everything: wide_syncs.h needs
	   them (empty: keep_from > keep_to). So are later ones, which may supersede one of them that is entered
	   late. */
	uint64_t keep_from, keep_to;
	bool keep_all;	  /* the use supersedes no other: it was made before now */
	bool between;	  /* what the use replaces lies between its rows, too */
	sw_use_vec met;	  /* what the use met so far; empty in between */
	bool ordered_too; /* pairs of different lanes are wanted although documents order them: a wait is watched */
	/* Called once for each earlier use of another lane that shares bytes with the new one that nothing took over
	   since, where one of both writes and no document orders the two, or ordered_too; in the order of their records
	   and, within one, in which they were entered. */
	void (*meet)(void *arg, struct sw_shadow_use *earlier, struct sw_shadow_use *later);
	/* Branches of a graph are of one lane and yet unordered; NULL: there are none. */
	bool (*apart)(void *arg, const struct sw_shadow_use *earlier, const struct sw_shadow_use *later);
	void *arg;
};

/* Is there in [lo, hi) a use of another lane that no document orders before the last step of `lane`, or whose seq is
   from_seq or later?  True as well where too many uses would have to be looked at. */
bool sw_shadow_has_rival(const struct sw_shadow *shadow, const struct sw_hb *hb, uint32_t lane, uint64_t from_seq,
			 uint64_t lo, uint64_t hi);
/* Compares the use with those that are there, without entering it. */
void sw_shadow_probe(struct sw_shadow *shadow, struct sw_shadow_env *env, struct sw_shadow_use *use);
/* Compares the use with those that are there and enters it (segments then hold references). */
void sw_shadow_enter(struct sw_shadow *shadow, struct sw_shadow_env *env, struct sw_shadow_use *use);
/* Lists the uses that lie in [lo, hi), each once, in the order of their calls. */
void sw_shadow_list(struct sw_shadow *shadow, const struct sw_shadow_env *env, uint64_t lo, uint64_t hi,
		    sw_use_vec *out);
/* Enters a use that came before some of those that are there, from which nobody could tell it apart until now: of all
   uses that share bytes with it, as far as their hulls tell, those that came before it are ordered before it, and those
   that came after it are ordered after it.  So it meets nothing, and what came after it may stand for it already. */
void sw_shadow_enter_late(struct sw_shadow *shadow, struct sw_shadow_env *env, struct sw_shadow_use *use);
/* Forgets the uses in [lo, hi). */
void sw_shadow_forget(struct sw_shadow *shadow, struct sw_use_pool *pool, uint64_t lo, uint64_t hi);
void sw_shadow_clear(struct sw_shadow *shadow, struct sw_use_pool *pool);

/*
 * Half-open intervals [lo, hi) that may overlap, each with the step at which it came: finds those in a range that are
 * later than a given step.
 *
 * They lie in order of lo, then tick, in runs of some dozens, each with the largest values in it: a search walks along
 * the runs, which are few, and into those that may hold a result.  (A treap with the same values takes five times as
 * long for some thousand intervals: each of its nodes is a cache miss.) Not thread-safe.
 */

struct sw_overlap {
	uint64_t lo, hi, tick, seq;
	void *what;
};

struct sw_overlaps {
	SW_VEC(struct sw_overlap_run) run;
	size_t n;
};

typedef SW_VEC(void *) sw_overlap_vec;

void sw_overlaps_insert(struct sw_overlaps *set, const struct sw_overlap *interval);
/* Removes the interval that was inserted with this start, step and owner. */
void sw_overlaps_remove(struct sw_overlaps *set, uint64_t lo, uint64_t tick, const void *what);
void sw_overlaps_clear(struct sw_overlaps *set);
/* Appends the uses that share a byte with [lo, hi), and have a tick after `tick` or a seq from `seq` on, to *out.
   Returns whether there is one; out may be NULL. */
bool sw_overlaps_later(const struct sw_overlaps *set, uint64_t lo, uint64_t hi, uint64_t tick, uint64_t seq,
		       sw_overlap_vec *out);

#endif
