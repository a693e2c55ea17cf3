/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a kernel as a graph: equal computations are one node.
 *
 * A node is made by sw_graph_make(), which folds constants and simplifies, so that two ways to write an address meet.
 * Nodes are numbers; operands are nodes with smaller numbers, except those of PHIs.  Not thread-safe.
 */
#ifndef SW_FOOTPRINT_KERNEL_VALUES_VALUE_GRAPH_H
#define SW_FOOTPRINT_KERNEL_VALUES_VALUE_GRAPH_H

#include "base/map.h"
#include "footprint/footprint.h"

typedef uint32_t sw_node;
#define SW_NO_NODE UINT32_MAX

/* In addition to enum sw_op (and SW_TERM_STEP to SW_TERM_LOADED, which are SW_OPS and the next three): */
enum {
	SW_VALUE_PHI = SW_OPS + 4, /* at the start of block imm, operand i: from its predecessor i */
	SW_VALUE_LOADED,	   /* what a load or an atomic gave; operand 0: address */
	SW_VALUE_OPS
};

/*
 * A node.  Operands have `width` bits as well, except as ops.def says; those of COMPARE have imm2 bits, the first of
 * SELECT has 1 bit, a shift count has 32.  CONST: imm is sign-extended from `width` bits, 0 or 1 for a width of 1.
 * RANGE, MIX and LOADED are never merged with others; of a RANGE imm and imm2 bound them (LOADED: by `bytes` and
 * SW_SIGNED).
 */
struct sw_value {
	uint8_t op, width, flags; /* flags: SW_SIGNED only */
	uint8_t why;		  /* enum sw_why of a RANGE */
	uint8_t space, bytes;	  /* LOADED: enum sw_space, size in memory; RANGE: enum sw_range_from */
	uint8_t chooses; /* a SELECT, or plain operations on one: simplify.c looks for choices within choices nowhere
			    else */
	uint32_t n;	 /* operands */
	uint32_t operand[3]; /* n > 3: operand[0] is where they start in the graph's list */
	int64_t imm, imm2;
};

#define SW_GRAPH_CONSTANTS 64
struct sw_graph {
	SW_VEC(struct sw_value) value;
	SW_VEC(sw_node) list;
	struct sw_graph_bucket {
		uint32_t node, hash; /* node + 1; 0: free */
	} * bucket;		     /* hash table, open addressing */
	size_t buckets, filled;
	struct sw_graph_constant {
		int64_t imm;
		uint32_t node, width;	/* node + 1 */
	} constant[SW_GRAPH_CONSTANTS]; /* by hash: the last that was asked for */
	SW_VEC(sw_node) inverse;	/* by node of one bit: NOT of it, + 1; 0: not made yet */
	struct sw_map pairs;		/* (low PHI, high PHI) of one block -> the PHI of 64 bits, and back */
	SW_VEC(sw_node) paired;		/* the PHIs of 64 bits that were made so */
	struct sw_map joined;		/* what register_pairs.c found before */
	bool whole;			/* of terms: what would be a half, a pair or a carry is arithmetic on 64 bits */
	bool choosing;			/* simplify.c looks for choices within choices */
	unsigned *pairs_budget;		/* of the outermost of its running rules; NULL: none */
};

void sw_graph_free(struct sw_graph *graph);
/* Room for about so many nodes at once; there may be more. */
void sw_graph_expect(struct sw_graph *graph, size_t nodes);

/* The value of a node. */
static inline const struct sw_value *sw_graph_at(const struct sw_graph *graph, sw_node node)
{
	return &graph->value.at[node];
}
/* All operands of a node. */
static inline const sw_node *sw_graph_operands(const struct sw_graph *graph, sw_node node)
{
	const struct sw_value *v = &graph->value.at[node];
	return v->n > 3 ? graph->list.at + v->operand[0] : v->operand;
}
/* The node's operand i. */
static inline sw_node sw_graph_operand(const struct sw_graph *graph, sw_node node, uint32_t i)
{
	return sw_graph_operands(graph, node)[i];
}

/* The node of `op` over n operands; operands of another width than wanted are cut down or extended with zeros. */
struct sw_making {
	uint8_t op, width, flags, why, space, bytes;
	uint16_t n;
	int64_t imm, imm2;
};
sw_node sw_graph_make(struct sw_graph *graph, struct sw_making making, const sw_node *operands);

/* The operation to make a node like this one again, of other operands. */
static inline struct sw_making sw_making_of(const struct sw_value *v)
{
	return (struct sw_making){.op = v->op,
				  .width = v->width,
				  .flags = v->flags,
				  .why = v->why,
				  .space = v->space,
				  .bytes = v->bytes,
				  .n = (uint16_t)v->n,
				  .imm = v->imm,
				  .imm2 = v->imm2};
}

/* The node of a number. */
sw_node sw_graph_const(struct sw_graph *graph, uint8_t width, int64_t imm);
/* sw_graph_make() for an operation on one operand. */
sw_node sw_graph_unary(struct sw_graph *graph, enum sw_op op, uint8_t width, sw_node a);
/* sw_graph_make() for an operation on two operands. */
sw_node sw_graph_binary(struct sw_graph *graph, enum sw_op op, uint8_t width, uint8_t flags, sw_node a, sw_node b);
/* sw_graph_make() for: condition ? yes : no. */
sw_node sw_graph_select(struct sw_graph *graph, uint8_t width, sw_node condition, sw_node yes, sw_node no);
/* sw_graph_make() for a comparison of two numbers of `bits` bits.  flags: SW_SIGNED. */
sw_node sw_graph_compare(struct sw_graph *graph, enum sw_condition condition, uint8_t bits, uint8_t flags, sw_node a,
			 sw_node b);
/* The low `bits` bits of a node extended to `width` bits, by the sign if flags say SW_SIGNED. */
sw_node sw_graph_extend(struct sw_graph *graph, uint8_t width, uint8_t bits, uint8_t flags, sw_node a);
/* The node in `width` bits: itself, truncated, or zero-extended. */
sw_node sw_graph_fit(struct sw_graph *graph, sw_node a, uint8_t width);
/* Any number of `width` bits; a new one each time. */
sw_node sw_graph_range(struct sw_graph *graph, uint8_t width, enum sw_why why);
/* A new PHI at the start of a block, whose operands are given later, once. */
sw_node sw_graph_phi(struct sw_graph *graph, uint8_t width, uint32_t block);
/* Gives a PHI its operands, in the order of the block's predecessors. */
void sw_graph_phi_set(struct sw_graph *graph, sw_node phi, const sw_node *operands, uint32_t n);

/* Is the node a number?  *imm receives it. */
bool sw_graph_is_const(const struct sw_graph *graph, sw_node node, int64_t *imm);

/* Values of two halves, put together (register_pairs.c).  Called for all operations before a node is made of
   `making`: a better node that stands for the same value, or SW_NO_NODE.  It may call sw_graph_make() for what is
   simpler than what it was called for. */
sw_node sw_register_pairs_simplify(struct sw_graph *graph, const struct sw_making *making, const sw_node *operands);
/* PAIR, LOW, HIGH, ADDX and CARRY as arithmetic on 64 bits; SW_NO_NODE: it is none of these. */
sw_node sw_register_pairs_whole(struct sw_graph *graph, const struct sw_making *making, const sw_node *operands);
/* "Both halves are 0", or "not both", of two PHIs that are known to be halves of one number: a test of 64 bits;
   SW_NO_NODE: it is none.  Asked when all nodes of the code are made: the address that needs both halves follows the
   test for a null pointer. */
sw_node sw_register_pairs_is_zero(struct sw_graph *graph, sw_node node);
/* Combines two 32-bit PHIs of one block to one of 64 bits: makes it (operands follow when both have theirs), or
   finds it; SW_NO_NODE: there are too many already. */
#define SW_GRAPH_MAX_PAIRED (1u << 16)
/* Combines two 32-bit PHIs of one block to one of 64 bits: makes it (operands follow when both have theirs), or
   finds it.  SW_NO_NODE: there are too many already. */
sw_node sw_graph_phi_pair(struct sw_graph *graph, sw_node low, sw_node high);
/* The PHI of 64 bits that sw_graph_phi_pair() made of these two; SW_NO_NODE: it did not. */
sw_node sw_graph_phi_pair_known(const struct sw_graph *graph, sw_node low, sw_node high);
/* The two PHIs of 32 bits that a PHI was made of by sw_graph_phi_pair(); false: it was not. */
bool sw_graph_phi_halves(const struct sw_graph *graph, sw_node phi, sw_node *low, sw_node *high);

#endif
