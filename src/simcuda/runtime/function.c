/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of kernels, occupancy, and the runtime's library API. */
#include "simcuda/runtime/rt.h"

#include <string.h>

/* Device of the current context and the function in it, as the runtime asks for them before it touches attributes. */
static cudaError_t begin(const void *function, CUkernel *kernel, CUdevice *device)
{
	CUfunction loaded;
	cudaError_t result = sw_rt_kernel(function, kernel);
	if (!result)
		result = (cudaError_t)sw_rt_d->cuCtxGetDevice(device, NULL);
	if (!result)
		result = (cudaError_t)sw_rt_d->cuKernelGetFunction(&loaded, *kernel);
	return result == cudaErrorInvalidResourceHandle ? cudaErrorInvalidDeviceFunction : result;
}

/* X(field of struct cudaFuncAttributes, driver's attribute) */
#define ATTRIBUTES(X)                                                                                                  \
	X(sharedSizeBytes, SHARED_SIZE_BYTES)                                                                          \
	X(constSizeBytes, CONST_SIZE_BYTES)                                                                            \
	X(localSizeBytes, LOCAL_SIZE_BYTES)                                                                            \
	X(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK)                                                                   \
	X(numRegs, NUM_REGS)                                                                                           \
	X(ptxVersion, PTX_VERSION)                                                                                     \
	X(binaryVersion, BINARY_VERSION)                                                                               \
	X(cacheModeCA, CACHE_MODE_CA)                                                                                  \
	X(maxDynamicSharedSizeBytes, MAX_DYNAMIC_SHARED_SIZE_BYTES)                                                    \
	X(preferredShmemCarveout, PREFERRED_SHARED_MEMORY_CARVEOUT)                                                    \
	X(clusterDimMustBeSet, CLUSTER_SIZE_MUST_BE_SET)                                                               \
	X(requiredClusterWidth, REQUIRED_CLUSTER_WIDTH)                                                                \
	X(requiredClusterHeight, REQUIRED_CLUSTER_HEIGHT)                                                              \
	X(requiredClusterDepth, REQUIRED_CLUSTER_DEPTH)                                                                \
	X(clusterSchedulingPolicyPreference, CLUSTER_SCHEDULING_POLICY_PREFERENCE)                                     \
	X(nonPortableClusterSizeAllowed, NON_PORTABLE_CLUSTER_SIZE_ALLOWED)

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *function)
{
	SW_RT_ENTER;
	CUkernel kernel;
	CUdevice device;
	int value;
	cudaError_t result = begin(function, &kernel, &device);
	if (result || !out)
		return sw_rt_result(result ? result : cudaErrorInvalidValue);
	memset(out, 0, sizeof *out);
#define GET(field, attribute)                                                                                          \
	result = (cudaError_t)sw_rt_d->cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_##attribute, kernel, device);    \
	if (result)                                                                                                    \
		return sw_rt_result(result);                                                                           \
	out->field = (__typeof__(out->field))value;
	ATTRIBUTES(GET)
#undef GET
	return cudaSuccess;
}

/* The runtime then waits for a stream that has no work of the program in it. */
cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
	SW_RT_ENTER;
	CUkernel kernel;
	CUdevice device;
	cudaError_t result = begin(function, &kernel, &device);
	if (!result)
		result = (cudaError_t)sw_rt_d->cuKernelSetAttribute((CUfunction_attribute)attribute, value, kernel,
								    device);
	if (!result)
		result = (cudaError_t)sw_rt_d->cuStreamSynchronize(CU_STREAM_PER_THREAD);
	return sw_rt_result(result);
}

cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config)
{
	SW_RT_ENTER;
	CUkernel kernel;
	CUdevice device;
	cudaError_t result = begin(function, &kernel, &device);
	return sw_rt_result(
		result ? result : (cudaError_t)sw_rt_d->cuKernelSetCacheConfig(kernel, (CUfunc_cache)config, device));
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attribute, int value,
					    int device)
	SW_RT_FORWARD(cuKernelSetAttribute((CUfunction_attribute)attribute, value, (CUkernel)kernel, device))

		cudaError_t cudaFuncGetName(const char **out, const void *function)
{
	SW_RT_ENTER;
	CUkernel kernel;
	cudaError_t result = sw_rt_kernel(function, &kernel);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuKernelGetName(out, kernel));
}

cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *bytes)
{
	SW_RT_ENTER;
	CUkernel kernel;
	cudaError_t result = sw_rt_kernel(function, &kernel);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuKernelGetParamInfo(kernel, index, offset, bytes));
}

cudaError_t cudaGetKernel(cudaKernel_t *out, const void *function)
{
	SW_RT_ENTER;
	CUkernel kernel;
	cudaError_t result = out ? sw_rt_kernel(function, &kernel) : cudaErrorInvalidValue;
	if (!result)
		*out = (cudaKernel_t)kernel;
	return sw_rt_result(result);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *function)
{
	SW_RT_ENTER;
	CUkernel kernel;
	cudaError_t result = sw_rt_kernel(function, &kernel);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuKernelGetFunction(out, kernel));
}

/* ---- occupancy ---- */

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, const void *function, int threads,
								   size_t shared_bytes, unsigned flags)
{
	SW_RT_ENTER;
	CUkernel kernel;
	cudaError_t result = sw_rt_kernel(function, &kernel);
	if (result)
		return sw_rt_result(result);
	SW_RT_CALL(sw_rt_d->cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, (CUfunction)kernel, threads,
										 shared_bytes, flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *out, const void *function, int threads,
							  size_t shared_bytes)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, function, threads, shared_bytes, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *out, const void *function, int blocks, int threads)
{
	SW_RT_ENTER;
	CUkernel kernel;
	cudaError_t result = sw_rt_kernel(function, &kernel);
	if (result)
		return sw_rt_result(result);
	SW_RT_CALL(sw_rt_d->cuOccupancyAvailableDynamicSMemPerBlock(out, (CUfunction)kernel, blocks, threads));
}

/* ---- libraries ---- */

cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *code, enum cudaJitOption *jit, void **jit_values,
				unsigned jit_n, enum cudaLibraryOption *options, void **values, unsigned n)
	SW_RT_FORWARD(cuLibraryLoadData((CUlibrary *)out, code, (CUjit_option *)jit, jit_values, jit_n,
					(CUlibraryOption *)options, values, n))

		cudaError_t
	cudaLibraryLoadFromFile(cudaLibrary_t *out, const char *path, enum cudaJitOption *jit, void **jit_values,
				unsigned jit_n, enum cudaLibraryOption *options, void **values, unsigned n)
		SW_RT_FORWARD(cuLibraryLoadFromFile((CUlibrary *)out, path, (CUjit_option *)jit, jit_values, jit_n,
						    (CUlibraryOption *)options, values, n))

			cudaError_t
	cudaLibraryUnload(cudaLibrary_t library) SW_RT_FORWARD(cuLibraryUnload((CUlibrary)library))

		cudaError_t cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t library, const char *name)
			SW_RT_FORWARD(cuLibraryGetKernel((CUkernel *)out, (CUlibrary)library, name))

				cudaError_t cudaLibraryGetKernelCount(unsigned *out, cudaLibrary_t library)
					SW_RT_FORWARD(cuLibraryGetKernelCount(out, (CUlibrary)library))

						cudaError_t
	cudaLibraryEnumerateKernels(cudaKernel_t *out, unsigned n, cudaLibrary_t library)
		SW_RT_FORWARD(cuLibraryEnumerateKernels((CUkernel *)out, n, (CUlibrary)library))

			cudaError_t
	cudaLibraryGetGlobal(void **out, size_t *bytes, cudaLibrary_t library, const char *name)
		SW_RT_FORWARD(cuLibraryGetGlobal((CUdeviceptr *)out, bytes, (CUlibrary)library, name))

			cudaError_t
	cudaLibraryGetManaged(void **out, size_t *bytes, cudaLibrary_t library, const char *name)
		SW_RT_FORWARD(cuLibraryGetManaged((CUdeviceptr *)out, bytes, (CUlibrary)library, name))
