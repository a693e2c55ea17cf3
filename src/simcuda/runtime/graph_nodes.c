/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of graphs that came after the first ones: memory, conditions; parameters of copies and of any node. */
#include "simcuda/runtime/rt.h"

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

static struct cudaKernelNodeParams kernel_of(const struct cudaGraphNodeParams *p)
{
	return (struct cudaKernelNodeParams){.func = p->kernel.func,
					     .gridDim = p->kernel.gridDim,
					     .blockDim = p->kernel.blockDim,
					     .sharedMemBytes = p->kernel.sharedMemBytes,
					     .kernelParams = p->kernel.kernelParams,
					     .extra = p->kernel.extra};
}

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
