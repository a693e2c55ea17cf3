/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which launches may be evaluated later (hazards/deferred.h): those whose allocations are known.
 *
 * These are the allocations that the pointers of the parameter block lead to, as far as the kernel's code uses them,
 * and those of the tensors whose maps lie in the block, provided that no access can leave them according to its span
 * (footprint/launch_spans.h).  A launch without bounds may
 * access anything, except where freed memory is remembered or memory of pools is alive: what a launch does there counts
 * even if no other access conflicts with it.
 *
 * Other lanes may use these allocations, too, as long as they touch other bytes.  The bytes of a launch are those
 * between the first and the last that it may touch through one pointer, by its spans.  An access of unknown extent ends
 * where they end: what is deferred, and the same evaluated at once, touches nothing outside of them.
 *
 * Launches that may access memory of the host, freed memory, memory that may not be allocated yet, parts of
 * reservations or of suballocators are evaluated at once: what they do there counts in any case.
 */
#ifndef SW_DETECT_KERNELS_DEFERRABLE_H
#define SW_DETECT_KERNELS_DEFERRABLE_H

#include "detect/hazards/deferred.h"

struct sw_kernel;

/* Knowledge of a kernel, whatever the launch. */
struct sw_deferrable;

#define SW_MOST_POINTED 64u
#define SW_MOST_RANGES	64u
#define SW_MOST_MAPS	16u

/* Where its addresses may lie. */
enum sw_where {
	SW_WITHIN,   /* in the allocations that are known */
	SW_ANYWHERE, /* in memory that lives */
	SW_IN_DOUBT  /* perhaps in memory that was freed, or is not allocated yet */
};

/* One launch: the allocations that its pointers lead to, and those that it may reach from there. */
struct sw_pointed {
	uint32_t blocks;
	struct sw_block *block[SW_MOST_POINTED];
	/* Tensors that it reaches by maps in its parameter block: addresses. */
	uint32_t maps;
	struct sw_mapped_tensor {
		uint64_t lo, hi;
		uint32_t at; /* of the map, in the block */
	} map[SW_MOST_MAPS];
	bool known; /* where it lies, already */
	enum sw_where where;
	/* WITHIN, unless it lies in memory that the trace does not know: the allocations that it may touch, and where.
	 */
	struct sw_deferred_place place;
	struct sw_block *placed[SW_MOST_POINTED];
	struct sw_deferred_range range[SW_MOST_RANGES];
	enum sw_evidence weakest; /* the same of each launch of the kernel */
};

/* For the current launch (m->record, at `point`), whose kernel has a footprint.  What starts at its pointers is known
   from then on.  False: it is evaluated at once. */
bool sw_pointed_find(struct sw_model *m, struct sw_kernel *kernel, struct sw_point point, struct sw_pointed *out);
/* Finds the allocations that it may access beyond those of its pointers. alone: a coarse answer is enough. */
enum sw_where sw_pointed_where(struct sw_model *m, struct sw_kernel *kernel, struct sw_point point,
			       struct sw_pointed *pointed, bool alone);
/* The bytes that the current launch may touch through the pointer at an offset in the parameter block: absolute
   addresses; none: 0, 0.  False: that is not known, or the launch cannot be deferred. */
bool sw_deferrable_reach(struct sw_model *m, struct sw_kernel *kernel, uint32_t word, uint64_t *lo, uint64_t *hi);
void sw_deferrable_free(struct sw_deferrable *deferrable);

#endif
