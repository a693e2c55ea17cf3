/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of the device: its own name, and the shape of a large GPU of compute capability 9.0. */
#include "simcuda/sim.h"

#include <cudaProfiler.h>

#include <stdio.h>
#include <string.h>

#include "simcuda/proc.h"

#define DRIVER_VERSION 13000

/* X(attribute without its prefix, value) */
#define ATTRIBUTES(X)                                                                                                  \
	X(MAX_THREADS_PER_BLOCK, 1024)                                                                                 \
	X(MAX_BLOCK_DIM_X, 1024)                                                                                       \
	X(MAX_BLOCK_DIM_Y, 1024)                                                                                       \
	X(MAX_BLOCK_DIM_Z, 64)                                                                                         \
	X(MAX_GRID_DIM_X, 0x7fffffff)                                                                                  \
	X(MAX_GRID_DIM_Y, 65535)                                                                                       \
	X(MAX_GRID_DIM_Z, 65535)                                                                                       \
	X(MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10)                                                                       \
	X(TOTAL_CONSTANT_MEMORY, 64 << 10)                                                                             \
	X(WARP_SIZE, 32)                                                                                               \
	X(MAX_PITCH, 0x7fffffff)                                                                                       \
	X(MAX_REGISTERS_PER_BLOCK, 65536)                                                                              \
	X(CLOCK_RATE, 1980000)                                                                                         \
	X(TEXTURE_ALIGNMENT, 512)                                                                                      \
	X(GPU_OVERLAP, 1)                                                                                              \
	X(MULTIPROCESSOR_COUNT, 132)                                                                                   \
	X(CAN_MAP_HOST_MEMORY, 1)                                                                                      \
	X(SURFACE_ALIGNMENT, 512)                                                                                      \
	X(CONCURRENT_KERNELS, 1)                                                                                       \
	X(PCI_BUS_ID, 1)                                                                                               \
	X(MEMORY_CLOCK_RATE, 3201000)                                                                                  \
	X(GLOBAL_MEMORY_BUS_WIDTH, 6144)                                                                               \
	X(L2_CACHE_SIZE, 60 << 20)                                                                                     \
	X(MAX_THREADS_PER_MULTIPROCESSOR, 2048)                                                                        \
	X(ASYNC_ENGINE_COUNT, 3)                                                                                       \
	X(UNIFIED_ADDRESSING, 1)                                                                                       \
	X(TEXTURE_PITCH_ALIGNMENT, 32)                                                                                 \
	X(COMPUTE_CAPABILITY_MAJOR, 9)                                                                                 \
	X(COMPUTE_CAPABILITY_MINOR, 0)                                                                                 \
	X(STREAM_PRIORITIES_SUPPORTED, 1)                                                                              \
	X(GLOBAL_L1_CACHE_SUPPORTED, 1)                                                                                \
	X(LOCAL_L1_CACHE_SUPPORTED, 1)                                                                                 \
	X(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10)                                                             \
	X(MAX_REGISTERS_PER_MULTIPROCESSOR, 65536)                                                                     \
	X(MANAGED_MEMORY, 1)                                                                                           \
	X(CONCURRENT_MANAGED_ACCESS, 1)                                                                                \
	X(COMPUTE_PREEMPTION_SUPPORTED, 1)                                                                             \
	X(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1)                                                                  \
	X(COOPERATIVE_LAUNCH, 1)                                                                                       \
	X(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 << 10)                                                                \
	X(HOST_REGISTER_SUPPORTED, 1)                                                                                  \
	X(MAX_BLOCKS_PER_MULTIPROCESSOR, 32)                                                                           \
	X(RESERVED_SHARED_MEMORY_PER_BLOCK, 1024)                                                                      \
	X(READ_ONLY_HOST_REGISTER_SUPPORTED, 1)                                                                        \
	X(MEMORY_POOLS_SUPPORTED, 1)                                                                                   \
	X(CLUSTER_LAUNCH, 1)                                                                                           \
	X(UNIFIED_FUNCTION_POINTERS, 1)

static const struct {
	CUdevice_attribute attribute;
	int value;
} attributes[] = {
#define ROW(name, value) {CU_DEVICE_ATTRIBUTE_##name, value},
	ATTRIBUTES(ROW)
#undef ROW
};

CUresult cuDriverGetVersion(int *version)
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = DRIVER_VERSION;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = sw_sim.devices;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *out, int ordinal)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!out || !sw_sim_device_at(ordinal))
		return out ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	*out = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int room, CUdevice device)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!name || room <= 0 || !sw_sim_device_at(device))
		return name && room > 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	snprintf(name, (size_t)room, "Simulated CUDA device (syncwatch)");
	return CUDA_SUCCESS;
}

/* Alike in each run: a text, with the device's number as the last byte. */
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!uuid || !sw_sim_device_at(device))
		return uuid ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	memcpy(uuid->bytes, "syncwatch sim  ", 15);
	uuid->bytes[15] = (char)device;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
	return cuDeviceGetUuid_v2(uuid, device);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_device *d = sw_sim_device_at(device);
	if (!bytes || !d)
		return bytes ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	*bytes = d->size;
	return CUDA_SUCCESS;
}

/* Attributes that are not listed are features that the simulation does not have: 0. */
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!sw_sim_device_at(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!value || attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	*value = 0;
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (attributes[i].attribute == attribute)
			*value = attributes[i].value;
	if (attribute == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)
		*value = device;
	return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
	CUresult result = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
	return result ? result : cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

CUresult cuDeviceGetPCIBusId(char *out, int room, CUdevice device)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!out || room <= 0 || !sw_sim_device_at(device))
		return out && room > 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	snprintf(out, (size_t)room, "0000:01:%02x.0", (unsigned)device);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *id)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	unsigned device;
	if (!out || !id || sscanf(id, "%*x:01:%2x.0", &device) != 1 || !sw_sim_device_at((CUdevice)device))
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUdevice)device;
	return CUDA_SUCCESS;
}

CUresult cuProfilerStart(void)
{
	return CUDA_SUCCESS;
}

CUresult cuProfilerStop(void)
{
	return CUDA_SUCCESS;
}

/* ---- peers ---- */

/* All simulated devices reach each other. */
CUresult cuDeviceCanAccessPeer(int *out, CUdevice device, CUdevice peer)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!out || !sw_sim_device_at(device) || !sw_sim_device_at(peer))
		return out ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	*out = device != peer;
	return CUDA_SUCCESS;
}

/* Enables or disables that the current context reaches memory of another device; an error if that is so already. */
static CUresult set_peer(CUcontext handle, bool enable)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_ctx *ctx = sw_sim_ctx_current(), *other = sw_sim_object_get(handle, SW_SIM_CTX);
	if (!other)
		return CUDA_ERROR_INVALID_CONTEXT;
	uint32_t bit = 1u << other->device->index;
	if (other->device == ctx->device)
		return CUDA_ERROR_INVALID_DEVICE;
	if (enable == !!(ctx->peers & bit))
		return enable ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
	ctx->peers ^= bit;
	return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags)
{
	return flags ? CUDA_ERROR_INVALID_VALUE : set_peer(handle, true);
}

CUresult cuCtxDisablePeerAccess(CUcontext handle)
{
	return set_peer(handle, false);
}

/* Access is there; atomics and arrays across devices are not. */
CUresult cuDeviceGetP2PAttribute(int *out, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice other)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!out || device == other || !sw_sim_device_at(device) || !sw_sim_device_at(other))
		return out ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	*out = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
	return CUDA_SUCCESS;
}

/* ---- entry points and errors ---- */

/* The entry point by name and version; `flags` say which default stream its per-thread variant has. */
CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status)
{
	static const CUdriverProcAddressQueryResult said[] = {
		[SW_SIM_PROC_FOUND] = CU_GET_PROC_ADDRESS_SUCCESS,
		[SW_SIM_PROC_UNKNOWN] = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
		[SW_SIM_PROC_NEWER] = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT,
	};
	const cuuint64_t both = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	if (!name || !out || flags & ~both || flags == both)
		return CUDA_ERROR_INVALID_VALUE;
	*out = NULL;
	enum sw_sim_proc found =
		sw_sim_proc_find(name, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, out);
	if (status)
		*status = said[found];
	return found == SW_SIM_PROC_FOUND ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags)
{
	return cuGetProcAddress_v2(name, out, version, flags, NULL);
}
