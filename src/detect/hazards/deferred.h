/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses of launches that are evaluated only when another access could conflict with them.
 *
 * What a launch touches takes long to compute, and mostly nothing is ever unordered with it.  A launch is deferred if
 * all that other lanes did in the bytes that it may access is ordered before it by a document.  It is evaluated before
 * an access to one of these bytes that no document orders after it, and dropped without being evaluated once all future
 * work is ordered after it.  The bytes are ranges in known allocations, which its evaluation never leaves
 * (kernels/deferrable.h), or all that there are; then everything that other lanes do counts.
 *
 * Why the result is the same: of what shares bytes with it, all that came before it is ordered before it, and all that
 * came after it is ordered after it, so it conflicts with nothing.  What is left to do is what sw_shadow_enter_late()
 * does: remove the earlier uses that it supersedes, and leave it out where a later use supersedes it.
 *
 * While a wait is watched (wide_syncs.h) ordered accesses count as well: those of the watched records are evaluated as
 * soon as two lanes touch one place.
 *
 * Not thread-safe.
 */
#ifndef SW_DETECT_HAZARDS_DEFERRED_H
#define SW_DETECT_HAZARDS_DEFERRED_H

#include "detect/memory/address_space.h"
#include "reader/reader.h"

struct sw_model;
struct sw_deferrals;

/* Where an access may be: offsets [lo, hi) of place.block[block]. */
struct sw_deferred_range {
	uint64_t lo, hi;
	uint32_t block;
};
struct sw_deferred_place {
	uint32_t blocks, ranges;
	struct sw_block *const *block;
	const struct sw_deferred_range *range;
};

/* An access, and the allocations that it may be in: blocks 0 any. */
struct sw_deferred {
	struct sw_access what;
	struct sw_record record;	  /* with its own copy of what it points to */
	uint64_t step;			  /* step of its record */
	size_t bytes;			  /* memory of the copy */
	struct sw_deferred *next, **self; /* of all that there are */
	uint32_t refs;
	bool done; /* evaluated or dropped */
	uint32_t blocks, parts;
	struct sw_deferred_range *part;
	struct sw_block *block[]; /* NULL: one that has ended */
};

/* While an access is evaluated whose starts are known. */
struct sw_touch_scope {
	const struct sw_deferred *late; /* steps of accesses that came later; NULL: it is the latest */
};

/* Before an access at `point` is judged: evaluates deferred launches without a known place (anywhere in memory)
   that it may conflict with. */
void sw_deferred_arrive(struct sw_model *m, struct sw_point point);
/* False: an access there (NULL: anywhere) must be evaluated now, since it may conflict with something, or nothing is
   deferred. */
bool sw_may_defer(struct sw_model *m, struct sw_point point, const struct sw_deferred_place *place);
/* Keeps a launch, with a copy of its record and what it may touch, to be evaluated only when something may conflict
   with it. */
void sw_defer(struct sw_model *m, const struct sw_access *what, const struct sw_record *record,
	      const struct sw_deferred_place *place);
/* Are all accesses that still count of one lane? */
bool sw_deferred_one_lane(const struct sw_model *m, uint32_t lane);
/* The current call is about to touch [lo, hi) of a block: evaluates what it may conflict with there. */
void sw_deferred_meet(struct sw_model *m, struct sw_block *block, uint64_t lo, uint64_t hi, struct sw_point point);
/* Evaluates all that may be in the block. */
void sw_deferred_settle(struct sw_model *m, struct sw_block *block);
/* Notes, for the questions above, that the current call has touched the block. */
void sw_deferred_note(struct sw_model *m, struct sw_block *block, const struct sw_access *what);
/* Does one of those that were deferred from record number `step` on perhaps overwrite content that is known of before?
 */
bool sw_deferred_may_overwrite(const struct sw_model *m, uint64_t step);
/* Number of the oldest record that is deferred; UINT64_MAX: none. */
uint64_t sw_deferred_oldest(const struct sw_model *m);
/* Evaluates all deferred launches: the allocations are about to change. */
void sw_deferred_flush(struct sw_model *m);
/* May a deferred launch access this block? */
bool sw_deferred_lies_in(const struct sw_deferred *deferred, const struct sw_block *block);
/* Finds the next part of [*lo, *hi) of the block where the deferred launch may access it, from part 0 on. False: there
   is none. */
bool sw_deferred_next_part(const struct sw_deferred *deferred, const struct sw_block *block, uint32_t *number,
			   uint64_t *lo, uint64_t *hi);

/* work: touches what a deferred access touches (scope and current record are set).  all: nothing is deferred. */
struct sw_deferrals *sw_deferrals_new(bool all, void (*work)(struct sw_model *m, const struct sw_deferred *deferred));
void sw_deferrals_free(struct sw_deferrals *deferrals);
/* For sw_address_space.leave, arg: struct sw_model. */
void sw_deferred_leave(void *arg, struct sw_block *block);

#endif
