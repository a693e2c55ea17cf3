/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a launch touches, from the footprint of its kernel.  Private to src/detect.
 *
 * A plan holds for one launch.  Programs launch the same things again and again, so evaluations are remembered
 * (launch_memo.h), not plans.  Whether the addresses are allocated is for the caller to see.
 */
#ifndef SW_DETECT_KERNELS_LAUNCH_PLAN_H
#define SW_DETECT_KERNELS_LAUNCH_PLAN_H

#include "base/map.h"
#include "detect/memory/access.h"

struct sw_model;
struct sw_kernel;
struct sw_plans;

struct sw_plan_touch {
	uint32_t layer, layers; /* of an array: those that are touched; layers 0: any */
	struct sw_range range;
	uint64_t array;	 /* handle; range.address is an offset in it; 0: none */
	uint64_t lo, hi; /* not bounded: it lies in between (sw_deferrable_reach()); hi 0: not known */
	bool guess; /* one of several words, or perhaps an index: a pointer only if it points to allocated memory */
};

struct sw_plan {
	uint32_t touches;
	bool indirect; /* reaches memory through pointers in memory that are not known */
	bool followed; /* reaches memory through pointers in memory that are */
	bool writes_anywhere;
	bool symbols; /* module variables whose address the program did not take */
	bool objects; /* textures, surfaces or tensor maps that were not seen to be made */
	bool unknown; /* some of its accesses are unbounded */
	bool whole;   /* all parameters were recorded */
	bool memory;  /* another where more is known of what memory holds */
	const struct sw_plan_touch *touch;
};

struct sw_plans *sw_plans_new(void);
void sw_plans_free(struct sw_plans *plans);

/* The plan of the current launch (m->record), whose kernel has a footprint; malloc'ed.  Evaluates deferred launches if
   the kernel reads pointers from memory. */
struct sw_plan *sw_plan_make(struct sw_model *m, const struct sw_trace_function *function, struct sw_kernel *kernel);

#endif
