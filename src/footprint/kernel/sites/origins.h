/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of what an address may be made from.  Equal sets are one number, so that a union that was made before costs a
 * look-up; 0 is the empty set.
 */
#ifndef SW_FOOTPRINT_KERNEL_SITES_ORIGINS_H
#define SW_FOOTPRINT_KERNEL_SITES_ORIGINS_H

#include "base/map.h"
#include "footprint/footprint.h"

enum sw_origin_kind {
	SW_ORIGIN_PARAM,    /* word(s) of the parameter block at [a, a+b) */
	SW_ORIGIN_SYMBOL,   /* variable a */
	SW_ORIGIN_INDIRECT, /* loaded through PARAM a, b */
	SW_ORIGIN_INDIRECT_SYMBOL,
	SW_ORIGIN_ENVIRONMENT,
	SW_ORIGIN_UNKNOWN,
	SW_ORIGIN_LOCAL, /* slot a */
	SW_ORIGIN_SHARED,
	SW_ORIGIN_BLOCK, /* the parameter block itself, from byte a of b */
	SW_ORIGIN_FUNCTION
};
struct sw_origin {
	uint32_t kind, a, b;
};

/* An element of a set: index of an origin, and */
enum { SW_ELEMENT_HALF = 1, /* a piece of the address */ SW_ELEMENT_WEAK = 2, SW_ELEMENT_SHIFT = 2 };

typedef uint32_t sw_origin_set;
struct sw_origin_span {
	uint32_t first, n; /* of `element` */
};

struct sw_origins {
	SW_VEC(struct sw_origin) origin;
	SW_VEC(struct sw_origin_alone {
		sw_origin_set of[1 << SW_ELEMENT_SHIFT]; /* by flags; 0: not made yet */
	})
	alone;			  /* by origin: the sets of it alone */
	SW_VEC(uint32_t) element; /* of all sets */
	SW_VEC(struct sw_origin_span) set;
	struct sw_map sets, origins, unions; /* by hash of content, chains by +1 on collision; (a, b) -> union */
	sw_origin_set unknown;
};

/* More elements make a set `unknown`. */
#define SW_ORIGINS_MAX 512

void sw_origins_init(struct sw_origins *origins);
void sw_origins_free(struct sw_origins *origins);
sw_origin_set sw_origins_one(struct sw_origins *origins, enum sw_origin_kind kind, uint32_t a, uint32_t b,
			     uint32_t flags);
sw_origin_set sw_origins_union(struct sw_origins *origins, sw_origin_set a, sw_origin_set b);
/* Of any elements, in any order. */
sw_origin_set sw_origins_of(struct sw_origins *origins, uint32_t *elements, uint32_t n);
/* All elements with these flags besides their own. */
sw_origin_set sw_origins_flag(struct sw_origins *origins, sw_origin_set set, uint32_t flags);

/* Elements are copied out: making sets moves them. */
uint32_t sw_origins_copy(const struct sw_origins *origins, sw_origin_set set, uint32_t out[SW_ORIGINS_MAX]);
static inline const struct sw_origin *sw_origin_at(const struct sw_origins *origins, uint32_t element)
{
	return &origins->origin.at[element >> SW_ELEMENT_SHIFT];
}

#endif
