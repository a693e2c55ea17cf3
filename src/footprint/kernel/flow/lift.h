/* SPDX-License-Identifier: Apache-2.0 */
/* Between the walk over the code (ssa.c) and what single instructions do (lift.c). */
#ifndef SW_FOOTPRINT_KERNEL_FLOW_LIFT_H
#define SW_FOOTPRINT_KERNEL_FLOW_LIFT_H

#include "footprint/kernel/flow/ssa.h"

struct sw_renamer;

/* The value of a variable here; an unknown number if it was never written. */
sw_node sw_renamer_read(struct sw_renamer *renamer, uint32_t var, uint8_t width, uint32_t block);
/* guard: SW_NO_NODE, or a condition without which the variable stays as it is. */
void sw_renamer_write(struct sw_renamer *renamer, uint32_t var, sw_node value, sw_node guard);
/* The variable that element k of a plain access to a local variable stands for; SW_NO_REG: memory. */
uint32_t sw_renamer_var(const struct sw_renamer *renamer, uint32_t insn, uint32_t k);
struct sw_ssa *sw_renamer_ssa(const struct sw_renamer *renamer);

/* Makes the nodes of one instruction and notes its use of memory. */
void sw_lift_insn(struct sw_renamer *renamer, uint32_t insn, uint32_t block);

#endif
