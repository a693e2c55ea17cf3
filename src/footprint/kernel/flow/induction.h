/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of loops. */
#ifndef SW_FOOTPRINT_KERNEL_FLOW_INDUCTION_H
#define SW_FOOTPRINT_KERNEL_FLOW_INDUCTION_H

#include "footprint/kernel/flow/ssa.h"

/* The node whose value a PHI always has: all operands of the PHI are that node, the PHI itself, or PHIs of which the
   same is true.  The node itself if there is no such one. */
sw_node sw_step_forward(const struct sw_ssa *ssa, sw_node node);
/* True: every iteration of its loop adds *step, which does not change in the loop, to the PHI at the loop's header. */
bool sw_step_find(struct sw_ssa *ssa, sw_node phi, sw_node *step);
/* As sw_step_find(), for its low bits alone, modulo 2^bits. */
bool sw_step_find_low(struct sw_ssa *ssa, sw_node phi, unsigned bits, sw_node *step);
/* True: made of constants, parameters and geometry only, so that it is the same wherever a thread looks at it. */
bool sw_step_is_fixed(const struct sw_ssa *ssa, sw_node node);

#endif
