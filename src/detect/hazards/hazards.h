/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether two conflicting accesses are a hazard, and which one. */
#ifndef SW_DETECT_HAZARDS_HAZARDS_H
#define SW_DETECT_HAZARDS_HAZARDS_H

#include "detect/memory/address_space.h"
#include "detect/model/call.h"
#include "detect/model/lanes.h"

struct sw_block;
struct sw_hazards;
struct sw_model;
struct sw_shadow_use;

/* Two uses share bytes, one of them writes: judges their order and adds a finding where there is none.  `arg`: the
   model. */
void sw_hazard_meet(void *arg, struct sw_shadow_use *earlier, struct sw_shadow_use *later);
void sw_hazard_freed(struct sw_model *m, struct sw_block *freed, struct sw_shadow_use *later);
/* A suballocator (a memory pool, a stream's allocator) hands out again what was freed: judges whether the free is
   ordered before that. */
void sw_hazard_reused(struct sw_model *m, struct sw_block *freed, const struct sw_access *born);
/* Judges whether a use comes after the allocation of its block, which is work of a stream. */
void sw_hazard_unborn(struct sw_model *m, struct sw_block *block, struct sw_shadow_use *later);

/* A call that is not modelled was made in the context, and may order the two sides: the finding is possible at most,
   and remembers if it was an error.  False: there was no such call. */
bool sw_hazard_lower(const struct sw_model *m, struct sw_finding *seen, uint8_t ctx);
/* Is the finding possible, and neither asked for nor lowered from an error? */
bool sw_hazard_is_dropped(const struct sw_model *m, const struct sw_finding *seen);

/* Uses so far that met an earlier one which no document orders before them. */
uint64_t sw_hazards_unordered(const struct sw_model *m);
/* From here on memory is released by a call whose wait covers `covers`: no use after free of that work.  NULL: the call
   has ended. */
void sw_hazards_released(struct sw_model *m, const sw_covered_vec *covers);
struct sw_hazards *sw_hazards_new(void);
void sw_hazards_free(struct sw_hazards *hazards);

/* Severity and confidence of a conflict (matrix.c): all rules (doc/findings.md, "Severity"). Pure functions. */

/* How two accesses come to share memory. */
enum sw_contact {
	SW_CONTACT_BYTES,  /* both are bounded and share bytes */
	SW_CONTACT_BASE,   /* an unbounded one is reached from the same pointer, or its start lies inside the bounded
			      other */
	SW_CONTACT_EXTENT, /* only by an assumed extent */
	SW_CONTACTS
};

struct sw_verdict {
	enum sw_severity severity;
	enum sw_confidence confidence;
};

/* The verdict on two ranges in one allocation that are known to overlap. */
enum sw_contact sw_contact_of(const struct sw_range *a, const struct sw_range *b);

struct sw_verdict sw_matrix(const struct sw_range *a, const struct sw_range *b, enum sw_crowding crowding);

/* Events that were meant to order a hazard (SW201-SW203), or anything at all (SW205). */

void sw_event_wait_remember(struct sw_model *m, struct sw_lane_state *lane, const struct sw_event_state *event,
			    const struct sw_hb_event_state *state, bool useless);
/* Would a wait of this lane for what the event holds now bring nothing?  Asked before the wait. */
bool sw_event_wait_useless(struct sw_model *m, const struct sw_event_state *event, uint32_t lane);
/* When work comes on the lane: settles what the waits before it could wait for. */
void sw_event_wait_worked(struct sw_model *m, uint32_t lane);
void sw_event_wait_replaced(struct sw_model *m, const struct sw_event_state *event);

#endif
