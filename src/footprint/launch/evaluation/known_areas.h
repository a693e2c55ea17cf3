/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found of an area: the sites of an unrolled loop, and a site in its cases, have areas that differ in where
 * they begin alone.  Not thread-safe.
 */
#ifndef SW_FOOTPRINT_LAUNCH_EVALUATION_KNOWN_AREAS_H
#define SW_FOOTPRINT_LAUNCH_EVALUATION_KNOWN_AREAS_H

#include "footprint/launch/evaluation/eval.h"

/* from: less the address's constant. */
struct sw_known_box {
	sw_wide from;
	uint64_t width, rows, pitch, slices, slice;
};

struct sw_known_area {
	uint64_t check;
	uint64_t work;	     /* that it took, of the budget */
	struct sw_bounds at; /* where boxes begin, those that were given up too, less the constant */
	uint32_t first, n;   /* boxes; */
	enum sw_why why;     /* or why there are none */
};

/* NULL: it is not known. */
const struct sw_known_area *sw_known_areas_find(const struct sw_eval *e, const uint64_t hash[2]);
void sw_known_areas_keep(struct sw_eval *e, const uint64_t hash[2], struct sw_known_area area,
			 const struct sw_known_box *box);
/* NULL: it has none. */
const struct sw_known_box *sw_known_areas_boxes(const struct sw_eval *e, const struct sw_known_area *area);

#endif
