/* SPDX-License-Identifier: Apache-2.0 */
/* The set of addresses of an access, made ready for boxes.c: variables with intervals, inequalities over them. */
#ifndef SW_FOOTPRINT_LAUNCH_EVALUATION_AREA_H
#define SW_FOOTPRINT_LAUNCH_EVALUATION_AREA_H

#include "footprint/launch/evaluation/eval.h"

#define SW_AREA_VARS 24
#define SW_AREA_ROWS 48

struct sw_area_row {
	sw_wide constant, by[SW_AREA_VARS];
};
struct sw_area {
	const struct sw_eval *eval;
	uint32_t n, rows;
	bool empty;		    /* found while it was made simple: no whole numbers satisfy the rows */
	uint32_t var[SW_AREA_VARS]; /* SW_NONE: a remainder */
	sw_wide lo[SW_AREA_VARS], hi[SW_AREA_VARS];
	struct sw_area_row address, row[SW_AREA_ROWS]; /* row >= 0 */
};

/* Replaces quotients by digits, shortens intervals, drops rows that say nothing and variables that only rows have.
   Every address stays, none is added; an area that is found to be empty is left as it is then.  false: that can't be
   done. */
bool sw_area_simplify(struct sw_area *area);

/* The cost of a slice of an area, of the budget. */
#define SW_AREA_SLICE_COST 20

/* Boxes are made for these: `bytes` bytes from each address on. */
struct sw_area_shape {
	const struct sw_reach *like;
	struct sw_reaches *out;
	size_t from; /* pieces begin here */
	uint64_t bytes;
	struct sw_bounds *at; /* where boxes began so far, those that were given up too */
};

/* The number of a variable in the area; -1: it is not there. */
static inline int sw_area_local(const struct sw_area *p, uint32_t var)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->var[i] == var)
			return (int)i;
	}
	return -1;
}

#endif
