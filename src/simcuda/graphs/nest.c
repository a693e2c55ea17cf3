/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that run as graphs of their own: batches of memory operations, conditional nodes. */
#include "simcuda/sim.h"

#include <stdlib.h>
#include <string.h>

#define WRITE_NS 1000u

static bool value_of(const CUstreamBatchMemOpParams *op, struct sw_sim_value *out)
{
	switch (op->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
		*out = (struct sw_sim_value){op->waitValue.address, op->waitValue.value64, 4, op->waitValue.flags,
					     true};
		break;
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		*out = (struct sw_sim_value){op->writeValue.address, op->writeValue.value64, 4, op->writeValue.flags,
					     false};
		break;
	default: /* barriers and flushes: operations are executed one after the other anyway */
		return false;
	}
	if (op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 || op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64)
		out->bytes = 8;
	return true;
}

static struct sw_sim_graph *chain_of(const CUstreamBatchMemOpParams *ops, unsigned n)
{
	struct sw_sim_graph *graph = sw_sim_graph_new();
	struct sw_sim_node *last = NULL;
	struct sw_sim_value value;
	graph->owned = true;
	for (unsigned i = 0; i < n; i++) {
		if (!value_of(&ops[i], &value))
			continue;
		struct sw_sim_work *work = sw_sim_work_new(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, value.wait ? 0 : WRITE_NS);
		work->op = value;
		struct sw_sim_node *node = sw_sim_graph_add(graph, work);
		if (last)
			sw_sim_node_depend(node, last, NULL);
		last = node;
	}
	return graph;
}

CUresult sw_sim_batch_work(const void *params, struct sw_sim_work **out)
{
	const CUDA_BATCH_MEM_OP_NODE_PARAMS *p = params;
	struct sw_sim_value value;
	if (!p->paramArray || !p->count || p->count > 256 || p->flags)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < p->count; i++)
		if (value_of(&p->paramArray[i], &value) && !sw_sim_alloc_find(value.address))
			return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_work *work = sw_sim_work_new(CU_GRAPH_NODE_TYPE_GRAPH, 0);
	work->as = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
	work->child = chain_of(p->paramArray, p->count);
	work->parts = p->count;
	work->ops = sw_alloc(p->count * sizeof *work->ops);
	memcpy(work->ops, p->paramArray, p->count * sizeof *work->ops);
	*out = work;
	return CUDA_SUCCESS;
}

/* ---- conditional nodes ---- */

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *out, CUgraph graph, CUcontext ctx, unsigned value,
					unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	(void)ctx;
	if (!out || !sw_sim_object_get(graph, SW_SIM_GRAPH) || flags > CU_GRAPH_COND_ASSIGN_DEFAULT)
		return CUDA_ERROR_INVALID_VALUE;
	*sw_vec_push(&sw_sim.conditions) = flags & CU_GRAPH_COND_ASSIGN_DEFAULT ? value : 0;
	*out = sw_sim.conditions.n;
	return CUDA_SUCCESS;
}

/* Kernels are not executed, so the value never changes: a loop whose condition holds runs once. */
static unsigned chosen_body(const CUDA_CONDITIONAL_NODE_PARAMS *p)
{
	unsigned value = sw_sim.conditions.at[p->handle - 1];
	return p->type == CU_GRAPH_COND_TYPE_SWITCH ? value
	       : value				    ? 0
	       : p->type == CU_GRAPH_COND_TYPE_IF   ? 1
						    : p->size;
}

CUresult sw_sim_conditional_work(const void *params, struct sw_sim_work **out)
{
	CUDA_CONDITIONAL_NODE_PARAMS *p = (CUDA_CONDITIONAL_NODE_PARAMS *)(uintptr_t)params;
	if (!p->handle || p->handle > sw_sim.conditions.n || !p->size || p->size > 1024 ||
	    (unsigned)p->type > CU_GRAPH_COND_TYPE_SWITCH)
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_work *work = sw_sim_work_new(CU_GRAPH_NODE_TYPE_GRAPH, 0);
	unsigned at = chosen_body(p);
	work->as = CU_GRAPH_NODE_TYPE_CONDITIONAL;
	work->parts = p->size;
	work->bodies = sw_calloc(p->size, sizeof(struct sw_sim_graph *));
	for (unsigned i = 0; i < p->size; i++) {
		work->bodies[i] = sw_sim_graph_new();
		work->bodies[i]->owned = true;
	}
	work->child = at < p->size ? work->bodies[at] : NULL;
	p->phGraph_out = (CUgraph *)work->bodies;
	*out = work;
	return CUDA_SUCCESS;
}
