/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic operations that wait: the same operation on the same word, again and again until its result is another one.
 *
 * That is how a lock is taken (compare and swap, exchange) or a barrier between blocks is waited for.  A loop that
 * computes its operands anew (an atomic maximum of floats by compare and swap), or goes from word to word (a hash
 * table), waits for nobody.
 */
#include "footprint/kernel/sites/emit.h"
#include "footprint/rules.h"

/* Nodes that are looked through for each question. */
#define MOST_NODES 64u

struct search {
	const struct sw_ssa *ssa;
	uint32_t loop, use;
	sw_node todo[MOST_NODES];
	uint32_t n, seen;
};

static void push_node(struct search *s, sw_node node)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->todo[i] == node)
			return;
	if (s->n < MOST_NODES)
		s->todo[s->n] = node;
	s->n += s->n < MOST_NODES;
}

static void push_operands(struct search *s, sw_node node)
{
	const struct sw_value *v = sw_graph_at(&s->ssa->graph, node);
	for (uint32_t i = 0; i < v->n; i++)
		push_node(s, sw_graph_operand(&s->ssa->graph, node, i));
}

/* Has the node one value in all turns of the loop? */
static bool is_fixed(const struct sw_ssa *ssa, sw_node node, uint32_t loop)
{
	struct search s = {.ssa = ssa};
	push_node(&s, node);
	while (s.seen < s.n) {
		node = s.todo[s.seen++];
		const struct sw_value *v = sw_graph_at(&ssa->graph, node);
		if (v->op == SW_VALUE_PHI && sw_flow_in_loop(&ssa->flow, (uint32_t)v->imm, loop))
			return false;
		if (v->op == SW_VALUE_LOADED && sw_flow_in_loop(&ssa->flow, ssa->use.at[v->imm].block, loop))
			return false;
		if (v->op != SW_VALUE_PHI && v->op != SW_VALUE_LOADED)
			push_operands(&s, node);
	}
	return s.n < MOST_NODES;
}

/* Does the condition depend on what the use gave? */
static bool depends_on(const struct sw_ssa *ssa, sw_node condition, uint32_t use)
{
	struct search s = {.ssa = ssa};
	push_node(&s, condition);
	while (s.seen < s.n) {
		sw_node node = s.todo[s.seen++];
		const struct sw_value *v = sw_graph_at(&ssa->graph, node);
		if (v->op == SW_VALUE_LOADED && (uint32_t)v->imm == use)
			return true;
		if (v->op != SW_VALUE_LOADED)
			push_operands(&s, node);
	}
	return false;
}

static bool leaves_loop(const struct sw_ssa *ssa, uint32_t block, uint32_t loop)
{
	const struct sw_basic_block *b = &ssa->flow.block.at[block];
	for (uint32_t i = 0; i < b->succs; i++)
		if (!sw_flow_in_loop(&ssa->flow, ssa->flow.edge.at[b->succ + i], loop))
			return true;
	return false;
}

bool sw_spins(const struct sw_ssa *ssa, uint32_t use)
{
	const struct sw_memory_op *op = &ssa->use.at[use];
	const struct sw_insn *x = &ssa->body.insn.at[op->insn];
	uint32_t loop = ssa->flat || x->op != SW_OP_ATOMIC ? SW_NO_LOOP : ssa->flow.block.at[op->block].loop;
	if (SW_RULE_IS_OFF(spin_loops))
		return false;
	if (loop == SW_NO_LOOP || !op->values || op->address == SW_NO_NODE || !is_fixed(ssa, op->address, loop))
		return false;
	for (uint32_t i = 0; i < op->values; i++)
		if (!is_fixed(ssa, ssa->operand.at[op->value + i], loop))
			return false;
	for (uint32_t b = 0; b < ssa->flow.block.n; b++)
		if (sw_flow_in_loop(&ssa->flow, b, loop) && leaves_loop(ssa, b, loop) &&
		    ssa->condition[b] != SW_NO_NODE && depends_on(ssa, ssa->condition[b], use))
			return true;
	return false;
}
