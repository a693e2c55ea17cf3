/* SPDX-License-Identifier: Apache-2.0 */
/* Dominators after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm". */
#include "footprint/kernel/flow/control_flow.h"

#include <stdlib.h>
#include <string.h>

static uint32_t common_dominator(const struct sw_flow *flow, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (a > b)
			a = flow->block.at[a].idom;
		while (b > a)
			b = flow->block.at[b].idom;
	}
	return a;
}

static bool improve_dominator(struct sw_flow *flow, uint32_t b)
{
	struct sw_basic_block *block = &flow->block.at[b];
	uint32_t idom = SW_NO_BLOCK;
	for (uint32_t i = 0; i < block->preds; i++) {
		uint32_t p = flow->edge.at[block->pred + i];
		if (p && flow->block.at[p].idom == SW_NO_BLOCK)
			continue;
		idom = idom == SW_NO_BLOCK ? p : common_dominator(flow, idom, p);
	}
	bool changed = block->idom != idom;
	block->idom = idom;
	return changed;
}

static void list_children(struct sw_flow *flow)
{
	uint32_t n = (uint32_t)flow->block.n;
	uint32_t *first = flow->child_first = sw_calloc((size_t)n + 2, sizeof *first);
	flow->child = sw_alloc((size_t)n * sizeof *flow->child + 1);
	for (uint32_t b = 1; b < n; b++)
		first[flow->block.at[b].idom + 2]++;
	for (uint32_t b = 0; b <= n; b++)
		first[b + 1] += first[b];
	for (uint32_t b = 1; b < n; b++)
		flow->child[first[flow->block.at[b].idom + 1]++] = b;
}

/* Numbers from which one comparison decides dominance. */
static void number_tree(struct sw_flow *flow)
{
	uint32_t n = (uint32_t)flow->block.n, depth = 1, clock = 0;
	uint32_t *stack = sw_alloc((size_t)n * sizeof *stack), *next = sw_alloc((size_t)n * sizeof *next);
	stack[0] = 0;
	next[0] = flow->child_first[0];
	flow->block.at[0].in = clock++;
	while (depth) {
		uint32_t b = stack[depth - 1];
		if (next[b] == flow->child_first[b + 1]) {
			flow->block.at[b].out = clock++;
			depth--;
			continue;
		}
		uint32_t child = flow->child[next[b]++];
		flow->block.at[child].in = clock++;
		next[child] = flow->child_first[child];
		stack[depth++] = child;
	}
	free(stack);
	free(next);
}

void sw_flow_find_dominators(struct sw_flow *flow)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t b = 1; b < flow->block.n; b++)
			changed |= improve_dominator(flow, b);
	}
	list_children(flow);
	number_tree(flow);
}
