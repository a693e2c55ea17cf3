/* SPDX-License-Identifier: Apache-2.0 */
/* Graph nodes: made, read and changed, in graphs and in their executable copies. */
#include <stdlib.h>
#include <string.h>

#include "simcuda/sim.h"

/* ---- nodes that run as graphs of their own: batches of memory operations, conditional nodes ---------------------- */

#define WRITE_NS 1000u

/* One operation of a batch as the simulation has it; false: one that does nothing here. */
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

/* A graph with one node an operation, one after the other. */
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

/* A node with a batch of memory operations: a graph of its own. */
static CUresult sim_batch_work(const void *params, struct sw_sim_work **out)
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

/* A condition is a number in a table; kernels, which could change it, are not run. */
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

/* A conditional node: makes its bodies, which the program fills, and chooses by the condition's first value the one
   that runs. */
static CUresult sim_conditional_work(const void *params, struct sw_sim_work **out)
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

/* ---- all nodes --------------------------------------------------------------------------------------------------- */

#define ALLOC_NS 1000u

/* Makes the work of a node from the parameters of its type. */
typedef CUresult (*builder)(const void *params, struct sw_sim_work **out);

/* Each *_work makes the work of a node from the parameters of its type. */
static CUresult kernel_work(const void *params, struct sw_sim_work **out)
{
	const CUDA_KERNEL_NODE_PARAMS *p = params;
	const unsigned grid[3] = {p->gridDimX, p->gridDimY, p->gridDimZ},
		       block[3] = {p->blockDimX, p->blockDimY, p->blockDimZ};
	CUfunction f = p->func ? p->func : (CUfunction)p->kern;
	return sw_sim_launch_work(f, grid, block, p->sharedMemBytes, p->kernelParams, p->extra, out);
}

/* The first version of the parameters is the beginning of the second. */
static CUresult kernel_v1_work(const void *params, struct sw_sim_work **out)
{
	CUDA_KERNEL_NODE_PARAMS p = {0};
	memcpy(&p, params, sizeof(CUDA_KERNEL_NODE_PARAMS_v1));
	return kernel_work(&p, out);
}

/* Makes the work of a host node. */
static CUresult host_work(const void *params, struct sw_sim_work **out)
{
	const CUDA_HOST_NODE_PARAMS *p = params;
	if (!p->fn)
		return CUDA_ERROR_INVALID_VALUE;
	*out = sw_sim_work_new(CU_GRAPH_NODE_TYPE_HOST, 0);
	(*out)->host = (struct sw_sim_host){.function = p->fn, .arg = p->userData};
	return CUDA_SUCCESS;
}

/* An empty node's work: none. */
static CUresult empty_work(const void *params, struct sw_sim_work **out)
{
	(void)params;
	*out = sw_sim_work_new(CU_GRAPH_NODE_TYPE_EMPTY, 0);
	return CUDA_SUCCESS;
}

/* Makes the work of a node that records, or waits for, an event. */
static CUresult event_work(CUgraphNodeType type, const void *handle, struct sw_sim_work **out)
{
	struct sw_sim_event *event = sw_sim_object_get(handle, SW_SIM_EVENT);
	if (!event)
		return CUDA_ERROR_INVALID_VALUE;
	*out = sw_sim_work_new(type, 0);
	(*out)->event = event;
	return CUDA_SUCCESS;
}

static CUresult record_work(const void *params, struct sw_sim_work **out)
{
	return event_work(CU_GRAPH_NODE_TYPE_EVENT_RECORD, *(const CUevent *)params, out);
}

static CUresult wait_work(const void *params, struct sw_sim_work **out)
{
	return event_work(CU_GRAPH_NODE_TYPE_WAIT_EVENT, *(const CUevent *)params, out);
}

/* Makes the work of a child graph's node: a sorted copy of its own, so that later changes of the graph do not reach
   it. */
static CUresult child_work(const void *params, struct sw_sim_work **out)
{
	const struct sw_sim_graph *child = sw_sim_object_get(*(const CUgraph *)params, SW_SIM_GRAPH);
	struct sw_sim_exec *sorted;
	CUresult result =
		child ? sw_sim_exec_new((struct sw_sim_graph *)(uintptr_t)child, 0, &sorted) : CUDA_ERROR_INVALID_VALUE;
	if (result)
		return result;
	*out = sw_sim_work_new(CU_GRAPH_NODE_TYPE_GRAPH, 0);
	(*out)->child = sw_sim_exec_take(sorted);
	return CUDA_SUCCESS;
}

/* Makes the work of a node that frees memory which a graph's node allocated. */
static CUresult free_work(const void *params, struct sw_sim_work **out)
{
	*out = sw_sim_work_new(CU_GRAPH_NODE_TYPE_MEM_FREE, ALLOC_NS);
	(*out)->address = *(const CUdeviceptr *)params;
	return CUDA_SUCCESS;
}

/* Makes a node depend on `n` others of its graph. */
static CUresult depend_all(struct sw_sim_node *node, const CUgraphNode *after, const CUgraphEdgeData *edges, size_t n)
{
	if (n && !after)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n; i++) {
		struct sw_sim_node *before = sw_sim_object_get(after[i], SW_SIM_NODE);
		if (!before || before->graph != node->graph)
			return CUDA_ERROR_INVALID_VALUE;
		sw_sim_node_depend(node, before, edges ? &edges[i] : NULL);
	}
	return CUDA_SUCCESS;
}

/* Adds a node whose work `build` makes from `params`. */
static CUresult add_by(CUgraphNode *out, CUgraph handle, const CUgraphNode *after, const CUgraphEdgeData *edges,
		       size_t n, builder build, const void *params)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_graph *graph = sw_sim_object_get(handle, SW_SIM_GRAPH);
	struct sw_sim_work *work;
	if (!out || !graph || !params)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = build(params, &work);
	if (result)
		return result;
	struct sw_sim_node *node = sw_sim_graph_add(graph, work);
	if ((result = depend_all(node, after, edges, n)))
		sw_sim_graph_remove(node);
	else
		*out = (CUgraphNode)node;
	return result;
}

/* As add_by(), with plain edges. */
static CUresult add_node(CUgraphNode *out, CUgraph handle, const CUgraphNode *after, size_t n, builder build,
			 const void *params)
{
	return add_by(out, handle, after, NULL, n, build, params);
}

/* Gives a node new work of the same type. */
static CUresult change_node(struct sw_sim_node *node, builder build, const void *params)
{
	struct sw_sim_work *work;
	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = build(params, &work);
	if (!result && work->as != node->work->as) {
		sw_sim_work_put(work);
		result = CUDA_ERROR_INVALID_VALUE;
	}
	if (!result) {
		sw_sim_work_put(node->work);
		node->work = work;
	}
	return result;
}

/* Changes a node of a graph. */
static CUresult set_params(CUgraphNode handle, builder build, const void *params)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	return change_node(sw_sim_object_get(handle, SW_SIM_NODE), build, params);
}

/* The node of an executable graph that was made from `handle`; NULL: none. */
static struct sw_sim_node *made_from(CUgraphExec exec_handle, CUgraphNode handle)
{
	const struct sw_sim_exec *exec = sw_sim_object_get(exec_handle, SW_SIM_EXEC);
	for (size_t i = 0; exec && i < exec->graph->nodes.n; i++)
		if (exec->graph->nodes.at[i]->origin == (struct sw_sim_node *)handle)
			return exec->graph->nodes.at[i];
	return NULL;
}

/* Changes a node of an executable graph. */
static CUresult exec_set(CUgraphExec exec, CUgraphNode handle, builder build, const void *params)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_node *node = made_from(exec, handle);
	/* A child graph that is replaced keeps its user objects until the launches have ended. */
	if (node && node->work->type == CU_GRAPH_NODE_TYPE_GRAPH && node->work->child)
		sw_sim_held_until(node->work->child, ((struct sw_sim_exec *)exec)->last);
	return change_node(node, build, params);
}

/* TYPE of node, its parameters, builder: the add, set and executable set calls. */
#define NODE_CALLS(Add, Set, ExecSet, params_type, build)                                                              \
	CUresult Add(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t n, const params_type *params)   \
	{                                                                                                              \
		return add_node(out, graph, after, n, build, params);                                                  \
	}                                                                                                              \
	CUresult Set(CUgraphNode node, const params_type *params)                                                      \
	{                                                                                                              \
		return set_params(node, build, params);                                                                \
	}                                                                                                              \
	CUresult ExecSet(CUgraphExec exec, CUgraphNode node, const params_type *params)                                \
	{                                                                                                              \
		return exec_set(exec, node, build, params);                                                            \
	}
NODE_CALLS(cuGraphAddKernelNode_v2, cuGraphKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams_v2,
	   CUDA_KERNEL_NODE_PARAMS, kernel_work)
NODE_CALLS(cuGraphAddKernelNode, cuGraphKernelNodeSetParams, cuGraphExecKernelNodeSetParams, CUDA_KERNEL_NODE_PARAMS_v1,
	   kernel_v1_work)
NODE_CALLS(cuGraphAddBatchMemOpNode, cuGraphBatchMemOpNodeSetParams, cuGraphExecBatchMemOpNodeSetParams,
	   CUDA_BATCH_MEM_OP_NODE_PARAMS, sim_batch_work)
NODE_CALLS(cuGraphAddHostNode, cuGraphHostNodeSetParams, cuGraphExecHostNodeSetParams, CUDA_HOST_NODE_PARAMS, host_work)

/* Copies and sets name a context as well when they are added or changed in an executable graph. */
#define MEMORY_CALLS(Add, Set, ExecSet, params_type, build)                                                            \
	CUresult Add(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t n, const params_type *params,   \
		     CUcontext ctx)                                                                                    \
	{                                                                                                              \
		return ctx ? add_node(out, graph, after, n, build, params) : CUDA_ERROR_INVALID_CONTEXT;               \
	}                                                                                                              \
	CUresult Set(CUgraphNode node, const params_type *params)                                                      \
	{                                                                                                              \
		return set_params(node, build, params);                                                                \
	}                                                                                                              \
	CUresult ExecSet(CUgraphExec exec, CUgraphNode node, const params_type *params, CUcontext ctx)                 \
	{                                                                                                              \
		return ctx ? exec_set(exec, node, build, params) : CUDA_ERROR_INVALID_CONTEXT;                         \
	}
MEMORY_CALLS(cuGraphAddMemcpyNode, cuGraphMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams, CUDA_MEMCPY3D,
	     sw_sim_copy_work)
MEMORY_CALLS(cuGraphAddMemsetNode, cuGraphMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams, CUDA_MEMSET_NODE_PARAMS,
	     sw_sim_set_work)

/* Nodes that are one handle. */
#define HANDLE_CALLS(Add, ExecSet, handle_type, build)                                                                 \
	CUresult Add(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t n, handle_type handle)          \
	{                                                                                                              \
		return add_node(out, graph, after, n, build, &handle);                                                 \
	}                                                                                                              \
	CUresult ExecSet(CUgraphExec exec, CUgraphNode node, handle_type handle)                                       \
	{                                                                                                              \
		return exec_set(exec, node, build, &handle);                                                           \
	}
HANDLE_CALLS(cuGraphAddEventRecordNode, cuGraphExecEventRecordNodeSetEvent, CUevent, record_work)
HANDLE_CALLS(cuGraphAddEventWaitNode, cuGraphExecEventWaitNodeSetEvent, CUevent, wait_work)
HANDLE_CALLS(cuGraphAddChildGraphNode, cuGraphExecChildGraphNodeSetParams, CUgraph, child_work)

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
	return set_params(node, record_work, &event);
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
	return set_params(node, wait_work, &event);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t n)
{
	return add_node(out, graph, after, n, empty_work, "");
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t n,
				CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	return add_node(out, graph, after, n, sw_sim_alloc_work, params);
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t n, CUdeviceptr address)
{
	return add_node(out, graph, after, n, free_work, &address);
}

/* Any node by one structure: how it is made, and from what.  `build` NULL: not simulated. */
struct any {
	builder build;
	void *params;
};

/* How a node of any type is made from the structure for all types. */
static struct any any_of(CUgraphNodeParams *p)
{
	switch ((int)p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return (struct any){kernel_work, &p->kernel};
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return (struct any){sw_sim_copy_work, &p->memcpy.copyParams};
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return (struct any){sw_sim_set_work, &p->memset};
	case CU_GRAPH_NODE_TYPE_HOST:
		return (struct any){host_work, &p->host};
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return (struct any){child_work, &p->graph.graph};
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return (struct any){empty_work, p};
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return (struct any){wait_work, &p->eventWait.event};
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return (struct any){record_work, &p->eventRecord.event};
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return (struct any){sw_sim_alloc_work, &p->alloc};
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return (struct any){free_work, &p->free.dptr};
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return (struct any){sim_batch_work, &p->memOp};
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return (struct any){sim_conditional_work, &p->conditional};
	}
	return (struct any){0};
}

/* Adds a node of any type, by the function for its type. */
CUresult cuGraphAddNode_v2(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, const CUgraphEdgeData *edges,
			   size_t n, CUgraphNodeParams *p)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	const struct any any = any_of(p);
	return any.build ? add_by(out, graph, after, edges, n, any.build, any.params)
			 : sw_sim_unsupported("this type of node (cuGraphAddNode)");
}

/* Changes a node by the structure for all types.  Memory of nodes stays what it is (CUDA driver API,
   cuGraphExecNodeSetParams), and so do conditions. */
static CUresult any_set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p, bool in_exec)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	const struct any any = any_of(p);
	if (!any.build)
		return sw_sim_unsupported("this type of node (cuGraphNodeSetParams)");
	if (any.build == sw_sim_alloc_work || any.build == free_work || any.build == sim_conditional_work)
		return CUDA_ERROR_INVALID_VALUE;
	return in_exec ? exec_set(exec, node, any.build, any.params) : set_params(node, any.build, any.params);
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *params)
{
	return any_set(NULL, node, params, false);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params)
{
	return any_set(exec, node, params, true);
}

/* Since 13.4. */
CUresult cuGraphNodeSetParams_v2(CUgraphNode node, CUgraphNodeParams *params);
CUresult cuGraphNodeSetParams_v2(CUgraphNode node, CUgraphNodeParams *params)
{
	return any_set(NULL, node, params, false);
}

CUresult cuGraphAddNode_v3(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, const CUgraphEdgeData *edges,
			   size_t n, CUgraphNodeParams *p);
CUresult cuGraphAddNode_v3(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, const CUgraphEdgeData *edges,
			   size_t n, CUgraphNodeParams *p)
{
	return cuGraphAddNode_v2(out, graph, after, edges, n, p);
}

CUresult cuGraphAddNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t n, CUgraphNodeParams *p)
{
	return cuGraphAddNode_v2(out, graph, after, NULL, n, p);
}

/* "Device updatable" is kept, which cannot be taken back (CUDA driver API); other attributes have no effect here. */
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id, const CUkernelNodeAttrValue *value)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_node *node = sw_sim_object_get(handle, SW_SIM_NODE);
	if (!node || node->work->as != CU_GRAPH_NODE_TYPE_KERNEL || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
		node->updatable |= value->deviceUpdatableKernelNode.deviceUpdatable;
	return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID id, CUkernelNodeAttrValue *value)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_node *node = sw_sim_object_get(handle, SW_SIM_NODE);
	if (!node || node->work->as != CU_GRAPH_NODE_TYPE_KERNEL || !value)
		return CUDA_ERROR_INVALID_VALUE;
	memset(value, 0, sizeof *value);
	if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
		value->deviceUpdatableKernelNode.deviceUpdatable = node->updatable;
	return CUDA_SUCCESS;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode handle, unsigned enabled)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_node *node = made_from(exec, handle);
	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	node->disabled = !enabled;
	return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode handle, unsigned *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_node *node = made_from(exec, handle);
	if (!node || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = !node->disabled;
	return CUDA_SUCCESS;
}
