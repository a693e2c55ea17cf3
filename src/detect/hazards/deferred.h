/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses that are worked out only when another access could meet them.
 *
 * What a launch touches takes long to compute, and mostly nothing is ever unordered with it.  It is deferred if all
 * that other lanes did where it may lie is ordered before it by a document.  It is worked out before anything touches a
 * place where it may lie that no document orders after it, and forgotten without being worked out once all that is to
 * come is ordered after it.  Where it may lie: in allocations that are known, or anywhere; then all that other lanes do
 * counts.
 *
 * Why the result is the same: what came before it where it lies is ordered before it, and what came after it is ordered
 * after it, so it met nothing and nothing met it.  All that is left to do is what sw_shadow_enter_late() does: to drop
 * earlier uses that it stands for, and to be left out where a later one stands for it.
 *
 * While a wait is watched (wide_syncs.h) ordered accesses count as well: those of the watched records are worked out as
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

/* An access, and where it may lie: blocks 0 anywhere. */
struct sw_deferred {
	struct sw_access what;
	struct sw_record record;	  /* with its own copy of what it points to */
	uint64_t step;			  /* when it came */
	size_t bytes;			  /* that it takes */
	struct sw_deferred *next, **self; /* of all that there are */
	uint32_t refs;
	bool done, working; /* worked out or forgotten; being worked out */
	uint32_t blocks;
	struct sw_block *block[]; /* NULL: one that has ended, or forgot it */
};

/* While an access is worked out whose starts are known. */
struct sw_touch_scope {
	const struct sw_deferred *late; /* it came before others that are there; NULL: it did not */
};

/* Whatever comes is about to touch something, at `point`: works out what it may meet anywhere. */
void sw_deferred_arrive(struct sw_model *m, struct sw_point point);
/* False: an access that lies in these (blocks 0: anywhere) must be worked out now, since it may meet something, or
   nothing is deferred. */
bool sw_may_defer(const struct sw_model *m, struct sw_point point, struct sw_block *const *block, uint32_t blocks);
/* Puts it off. */
void sw_defer(struct sw_model *m, const struct sw_access *what, const struct sw_record *record,
	      struct sw_block *const *block, uint32_t blocks);
/* Did one lane do all that still counts? */
bool sw_deferred_one_lane(const struct sw_model *m, uint32_t lane);
/* The call in hand is about to touch a block: works out what it may meet there. */
void sw_deferred_meet(struct sw_model *m, struct sw_block *block, struct sw_point point);
/* It has touched it. */
void sw_deferred_note(struct sw_model *m, struct sw_block *block, const struct sw_access *what);
/* Number of the oldest record that is deferred; UINT64_MAX none. */
uint64_t sw_deferred_oldest(const struct sw_model *m);
/* Works out all: what is known of memory is about to change. */
void sw_deferred_flush(struct sw_model *m);
/* May what is worked out late lie in this block? */
bool sw_deferred_lies_in(const struct sw_deferred *deferred, const struct sw_block *block);

/* work: touches what a deferred access touches (scope and record in hand are set).  all: nothing is deferred. */
struct sw_deferrals *sw_deferrals_new(bool all, void (*work)(struct sw_model *m, const struct sw_deferred *deferred));
void sw_deferrals_free(struct sw_deferrals *deferrals);
/* For sw_address_space.leave, arg: struct sw_model. */
void sw_deferred_leave(void *arg, struct sw_block *block);

#endif
