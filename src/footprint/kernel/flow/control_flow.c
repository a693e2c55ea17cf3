/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the flow graph of a body: blocks, edges, dominators, loops (control_flow.h). */
#include "footprint/kernel/flow/control_flow.h"

#include <stdlib.h>
#include <string.h>

/* ---- dominators: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" */

/* The block nearest to both that dominates both: the numbers of dominators are smaller. */
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

/* Computes the immediate dominator of a block from those of its predecessors known so far; true: it changed. */
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

/* Lists the children of each block in the tree of dominators. */
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

/* Numbers the tree of dominators in a walk, so that one comparison of intervals decides dominance. */
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

/* Improves the dominators of all blocks until none changes, then numbers the tree for sw_flow_dominates(). */
static void find_dominators(struct sw_flow *flow)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t b = 1; b < flow->block.n; b++)
			changed |= improve_dominator(flow, b);
	}
	list_children(flow);
	number_tree(flow);
}

/* ---- natural loops, outer ones first */

bool sw_flow_in_loop(const struct sw_flow *flow, uint32_t block, uint32_t loop)
{
	uint32_t l = flow->block.at[block].loop;
	while (l != SW_NO_LOOP && l > loop)
		l = flow->loop.at[l].parent;
	return l == loop;
}

/* Marks the blocks that edges lead back to: loop headers, or irregular where the header does not dominate the edge's
   source (a loop that can be entered in two places). */
static void mark_headers(struct sw_flow *flow)
{
	for (uint32_t b = 0; b < flow->block.n; b++) {
		struct sw_basic_block *block = &flow->block.at[b];
		for (uint32_t i = 0; i < block->preds; i++) {
			uint32_t p = flow->edge.at[block->pred + i];
			if (!sw_flow_retreats(p, b))
				continue;
			if (sw_flow_dominates(flow, b, p))
				block->header = true;
			else
				block->irregular = flow->irregular = true;
		}
	}
}

/* Collects the blocks of a loop: those that reach the header's back edges without passing the header.  Headers are
   processed in reverse postorder, so an inner loop is found after the outer one and takes over its blocks. */
static void collect_blocks(struct sw_flow *flow, uint32_t loop, uint32_t *stack, uint32_t *seen)
{
	uint32_t header = flow->loop.at[loop].header, n = 0;
	struct sw_basic_block *h = &flow->block.at[header];
	flow->loop.at[loop].parent = h->loop;
	flow->loop.at[loop].depth = h->loop == SW_NO_LOOP ? 1 : flow->loop.at[h->loop].depth + 1;
	h->loop = loop;
	seen[header] = loop + 1;
	for (uint32_t i = 0; i < h->preds; i++) {
		uint32_t p = flow->edge.at[h->pred + i];
		if (sw_flow_retreats(p, header) && sw_flow_dominates(flow, header, p) && seen[p] != loop + 1) {
			seen[p] = loop + 1;
			stack[n++] = p;
		}
	}
	while (n) {
		struct sw_basic_block *b = &flow->block.at[stack[--n]];
		b->loop = loop;
		for (uint32_t i = 0; i < b->preds; i++) {
			uint32_t p = flow->edge.at[b->pred + i];
			/* A block that the header does not dominate can enter the loop only in irreducible flow. */
			if (seen[p] == loop + 1 || !sw_flow_dominates(flow, header, p))
				continue;
			seen[p] = loop + 1;
			stack[n++] = p;
		}
	}
}

/* Deeper loops are not distinguished: each level costs a walk over all blocks in it. */
#define MAX_DEPTH 64

/* Makes the natural loops, outer ones first: each header with the blocks that lead back to it. */
static void find_natural_loops(struct sw_flow *flow)
{
	uint32_t n = (uint32_t)flow->block.n;
	uint32_t *stack = sw_alloc((size_t)n * sizeof *stack), *seen = sw_calloc(n, sizeof *seen);
	mark_headers(flow);
	for (uint32_t b = 0; b < n; b++) {
		struct sw_basic_block *block = &flow->block.at[b];
		if (block->header && block->loop != SW_NO_LOOP && flow->loop.at[block->loop].depth >= MAX_DEPTH)
			block->irregular = true;
		if (!block->header || block->irregular)
			continue;
		*sw_vec_push(&flow->loop) = (struct sw_natural){.header = b};
		collect_blocks(flow, (uint32_t)flow->loop.n - 1, stack, seen);
	}
	free(stack);
	free(seen);
}

/* ---- blocks and edges */

/* Raw blocks, before the unreachable ones are dropped and the others put in order. */
struct builder {
	const struct sw_body *body;
	uint32_t n;	       /* raw blocks, 0 the empty one */
	uint32_t *first, *end; /* instructions */
	uint32_t *at;	       /* instruction -> raw block */
	SW_VEC(uint32_t) succ;
	uint32_t *succ_first; /* [n + 1] */
	uint32_t *number;     /* raw -> final, SW_NO_BLOCK unreachable */
};

/* Does control leave the block at this instruction? */
static bool ends_block(const struct sw_body *body, uint32_t insn)
{
	const struct sw_insn *x = &body->insn.at[insn];
	switch (x->op) {
	case SW_OP_JUMP:
	case SW_OP_SWITCH:
	case SW_OP_EXIT:
	case SW_OP_RETURN:
		return true;
	default:
		return sw_body_insn_aborts(body, insn);
	}
}

/* Cuts the body into blocks: one begins at each entry, at each target, and after each instruction that ends one. */
static void find_blocks(struct builder *b)
{
	const struct sw_body *body = b->body;
	uint32_t n = (uint32_t)body->insn.n;
	uint8_t *leader = sw_calloc((size_t)n + 1, 1);
	for (size_t i = 0; i < body->entry.n; i++)
		leader[body->entry.at[i]] = 1;
	for (size_t i = 0; i < body->target.n; i++)
		leader[body->target.at[i]] = 1;
	for (uint32_t i = 0; i < n; i++) {
		const struct sw_insn *x = &body->insn.at[i];
		if (x->op == SW_OP_JUMP)
			leader[x->target] = 1;
		if (ends_block(body, i))
			leader[i + 1] = 1;
	}
	b->first = sw_calloc((size_t)n + 2, sizeof *b->first);
	b->end = sw_calloc((size_t)n + 2, sizeof *b->end);
	b->at = sw_calloc((size_t)n + 1, sizeof *b->at);
	b->n = 1;
	for (uint32_t i = 0; i < n; i++) {
		if (leader[i] || !i)
			b->first[b->n++] = i;
		b->at[i] = b->n - 1;
		b->end[b->n - 1] = i + 1;
	}
	free(leader);
}

/* Adds an edge from a block to the one that begins at this instruction, unless it is there. */
static void add_edge(struct builder *b, uint32_t from, uint32_t insn)
{
	if (insn >= b->body->insn.n)
		return;
	uint32_t to = b->at[insn];
	for (size_t i = b->succ_first[from]; i < b->succ.n && i < b->succ_first[from] + 64u; i++)
		if (b->succ.at[i] == to)
			return; /* two edges to the same block give no condition */
	*sw_vec_push(&b->succ) = to;
}

/* Finds where each block leads: a taken jump first, falling through last.  Block 0 leads to all entries. */
static void find_edges(struct builder *b)
{
	const struct sw_body *body = b->body;
	b->succ_first = sw_calloc((size_t)b->n + 1, sizeof *b->succ_first);
	for (size_t i = 0; i < body->entry.n; i++)
		add_edge(b, 0, body->entry.at[i]);
	for (uint32_t k = 1; k < b->n; k++) {
		b->succ_first[k] = (uint32_t)b->succ.n;
		const struct sw_insn *x = &body->insn.at[b->end[k] - 1];
		if (x->op == SW_OP_JUMP)
			add_edge(b, k, x->target);
		for (uint32_t t = 0; x->op == SW_OP_SWITCH && t < x->targets; t++)
			add_edge(b, k, body->target.at[x->target + t]);
		if (!ends_block(body, b->end[k] - 1) || x->guard != SW_NO_REG)
			add_edge(b, k, b->end[k]);
	}
	b->succ_first[b->n] = (uint32_t)b->succ.n;
}

/* Numbers the blocks that can be reached in reverse postorder (all edges but those of loops lead to greater
   numbers), without recursion.  order: the blocks in postorder; returns how many there are. */
static uint32_t number_blocks(struct builder *b, uint32_t *order)
{
	uint32_t *stack = sw_alloc((size_t)b->n * sizeof *stack), *next = sw_alloc((size_t)b->n * sizeof *next);
	uint32_t depth = 0, done = 0;
	memset(b->number, 0xff, b->n * sizeof *b->number);
	stack[depth++] = 0;
	next[0] = b->succ_first[0];
	b->number[0] = 0;
	while (depth) {
		uint32_t k = stack[depth - 1];
		if (next[k] == b->succ_first[k + 1]) {
			order[done++] = k;
			depth--;
			continue;
		}
		uint32_t to = b->succ.at[next[k]++];
		if (b->number[to] != SW_NO_BLOCK)
			continue;
		b->number[to] = 0;
		next[to] = b->succ_first[to];
		stack[depth++] = to;
	}
	for (uint32_t i = 0; i < done; i++)
		b->number[order[i]] = done - 1 - i;
	free(stack);
	free(next);
	return done;
}

/* Moves the n reachable blocks into the flow graph in their order, with their edges. */
static void take_blocks(struct builder *b, struct sw_flow *flow, const uint32_t *order, uint32_t n)
{
	sw_vec_reserve(&flow->block, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = order[n - 1 - i];
		struct sw_basic_block *to = sw_vec_push(&flow->block);
		*to = (struct sw_basic_block){
			.first = b->first[k], .end = b->end[k], .idom = SW_NO_BLOCK, .loop = SW_NO_LOOP};
		to->succ = (uint32_t)flow->edge.n;
		to->succs = b->succ_first[k + 1] - b->succ_first[k];
		for (uint32_t s = 0; s < to->succs; s++)
			*sw_vec_push(&flow->edge) = b->number[b->succ.at[b->succ_first[k] + s]];
	}
}

/* Lists the predecessors of each block. */
static void find_preds(struct sw_flow *flow)
{
	uint32_t n = (uint32_t)flow->block.n, at = (uint32_t)flow->edge.n;
	for (uint32_t i = 0; i < at; i++)
		flow->block.at[flow->edge.at[i]].preds++;
	sw_vec_reserve(&flow->edge, 2 * (size_t)at);
	flow->edge.n = 2 * (size_t)at;
	for (uint32_t i = 0; i < n; i++) {
		flow->block.at[i].pred = at;
		at += flow->block.at[i].preds;
		flow->block.at[i].preds = 0;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t s = 0; s < flow->block.at[i].succs; s++) {
			struct sw_basic_block *to = &flow->block.at[flow->edge.at[flow->block.at[i].succ + s]];
			flow->edge.at[to->pred + to->preds++] = i;
		}
}

void sw_flow_build(const struct sw_body *body, struct sw_flow *flow)
{
	*flow = (struct sw_flow){0};
	struct builder b = {.body = body};
	find_blocks(&b);
	find_edges(&b);
	b.number = sw_alloc(b.n * sizeof *b.number);
	uint32_t *order = sw_alloc(b.n * sizeof *order);
	take_blocks(&b, flow, order, number_blocks(&b, order));
	find_preds(flow);
	free(order);
	free(b.first);
	free(b.end);
	free(b.at);
	free(b.succ.at);
	free(b.succ_first);
	free(b.number);
	find_dominators(flow);
	find_natural_loops(flow);
}

void sw_flow_build_flat(const struct sw_body *body, struct sw_flow *flow)
{
	*flow = (struct sw_flow){0};
	*sw_vec_push(&flow->block) = (struct sw_basic_block){.succs = 1, .idom = SW_NO_BLOCK, .loop = SW_NO_LOOP};
	*sw_vec_push(&flow->block) = (struct sw_basic_block){
		.end = (uint32_t)body->insn.n, .pred = 1, .preds = 1, .succ = 2, .loop = SW_NO_LOOP, .irregular = true};
	*sw_vec_push(&flow->edge) = 1;
	*sw_vec_push(&flow->edge) = 0;
	flow->irregular = true;
	find_dominators(flow);
}

void sw_flow_free(struct sw_flow *flow)
{
	free(flow->block.at);
	free(flow->edge.at);
	free(flow->loop.at);
	free(flow->child);
	free(flow->child_first);
	*flow = (struct sw_flow){0};
}
