/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of kernels, and how many blocks of them fit: CUfunction and CUkernel are one object here. */
#include "simcuda/modules/module.h"

#define REGISTERS	32
#define MULTIPROCESSORS 132
#define MAX_THREADS	1024
#define THREADS_PER_SM	2048
#define BLOCKS_PER_SM	32
#define SHARED_PER_SM	(228 << 10)
#define SHARED_RESERVED 1024

/* Attributes of a kernel; what is not modelled is 0. */
static CUresult get_attribute(int *out, CUfunction_attribute attribute, const struct sw_sim_function *f)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	switch ((int)attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*out = MAX_THREADS;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*out = REGISTERS;
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*out = 90;
		break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*out = f->max_dynamic_shared;
		break;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		*out = f->carveout;
		break;
	default:
		if (attribute >= CU_FUNC_ATTRIBUTE_MAX)
			return CUDA_ERROR_INVALID_VALUE;
		*out = 0;
	}
	return CUDA_SUCCESS;
}

/* Keeps the attributes that programs set, within the limits of an H200. */
static CUresult set_attribute(CUfunction_attribute attribute, int value, struct sw_sim_function *f)
{
	if (attribute >= CU_FUNC_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
		if (value < 0 || value > SHARED_PER_SM - SHARED_RESERVED)
			return CUDA_ERROR_INVALID_VALUE;
		f->max_dynamic_shared = value;
	} else if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
		if (value < -1 || value > 100)
			return CUDA_ERROR_INVALID_VALUE;
		f->carveout = value;
	}
	return CUDA_SUCCESS;
}

/* A function is loaded into the context by this, as in CUDA with lazy loading. */
CUresult cuFuncGetAttribute(int *out, CUfunction_attribute attribute, CUfunction handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_function *f = sw_sim_function_get(handle);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	sw_sim_function_load(f, sw_sim_ctx_current());
	return get_attribute(out, attribute, f);
}

CUresult cuKernelGetAttribute(int *out, CUfunction_attribute attribute, CUkernel handle, CUdevice device)
{
	(void)device;
	return cuFuncGetAttribute(out, attribute, (CUfunction)handle);
}

/* A function is loaded into the context by this, as in CUDA with lazy loading. */
CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_function *f = sw_sim_function_get(handle);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	sw_sim_function_load(f, sw_sim_ctx_current());
	return set_attribute(attribute, value, f);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle, CUdevice device)
{
	(void)device;
	return cuFuncSetAttribute((CUfunction)handle, attribute, value);
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	(void)config;
	return sw_sim_function_get(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice device)
{
	(void)device;
	return cuFuncSetCacheConfig((CUfunction)handle, config);
}

/* Kernels and functions are one object here; asking for the function loads it. */
CUresult cuKernelGetFunction(CUfunction *out, CUkernel handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_function *f = sw_sim_function_get(handle);
	if (!f || !out)
		return f ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	sw_sim_function_load(f, sw_sim_ctx_current());
	*out = (CUfunction)f;
	return CUDA_SUCCESS;
}

/* Loads a function that would be loaded at its first launch. */
CUresult cuFuncLoad(CUfunction handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_function *f = sw_sim_function_get(handle);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	sw_sim_function_load(f, sw_sim_ctx_current());
	return CUDA_SUCCESS;
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *out, CUfunction handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct sw_sim_function *f = sw_sim_function_get(handle);
	if (!f || !out)
		return f ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = f->loaded ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **out, CUfunction handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_function *f = sw_sim_function_get(handle);
	if (!f || !out)
		return f ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = f->name;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **out, CUkernel handle)
{
	return cuFuncGetName(out, (CUfunction)handle);
}

CUresult cuFuncGetModule(CUmodule *out, CUfunction handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_function *f = sw_sim_function_get(handle);
	if (!f || !out)
		return f ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = (CUmodule)f->module;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel handle)
{
	return cuFuncGetModule((CUmodule *)out, (CUfunction)handle);
}

/* The end of the parameters is CUDA_ERROR_INVALID_VALUE: callers count up to it. */
CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *bytes)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_function *f = sw_sim_function_get(handle);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!offset || index >= f->params)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = f->param[index].offset;
	if (bytes)
		*bytes = f->param[index].bytes;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel handle, size_t index, size_t *offset, size_t *bytes)
{
	return cuFuncGetParamInfo((CUfunction)handle, index, offset, bytes);
}

/* ---- occupancy ---- */

/* How many blocks fit a multiprocessor, by threads and shared memory. */
static int blocks_per_sm(int threads, size_t shared_bytes)
{
	int by_threads = THREADS_PER_SM / ((threads + 31) / 32 * 32);
	size_t by_shared = SHARED_PER_SM / (shared_bytes + SHARED_RESERVED);
	int blocks = by_threads < BLOCKS_PER_SM ? by_threads : BLOCKS_PER_SM;
	return by_shared < (size_t)blocks ? (int)by_shared : blocks;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, CUfunction handle, int threads,
							      size_t shared_bytes, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if (!out || threads <= 0 || threads > MAX_THREADS || flags & ~1u)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sw_sim_function_get(handle))
		return CUDA_ERROR_INVALID_HANDLE;
	*out = blocks_per_sm(threads, shared_bytes);
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction handle, int threads, size_t shared_bytes)
{
	return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, handle, threads, shared_bytes, 0);
}

/* The largest block that is allowed, and a grid that fills the device. */
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction handle,
						   CUoccupancyB2DSize shared_of, size_t shared_bytes, int limit,
						   unsigned flags)
{
	int blocks = 0, threads = limit > 0 && limit < MAX_THREADS ? limit : MAX_THREADS;
	if (!grid || !block)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
		&blocks, handle, threads, shared_of ? shared_of(threads) : shared_bytes, flags);
	if (!result) {
		*block = threads;
		*grid = MULTIPROCESSORS * blocks;
	}
	return result;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction handle, CUoccupancyB2DSize shared_of,
					  size_t shared_bytes, int limit)
{
	return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, handle, shared_of, shared_bytes, limit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *out, CUfunction handle, int blocks, int threads)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if (!out || blocks <= 0 || threads <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sw_sim_function_get(handle))
		return CUDA_ERROR_INVALID_HANDLE;
	*out = (size_t)(SHARED_PER_SM / blocks - SHARED_RESERVED);
	return CUDA_SUCCESS;
}
