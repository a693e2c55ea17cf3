/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which accesses of a kernel come after its griddepcontrol.wait, and which may follow its trigger.
 *
 * The wait holds the executing thread alone (PTX ISA, "griddepcontrol"), so an access comes after it if each way to the
 * access passes a wait, or a barrier of the block in front of which some thread of the block waited.  Where threads
 * signal each other in other ways (mbarriers, named barriers, flags) nothing is sure.
 */
#ifndef SW_FOOTPRINT_KERNEL_SITES_GRID_ORDER_H
#define SW_FOOTPRINT_KERNEL_SITES_GRID_ORDER_H

#include "footprint/kernel/sites/emit.h"

struct sw_grid_order;

/* NULL: the kernel neither waits nor triggers. */
struct sw_grid_order *sw_grid_order_find(struct sw_ssa *ssa, struct sw_path_conditions *guards);
void sw_grid_order_free(struct sw_grid_order *order);
/* SW_ORDER_* of an access; notes that it is there.  order NULL: 0. */
uint32_t sw_grid_order_of(struct sw_grid_order *order, const struct sw_memory_op *use);
/* Emits the waits and triggers, when all accesses are noted. */
void sw_grid_order_emit(struct sw_grid_order *order, struct sw_emit *emit);

#endif
