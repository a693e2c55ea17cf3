/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions that are known to be true in a block, from the branches that lead there.
 *
 * A condition that holds on an edge holds wherever the edge dominates, for the values of the graph: none of them can
 * change between the edge and there without the edge being taken again.
 */
#ifndef SW_FOOTPRINT_KERNEL_FLOW_PATH_CONDITIONS_H
#define SW_FOOTPRINT_KERNEL_FLOW_PATH_CONDITIONS_H

#include "footprint/kernel/flow/ssa.h"

/* Facts as a list from the innermost to the outermost; lists share their ends. */
struct sw_path_condition {
	sw_node node; /* is true */
	uint32_t next;
};
#define SW_NO_CONDITION UINT32_MAX

struct sw_path_conditions {
	SW_VEC(struct sw_path_condition) guard;
	uint32_t *of;	      /* by block: head of the list */
	struct sw_map chosen; /* edge of a SWITCH -> the condition that it is the one */
	sw_node unknown;      /* condition that stands for those that are not kept, + 1 */
};

/* Finds the conditions that hold in each block.  Adds nodes to the graph (negations). */
void sw_path_conditions_find(struct sw_ssa *ssa, struct sw_path_conditions *guards);
void sw_path_conditions_free(struct sw_path_conditions *guards);
/* Prepends to a list what holds if `condition` is true; returns the new list. */
uint32_t sw_path_conditions_add(struct sw_ssa *ssa, struct sw_path_conditions *guards, uint32_t list,
				sw_node condition);
/* The list of conditions that hold on the edge from block `from` to block `to`. */
uint32_t sw_path_conditions_on_edge(struct sw_ssa *ssa, struct sw_path_conditions *guards, uint32_t from, uint32_t to);
/* The list of conditions that are in both lists, up to `end`. */
uint32_t sw_path_conditions_common(struct sw_ssa *ssa, struct sw_path_conditions *guards, uint32_t a, uint32_t b,
				   uint32_t end);
/* Prepends an unknown condition to a list: a dropped condition must not count as no condition. */
uint32_t sw_path_conditions_unknown(struct sw_ssa *ssa, struct sw_path_conditions *guards, uint32_t list);
/* Does the node depend on loaded data, or on a number that some thread has (MIX without operands, ops.def)? Tables in
 * constant memory count as code; the index into them counts. */
bool sw_path_conditions_are_data(const struct sw_ssa *ssa, sw_node node);

#endif
