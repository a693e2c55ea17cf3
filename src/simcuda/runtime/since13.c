/* SPDX-License-Identifier: Apache-2.0 */
/* The functions whose parameters changed with CUDA 13; libcudart.so.12 has their older forms (until12.c). */
#include "simcuda/runtime/properties.h"
#include "simcuda/runtime/twin.h"

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
	SW_RT_GET_PROPERTIES(out, device);
}

/* ---- managed memory ---- */

/* The driver's form of a location. */
static CUmemLocation convert_location(struct cudaMemLocation l)
{
	return (CUmemLocation){.type = (CUmemLocationType)l.type, .id = l.id};
}

SW_RT_FORWARD(cudaMemPrefetchAsync,
	      (const void *p, size_t bytes, struct cudaMemLocation to, unsigned flags, cudaStream_t stream),
	      cuMemPrefetchAsync((uintptr_t)p, bytes, convert_location(to), flags, stream))

SW_RT_FORWARD(cudaMemAdvise, (const void *p, size_t bytes, enum cudaMemoryAdvise advice, struct cudaMemLocation to),
	      cuMemAdvise((uintptr_t)p, bytes, (CUmem_advise)advice, convert_location(to)))

/* ---- capture ---- */

SW_RT_FORWARD(cudaStreamGetCaptureInfo,
	      (cudaStream_t s, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
	       const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges, size_t *n),
	      cuStreamGetCaptureInfo(s, (CUstreamCaptureStatus *)status, (cuuint64_t *)id, graph, nodes,
				     (const CUgraphEdgeData **)edges, n))

SW_RT_FORWARD(cudaStreamUpdateCaptureDependencies,
	      (cudaStream_t s, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges, size_t n, unsigned flags),
	      cuStreamUpdateCaptureDependencies(s, nodes, (const CUgraphEdgeData *)edges, n, flags))

/* ---- graphs: edges carry data ---- */

/* Adds a node of any type.  Kernel nodes get their dependencies one by one where edges have ports. */
cudaError_t cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after,
			     const cudaGraphEdgeData *edges, size_t n, struct cudaGraphNodeParams *params)
{
	SW_RT_ENTER;
	if (params && params->type == cudaGraphNodeTypeKernel) {
		struct cudaKernelNodeParams k = {.func = params->kernel.func,
						 .gridDim = params->kernel.gridDim,
						 .blockDim = params->kernel.blockDim,
						 .sharedMemBytes = params->kernel.sharedMemBytes,
						 .kernelParams = params->kernel.kernelParams,
						 .extra = params->kernel.extra};
		cudaError_t result = cudaGraphAddKernelNode(out, graph, after, edges ? 0 : n, &k);
		for (size_t i = 0; edges && i < n && !result; i++)
			result = cudaGraphAddDependencies(graph, &after[i], out, &edges[i], 1);
		return result;
	}
	if (params && params->type == cudaGraphNodeTypeMemcpy)
		return cudaGraphAddMemcpyNode(out, graph, after, n, &params->memcpy.copyParams);
	SW_RT_CALL(sw_rt_d->cuGraphAddNode(out, graph, after, (const CUgraphEdgeData *)edges, n,
					   (CUgraphNodeParams *)params));
}

SW_RT_FORWARD(cudaGraphAddDependencies,
	      (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
	       const cudaGraphEdgeData *edges, size_t n),
	      cuGraphAddDependencies(graph, from, to, (const CUgraphEdgeData *)edges, n))

SW_RT_FORWARD(cudaGraphRemoveDependencies,
	      (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
	       const cudaGraphEdgeData *edges, size_t n),
	      cuGraphRemoveDependencies(graph, from, to, (const CUgraphEdgeData *)edges, n))

SW_RT_FORWARD(cudaGraphGetEdges,
	      (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges, size_t *n),
	      cuGraphGetEdges(graph, from, to, (CUgraphEdgeData *)edges, n))

SW_RT_FORWARD(cudaGraphNodeGetDependencies,
	      (cudaGraphNode_t node, cudaGraphNode_t *out, cudaGraphEdgeData *edges, size_t *n),
	      cuGraphNodeGetDependencies(node, out, (CUgraphEdgeData *)edges, n))

SW_RT_FORWARD(cudaGraphNodeGetDependentNodes,
	      (cudaGraphNode_t node, cudaGraphNode_t *out, cudaGraphEdgeData *edges, size_t *n),
	      cuGraphNodeGetDependentNodes(node, out, (CUgraphEdgeData *)edges, n))

/* ---- batch copies ---- */

_Static_assert(sizeof(struct cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes), "same layout");

SW_RT_FORWARD(cudaMemcpyBatchAsync,
	      (void *const *to, const void *const *from, const size_t *bytes, size_t count,
	       struct cudaMemcpyAttributes *attributes, size_t *first, size_t n, cudaStream_t s),
	      cuMemcpyBatchAsync((CUdeviceptr *)(uintptr_t)to, (CUdeviceptr *)(uintptr_t)from,
				 (size_t *)(uintptr_t)bytes, count, (CUmemcpyAttributes *)attributes, first, n, s))

_Static_assert(sizeof(struct cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP), "same layout");

SW_RT_FORWARD(cudaMemcpy3DBatchAsync,
	      (size_t count, struct cudaMemcpy3DBatchOp *ops, unsigned long long flags, cudaStream_t s),
	      cuMemcpy3DBatchAsync(count, (CUDA_MEMCPY3D_BATCH_OP *)ops, flags, s))

/* ---- batches of managed memory ---- */

_Static_assert(sizeof(struct cudaMemLocation) == sizeof(CUmemLocation), "same layout");

SW_RT_FORWARD(cudaMemPrefetchBatchAsync,
	      (void **at, size_t *bytes, size_t count, struct cudaMemLocation *to, size_t *first, size_t n,
	       unsigned long long flags, cudaStream_t s),
	      cuMemPrefetchBatchAsync((CUdeviceptr *)at, bytes, count, (CUmemLocation *)to, first, n, flags, s))

SW_RT_FORWARD(cudaMemDiscardBatchAsync,
	      (void **at, size_t *bytes, size_t count, unsigned long long flags, cudaStream_t s),
	      cuMemDiscardBatchAsync((CUdeviceptr *)at, bytes, count, flags, s))

SW_RT_FORWARD(cudaMemDiscardAndPrefetchBatchAsync,
	      (void **at, size_t *bytes, size_t count, struct cudaMemLocation *to, size_t *first, size_t n,
	       unsigned long long flags, cudaStream_t s),
	      cuMemDiscardAndPrefetchBatchAsync((CUdeviceptr *)at, bytes, count, (CUmemLocation *)to, first, n, flags,
						s))

/* ---- per-thread default stream ---- */

TWIN(cudaMemPrefetchBatchAsync, _ptsz,
     (void **at, size_t *bytes, size_t count, struct cudaMemLocation *to, size_t *first, size_t n,
      unsigned long long flags, cudaStream_t s),
     (at, bytes, count, to, first, n, flags, s))

TWIN(cudaMemDiscardBatchAsync, _ptsz,
     (void **at, size_t *bytes, size_t count, unsigned long long flags, cudaStream_t s), (at, bytes, count, flags, s))

TWIN(cudaMemDiscardAndPrefetchBatchAsync, _ptsz,
     (void **at, size_t *bytes, size_t count, struct cudaMemLocation *to, size_t *first, size_t n,
      unsigned long long flags, cudaStream_t s),
     (at, bytes, count, to, first, n, flags, s))

TWIN(cudaMemcpy3DBatchAsync, _ptsz,
     (size_t count, struct cudaMemcpy3DBatchOp *ops, unsigned long long flags, cudaStream_t s), (count, ops, flags, s))

TWIN(cudaMemcpyBatchAsync, _ptsz,
     (void *const *to, const void *const *from, const size_t *bytes, size_t count,
      struct cudaMemcpyAttributes *attributes, size_t *first, size_t n, cudaStream_t s),
     (to, from, bytes, count, attributes, first, n, s))

TWIN(cudaMemPrefetchAsync, _ptsz,
     (const void *p, size_t bytes, struct cudaMemLocation to, unsigned flags, cudaStream_t stream),
     (p, bytes, to, flags, stream))

TWIN(cudaStreamGetCaptureInfo, _ptsz,
     (cudaStream_t s, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
      const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges, size_t *n),
     (s, status, id, graph, nodes, edges, n))

TWIN(cudaStreamUpdateCaptureDependencies, _ptsz,
     (cudaStream_t s, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges, size_t n, unsigned flags),
     (s, nodes, edges, n, flags))
