/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs.  Sets, host nodes and edges have the driver's layout under other names; kernels and copies are translated. */
#include "simcuda/runtime/rt.h"

/* Nodes of graphs that came after the first ones: memory, conditions; parameters of copies and of any node. */

_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS), "same layout");

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
				     struct cudaMemAllocNodeParams *params)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuGraphAddMemAllocNode(out, graph, after, n, (CUDA_MEM_ALLOC_NODE_PARAMS *)params));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *out)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)out));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
				    void *p)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuGraphAddMemFreeNode(out, graph, after, n, (uintptr_t)p));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *out)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuGraphMemFreeNodeGetParams(node, out));
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *out, cudaGraph_t graph, unsigned value,
					     unsigned flags)
{
	SW_RT_ENTER;
	CUcontext ctx;
	cudaError_t result = (cudaError_t)sw_rt_d->cuCtxGetCurrent(&ctx);
	if (!result)
		result = (cudaError_t)sw_rt_d->cuGraphConditionalHandleCreate((CUgraphConditionalHandle *)out, graph,
									      ctx, value, flags);
	return sw_rt_result(result);
}

/* ---- copies ---- */

/* Back from the driver's form; positions in arrays are counted in elements. */
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *out)
{
	SW_RT_ENTER;
	CUDA_MEMCPY3D c;
	size_t to = 1, from = 1;
	cudaError_t result = (cudaError_t)sw_rt_d->cuGraphMemcpyNodeGetParams(node, &c);
	if (!result && c.dstArray)
		result = sw_rt_element((cudaArray_t)c.dstArray, &to);
	if (!result && c.srcArray)
		result = sw_rt_element((cudaArray_t)c.srcArray, &from);
	if (result)
		return sw_rt_result(result);
	bool from_host = c.srcMemoryType == CU_MEMORYTYPE_HOST, to_host = c.dstMemoryType == CU_MEMORYTYPE_HOST;
	*out = (struct cudaMemcpy3DParms){
		.srcArray = (cudaArray_t)c.srcArray,
		.dstArray = (cudaArray_t)c.dstArray,
		.srcPos = {c.srcXInBytes / from, c.srcY, c.srcZ},
		.dstPos = {c.dstXInBytes / to, c.dstY, c.dstZ},
		.extent = {c.WidthInBytes / (c.dstArray ? to : from), c.Height, c.Depth},
		.kind = cudaMemcpyDefault,
	};
	if (!c.srcArray)
		out->srcPtr = (struct cudaPitchedPtr){from_host ? (void *)(uintptr_t)c.srcHost
								: (void *)(uintptr_t)c.srcDevice,
						      c.srcPitch, c.WidthInBytes, c.srcHeight};
	if (!c.dstArray)
		out->dstPtr = (struct cudaPitchedPtr){to_host ? c.dstHost : (void *)(uintptr_t)c.dstDevice, c.dstPitch,
						      c.WidthInBytes, c.dstHeight};
	return sw_rt_result(cudaSuccess);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *params)
{
	SW_RT_ENTER;
	CUDA_MEMCPY3D c;
	cudaError_t result = sw_rt_volume(params, &c);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuGraphMemcpyNodeSetParams(node, &c));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
					     const struct cudaMemcpy3DParms *params)
{
	SW_RT_ENTER;
	CUcontext ctx;
	CUDA_MEMCPY3D c;
	cudaError_t result = (cudaError_t)sw_rt_d->cuCtxGetCurrent(&ctx);
	if (!result)
		result = sw_rt_volume(params, &c);
	return sw_rt_result(result ? result
				   : (cudaError_t)sw_rt_d->cuGraphExecMemcpyNodeSetParams(exec, node, &c, ctx));
}

/* ---- any node by one structure: kernels and copies are translated ---- */

/* The parameters of a kernel node out of the structure for all nodes. */
static struct cudaKernelNodeParams kernel_of(const struct cudaGraphNodeParams *p)
{
	return (struct cudaKernelNodeParams){.func = p->kernel.func,
					     .gridDim = p->kernel.gridDim,
					     .blockDim = p->kernel.blockDim,
					     .sharedMemBytes = p->kernel.sharedMemBytes,
					     .kernelParams = p->kernel.kernelParams,
					     .extra = p->kernel.extra};
}

/* Kernels and copies have other structures in the runtime than in the driver and are converted; the rest is the same in
   both. */
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params)
{
	SW_RT_ENTER;
	if (params && params->type == cudaGraphNodeTypeKernel) {
		struct cudaKernelNodeParams k = kernel_of(params);
		return cudaGraphKernelNodeSetParams(node, &k);
	}
	if (params && params->type == cudaGraphNodeTypeMemcpy)
		return cudaGraphMemcpyNodeSetParams(node, &params->memcpy.copyParams);
	SW_RT_CALL(sw_rt_d->cuGraphNodeSetParams(node, (CUgraphNodeParams *)params));
}

/* Kernels and copies have other structures in the runtime than in the driver and are converted; the rest is the same in
   both. */
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *params)
{
	SW_RT_ENTER;
	if (params && params->type == cudaGraphNodeTypeKernel) {
		struct cudaKernelNodeParams k = kernel_of(params);
		return cudaGraphExecKernelNodeSetParams(exec, node, &k);
	}
	if (params && params->type == cudaGraphNodeTypeMemcpy)
		return cudaGraphExecMemcpyNodeSetParams(exec, node, &params->memcpy.copyParams);
	SW_RT_CALL(sw_rt_d->cuGraphExecNodeSetParams(exec, node, (CUgraphNodeParams *)params));
}

/* User objects: one driver call each; flags are numbered alike. */

cudaError_t cudaUserObjectCreate(cudaUserObject_t *out, void *arg, cudaHostFn_t destroy, unsigned references,
				 unsigned flags)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuUserObjectCreate(out, arg, destroy, references, flags));
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuUserObjectRetain(object, count));
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuUserObjectRelease(object, count));
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuGraphRetainUserObject(graph, object, count, flags));
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuGraphReleaseUserObject(graph, object, count));
}

_Static_assert(sizeof(struct cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS), "same layout");
_Static_assert(sizeof(struct cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS), "same layout");
_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData), "same layout");
_Static_assert(sizeof(struct cudaGraphNodeParams) == sizeof(CUgraphNodeParams), "same layout");

/* Driver and runtime have one layout. */
static const CUDA_MEMSET_NODE_PARAMS *set_of(const struct cudaMemsetParams *p)
{
	return (const CUDA_MEMSET_NODE_PARAMS *)p;
}

/* Driver and runtime have one layout. */
static const CUDA_HOST_NODE_PARAMS *host_of(const struct cudaHostNodeParams *p)
{
	return (const CUDA_HOST_NODE_PARAMS *)p;
}

/* The current context.  The runtime asks for it before it adds a node that names one, and for the function of a
   kernel. */
static cudaError_t current_context(CUcontext *ctx)
{
	return (cudaError_t)sw_rt_d->cuCtxGetCurrent(ctx);
}

/* The driver's form of a kernel node's parameters; the host stub becomes the function of the current context. */
static cudaError_t convert_kernel(const struct cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS *out)
{
	CUkernel k;
	CUfunction f;
	if (!p)
		return cudaErrorInvalidValue;
	cudaError_t result = sw_rt_kernel(p->func, &k);
	if (!result)
		result = (cudaError_t)sw_rt_d->cuKernelGetFunction(&f, k);
	if (!result)
		*out = (CUDA_KERNEL_NODE_PARAMS){.func = f,
						 .gridDimX = p->gridDim.x,
						 .gridDimY = p->gridDim.y,
						 .gridDimZ = p->gridDim.z,
						 .blockDimX = p->blockDim.x,
						 .blockDimY = p->blockDim.y,
						 .blockDimZ = p->blockDim.z,
						 .sharedMemBytes = p->sharedMemBytes,
						 .kernelParams = p->kernelParams,
						 .extra = p->extra};
	return result == cudaErrorInvalidResourceHandle ? cudaErrorInvalidDeviceFunction : result;
}

SW_RT_FORWARD(cudaGraphCreate, (cudaGraph_t * out, unsigned flags), cuGraphCreate(out, flags))

SW_RT_FORWARD(cudaGraphDestroy, (cudaGraph_t graph), cuGraphDestroy(graph))

SW_RT_FORWARD(cudaGraphClone, (cudaGraph_t * out, cudaGraph_t graph), cuGraphClone(out, graph))

SW_RT_FORWARD(cudaGraphNodeFindInClone, (cudaGraphNode_t * out, cudaGraphNode_t node, cudaGraph_t clone),
	      cuGraphNodeFindInClone(out, node, clone))

/* ---- nodes ---- */

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
				   const struct cudaKernelNodeParams *params)
{
	SW_RT_ENTER;
	CUcontext ctx;
	CUDA_KERNEL_NODE_PARAMS p;
	cudaError_t result = current_context(&ctx);
	if (!result)
		result = convert_kernel(params, &p);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuGraphAddKernelNode(out, graph, after, n, &p));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *params)
{
	SW_RT_ENTER;
	CUDA_KERNEL_NODE_PARAMS p;
	cudaError_t result = convert_kernel(params, &p);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuGraphKernelNodeSetParams(node, &p));
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
					    const cudaLaunchAttributeValue *value)
{
	/* One union under two names. */
	return sw_rt_result((cudaError_t)sw_rt_d->cuGraphKernelNodeSetAttribute(node, (CUkernelNodeAttrID)id,
										(const CUkernelNodeAttrValue *)value));
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
					    cudaLaunchAttributeValue *value)
{
	return sw_rt_result((cudaError_t)sw_rt_d->cuGraphKernelNodeGetAttribute(node, (CUkernelNodeAttrID)id,
										(CUkernelNodeAttrValue *)value));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
					     const struct cudaKernelNodeParams *params)
{
	SW_RT_ENTER;
	CUDA_KERNEL_NODE_PARAMS p;
	cudaError_t result = convert_kernel(params, &p);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuGraphExecKernelNodeSetParams(exec, node, &p));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *out)
{
	SW_RT_ENTER;
	CUDA_KERNEL_NODE_PARAMS p;
	cudaError_t result = (cudaError_t)sw_rt_d->cuGraphKernelNodeGetParams(node, &p);
	if (!result)
		*out = (struct cudaKernelNodeParams){.func = (void *)p.func,
						     .gridDim = {p.gridDimX, p.gridDimY, p.gridDimZ},
						     .blockDim = {p.blockDimX, p.blockDimY, p.blockDimZ},
						     .sharedMemBytes = p.sharedMemBytes,
						     .kernelParams = p.kernelParams,
						     .extra = p.extra};
	return sw_rt_result(result);
}

/* The driver needs the context in which the address is meant: the current one. */
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
				   const struct cudaMemsetParams *params)
{
	SW_RT_ENTER;
	CUcontext ctx;
	cudaError_t result = current_context(&ctx);
	return sw_rt_result(
		result ? result
		       : (cudaError_t)sw_rt_d->cuGraphAddMemsetNode(out, graph, after, n, set_of(params), ctx));
}

SW_RT_FORWARD(cudaGraphMemsetNodeGetParams, (cudaGraphNode_t node, struct cudaMemsetParams *out),
	      cuGraphMemsetNodeGetParams(node, (CUDA_MEMSET_NODE_PARAMS *)out))

SW_RT_FORWARD(cudaGraphMemsetNodeSetParams, (cudaGraphNode_t node, const struct cudaMemsetParams *params),
	      cuGraphMemsetNodeSetParams(node, set_of(params)))

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
					     const struct cudaMemsetParams *params)
{
	SW_RT_ENTER;
	CUcontext ctx;
	cudaError_t result = current_context(&ctx);
	return sw_rt_result(
		result ? result
		       : (cudaError_t)sw_rt_d->cuGraphExecMemsetNodeSetParams(exec, node, set_of(params), ctx));
}

/* The driver needs the context in which the copy's addresses are meant: the current one. */
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
				   const struct cudaMemcpy3DParms *params)
{
	SW_RT_ENTER;
	CUcontext ctx;
	CUDA_MEMCPY3D c;
	cudaError_t result = current_context(&ctx);
	if (!result)
		result = sw_rt_volume(params, &c);
	return sw_rt_result(result ? result
				   : (cudaError_t)sw_rt_d->cuGraphAddMemcpyNode(out, graph, after, n, &c, ctx));
}

/* The driver's form of a copy of bytes in a line. */
static void fill_row(CUDA_MEMCPY3D *c, void *dst, const void *src, size_t bytes)
{
	*c = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
			     .srcDevice = (uintptr_t)src,
			     .srcPitch = bytes,
			     .srcHeight = 1,
			     .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
			     .dstDevice = (uintptr_t)dst,
			     .dstPitch = bytes,
			     .dstHeight = 1,
			     .WidthInBytes = bytes,
			     .Height = 1,
			     .Depth = 1};
}

/* A copy of one row. */
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
				     void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	SW_RT_ENTER;
	CUcontext ctx;
	CUDA_MEMCPY3D c;
	(void)kind; /* decided by the addresses */
	fill_row(&c, dst, src, bytes);
	cudaError_t result = current_context(&ctx);
	return sw_rt_result(result ? result
				   : (cudaError_t)sw_rt_d->cuGraphAddMemcpyNode(out, graph, after, n, &c, ctx));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, size_t bytes,
					   enum cudaMemcpyKind kind)
{
	SW_RT_ENTER;
	CUDA_MEMCPY3D c;
	(void)kind;
	fill_row(&c, dst, src, bytes);
	SW_RT_CALL(sw_rt_d->cuGraphMemcpyNodeSetParams(node, &c));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *dst, const void *src,
					       size_t bytes, enum cudaMemcpyKind kind)
{
	SW_RT_ENTER;
	CUcontext ctx;
	CUDA_MEMCPY3D c;
	(void)kind;
	fill_row(&c, dst, src, bytes);
	cudaError_t result = current_context(&ctx);
	return sw_rt_result(result ? result
				   : (cudaError_t)sw_rt_d->cuGraphExecMemcpyNodeSetParams(exec, node, &c, ctx));
}

SW_RT_FORWARD(cudaGraphAddHostNode,
	      (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
	       const struct cudaHostNodeParams *params),
	      cuGraphAddHostNode(out, graph, after, n, host_of(params)))

SW_RT_FORWARD(cudaGraphHostNodeGetParams, (cudaGraphNode_t node, struct cudaHostNodeParams *out),
	      cuGraphHostNodeGetParams(node, (CUDA_HOST_NODE_PARAMS *)out))

SW_RT_FORWARD(cudaGraphHostNodeSetParams, (cudaGraphNode_t node, const struct cudaHostNodeParams *params),
	      cuGraphHostNodeSetParams(node, host_of(params)))

SW_RT_FORWARD(cudaGraphExecHostNodeSetParams,
	      (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaHostNodeParams *params),
	      cuGraphExecHostNodeSetParams(exec, node, host_of(params)))

SW_RT_FORWARD(cudaGraphAddChildGraphNode,
	      (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n, cudaGraph_t child),
	      cuGraphAddChildGraphNode(out, graph, after, n, child))

SW_RT_FORWARD(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *out),
	      cuGraphChildGraphNodeGetGraph(node, out))

SW_RT_FORWARD(cudaGraphExecChildGraphNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child),
	      cuGraphExecChildGraphNodeSetParams(exec, node, child))

SW_RT_FORWARD(cudaGraphAddEmptyNode, (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n),
	      cuGraphAddEmptyNode(out, graph, after, n))

SW_RT_FORWARD(cudaGraphAddEventRecordNode,
	      (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n, cudaEvent_t event),
	      cuGraphAddEventRecordNode(out, graph, after, n, event))

SW_RT_FORWARD(cudaGraphAddEventWaitNode,
	      (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n, cudaEvent_t event),
	      cuGraphAddEventWaitNode(out, graph, after, n, event))

SW_RT_FORWARD(cudaGraphEventRecordNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *out),
	      cuGraphEventRecordNodeGetEvent(node, out))

SW_RT_FORWARD(cudaGraphEventWaitNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *out),
	      cuGraphEventWaitNodeGetEvent(node, out))

SW_RT_FORWARD(cudaGraphEventRecordNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
	      cuGraphEventRecordNodeSetEvent(node, event))

SW_RT_FORWARD(cudaGraphEventWaitNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
	      cuGraphEventWaitNodeSetEvent(node, event))

SW_RT_FORWARD(cudaGraphExecEventRecordNodeSetEvent, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event),
	      cuGraphExecEventRecordNodeSetEvent(exec, node, event))

SW_RT_FORWARD(cudaGraphExecEventWaitNodeSetEvent, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event),
	      cuGraphExecEventWaitNodeSetEvent(exec, node, event))

SW_RT_FORWARD(cudaGraphDestroyNode, (cudaGraphNode_t node), cuGraphDestroyNode(node))

SW_RT_FORWARD(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *out),
	      cuGraphNodeGetType(node, (CUgraphNodeType *)out))

SW_RT_FORWARD(cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled),
	      cuGraphNodeSetEnabled(exec, node, enabled))

SW_RT_FORWARD(cudaGraphNodeGetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *out),
	      cuGraphNodeGetEnabled(exec, node, out))

/* ---- queries ---- */

SW_RT_FORWARD(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *out, size_t *n), cuGraphGetNodes(graph, out, n))

SW_RT_FORWARD(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *out, size_t *n),
	      cuGraphGetRootNodes(graph, out, n))

/* ---- execution ---- */

SW_RT_FORWARD(cudaGraphInstantiate, (cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags),
	      cuGraphInstantiateWithFlags(out, graph, flags))

SW_RT_FORWARD(cudaGraphInstantiateWithFlags, (cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags),
	      cuGraphInstantiateWithFlags(out, graph, flags))

SW_RT_FORWARD(cudaGraphInstantiateWithParams,
	      (cudaGraphExec_t * out, cudaGraph_t graph, cudaGraphInstantiateParams *params),
	      cuGraphInstantiateWithParams(out, graph, (CUDA_GRAPH_INSTANTIATE_PARAMS *)params))

SW_RT_FORWARD(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream), cuGraphUpload(exec, stream))

SW_RT_FORWARD(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), cuGraphLaunch(exec, stream))

SW_RT_FORWARD(cudaGraphExecDestroy, (cudaGraphExec_t exec), cuGraphExecDestroy(exec))

SW_RT_FORWARD(cudaGraphExecGetFlags, (cudaGraphExec_t exec, unsigned long long *out),
	      cuGraphExecGetFlags(exec, (cuuint64_t *)out))

SW_RT_FORWARD(cudaGraphExecUpdate, (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *out),
	      cuGraphExecUpdate(exec, graph, (CUgraphExecUpdateResultInfo *)out))
