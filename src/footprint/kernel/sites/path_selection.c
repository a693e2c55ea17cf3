/* SPDX-License-Identifier: Apache-2.0 */
/* Which path was taken, where numbers of threads and blocks and launch values alone decide that. */
#include "footprint/kernel/flow/induction.h"
#include "footprint/kernel/sites/terms.h"

/* Libraries unroll loops over the dimensions of tensors, of which there are up to 25 (PyTorch, OffsetCalculator.cuh).
 */
#define MAX_SAID 40

static bool is_fixed(struct sw_terms *t, sw_node node)
{
	uint64_t *known = sw_map_put(&t->fixed, node);
	if (!*known)
		*known = sw_step_is_fixed(t->ssa, node) ? 1 : 2;
	return *known == 1;
}

static sw_node condition_of(struct sw_terms *t, uint32_t from, uint32_t to)
{
	struct sw_ssa *ssa = t->ssa;
	uint32_t end = t->guards->of[ssa->flow.block.at[to].idom];
	uint32_t list = sw_path_conditions_on_edge(ssa, t->guards, from, to), n = 0;
	sw_node all = sw_graph_const(&ssa->graph, 1, 1);
	for (; list != end && list != SW_NO_CONDITION && n < MAX_SAID; list = t->guards->guard.at[list].next, n++) {
		sw_node said = t->guards->guard.at[list].node;
		if (is_fixed(t, said))
			all = sw_graph_binary(&ssa->graph, SW_OP_AND, 1, 0, said, all);
	}
	return all;
}

sw_node sw_terms_path_condition(struct sw_terms *t, uint32_t from, uint32_t to)
{
	uint64_t key = (uint64_t)from << 32 | to;
	const uint64_t *known = sw_map_find(&t->ways, key);
	if (known)
		return (sw_node)*known;
	sw_node all = condition_of(t, from, to);
	*sw_map_put(&t->ways, key) = all;
	return all;
}
