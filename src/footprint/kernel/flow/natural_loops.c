/* SPDX-License-Identifier: Apache-2.0 */
/* Natural loops, outer ones first. */
#include "footprint/kernel/flow/control_flow.h"

#include <stdlib.h>
#include <string.h>

bool sw_flow_in_loop(const struct sw_flow *flow, uint32_t block, uint32_t loop)
{
	uint32_t l = flow->block.at[block].loop;
	while (l != SW_NO_LOOP && l > loop)
		l = flow->loop.at[l].parent;
	return l == loop;
}

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

/* Blocks that reach the header's back edges without passing the header. Headers are processed in reverse postorder,
   so an inner loop is found after the outer one and takes over its blocks. */
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

void sw_flow_find_loops(struct sw_flow *flow)
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
