/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: nvcc's call configuration, and the three ways into cuLaunchKernel. */
#include "simcuda/runtime/rt.h"

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes,
			       cudaStream_t stream);

#define CONFIGURATIONS 16 /* nested: arguments of a launch may launch */
static __thread struct {
	dim3 grid, block;
	size_t shared_bytes;
	cudaStream_t stream;
} configuration[CONFIGURATIONS];
static __thread unsigned depth;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, struct CUstream_st *stream)
{
	if (depth == CONFIGURATIONS)
		return 1;
	configuration[depth].grid = grid;
	configuration[depth].block = block;
	configuration[depth].shared_bytes = shared_bytes;
	configuration[depth++].stream = stream;
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
	if (!depth)
		return sw_rt_result(cudaErrorMissingConfiguration);
	*grid = configuration[--depth].grid;
	*block = configuration[depth].block;
	*shared_bytes = configuration[depth].shared_bytes;
	*(cudaStream_t *)stream = configuration[depth].stream;
	return cudaSuccess;
}

/* Bad geometry is a bad configuration here; an invalid handle may be the function or the stream: only then it is asked.
 */
static cudaError_t launched(CUkernel kernel, CUresult result)
{
	const char *name;
	if (result == CUDA_ERROR_INVALID_HANDLE && sw_rt_d->cuKernelGetName(&name, kernel))
		return sw_rt_result(cudaErrorInvalidDeviceFunction);
	return sw_rt_result(result == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration : (cudaError_t)result);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes,
			       cudaStream_t stream)
{
	SW_RT_ENTER;
	if (!kernel)
		return sw_rt_result(cudaErrorInvalidDeviceFunction);
	return launched((CUkernel)kernel,
			sw_rt_d->cuLaunchKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
						(unsigned)shared_bytes, stream, args, NULL));
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args, size_t shared_bytes,
			     cudaStream_t stream)
{
	SW_RT_ENTER;
	CUkernel kernel;
	cudaError_t result = sw_rt_kernel(function, &kernel);
	return result ? sw_rt_result(result)
		      : __cudaLaunchKernel((cudaKernel_t)kernel, grid, block, args, shared_bytes, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
	SW_RT_ENTER;
	CUkernel kernel;
	if (!config)
		return sw_rt_result(cudaErrorInvalidValue);
	cudaError_t result = sw_rt_kernel(function, &kernel);
	if (result)
		return sw_rt_result(result);
	CUlaunchConfig c = {config->gridDim.x,
			    config->gridDim.y,
			    config->gridDim.z,
			    config->blockDim.x,
			    config->blockDim.y,
			    config->blockDim.z,
			    (unsigned)config->dynamicSmemBytes,
			    config->stream,
			    (CUlaunchAttribute *)config->attrs,
			    config->numAttrs};
	return launched(kernel, sw_rt_d->cuLaunchKernelEx(&c, (CUfunction)kernel, args, NULL));
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **args, size_t shared_bytes,
					cudaStream_t stream)
{
	SW_RT_ENTER;
	CUkernel kernel;
	cudaError_t result = sw_rt_kernel(function, &kernel);
	if (result)
		return sw_rt_result(result);
	return launched(kernel,
			sw_rt_d->cuLaunchCooperativeKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y,
							   block.z, (unsigned)shared_bytes, stream, args));
}
