/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which launches may be worked out later (hazards/deferred.h): those of which it is known in which allocations they
 * lie.
 *
 * That is where the pointers of the parameter block lead to that the kernel's code reaches memory through, provided
 * that no access leaves these allocations.  The span of each access tells (footprint/launch_spans.h).  Where it has no
 * bounds, since a table of pointers or what was loaded goes into the address, the kernel is watched: in the first
 * launch that uses a pointer, and in each that is worked out later, everything must lie in the allocation of its
 * pointer, as it does in any correct program.  A kernel that strays once is never put off so again.
 *
 * Launches that reach memory which the host can touch, freed memory, memory that may not be allocated yet, parts of
 * reservations or of suballocators are worked out at once: what they do there counts beyond the accesses they meet.
 */
#ifndef SW_DETECT_KERNELS_DEFERRABLE_H
#define SW_DETECT_KERNELS_DEFERRABLE_H

#include "detect/hazards/deferred.h"

struct sw_kernel;
struct sw_plan;

/* What is known of a kernel, whatever the launch. */
struct sw_deferrable;

#define SW_MOST_POINTED 64u

/* Of one launch: the allocations that its pointers lead to. */
struct sw_pointed {
	uint32_t blocks;
	struct sw_block *block[SW_MOST_POINTED];
	uint64_t words;		  /* which of the kernel's pointers do */
	enum sw_evidence weakest; /* the same of each launch of the kernel */
};

/* Of the launch in hand (m->record, at `point`), whose kernel has a footprint.  What starts at its pointers is known
   from then on.  False: it is worked out at once. */
bool sw_pointed_find(struct sw_model *m, struct sw_kernel *kernel, struct sw_point point, struct sw_pointed *out);
/* Does it stay in them? */
bool sw_pointed_stays(struct sw_model *m, struct sw_kernel *kernel, const struct sw_pointed *pointed);
/* The launch in hand was worked out, with this result. */
void sw_pointed_learn(struct sw_model *m, struct sw_kernel *kernel, const struct sw_plan *plan,
		      const struct sw_pointed *pointed);
/* One that was put off did not stay. */
void sw_pointed_strayed(struct sw_kernel *kernel);
void sw_deferrable_free(struct sw_deferrable *deferrable);

#endif
