/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the documentation of cuBLAS, cuFFT and others says that a call touches, for kernels whose code does not tell all
 * that they touch.
 */
#ifndef SW_DETECT_KERNELS_LIBRARY_CONTRACTS_H
#define SW_DETECT_KERNELS_LIBRARY_CONTRACTS_H

#include "detect/kernels/launch_plan.h"

struct sw_model;
struct sw_wait;

/* Of an access that begins at a pointer and ends nobody knows where: it ends with the operand, or the workspace, that
   the pointer leads into.  `touch` itself, or `room` filled. */
const struct sw_plan_touch *sw_library_bound(const struct sw_model *m, const struct sw_access *what,
					     const struct sw_plan_touch *touch, struct sw_plan_touch *room);
/* The launch in hand, whose code does not tell all, may touch all operands and the workspace. */
void sw_library_contract(struct sw_model *m, const struct sw_wait *w);

#endif
