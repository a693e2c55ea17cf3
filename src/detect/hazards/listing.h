/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the nodes of a graph touch: listed when the graph is first launched, judged at every launch.  Not thread-safe.
 */
#ifndef SW_DETECT_HAZARDS_LISTING_H
#define SW_DETECT_HAZARDS_LISTING_H

#include "detect/memory/shadow.h"

struct sw_model;
struct sw_touch;

/* One access of a node. */
struct sw_listed {
	uint32_t node; /* index in the exec */
	struct sw_access what;
	struct sw_range range;
	bool array, guess;
	uint64_t handle;
	struct sw_shadow_use
		*use; /* where it lay when it was listed; only until the nodes were compared, NULL: memory that ended */
};

struct sw_listing {
	SW_VEC(struct sw_listed) at;
	uint32_t node;
	bool perhaps; /* the node may not run */
	bool unknown; /* the accesses of some node are unknown */
	bool blind;   /* some node may write anywhere */
	bool follows; /* some node follows pointers in memory */
};

/* Takes the reference; use: NULL where the memory has ended. */
void sw_listing_add(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
		    const struct sw_touch *how, struct sw_shadow_use *use);

#endif
