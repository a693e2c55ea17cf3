/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector clocks that are shared until written.
 *
 * For each lane slot a clock has the last tick that is known and the record that made it known. NULL is the clock that
 * knows nothing. A lane's own steps are not kept in its clock, so a step costs no write and an event's snapshot is one
 * reference.
 */
#ifndef SW_HB_CLOCK_H
#define SW_HB_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hb/hb.h"

struct sw_known_tick {
	uint64_t tick;
	uint64_t learnt; /* sw_learnt_from(): record and kind of the join that brought it */
};
struct sw_vector_clock {
	uint32_t refs;
	uint32_t n, room;
	struct sw_known_tick at[];
};

#define SW_NO_LANE UINT32_MAX

/* Kinds of sw_learnt_from(): enum sw_edge_kind, and a lane's own step in a merged snapshot. */
#define SW_LEARNT_OWN  15u
#define SW_LEARNT_KEEP UINT64_MAX /* for joins that pass on the source's records */
static inline uint64_t sw_learnt_from(uint64_t seq, unsigned kind)
{
	return seq << 4 | kind;
}

static inline uint64_t sw_clock_get(const struct sw_vector_clock *clock, uint32_t lane)
{
	return clock && lane < clock->n ? clock->at[lane].tick : 0;
}

static inline struct sw_vector_clock *sw_clock_hold(struct sw_vector_clock *clock)
{
	if (clock)
		clock->refs++;
	return clock;
}

/*
 * The clocks of a lane; each holds at least the order of the one before it. measured NULL: as documented, which is the
 * rule; observed NULL: as measured, always so unless host threads have lanes of their own.
 */
struct sw_known {
	struct sw_vector_clock *documented, *measured, *observed;
};
static inline struct sw_vector_clock *sw_known_measured(const struct sw_known *known)
{
	return known->measured ? known->measured : known->documented;
}
static inline struct sw_vector_clock *sw_known_by(const struct sw_known *known, enum sw_order basis)
{
	if (basis == SW_ORDER_DOCUMENTED)
		return known->documented;
	return basis == SW_ORDER_OBSERVED && known->observed ? known->observed : sw_known_measured(known);
}
struct sw_known sw_known_hold(const struct sw_known *known);
void sw_known_drop(size_t *bytes, struct sw_known *known);
/* Updates the clock of the basis and those above it. */
bool sw_known_raise(size_t *bytes, struct sw_known *known, uint32_t lane, uint64_t tick, uint64_t learnt,
		    enum sw_order basis);
bool sw_known_join(size_t *bytes, struct sw_known *known, const struct sw_known *from, uint32_t own, uint64_t learnt,
		   enum sw_order basis);

#endif
