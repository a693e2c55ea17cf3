/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the programs that make graphs with the driver API: nodes that the runtime has no functions for. */
#ifndef KERNELS_GRAPH_DRIVER_H
#define KERNELS_GRAPH_DRIVER_H

#include <vector>

#include "driver.h"

constexpr size_t BYTES = 1 << 20;

/* A context, two streams, buffers. */
struct Device {
	CUdevice device;
	CUcontext context;
	CUstream stream[2];
	CUdeviceptr buffer[3];

	Device()
	{
		CHECK(cuInit(0));
		CHECK(cuDeviceGet(&device, 0));
		CHECK(cuDevicePrimaryCtxRetain(&context, device));
		CHECK(cuCtxSetCurrent(context));
		for (CUstream &s : stream)
			CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
		for (CUdeviceptr &b : buffer)
			CHECK(cuMemAlloc(&b, BYTES));
	}
	~Device()
	{
		CHECK(cuCtxSynchronize());
		for (CUdeviceptr b : buffer)
			CHECK(cuMemFree(b));
		for (CUstream s : stream)
			CHECK(cuStreamDestroy(s));
		CHECK(cuDevicePrimaryCtxRelease(device));
	}
};

using Nodes = std::vector<CUgraphNode>;

inline CUgraphNode add_set(const Device &d, CUgraph graph, const Nodes &after, CUdeviceptr at)
{
	CUDA_MEMSET_NODE_PARAMS p = {};
	CUgraphNode node;

	p.dst = at;
	p.value = 7;
	p.elementSize = 1;
	p.width = BYTES;
	p.height = 1;
	CHECK(cuGraphAddMemsetNode(&node, graph, after.data(), after.size(), &p, d.context));
	return node;
}

inline CUgraphNode add_copy(const Device &d, CUgraph graph, const Nodes &after, CUdeviceptr to, CUdeviceptr from)
{
	CUDA_MEMCPY3D p = {};
	CUgraphNode node;

	p.srcMemoryType = p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	p.srcDevice = from;
	p.dstDevice = to;
	p.WidthInBytes = BYTES;
	p.Height = p.Depth = 1;
	CHECK(cuGraphAddMemcpyNode(&node, graph, after.data(), after.size(), &p, d.context));
	return node;
}

inline CUgraphNode add_any(CUgraph graph, const Nodes &after, CUgraphNodeParams *p)
{
	CUgraphNode node;

#if CUDA_VERSION >= 13000
	CHECK(cuGraphAddNode(&node, graph, after.data(), nullptr, after.size(), p));
#else
	CHECK(cuGraphAddNode(&node, graph, after.data(), after.size(), p));
#endif
	return node;
}

inline CUgraph new_graph()
{
	CUgraph graph;

	CHECK(cuGraphCreate(&graph, 0));
	return graph;
}

inline CUgraphExec instantiate(CUgraph graph)
{
	CUgraphExec exec;

	CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	return exec;
}

#endif
