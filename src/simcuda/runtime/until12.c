/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions whose parameters changed with CUDA 13, as CUDA 12 had them (CUDA Runtime API 12): plain names without
 * locations and edge data.  CUDA 13's declarations of the same names are renamed out of the way.
 */
#define cudaMemPrefetchAsync		    sw_rt_new_prefetch
#define cudaMemAdvise			    sw_rt_new_advise
#define cudaStreamGetCaptureInfo	    sw_rt_new_capture_info
#define cudaStreamUpdateCaptureDependencies sw_rt_new_update
#define cudaGraphAddDependencies	    sw_rt_new_add
#define cudaGraphRemoveDependencies	    sw_rt_new_remove
#define cudaGraphGetEdges		    sw_rt_new_edges
#define cudaGraphNodeGetDependencies	    sw_rt_new_before
#define cudaGraphNodeGetDependentNodes	    sw_rt_new_after
#define cudaMemcpyBatchAsync		    sw_rt_new_batch
#define cudaMemcpy3DBatchAsync		    sw_rt_new_batch_3d
#include "simcuda/runtime/properties.h"
#include "simcuda/runtime/twin.h"
#undef cudaMemPrefetchAsync
#undef cudaMemAdvise
#undef cudaStreamGetCaptureInfo
#undef cudaStreamUpdateCaptureDependencies
#undef cudaGraphAddDependencies
#undef cudaGraphRemoveDependencies
#undef cudaGraphGetEdges
#undef cudaGraphNodeGetDependencies
#undef cudaGraphNodeGetDependentNodes
#undef cudaMemcpyBatchAsync
#undef cudaMemcpy3DBatchAsync

/* The beginning of CUDA 12's structure: what follows is left to the caller. */
struct properties12 {
	char name[256];
	cudaUUID_t uuid;
	char luid[8];
	unsigned luidDeviceNodeMask;
	size_t totalGlobalMem, sharedMemPerBlock;
	int regsPerBlock, warpSize;
	size_t memPitch;
	int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
	size_t totalConstMem;
	int major, minor;
	size_t textureAlignment, texturePitchAlignment;
	int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
	int textures_and_surfaces[40];
	size_t surfaceAlignment;
	int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount,
		unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize,
		maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
	size_t sharedMemPerMultiprocessor;
	int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
		singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess,
		computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch,
		cooperativeMultiDeviceLaunch;
	size_t sharedMemPerBlockOptin;
	int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
		accessPolicyMaxWindowSize;
	size_t reservedSharedMemPerBlock;
	int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,
		timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
	unsigned gpuDirectRDMAFlushWritesOptions;
	int gpuDirectRDMAWritesOrdering;
	unsigned memoryPoolSupportedHandleTypes;
	int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
};

#define DECLARED(function, params)                                                                                     \
	cudaError_t function params;                                                                                   \
	cudaError_t function params

#define FORWARD(function, params, call)                                                                                \
	cudaError_t function params;                                                                                   \
	SW_RT_FORWARD(function, params, call)

/* The header of CUDA 12 renames cudaGetDeviceProperties to this. */
DECLARED(cudaGetDeviceProperties_v2, (struct properties12 * out, int device))
{
	SW_RT_GET_PROPERTIES(out, device);
}

/* CUDA 12 names a device, or the host as device -1. */
static CUmemLocation device_location(int device)
{
	return device == cudaCpuDeviceId ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0}
					 : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

FORWARD(cudaMemPrefetchAsync, (const void *p, size_t bytes, int device, cudaStream_t stream),
	cuMemPrefetchAsync((uintptr_t)p, bytes, device_location(device), 0, stream))

TWIN(cudaMemPrefetchAsync, _ptsz, (const void *p, size_t bytes, int device, cudaStream_t stream),
     (p, bytes, device, stream))

FORWARD(cudaMemAdvise, (const void *p, size_t bytes, enum cudaMemoryAdvise advice, int device),
	cuMemAdvise((uintptr_t)p, bytes, (CUmem_advise)advice, device_location(device)))

FORWARD(cudaStreamGetCaptureInfo_v2,
	(cudaStream_t s, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
	 const cudaGraphNode_t **nodes, size_t *n),
	cuStreamGetCaptureInfo(s, (CUstreamCaptureStatus *)status, (cuuint64_t *)id, graph, nodes, NULL, n))

TWIN(cudaStreamGetCaptureInfo_v2, _ptsz,
     (cudaStream_t s, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
      const cudaGraphNode_t **nodes, size_t *n),
     (s, status, id, graph, nodes, n))

FORWARD(cudaStreamUpdateCaptureDependencies, (cudaStream_t s, cudaGraphNode_t *nodes, size_t n, unsigned flags),
	cuStreamUpdateCaptureDependencies(s, nodes, NULL, n, flags))

TWIN(cudaStreamUpdateCaptureDependencies, _ptsz, (cudaStream_t s, cudaGraphNode_t *nodes, size_t n, unsigned flags),
     (s, nodes, n, flags))

FORWARD(cudaGraphAddDependencies, (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n),
	cuGraphAddDependencies(graph, from, to, NULL, n))

FORWARD(cudaGraphRemoveDependencies,
	(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n),
	cuGraphRemoveDependencies(graph, from, to, NULL, n))

FORWARD(cudaGraphGetEdges, (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n),
	cuGraphGetEdges(graph, from, to, NULL, n))

FORWARD(cudaGraphNodeGetDependencies, (cudaGraphNode_t node, cudaGraphNode_t *out, size_t *n),
	cuGraphNodeGetDependencies(node, out, NULL, n))

FORWARD(cudaGraphNodeGetDependentNodes, (cudaGraphNode_t node, cudaGraphNode_t *out, size_t *n),
	cuGraphNodeGetDependentNodes(node, out, NULL, n))

DECLARED(cudaMemcpyBatchAsync,
	 (void **to, void **from, size_t *bytes, size_t count, struct cudaMemcpyAttributes *attributes, size_t *first,
	  size_t n, size_t *failed, cudaStream_t s))
{
	SW_RT_ENTER;
	cudaError_t result = (cudaError_t)sw_rt_d->cuMemcpyBatchAsync(
		(CUdeviceptr *)to, (CUdeviceptr *)from, bytes, count, (CUmemcpyAttributes *)attributes, first, n, s);
	if (result && failed)
		*failed = SIZE_MAX; /* no particular one */
	return sw_rt_result(result);
}
TWIN(cudaMemcpyBatchAsync, _ptsz,
     (void **to, void **from, size_t *bytes, size_t count, struct cudaMemcpyAttributes *attributes, size_t *first,
      size_t n, size_t *failed, cudaStream_t s),
     (to, from, bytes, count, attributes, first, n, failed, s))

DECLARED(cudaMemcpy3DBatchAsync,
	 (size_t count, struct cudaMemcpy3DBatchOp *ops, size_t *failed, unsigned long long flags, cudaStream_t s))
{
	SW_RT_ENTER;
	cudaError_t result = (cudaError_t)sw_rt_d->cuMemcpy3DBatchAsync(count, (CUDA_MEMCPY3D_BATCH_OP *)ops, flags, s);
	if (result && failed)
		*failed = SIZE_MAX; /* no particular one */
	return sw_rt_result(result);
}
TWIN(cudaMemcpy3DBatchAsync, _ptsz,
     (size_t count, struct cudaMemcpy3DBatchOp *ops, size_t *failed, unsigned long long flags, cudaStream_t s),
     (count, ops, failed, flags, s))
