/* SPDX-License-Identifier: Apache-2.0 */
/* cudaGetDeviceProperties: CUDA 12 and 13 have structures of their own, with these fields in both. */
#ifndef SW_SIMCUDA_RUNTIME_PROPERTIES_H
#define SW_SIMCUDA_RUNTIME_PROPERTIES_H

#include <string.h>

#include "simcuda/runtime/rt.h"

/* X(field, attribute): the fields that are one device attribute. */
#define SW_RT_PROPERTIES(X)                                                                                            \
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

static inline int sw_rt_attribute(CUdevice_attribute attribute, int device)
{
	int value = 0;
	return sw_rt_d->cuDeviceGetAttribute(&value, attribute, device) ? 0 : value;
}

#define SW_RT_PROPERTY(field, attribute)                                                                               \
	out->field = (__typeof__(out->field))sw_rt_attribute(CU_DEVICE_ATTRIBUTE_##attribute, device);

/* The body of the function, for either structure. */
#define SW_RT_GET_PROPERTIES(out, device)                                                                              \
	do {                                                                                                           \
		int count;                                                                                             \
		cudaError_t result = cudaGetDeviceCount(&count);                                                       \
		if (!result && (device < 0 || device >= count || !out))                                                \
			result = out ? cudaErrorInvalidDevice : cudaErrorInvalidValue;                                 \
		if (result)                                                                                            \
			return sw_rt_result(result);                                                                   \
		memset(out, 0, sizeof *out);                                                                           \
		sw_rt_d->cuDeviceGetName(out->name, sizeof out->name, device);                                         \
		sw_rt_d->cuDeviceGetUuid((CUuuid *)&out->uuid, device);                                                \
		sw_rt_d->cuDeviceTotalMem(&out->totalGlobalMem, device);                                               \
		SW_RT_PROPERTIES(SW_RT_PROPERTY)                                                                       \
		return cudaSuccess;                                                                                    \
	} while (0)

#endif
