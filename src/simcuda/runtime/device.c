/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: properties, attributes, limits, peers; texts of errors; entry points of the driver. */
#include <cuda_profiler_api.h>
#include <string.h>

#include "simcuda/runtime/rt.h"

/* Attributes of kernels, occupancy, and the runtime's library API. */

/* The kernel and its device.  The runtime asks for both, and for the function in the context, before it touches
   attributes. */
static cudaError_t begin_attribute(const void *function, CUkernel *kernel, CUdevice *device)
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

/* Makes one driver call for each field, as the real runtime does. */
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *function)
{
	SW_RT_ENTER;
	CUkernel kernel;
	CUdevice device;
	int value;
	cudaError_t result = begin_attribute(function, &kernel, &device);
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

/* As libcudart does (tests/simcuda/driver-calls.tsv): sets the kernel's attribute, then waits for the per-thread
   default stream.  The call was measured not to wait for work on other streams (src/detect/behaviour/behaviour.def,
   "cudaFuncSetAttribute"). */
cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
	SW_RT_ENTER;
	CUkernel kernel;
	CUdevice device;
	cudaError_t result = begin_attribute(function, &kernel, &device);
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
	cudaError_t result = begin_attribute(function, &kernel, &device);
	return sw_rt_result(
		result ? result : (cudaError_t)sw_rt_d->cuKernelSetCacheConfig(kernel, (CUfunc_cache)config, device));
}

SW_RT_FORWARD(cudaKernelSetAttributeForDevice,
	      (cudaKernel_t kernel, enum cudaFuncAttribute attribute, int value, int device),
	      cuKernelSetAttribute((CUfunction_attribute)attribute, value, (CUkernel)kernel, device))

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

SW_RT_FORWARD(cudaLibraryLoadData,
	      (cudaLibrary_t * out, const void *code, enum cudaJitOption *jit, void **jit_values, unsigned jit_n,
	       enum cudaLibraryOption *options, void **values, unsigned n),
	      cuLibraryLoadData((CUlibrary *)out, code, (CUjit_option *)jit, jit_values, jit_n,
				(CUlibraryOption *)options, values, n))

SW_RT_FORWARD(cudaLibraryLoadFromFile,
	      (cudaLibrary_t * out, const char *path, enum cudaJitOption *jit, void **jit_values, unsigned jit_n,
	       enum cudaLibraryOption *options, void **values, unsigned n),
	      cuLibraryLoadFromFile((CUlibrary *)out, path, (CUjit_option *)jit, jit_values, jit_n,
				    (CUlibraryOption *)options, values, n))

SW_RT_FORWARD(cudaLibraryUnload, (cudaLibrary_t library), cuLibraryUnload((CUlibrary)library))

SW_RT_FORWARD(cudaLibraryGetKernel, (cudaKernel_t * out, cudaLibrary_t library, const char *name),
	      cuLibraryGetKernel((CUkernel *)out, (CUlibrary)library, name))

SW_RT_FORWARD(cudaLibraryGetKernelCount, (unsigned *out, cudaLibrary_t library),
	      cuLibraryGetKernelCount(out, (CUlibrary)library))

SW_RT_FORWARD(cudaLibraryEnumerateKernels, (cudaKernel_t * out, unsigned n, cudaLibrary_t library),
	      cuLibraryEnumerateKernels((CUkernel *)out, n, (CUlibrary)library))

SW_RT_FORWARD(cudaLibraryGetGlobal, (void **out, size_t *bytes, cudaLibrary_t library, const char *name),
	      cuLibraryGetGlobal((CUdeviceptr *)out, bytes, (CUlibrary)library, name))

SW_RT_FORWARD(cudaLibraryGetManaged, (void **out, size_t *bytes, cudaLibrary_t library, const char *name),
	      cuLibraryGetManaged((CUdeviceptr *)out, bytes, (CUlibrary)library, name))

/* Memory and events of other processes: one driver call each.  The handles of both interfaces are the same
   bytes. */

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *out, void *p)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuIpcGetMemHandle((CUipcMemHandle *)out, (uintptr_t)p));
}

cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t handle, unsigned flags)
{
	CUipcMemHandle same;
	SW_RT_ENTER;
	memcpy(&same, &handle, sizeof same);
	SW_RT_CALL(sw_rt_d->cuIpcOpenMemHandle((CUdeviceptr *)out, same, flags));
}

cudaError_t cudaIpcCloseMemHandle(void *p)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuIpcCloseMemHandle((uintptr_t)p));
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *out, cudaEvent_t event)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuIpcGetEventHandle((CUipcEventHandle *)out, event));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *out, cudaIpcEventHandle_t handle)
{
	CUipcEventHandle same;
	SW_RT_ENTER;
	memcpy(&same, &handle, sizeof same);
	SW_RT_CALL(sw_rt_d->cuIpcOpenEventHandle(out, same));
}

/* The calls that need a driver but no context. */
#define WITHOUT_CONTEXT(name, params, call)                                                                            \
	cudaError_t name params                                                                                        \
	{                                                                                                              \
		cudaError_t result = sw_rt_load();                                                                     \
		return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->call);                                     \
	}

WITHOUT_CONTEXT(cudaDeviceGetAttribute, (int *out, enum cudaDeviceAttr attribute, int device),
		cuDeviceGetAttribute(out, (CUdevice_attribute)attribute, device))

WITHOUT_CONTEXT(cudaDeviceGetPCIBusId, (char *out, int room, int device), cuDeviceGetPCIBusId(out, room, device))

WITHOUT_CONTEXT(cudaDeviceGetByPCIBusId, (int *out, const char *id), cuDeviceGetByPCIBusId(out, id))

WITHOUT_CONTEXT(cudaDeviceCanAccessPeer, (int *out, int device, int peer), cuDeviceCanAccessPeer(out, device, peer))

WITHOUT_CONTEXT(cudaDeviceGetP2PAttribute, (int *out, enum cudaDeviceP2PAttr attribute, int device, int peer),
		cuDeviceGetP2PAttribute(out, (CUdevice_P2PAttribute)attribute, device, peer))

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	SW_RT_ENTER;
	CUcontext ctx;
	cudaError_t result = sw_rt_primary(peer, &ctx);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuCtxEnablePeerAccess(ctx, flags));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
	SW_RT_ENTER;
	CUcontext ctx;
	cudaError_t result = sw_rt_primary(peer, &ctx);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuCtxDisablePeerAccess(ctx));
}

SW_RT_FORWARD(cudaDeviceGetLimit, (size_t * out, enum cudaLimit limit), cuCtxGetLimit(out, (CUlimit)limit))

SW_RT_FORWARD(cudaDeviceSetLimit, (enum cudaLimit limit, size_t value), cuCtxSetLimit((CUlimit)limit, value))

SW_RT_FORWARD(cudaDeviceGetCacheConfig, (enum cudaFuncCache * out), cuCtxGetCacheConfig((CUfunc_cache *)out))

SW_RT_FORWARD(cudaDeviceSetCacheConfig, (enum cudaFuncCache config), cuCtxSetCacheConfig((CUfunc_cache)config))

SW_RT_FORWARD(cudaCtxResetPersistingL2Cache, (void), cuCtxResetPersistingL2Cache())

WITHOUT_CONTEXT(cudaSetDeviceFlags, (unsigned flags), cuDevicePrimaryCtxSetFlags(sw_rt_device(), flags))

cudaError_t cudaGetDeviceFlags(unsigned *out)
{
	SW_RT_ENTER;
	int active;
	SW_RT_CALL(sw_rt_d->cuDevicePrimaryCtxGetState(sw_rt_device(), out, &active));
}

cudaError_t cudaChooseDevice(int *out, const struct cudaDeviceProp *wanted)
{
	if (!out || !wanted)
		return sw_rt_result(cudaErrorInvalidValue);
	*out = 0; /* all devices are alike */
	return cudaSuccess;
}

cudaError_t cudaProfilerStart(void)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuProfilerStart());
}

cudaError_t cudaProfilerStop(void)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuProfilerStop());
}

/* ---- errors ---- */

static const struct {
	cudaError_t code;
	const char *name, *text;
} errors[] = {
#define SW_SIM_ERROR(number, driver, runtime, text) {runtime, #runtime, text},
#define SW_SIM_RUNTIME_ERROR(number, runtime, text) {runtime, #runtime, text},
#include "simcuda/errors.def"
};

const char *cudaGetErrorName(cudaError_t code)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == code)
			return errors[i].name;
	return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t code)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == code)
			return errors[i].text;
	return "unrecognized error code";
}

/* ---- entry points ---- */

/* The address of a driver function.  cudaEnableDefault means the variant for the caller's own default stream. */
static cudaError_t entry_point(const char *symbol, void **out, unsigned version, unsigned long long flags,
			       bool per_thread, enum cudaDriverEntryPointQueryResult *status)
{
	static const enum cudaDriverEntryPointQueryResult said[] = {
		[CU_GET_PROC_ADDRESS_SUCCESS] = cudaDriverEntryPointSuccess,
		[CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND] = cudaDriverEntryPointSymbolNotFound,
		[CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT] = cudaDriverEntryPointVersionNotSufficent,
	};
	CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	cudaError_t result = sw_rt_load();
	if (result || !symbol || !out)
		return sw_rt_result(result ? result : cudaErrorInvalidValue);
	if (flags == cudaEnableDefault)
		flags = per_thread ? cudaEnablePerThreadDefaultStream : cudaEnableLegacyStream;
	CUresult got = sw_rt_d->cuGetProcAddress(symbol, out, (int)version, flags, &found);
	if (status)
		*status = said[found];
	/* A name that is not there is no error, only an answer. */
	return got == CUDA_ERROR_NOT_FOUND ? cudaSuccess : sw_rt_result((cudaError_t)got);
}

extern const struct sw_rt_driver *const sw_rt_per_thread;

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **out, unsigned version, unsigned long long flags,
					     enum cudaDriverEntryPointQueryResult *status)
{
	return entry_point(symbol, out, version, flags, sw_rt_d == sw_rt_per_thread, status);
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **out, unsigned long long flags,
				    enum cudaDriverEntryPointQueryResult *status)
{
	return entry_point(symbol, out, SW_CUDART_VERSION, flags, sw_rt_d == sw_rt_per_thread, status);
}
