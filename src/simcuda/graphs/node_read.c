/* SPDX-License-Identifier: Apache-2.0 */
/* Queries for the parameters of graph nodes. */
#include "simcuda/sim.h"

#include <string.h>

/* The work of a node of that type, NULL otherwise; called with the lock. */
static struct sw_sim_work *work_of(CUgraphNode handle, CUgraphNodeType type)
{
	const struct sw_sim_node *node = sw_sim_object_get(handle, SW_SIM_NODE);
	return node && node->work->as == type ? node->work : NULL;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_work *work = work_of(node, CU_GRAPH_NODE_TYPE_KERNEL);
	if (!work || !out)
		return CUDA_ERROR_INVALID_VALUE;
	const struct sw_sim_launch *l = &work->launch;
	*out = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)l->function,
					 .gridDimX = l->grid[0],
					 .gridDimY = l->grid[1],
					 .gridDimZ = l->grid[2],
					 .blockDimX = l->block[0],
					 .blockDimY = l->block[1],
					 .blockDimZ = l->block[2],
					 .sharedMemBytes = l->shared_bytes,
					 .kernelParams = l->pointers};
	return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *out)
{
	CUDA_KERNEL_NODE_PARAMS p;
	CUresult result = out ? cuGraphKernelNodeGetParams_v2(node, &p) : CUDA_ERROR_INVALID_VALUE;
	if (!result)
		memcpy(out, &p, sizeof *out);
	return result;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_work *work = work_of(node, CU_GRAPH_NODE_TYPE_MEMCPY);
	if (!work || !out)
		return CUDA_ERROR_INVALID_VALUE;
	sw_sim_copy_params(work, out);
	return CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_work *work = work_of(node, CU_GRAPH_NODE_TYPE_MEMSET);
	if (!work || !out)
		return CUDA_ERROR_INVALID_VALUE;
	const struct sw_sim_set *s = &work->set;
	*out = (CUDA_MEMSET_NODE_PARAMS){s->dst, s->pitch, s->value, s->element, s->width, s->height};
	return CUDA_SUCCESS;
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_work *work = work_of(node, CU_GRAPH_NODE_TYPE_HOST);
	if (!work || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUDA_HOST_NODE_PARAMS){work->host.function, work->host.arg};
	return CUDA_SUCCESS;
}

/* The event of a node that records it or waits for it. */
static CUresult get_event(CUgraphNode node, CUgraphNodeType type, CUevent *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_work *work = work_of(node, type);
	if (!work || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUevent)work->event;
	return CUDA_SUCCESS;
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *out)
{
	return get_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, out);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *out)
{
	return get_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, out);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_work *work = work_of(node, CU_GRAPH_NODE_TYPE_GRAPH);
	if (!work || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUgraph)work->child;
	return CUDA_SUCCESS;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_work *work = work_of(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
	const struct sw_sim_alloc *a = work ? sw_sim_alloc_find(work->address) : NULL;
	if (!a || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUDA_MEM_ALLOC_NODE_PARAMS){.bytesize = a->size, .dptr = a->base};
	out->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	out->poolProps.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = a->device->index};
	return CUDA_SUCCESS;
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_work *work = work_of(node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
	if (!work || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUDA_BATCH_MEM_OP_NODE_PARAMS){.count = work->parts, .paramArray = work->ops};
	return CUDA_SUCCESS;
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_work *work = work_of(node, CU_GRAPH_NODE_TYPE_MEM_FREE);
	if (!work || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = work->address;
	return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_node *node = sw_sim_object_get(handle, SW_SIM_NODE);
	if (!node || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = node->work->as;
	return CUDA_SUCCESS;
}
