/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/guards.h"

#include <stdlib.h>

/* One condition is split into so many at most; lists are compared so far. */
#define MAX_SPLIT  16
#define MAX_COMMON 32

static uint32_t push(struct sw_guards *guards, uint32_t list, sw_node node)
{
	*sw_vec_push(&guards->guard) = (struct sw_guard){node, list};
	return (uint32_t)guards->guard.n - 1;
}

uint32_t sw_guards_add(struct sw_ssa *ssa, struct sw_guards *guards, uint32_t list, sw_node condition)
{
	sw_node open[MAX_SPLIT];
	uint32_t n = 1;
	open[0] = condition;
	while (n) {
		sw_node node = open[--n];
		struct sw_value v = *sw_graph_at(&ssa->graph, node);
		struct sw_value u = v.op == SW_OP_NOT ? *sw_graph_at(&ssa->graph, v.operand[0]) : v;
		if (v.op == SW_OP_CONST || n + 2 > MAX_SPLIT) {
			if (v.op != SW_OP_CONST)
				list = push(guards, list, node);
		} else if (v.op == SW_OP_AND && v.width == 1) {
			open[n++] = v.operand[1];
			open[n++] = v.operand[0];
		} else if (v.op == SW_OP_NOT && u.op == SW_OP_OR) {
			open[n++] = sw_graph_unary(&ssa->graph, SW_OP_NOT, 1, u.operand[1]);
			open[n++] = sw_graph_unary(&ssa->graph, SW_OP_NOT, 1, u.operand[0]);
		} else {
			list = push(guards, list, node);
		}
	}
	return list;
}

uint32_t sw_guards_on_edge(struct sw_ssa *ssa, struct sw_guards *guards, uint32_t from, uint32_t to)
{
	const struct sw_block *b = &ssa->flow.block.at[from];
	sw_node condition = ssa->condition[from];
	uint32_t list = guards->of[from];
	if (condition == SW_NO_NODE || b->succs > 2)
		return list;
	const struct sw_insn *last = &ssa->body.insn.at[b->end - 1];
	bool jump = last->op == SW_OP_JUMP;
	if (jump && b->succs != 2)
		return list; /* both ways lead to the same block */
	if (jump && ssa->flow.edge.at[b->succ] != to)
		condition = sw_graph_unary(&ssa->graph, SW_OP_NOT, 1, condition);
	return sw_guards_add(ssa, guards, list, condition);
}

uint32_t sw_guards_common(struct sw_guards *guards, uint32_t a, uint32_t b, uint32_t end)
{
	uint32_t list = end, i = 0;
	if (a == b)
		return a;
	for (; a != end && a != SW_NO_GUARD && i < MAX_COMMON; a = guards->guard.at[a].next, i++) {
		uint32_t k = 0;
		for (uint32_t q = b; q != end && q != SW_NO_GUARD && k < MAX_COMMON; q = guards->guard.at[q].next, k++)
			if (guards->guard.at[q].node == guards->guard.at[a].node) {
				list = push(guards, list, guards->guard.at[a].node);
				break;
			}
	}
	return list;
}

/* What all ways into a block say, beside those that close loops: values known before a loop do not change in it. */
static uint32_t at_join(struct sw_ssa *ssa, struct sw_guards *guards, uint32_t block)
{
	const struct sw_block *b = &ssa->flow.block.at[block];
	uint32_t end = guards->of[b->idom], list = SW_NO_GUARD;
	bool first = true;
	if (b->preds > MAX_COMMON || b->irregular)
		return end;
	for (uint32_t i = 0; i < b->preds; i++) {
		uint32_t from = ssa->flow.edge.at[b->pred + i];
		if (sw_flow_retreats(from, block))
			continue;
		uint32_t edge = sw_guards_on_edge(ssa, guards, from, block);
		list = first ? edge : sw_guards_common(guards, list, edge, end);
		first = false;
	}
	return first ? end : list;
}

void sw_guards_find(struct sw_ssa *ssa, struct sw_guards *guards)
{
	uint32_t n = (uint32_t)ssa->flow.block.n;
	*guards = (struct sw_guards){0};
	guards->of = sw_alloc((size_t)n * sizeof *guards->of);
	guards->of[0] = SW_NO_GUARD;
	for (uint32_t b = 1; b < n; b++)
		guards->of[b] = ssa->flat ? SW_NO_GUARD : at_join(ssa, guards, b);
}

void sw_guards_free(struct sw_guards *guards)
{
	free(guards->guard.at);
	free(guards->of);
	*guards = (struct sw_guards){0};
}
