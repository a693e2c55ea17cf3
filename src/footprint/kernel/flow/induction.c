/* SPDX-License-Identifier: Apache-2.0 */
/* Finds variables of loops: PHIs to which each iteration adds the same. */
#include "footprint/kernel/flow/induction.h"

#include <stdlib.h>

/* A sum of more, or an invariant of more nodes, is not looked at. */
#define MAX_ADDENDS 32
#define MAX_LOOKED  256
/* PHIs that carry one value around nested loops, a few for each. */
#define MAX_CARRIED 16

/* The one value that is no PHI and that PHIs from `node` on carry around (through nested loops); `node` where there
   are several. */
static sw_node carried_value(const struct sw_ssa *ssa, sw_node node)
{
	sw_node phi[MAX_CARRIED] = {node}, one = SW_NO_NODE;
	uint32_t phis = 1;
	for (uint32_t i = 0; i < phis; i++) {
		uint32_t operands = sw_graph_at(&ssa->graph, phi[i])->n;
		for (uint32_t k = 0; k < operands; k++) {
			sw_node from = sw_graph_operand(&ssa->graph, phi[i], k);
			const struct sw_value *v = sw_graph_at(&ssa->graph, from);
			uint32_t known = 0;
			if (v->op != SW_VALUE_PHI || !v->n) {
				if (one != SW_NO_NODE && one != from)
					return node;
				one = from;
				continue;
			}
			while (known < phis && phi[known] != from)
				known++;
			if (known == MAX_CARRIED)
				return node;
			phi[known] = from;
			phis += known == phis;
		}
	}
	return one == SW_NO_NODE ? node : one;
}

sw_node sw_step_forward(const struct sw_ssa *ssa, sw_node node)
{
	for (int depth = 0; depth < 8; depth++) {
		const struct sw_value *v = sw_graph_at(&ssa->graph, node);
		sw_node one = node;
		if (v->op != SW_VALUE_PHI || !v->n)
			return node;
		for (uint32_t i = 0; i < v->n; i++) {
			sw_node o = sw_graph_operand(&ssa->graph, node, i);
			if (o == node || o == one)
				continue;
			if (one != node)
				return carried_value(ssa, node);
			one = o;
		}
		if (one == node)
			return node;
		node = one;
	}
	return node;
}

/* A test of a value that is not computed from others.  block: where it comes to be, SW_NO_BLOCK nowhere. */
typedef bool leaf_test(const struct sw_ssa *ssa, const struct sw_value *leaf, uint32_t block, uint32_t loop);

/* Do all values that the node is computed from, down to PHIs, loads and other values without operands, pass the
   test? */
static bool leaves_pass(const struct sw_ssa *ssa, sw_node node, leaf_test *test, uint32_t loop)
{
	sw_node looked[MAX_LOOKED];
	uint32_t n = 1;
	looked[0] = node;
	for (uint32_t i = 0; i < n; i++) {
		sw_node at = sw_step_forward(ssa, looked[i]);
		const struct sw_value *v = sw_graph_at(&ssa->graph, at);
		uint32_t block = sw_ssa_block_of(ssa, at);
		if ((block != SW_NO_BLOCK || !v->n) && !test(ssa, v, block, loop))
			return false;
		if (block != SW_NO_BLOCK)
			continue;
		for (uint32_t k = 0; k < v->n; k++) {
			sw_node o = sw_graph_operand(&ssa->graph, at, k);
			uint32_t seen = 0;
			while (seen < n && looked[seen] != o)
				seen++;
			if (seen < n)
				continue;
			if (n == MAX_LOOKED)
				return false;
			looked[n++] = o;
		}
	}
	return true;
}

/* Does the value come to be outside of the loop, so that it does not change in it? */
static bool is_outside(const struct sw_ssa *ssa, const struct sw_value *leaf, uint32_t block, uint32_t loop)
{
	(void)leaf;
	return block == SW_NO_BLOCK || !sw_flow_in_loop(&ssa->flow, block, loop);
}

/* Is it a constant, a parameter or a launch value, and not made in some block? */
static bool is_nowhere(const struct sw_ssa *ssa, const struct sw_value *leaf, uint32_t block, uint32_t loop)
{
	(void)ssa, (void)leaf, (void)loop;
	return block == SW_NO_BLOCK;
}

bool sw_step_is_fixed(const struct sw_ssa *ssa, sw_node node)
{
	return leaves_pass(ssa, node, is_nowhere, 0);
}

/* Is the node the PHI, or does it have the same low bits, as a number of 64 bits that was cut to an int and widened
   again? */
static bool is_phi(const struct sw_ssa *ssa, sw_node node, sw_node phi, unsigned bits)
{
	const struct sw_value *v = sw_graph_at(&ssa->graph, node);
	return node == phi || (v->op == SW_OP_EXTEND && v->imm >= (int64_t)bits &&
			       sw_step_forward(ssa, sw_graph_operand(&ssa->graph, node, 0)) == phi);
}

/* The number that `value` adds to (the low bits of) the PHI: the sum without it.  SW_NO_NODE: it is no such sum, or
   its other parts change in the loop. */
static sw_node less_phi(struct sw_ssa *ssa, sw_node value, sw_node phi, uint32_t loop, unsigned bits)
{
	struct {
		sw_node node;
		bool minus;
	} addend[MAX_ADDENDS];
	uint8_t width = sw_graph_at(&ssa->graph, phi)->width;
	uint32_t n = 1, phis = 0;
	sw_node rest = sw_graph_const(&ssa->graph, width, 0);
	addend[0].node = value;
	addend[0].minus = false;
	while (n) {
		sw_node at = sw_step_forward(ssa, addend[--n].node);
		bool minus = addend[n].minus;
		struct sw_value v = *sw_graph_at(&ssa->graph, at);
		if (is_phi(ssa, at, phi, bits)) {
			if (minus || phis++)
				return SW_NO_NODE;
		} else if ((v.op == SW_OP_ADD || v.op == SW_OP_SUB) && v.width == width) {
			if (n + 2 > MAX_ADDENDS)
				return SW_NO_NODE;
			addend[n].node = v.operand[0];
			addend[n++].minus = minus;
			addend[n].node = v.operand[1];
			addend[n++].minus = minus != (v.op == SW_OP_SUB);
		} else {
			if (!leaves_pass(ssa, at, is_outside, loop))
				return SW_NO_NODE;
			rest = sw_graph_binary(&ssa->graph, minus ? SW_OP_SUB : SW_OP_ADD, width, 0, rest, at);
		}
	}
	return phis ? rest : SW_NO_NODE;
}

bool sw_step_find_low(struct sw_ssa *ssa, sw_node phi, unsigned bits, sw_node *step)
{
	uint32_t header = (uint32_t)sw_graph_at(&ssa->graph, phi)->imm;
	const struct sw_basic_block *b = &ssa->flow.block.at[header];
	*step = SW_NO_NODE;
	if (ssa->flat || !b->header || b->irregular || sw_graph_at(&ssa->graph, phi)->n != b->preds)
		return false;
	for (uint32_t i = 0; i < b->preds; i++) {
		if (!sw_flow_retreats(ssa->flow.edge.at[b->pred + i], header))
			continue;
		sw_node s = less_phi(ssa, sw_graph_operand(&ssa->graph, phi, i), phi, b->loop, bits);
		if (s == SW_NO_NODE || (*step != SW_NO_NODE && s != *step))
			return false;
		*step = s;
	}
	return *step != SW_NO_NODE;
}

bool sw_step_find(struct sw_ssa *ssa, sw_node phi, sw_node *step)
{
	return sw_step_find_low(ssa, phi, sw_graph_at(&ssa->graph, phi)->width, step);
}
