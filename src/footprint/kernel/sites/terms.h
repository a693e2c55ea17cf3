/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From nodes to terms: a second graph, without PHIs and halves, of what sites and facts need.
 *
 * SW_TERM_STEP: operands are start and step, imm is the loop of the flow graph.  SW_TERM_ANY: operands are the
 * alternatives, and with imm2 as many conditions.  SW_TERM_ELEMENT: imm is the element's size, imm2 the bytes of the
 * block that may be looked at: from (low half) to (high half).
 */
#ifndef SW_FOOTPRINT_KERNEL_SITES_TERMS_H
#define SW_FOOTPRINT_KERNEL_SITES_TERMS_H

#include "footprint/kernel/flow/path_conditions.h"
#include "footprint/kernel/sites/roots.h"

struct sw_terms {
	struct sw_ssa *ssa;
	const struct sw_roots *roots;
	struct sw_path_conditions *guards;
	struct sw_graph graph;
	SW_VEC(sw_node) of;	 /* by node of the SSA graph; SW_NO_NODE: not made yet */
	SW_VEC(sw_node) stack;	 /* nodes whose terms are being made */
	struct sw_map phis;	 /* hash of block and operands -> the first such PHI */
	uint32_t first_load;	 /* block; those before it know no data */
	struct sw_map ways;	 /* edge, from << 32 | to -> path_condition() of it */
	struct sw_map fixed;	 /* node of the SSA graph -> 1 yes, 2 no */
	SW_VEC(uint32_t) stores; /* uses that may write local memory, all slots */
};

/* An empty graph of terms. */
void sw_terms_init(struct sw_terms *terms, struct sw_ssa *ssa, const struct sw_roots *roots,
		   struct sw_path_conditions *guards);
void sw_terms_free(struct sw_terms *terms);
/* The term that a node of the value graph becomes: how its number follows from parameters, numbers of threads and
   counters of loops. */
sw_node sw_terms_of(struct sw_terms *terms, sw_node node);

/* loads.c */
/* The nodes that a load from local memory may give; false: not known.  At most SW_TERMS_ALTERNATIVES. */
#define SW_TERMS_ALTERNATIVES 32
bool sw_terms_local(struct sw_terms *terms, sw_node loaded, sw_node out[SW_TERMS_ALTERNATIVES], uint32_t *n);

/* A load from the parameter block, or from a local variable that is a copy of it: the node of its offset
   in the block and the bytes of the block that it may look at; false: it is none. */
bool sw_terms_table_load(struct sw_terms *terms, sw_node loaded, sw_node *offset, uint32_t *from, uint32_t *to);

/* The element of the parameter block, or the load, whose halves these two terms are; SW_NO_NODE: they
   are none. */
sw_node sw_terms_whole_load(struct sw_graph *graph, const sw_node *halves);

#endif
