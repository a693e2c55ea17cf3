/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the documentation of cuBLAS, cuFFT and others says that a call touches, for kernels whose code does not tell all
 * that they touch.
 */
#ifndef SW_DETECT_KERNELS_LIBRARY_CONTRACTS_H
#define SW_DETECT_KERNELS_LIBRARY_CONTRACTS_H

#include "detect/kernels/launch_plan.h"
#include "detect/kernels/library_operands.h"

struct sw_model;
struct sw_wait;

/* The memory that the launch in hand may use: operands, and what the library was given to work in. */
struct sw_operands sw_library_known(const struct sw_model *m, const struct sw_access *what);
/* Of an access that begins at a pointer and ends nobody knows where: it ends with what the pointer leads into. */
struct sw_plan_touch sw_library_bound(const struct sw_operands *known, const struct sw_plan_touch *touch);
/* The launch in hand, whose code does not tell all, may touch all of it. */
void sw_library_contract(struct sw_model *m, const struct sw_wait *w);

#endif
