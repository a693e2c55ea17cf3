/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds that linear programs gave, from one evaluation to the next: launches of a kernel whose tensors lie elsewhere
 * pose the same programs again.  A new one may take the place of an old one.  Not thread-safe.
 */
#ifndef SW_FOOTPRINT_LAUNCH_LINEAR_KNOWN_BOUNDS_H
#define SW_FOOTPRINT_LAUNCH_LINEAR_KNOWN_BOUNDS_H

#include "footprint/launch/linear/linear_form.h"

struct sw_known_bounds;

struct sw_known_bound {
	uint64_t hash[2]; /* of all that the bound follows from; both 0: none */
	sw_wide highest;
	uint64_t work; /* that it took: an evaluation pays it again, so that its budget ends where it did */
};

/* An empty table of bounds. */
struct sw_known_bounds *sw_known_bounds_new(void);
void sw_known_bounds_free(struct sw_known_bounds *known); /* NULL is allowed */
/* The bound of a linear program by its hash; NULL: it is not known. */
const struct sw_known_bound *sw_known_bounds_find(const struct sw_known_bounds *known, const uint64_t hash[2]);
/* Remembers a bound; it may take the place of another. */
void sw_known_bounds_keep(struct sw_known_bounds *known, const struct sw_known_bound *bound);

#endif
