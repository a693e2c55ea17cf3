/* SPDX-License-Identifier: Apache-2.0 */
/* A program linked with a driver of CUDA 13.5: its newer entry points, and those whose record holds words of their
   parameters, of which each must arrive at the driver as it was given. */
#include "preload/intercept/cuda_types.h"

CUresult cuMemcpyWithAttributesAsync(CUdeviceptr, CUdeviceptr, size_t, CUmemcpyAttributes *, CUstream);
CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream);
CUresult cuLaunchHostFunc_v2(CUstream, CUhostFn, void *, unsigned int);
CUresult cuGraphAddNode_v3(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t,
			   CUgraphNodeParams *);
CUresult cuMulticastBindMem_v2(CUmemGenericAllocationHandle, CUdevice, size_t, CUmemGenericAllocationHandle, size_t,
			       size_t, unsigned long long);
CUresult cuLogicalEndpointBindMem(CUlogicalEndpointId, CUdevice, cuuint64_t, CUmemGenericAllocationHandle, cuuint64_t,
				  cuuint64_t, unsigned long long);
CUresult cuLogicalEndpointUnbind(CUlogicalEndpointId, CUdevice, cuuint64_t, cuuint64_t);
CUresult cuStreamBeginRecaptureToGraph(CUstream, CUstreamCaptureMode, CUgraph, CUgraphRecaptureCallback, void *);
CUresult cuTensorMapSetAllocationClass(CUtensorMap *, CUtensorMapAllocClass, CUtensorMapAllocClass *);
CUresult cuFabricCpyBatchAsync(size_t, CUDA_FABRIC_COPY_BATCH_OP *, unsigned long long, CUstream);
CUresult cuEGLStreamProducerPresentFrame(void *, struct sw_egl_frame, CUstream *);
extern __typeof__(cuStreamUpdateCaptureDependencies) cuStreamUpdateCaptureDependencies_ptsz;

static int ran;

static void CUDA_CB host(void *data)
{
	ran += *(int *)data;
}

static CUresult CUDA_CB differs(void *data, CUgraphNode node, const CUgraphNodeParams *a, const CUgraphNodeParams *b,
				CUgraphRecaptureStatus status)
{
	return CUDA_SUCCESS;
}

int main(void)
{
	CUcontext context;
	CUgraphNode node = NULL, nodes[2] = {NULL};
	CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
	CUtensorMap map = {{1}};
	CUmemcpyAttributes any = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY};
	CUDA_MEMCPY3D_BATCH_OP op = {.src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = 0x500000},
				     .dst = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = 0x600000},
				     .extent = {32, 4, 2},
				     .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL};
	CUstreamBatchMemOpParams reduce = {.operation = (CUstreamBatchMemOpType)8}; /* an atomic reduction */
	struct sw_egl_frame frame = {{1, 2, 3, 4, 5, 6, 7, 8}};
	CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_HOST};
	CUmemoryPool pool;
	const CUstream stream = (CUstream)0x9000;
	int one = 1, wrong = 0;

	cuInit(0);
	cuCtxCreate_v2(&context, 0, 0);
	cuMemcpyWithAttributesAsync(0x100000, 0x200000, 4096, &any, stream);
	cuMemcpyWithAttributesAsync(0x100000, 0x200000, 4096, NULL, stream);
	cuMemcpy3DWithAttributesAsync(&op, 0, stream);
	cuLaunchHostFunc_v2(stream, host, &one, 1);
	cuGraphAddNode_v3(&node, (CUgraph)0xa000, NULL, NULL, 0, &params);
	cuMulticastBindMem_v2(1, 2, 3, 4, 5, 6, 0);
	cuLogicalEndpointBindMem(1, 2, 3, 4, 5, 6, 0);
	cuLogicalEndpointUnbind(1, 2, 3, 4);
	cuStreamBeginRecaptureToGraph(stream, CU_STREAM_CAPTURE_MODE_RELAXED, (CUgraph)0xa000, differs, &one);
	cuTensorMapSetAllocationClass(&map, 2, NULL);
	cuFabricCpyBatchAsync(3, (CUDA_FABRIC_COPY_BATCH_OP *)0xb000, 0, stream);
	cuStreamBatchMemOp_v2(stream, 1, &reduce, 0);
	cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED);
	/* The driver looks at these. */
	wrong |= cuMulticastUnbind(0x123456789abcdef0, -7, 0xfedcba9876543210, 1) != CUDA_SUCCESS;
	wrong |= cuStreamUpdateCaptureDependencies_ptsz(stream, nodes, 2, 0xf0000001) != CUDA_SUCCESS;
	wrong |= cuEGLStreamProducerPresentFrame(&one, frame, NULL) != CUDA_SUCCESS;
	return wrong || ran != 1;
}
