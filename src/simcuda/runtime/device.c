/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: properties, attributes, limits, peers; texts of errors; entry points of the driver. */
#include "simcuda/runtime/rt.h"

#include <cuda_profiler_api.h>
#include <string.h>

static int attribute_of(CUdevice_attribute attribute, int device)
{
	int value = 0;
	return sw_rt_d->cuDeviceGetAttribute(&value, attribute, device) ? 0 : value;
}

/* X(field, attribute) of struct cudaDeviceProp: the fields that are one device attribute, in both CUDA 12 and 13. */
#define PROPERTIES(X)                                                                                                  \
	X(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK)                                                              \
	X(regsPerBlock, MAX_REGISTERS_PER_BLOCK)                                                                       \
	X(warpSize, WARP_SIZE)                                                                                         \
	X(memPitch, MAX_PITCH)                                                                                         \
	X(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK)                                                                   \
	X(maxThreadsDim[0], MAX_BLOCK_DIM_X)                                                                           \
	X(maxThreadsDim[1], MAX_BLOCK_DIM_Y)                                                                           \
	X(maxThreadsDim[2], MAX_BLOCK_DIM_Z)                                                                           \
	X(maxGridSize[0], MAX_GRID_DIM_X)                                                                              \
	X(maxGridSize[1], MAX_GRID_DIM_Y)                                                                              \
	X(maxGridSize[2], MAX_GRID_DIM_Z)                                                                              \
	X(totalConstMem, TOTAL_CONSTANT_MEMORY)                                                                        \
	X(major, COMPUTE_CAPABILITY_MAJOR)                                                                             \
	X(minor, COMPUTE_CAPABILITY_MINOR)                                                                             \
	X(textureAlignment, TEXTURE_ALIGNMENT)                                                                         \
	X(texturePitchAlignment, TEXTURE_PITCH_ALIGNMENT)                                                              \
	X(multiProcessorCount, MULTIPROCESSOR_COUNT)                                                                   \
	X(canMapHostMemory, CAN_MAP_HOST_MEMORY)                                                                       \
	X(surfaceAlignment, SURFACE_ALIGNMENT)                                                                         \
	X(concurrentKernels, CONCURRENT_KERNELS)                                                                       \
	X(pciBusID, PCI_BUS_ID)                                                                                        \
	X(pciDeviceID, PCI_DEVICE_ID)                                                                                  \
	X(asyncEngineCount, ASYNC_ENGINE_COUNT)                                                                        \
	X(unifiedAddressing, UNIFIED_ADDRESSING)                                                                       \
	X(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH)                                                                     \
	X(l2CacheSize, L2_CACHE_SIZE)                                                                                  \
	X(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR)                                                 \
	X(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED)                                                      \
	X(globalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED)                                                           \
	X(localL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED)                                                             \
	X(sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)                                            \
	X(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR)                                                     \
	X(managedMemory, MANAGED_MEMORY)                                                                               \
	X(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS)                                                          \
	X(computePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED)                                                    \
	X(canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)                                  \
	X(cooperativeLaunch, COOPERATIVE_LAUNCH)                                                                       \
	X(sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)                                                   \
	X(maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR)                                                   \
	X(reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK)                                                 \
	X(hostRegisterSupported, HOST_REGISTER_SUPPORTED)                                                              \
	X(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED)                                                                \
	X(clusterLaunch, CLUSTER_LAUNCH)                                                                               \
	X(unifiedFunctionPointers, UNIFIED_FUNCTION_POINTERS)

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
	int count;
	cudaError_t result = cudaGetDeviceCount(&count);
	if (!result && (device < 0 || device >= count || !out))
		result = out ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
	if (result)
		return sw_rt_result(result);
	memset(out, 0, sizeof *out);
	sw_rt_d->cuDeviceGetName(out->name, sizeof out->name, device);
	sw_rt_d->cuDeviceGetUuid((CUuuid *)&out->uuid, device);
	sw_rt_d->cuDeviceTotalMem(&out->totalGlobalMem, device);
#define SET(field, attribute) out->field = (__typeof__(out->field))attribute_of(CU_DEVICE_ATTRIBUTE_##attribute, device);
	PROPERTIES(SET)
#undef SET
	return cudaSuccess;
}

/* The calls that need a driver but no context. */
#define WITHOUT_CONTEXT(call)                                                                                          \
	{                                                                                                              \
		cudaError_t result = sw_rt_load();                                                                     \
		return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->call);                                     \
	}

cudaError_t cudaDeviceGetAttribute(int *out, enum cudaDeviceAttr attribute, int device)
	WITHOUT_CONTEXT(cuDeviceGetAttribute(out, (CUdevice_attribute)attribute, device))

cudaError_t cudaDeviceGetPCIBusId(char *out, int room, int device) WITHOUT_CONTEXT(cuDeviceGetPCIBusId(out, room, device))

cudaError_t cudaDeviceGetByPCIBusId(int *out, const char *id) WITHOUT_CONTEXT(cuDeviceGetByPCIBusId(out, id))

cudaError_t cudaDeviceCanAccessPeer(int *out, int device, int peer) WITHOUT_CONTEXT(cuDeviceCanAccessPeer(out, device, peer))

cudaError_t cudaDeviceGetP2PAttribute(int *out, enum cudaDeviceP2PAttr attribute, int device, int peer)
	WITHOUT_CONTEXT(cuDeviceGetP2PAttribute(out, (CUdevice_P2PAttribute)attribute, device, peer))

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

cudaError_t cudaDeviceGetLimit(size_t *out, enum cudaLimit limit) SW_RT_FORWARD(cuCtxGetLimit(out, (CUlimit)limit))

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) SW_RT_FORWARD(cuCtxSetLimit((CUlimit)limit, value))

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *out) SW_RT_FORWARD(cuCtxGetCacheConfig((CUfunc_cache *)out))

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) SW_RT_FORWARD(cuCtxSetCacheConfig((CUfunc_cache)config))

cudaError_t cudaCtxResetPersistingL2Cache(void) SW_RT_FORWARD(cuCtxResetPersistingL2Cache())

cudaError_t cudaSetDeviceFlags(unsigned flags) WITHOUT_CONTEXT(cuDevicePrimaryCtxSetFlags(sw_rt_device(), flags))

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
	return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
	return cudaSuccess;
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

/* cudaEnableDefault means the flavour of the caller's own default stream. */
static cudaError_t entry_point(const char *symbol, void **out, unsigned version, unsigned long long flags, bool per_thread,
			       enum cudaDriverEntryPointQueryResult *status)
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
