/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call of cuBLAS, cuFFT and others touches by its documentation, for kernels whose code does not show
 * everything.
 */
#ifndef SW_DETECT_KERNELS_LIBRARY_CONTRACTS_H
#define SW_DETECT_KERNELS_LIBRARY_CONTRACTS_H

#include "detect/kernels/launch_plan.h"

struct sw_model;
struct sw_wait;

/* An access that begins at a pointer and has no known end ends with the operand, or the workspace, that holds the
   pointer. Returns `touch` itself, or `room` filled. */
const struct sw_plan_touch *sw_library_bound(const struct sw_model *m, const struct sw_access *what,
					     const struct sw_plan_touch *touch, struct sw_plan_touch *room);
/* The current launch, whose code does not show everything, may touch all operands and the workspace. */
void sw_library_contract(struct sw_model *m, const struct sw_wait *w);

#endif
