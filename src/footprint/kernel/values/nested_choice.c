/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choices inside of choices by the same condition.  Predicated machine code keeps in a register, on the ways where it
 * is not needed, what another life of the register left there: "@P0 IADD R4 = ..; @P0 SHF R5 = R4 >> R6" is P0 ? (P0 ?
 * new : old) >> R6 : R5, and the old number, perhaps half of a pointer, is never used.
 */
#include <string.h>

#include "footprint/kernel/values/simplify.h"

/* Looked at of one branch: operations one inside the other, nodes. */
#define MAX_DEPTH  6
#define MAX_NODES  48
#define MAX_TRUTHS 8
#define TABLE	   128

struct branch {
	struct sw_graph *graph;
	sw_node truth[MAX_TRUTHS]; /* hold here */
	sw_node seen[MAX_NODES], is[MAX_NODES];
	uint8_t at[TABLE]; /* by node: number in `seen`, + 1; 0: free */
	uint32_t truths, nodes;
};

static void hold_truth(struct branch *b, sw_node condition)
{
	const struct sw_value *v = sw_graph_at(b->graph, condition);
	if (b->truths == MAX_TRUTHS)
		return;
	b->truth[b->truths++] = condition;
	if (v->op != SW_OP_AND || v->width != 1)
		return;
	sw_node both[2] = {v->operand[0], v->operand[1]};
	hold_truth(b, both[0]);
	hold_truth(b, both[1]);
}

/* 1, 0; -1: it may be either. */
static int truth_of(struct branch *b, sw_node condition)
{
	for (uint32_t i = 0; i < b->truths; i++) {
		if (b->truth[i] == condition)
			return 1;
	}
	sw_node other = sw_graph_unary(b->graph, SW_OP_NOT, 1, condition);
	for (uint32_t i = 0; i < b->truths; i++) {
		if (b->truth[i] == other)
			return 0;
	}
	return -1;
}

static sw_node choose_under(struct branch *b, sw_node node, uint32_t depth);

static sw_node operation_under(struct branch *b, sw_node node, uint32_t depth)
{
	const struct sw_value v = *sw_graph_at(b->graph, node); /* a copy: making nodes moves them */
	struct sw_making m = sw_making_of(&v);
	sw_node o[3];
	bool changed = false;
	for (uint32_t i = 0; i < v.n; i++) {
		o[i] = choose_under(b, v.operand[i], depth);
		changed |= o[i] != v.operand[i];
	}
	return changed ? sw_graph_make(b->graph, m, o) : node;
}

static sw_node choose_under(struct branch *b, sw_node node, uint32_t depth)
{
	const struct sw_value *v = sw_graph_at(b->graph, node);
	while (v->op == SW_OP_SELECT) {
		int truth = truth_of(b, v->operand[0]);
		if (truth < 0)
			break;
		node = sw_graph_operand(b->graph, node, truth ? 1 : 2);
		v = sw_graph_at(b->graph, node);
	}
	if (!depth || !v->chooses || !v->n || v->n > 3 || v->op >= SW_OPS || v->op == SW_OP_MIX)
		return node;
	uint32_t slot = node % TABLE;
	for (; b->at[slot]; slot = (slot + 1) % TABLE)
		if (b->seen[b->at[slot] - 1] == node)
			return b->is[b->at[slot] - 1];
	if (b->nodes == MAX_NODES)
		return node;
	uint32_t at = b->nodes++;
	b->at[slot] = (uint8_t)b->nodes;
	b->seen[at] = b->is[at] = node;
	return b->is[at] = operation_under(b, node, depth - 1);
}

sw_node sw_choice_under(struct sw_graph *graph, sw_node node, sw_node condition)
{
	struct branch b;
	/* Halves first become numbers of 64 bits: only one of them may hold a choice.  What is made again is not looked
	   through again. */
	bool outer = graph->whole && !graph->choosing;
	if (outer ? !sw_graph_at(graph, node)->chooses : sw_graph_at(graph, node)->op != SW_OP_SELECT)
		return node;
	b.graph = graph;
	b.truths = b.nodes = 0;
	memset(b.at, 0, sizeof b.at);
	graph->choosing |= outer;
	hold_truth(&b, condition);
	node = choose_under(&b, node, outer ? MAX_DEPTH : 0);
	graph->choosing &= !outer;
	return node;
}
