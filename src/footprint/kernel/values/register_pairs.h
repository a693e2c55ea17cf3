/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of pairs*.c: values of 64 bits put together again from what machine code makes of them.
 *
 * Rules call each other through struct sw_register_pairs, whose budget ends what hostile code could make of it; where
 * it ends, a value stays in two halves, which costs precision only.  They make nodes, which calls them again: those
 * share the budget of the outermost, and what was found once is remembered.  Without that, selects of selects took
 * twice the time for each level (libcublas's kernel_trsm_l_mul32: no end within minutes).
 */
#ifndef SW_FOOTPRINT_KERNEL_VALUES_REGISTER_PAIRS_H
#define SW_FOOTPRINT_KERNEL_VALUES_REGISTER_PAIRS_H

#include "footprint/kernel/values/value_graph.h"

struct sw_register_pairs {
	struct sw_graph *graph;
	unsigned *budget;
};
#define SW_PAIRS_BUDGET 1000

/* rule(a, b), or what it gave before for this key.  Asked for itself, it is none. */
#define SW_PAIRS_KEY_OF_JOIN(low, high) ((uint64_t)(low) << 32 | (high))
#define SW_PAIRS_KEY_OF_HALF(node, upper)                                                                              \
	((uint64_t)(node) << 32 | (SW_NO_NODE - (upper))) /* no node has such a number */
typedef sw_node sw_register_pairs_rule(struct sw_register_pairs *p, sw_node a, sw_node b);
/* rule(a, b), or what it gave before for this key; SW_NO_NODE where it asks for itself. */
sw_node sw_register_pairs_remembered(struct sw_register_pairs *p, uint64_t key, sw_register_pairs_rule *rule, sw_node a,
				     sw_node b);

/* The value of 64 bits with these halves, if there is a simpler one than a PAIR; else SW_NO_NODE. */
sw_node sw_register_pairs_join(struct sw_register_pairs *p, sw_node low, sw_node high);
/* The value of 64 bits with these halves, a PAIR if it must be. */
sw_node sw_register_pairs_joined(struct sw_register_pairs *p, sw_node low, sw_node high);
/* The lower or upper half of a value of 64 bits; SW_NO_NODE: it is no simpler than LOW or HIGH. */
sw_node sw_register_pairs_half(struct sw_register_pairs *p, bool upper, sw_node value);
/* One comparison of 64 bits for "upper halves equal ? lower halves compare : upper halves compare"; SW_NO_NODE: it
   is none. */
sw_node sw_register_pairs_select(struct sw_register_pairs *p, sw_node equal, sw_node lower, sw_node strict);
/* One comparison of 64 bits for the condition a && b; SW_NO_NODE: it is none. */
sw_node sw_register_pairs_both(struct sw_register_pairs *p, sw_node a, sw_node b);
/* One comparison of 64 bits for the condition a || b; SW_NO_NODE: it is none. */
sw_node sw_register_pairs_either(struct sw_register_pairs *p, sw_node a, sw_node b);

/* The value of a node. */
static inline const struct sw_value *sw_register_pairs_at(const struct sw_register_pairs *p, sw_node n)
{
	return sw_graph_at(p->graph, n);
}
/* Is the node such an operation of such a width? */
static inline bool sw_register_pairs_is(const struct sw_register_pairs *p, sw_node n, unsigned op, unsigned width)
{
	const struct sw_value *v = sw_register_pairs_at(p, n);
	return v->op == op && v->width == width;
}
/* The node's operand i. */
static inline sw_node sw_register_pairs_operand(const struct sw_register_pairs *p, sw_node n, uint32_t i)
{
	return sw_graph_operand(p->graph, n, i);
}

#endif
