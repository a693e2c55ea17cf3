/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that are more than work, on the simulated driver: conditional ones, memory of graphs, memory operations. */
#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "expect.h"

#define N 256
static CUcontext context;
static CUdevice device;
static CUdeviceptr buffer;
static CUstream stream;

#define OK(call) EXPECT((call) == CUDA_SUCCESS)

static CUgraph new_graph(void)
{
	CUgraph graph = NULL;
	OK(cuGraphCreate(&graph, 0));
	return graph;
}

static CUDA_MEMSET_NODE_PARAMS set_to(unsigned value, CUdeviceptr at)
{
	return (CUDA_MEMSET_NODE_PARAMS){.dst = at, .value = value, .elementSize = 1, .width = N, .height = 1};
}

static CUgraphNode add_set(CUgraph graph, unsigned value, CUdeviceptr at, const CUgraphNode *after)
{
	CUDA_MEMSET_NODE_PARAMS p = set_to(value, at);
	CUgraphNode node = NULL;
	OK(cuGraphAddMemsetNode(&node, graph, after, after ? 1 : 0, &p, context));
	return node;
}

static CUresult add_any(CUgraphNode *node, CUgraph graph, CUgraphNodeParams *p)
{
#if CUDA_VERSION >= 13000
	return cuGraphAddNode(node, graph, NULL, NULL, 0, p);
#else
	return cuGraphAddNode(node, graph, NULL, 0, p);
#endif
}

static CUgraphExec instantiate(CUgraph graph, unsigned long long flags)
{
	CUgraphExec exec = NULL;
	OK(cuGraphInstantiateWithFlags(&exec, graph, flags));
	return exec;
}

static unsigned char first_byte(void)
{
	unsigned char byte = 0xff;
	OK(cuStreamSynchronize(stream));
	OK(cuMemcpyDtoH(&byte, buffer, 1));
	return byte;
}

static void clear(void)
{
	OK(cuMemsetD8(buffer, 0, N));
}

/* Body i sets all to i + 1.  What ran, 0 nothing. */
static unsigned char run_conditional(CUgraphConditionalNodeType type, unsigned bodies, unsigned value)
{
	CUgraph graph = new_graph();
	CUgraphConditionalHandle handle;
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
	CUgraphNode node;
	CUgraphNodeType told = CU_GRAPH_NODE_TYPE_EMPTY;
	OK(cuGraphConditionalHandleCreate(&handle, graph, context, value, CU_GRAPH_COND_ASSIGN_DEFAULT));
	p.conditional = (CUDA_CONDITIONAL_NODE_PARAMS){.handle = handle, .type = type, .size = bodies, .ctx = context};
	OK(add_any(&node, graph, &p));
	OK(cuGraphNodeGetType(node, &told));
	EXPECT(told == CU_GRAPH_NODE_TYPE_CONDITIONAL);
	for (unsigned i = 0; i < bodies; i++)
		add_set(p.conditional.phGraph_out[i], i + 1, buffer, NULL);
	CUgraphExec exec = instantiate(graph, 0);
	clear();
	OK(cuGraphLaunch(exec, stream));
	unsigned char ran = first_byte();
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(graph));
	return ran;
}

static void bodies_run_by_their_value(void)
{
	EXPECT(run_conditional(CU_GRAPH_COND_TYPE_IF, 1, 1) == 1);
	EXPECT(run_conditional(CU_GRAPH_COND_TYPE_IF, 1, 0) == 0);
	EXPECT(run_conditional(CU_GRAPH_COND_TYPE_IF, 2, 0) == 2);
	EXPECT(run_conditional(CU_GRAPH_COND_TYPE_WHILE, 1, 7) == 1);
	EXPECT(run_conditional(CU_GRAPH_COND_TYPE_WHILE, 1, 0) == 0);
	EXPECT(run_conditional(CU_GRAPH_COND_TYPE_SWITCH, 3, 2) == 3);
	EXPECT(run_conditional(CU_GRAPH_COND_TYPE_SWITCH, 3, 3) == 0);
}

static void memory_operations(void)
{
	CUgraph graph = new_graph();
	CUgraphNode set = add_set(graph, 0x11, buffer, NULL), node;
	CUstreamBatchMemOpParams op[2] = {0};
	CUDA_BATCH_MEM_OP_NODE_PARAMS p = {.ctx = context, .count = 2, .paramArray = op}, told = {0};
	for (unsigned i = 0; i < 2; i++) {
		op[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
		op[i].writeValue.address = buffer;
		op[i].writeValue.value = 0x22 + i;
	}
	OK(cuGraphAddBatchMemOpNode(&node, graph, &set, 1, &p));
	OK(cuGraphBatchMemOpNodeGetParams(node, &told));
	EXPECT(told.count == 2 && told.paramArray[1].writeValue.value == 0x23);
	CUgraphExec exec = instantiate(graph, 0);
	OK(cuGraphLaunch(exec, stream));
	EXPECT(first_byte() == 0x23);
	op[1].writeValue.value = 0x44;
	OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &p));
	OK(cuGraphLaunch(exec, stream));
	EXPECT(first_byte() == 0x44);
	op[0].writeValue.address = 16;
	EXPECT(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p) == CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(graph));
}

static void memory_of_graphs(void)
{
	CUgraph graph = new_graph();
	CUDA_MEM_ALLOC_NODE_PARAMS p = {.bytesize = N}, told = {0};
	CUgraphNode node;
	p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	p.poolProps.location.id = device;
	OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &p));
	OK(cuGraphMemAllocNodeGetParams(node, &told));
	EXPECT(p.dptr && told.dptr == p.dptr);
	add_set(graph, 0x33, p.dptr, &node);
	CUgraphExec exec = instantiate(graph, 0);
	CUgraphExec frees = instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
	OK(cuGraphLaunch(exec, stream));
	EXPECT(cuGraphLaunch(exec, stream) == CUDA_ERROR_INVALID_VALUE); /* it is still allocated */
	OK(cuMemcpyDtoDAsync(buffer, p.dptr, N, stream));
	EXPECT(first_byte() == 0x33);
	OK(cuMemFreeAsync(p.dptr, stream));
	EXPECT(cuMemFreeAsync(p.dptr, stream) == CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphLaunch(exec, stream));
	OK(cuGraphLaunch(frees, stream));
	OK(cuGraphLaunch(frees, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuMemFree(p.dptr));
	EXPECT(cuMemFree(p.dptr) == CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphExecDestroy(frees));
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(graph));
}

static void any_node_is_changed(void)
{
	CUgraph graph = new_graph();
	CUgraphNode node = add_set(graph, 1, buffer, NULL);
	CUgraphExec exec = instantiate(graph, 0);
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
	CUDA_MEMSET_NODE_PARAMS set = set_to(5, buffer);
	p.memset = (CUDA_MEMSET_NODE_PARAMS_v2){
		.dst = set.dst, .value = set.value, .elementSize = 1, .width = N, .height = 1, .ctx = context};
	OK(cuGraphExecNodeSetParams(exec, node, &p));
	OK(cuGraphLaunch(exec, stream));
	EXPECT(first_byte() == 5);
	p.type = CU_GRAPH_NODE_TYPE_EMPTY;
	EXPECT(cuGraphExecNodeSetParams(exec, node, &p) == CUDA_ERROR_INVALID_VALUE);
	p.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
	EXPECT(cuGraphExecNodeSetParams(exec, node, &p) == CUDA_ERROR_NOT_SUPPORTED);
	EXPECT(add_any(&node, graph, &p) == CUDA_ERROR_NOT_SUPPORTED);
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(graph));
}

#define MANY   2000
#define ROUNDS 400

static atomic_bool over;

/* Makes and destroys so many graphs that the driver's table of handles moves again and again. */
static void *make_many(void *unused)
{
	static CUgraph graphs[MANY];
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < MANY; i++)
			OK(cuGraphCreate(&graphs[i], 0));
		for (int i = 0; i < MANY; i++)
			OK(cuGraphDestroy(graphs[i]));
	}
	over = true;
	return unused;
}

/* Edges are asked for while another thread makes objects: the handle is found each time. */
static void edges_beside_other_threads(void)
{
#if CUDA_VERSION >= 12030
	CUgraph graph = new_graph();
	CUgraphNode first = add_set(graph, 1, buffer, NULL), from[2], to[2];
	CUgraphEdgeData edges[2];
	add_set(graph, 2, buffer, &first);
	pthread_t other;
	EXPECT(pthread_create(&other, NULL, make_many, NULL) == 0);
	while (!over && !failures) {
		size_t n = 2;
		OK(cuGraphGetEdges_v2(graph, from, to, edges, &n));
		EXPECT(n == 1 && from[0] == first);
		n = 2;
		OK(cuGraphNodeGetDependentNodes_v2(first, to, edges, &n));
		EXPECT(n == 1);
	}
	EXPECT(pthread_join(other, NULL) == 0);
	OK(cuGraphDestroy(graph));
#endif
}

int main(void)
{
	OK(cuInit(0));
	OK(cuDeviceGet(&device, 0));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc(&buffer, N));
	bodies_run_by_their_value();
	memory_operations();
	memory_of_graphs();
	any_node_is_changed();
	edges_beside_other_threads();
	printf("%d failures\n", failures);
	return failures != 0;
}
