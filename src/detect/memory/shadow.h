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

#include "detect/memory/intervals.h"
#include "detect/memory/shadow_uses.h"
#include "hb/hb.h"

struct sw_shadow {
	struct sw_intervals segments;
	size_t swept; /* segments left by the last sweep */
};

typedef SW_VEC(struct sw_shadow_use *) sw_use_vec;

/* What the map needs from its owner. */
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
/* The uses that lie in [lo, hi), each once, in the order of their calls. */
void sw_shadow_list(struct sw_shadow *shadow, const struct sw_shadow_env *env, uint64_t lo, uint64_t hi,
		    sw_use_vec *out);
/* Enters a use that came before some of those that are there, from which nobody could tell it apart until now: of all
   uses that share bytes with it, as far as their hulls tell, those that came before it are ordered before it, and those
   that came after it are ordered after it.  So it meets nothing, and what came after it may stand for it already. */
void sw_shadow_enter_late(struct sw_shadow *shadow, struct sw_shadow_env *env, struct sw_shadow_use *use);
/* Forgets the uses in [lo, hi). */
void sw_shadow_forget(struct sw_shadow *shadow, struct sw_use_pool *pool, uint64_t lo, uint64_t hi);
void sw_shadow_clear(struct sw_shadow *shadow, struct sw_use_pool *pool);

#endif
