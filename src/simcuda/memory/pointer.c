/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a pointer; managed memory's hints. */
#include "simcuda/sim.h"

#define PREFETCH_NS 5000u

/* CU_MEMORYTYPE_* of an allocation; 0: none.  Managed memory counts as the device's. */
static unsigned memory_type(const struct sw_sim_alloc *a)
{
	if (!a)
		return 0;
	return a->memory == SW_SIM_PINNED || a->memory == SW_SIM_REGISTERED ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

/* Can the host reach it? */
static bool on_host(const struct sw_sim_alloc *a)
{
	return a && a->memory != SW_SIM_DEVICE;
}

/* Answers one question about a pointer; `a`: its allocation, NULL for memory that CUDA does not know. */
static CUresult get_attribute(void *out, CUpointer_attribute what, CUdeviceptr address, const struct sw_sim_alloc *a)
{
	switch ((int)what) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)out = a ? (CUcontext)a->ctx : NULL;
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)out = memory_type(a);
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)out = a ? address : 0;
		break;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		*(void **)out = on_host(a) ? (void *)(uintptr_t)address : NULL;
		break;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		*(unsigned *)out = a && a->sync_memops;
		break;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(unsigned long long *)out = a ? a->id : 0;
		break;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned *)out = a && a->memory == SW_SIM_MANAGED;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)out = a ? a->device->index : -2;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)out = a ? a->base : 0;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)out = a ? a->size : 0;
		break;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(unsigned *)out = a != NULL;
		break;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*(CUmemoryPool *)out = a ? (CUmemoryPool)a->pool : NULL;
		break;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *out, CUpointer_attribute what, CUdeviceptr address)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct sw_sim_alloc *a = sw_sim_alloc_find(address);
	return out && a ? get_attribute(out, what, address, a) : CUDA_ERROR_INVALID_VALUE;
}

/* The plural form succeeds for unknown pointers, with empty answers. */
CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute *what, void **out, CUdeviceptr address)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct sw_sim_alloc *a = sw_sim_alloc_find(address);
	if (!n || !what || !out)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = CUDA_SUCCESS;
	for (unsigned i = 0; !result && i < n; i++)
		result = get_attribute(out[i], what[i], address, a);
	return result;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute what, CUdeviceptr address)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_alloc *a = sw_sim_alloc_find(address);
	if (!a || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (what != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
		return CUDA_ERROR_NOT_SUPPORTED;
	a->sync_memops = *(const unsigned *)value;
	return CUDA_SUCCESS;
}

/* ---- managed memory: data never moves, the time it would take passes ---- */

/* Prefetches managed memory: only the time passes. */
static CUresult prefetch_range(CUdeviceptr address, size_t bytes, CUstream handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	CUresult result = sw_sim_stream_find(handle, &s);
	if (result)
		return result;
	if (sw_sim_memory_of(address) != SW_SIM_MANAGED || !sw_sim_alloc_holds(address, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return sw_sim_submit(s, sw_sim_work_new(CU_GRAPH_NODE_TYPE_EMPTY, PREFETCH_NS + bytes / 25), NULL);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags,
			       CUstream stream)
{
	(void)location;
	return flags ? CUDA_ERROR_INVALID_VALUE : prefetch_range(address, bytes, stream);
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream)
{
	(void)device;
	return prefetch_range(address, bytes, stream);
}

/* Prefetches or (moves false) discards ranges.  cuda.h, the three batches: the stream "must not be legacy NULL stream";
   locations apply from their range on, the first from 0.  A discard takes the time of no migration, and keeps the
   bytes: that is an indeterminate value, too. */
static CUresult prefetch_batch(CUdeviceptr *at, const size_t *bytes, size_t count, unsigned long long flags,
			       CUstream handle, bool moves)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	if (!at || !bytes || !count || flags || !handle || handle == CU_STREAM_LEGACY)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = sw_sim_stream_find(handle, &s);
	for (size_t i = 0; !result && i < count; i++)
		if (sw_sim_memory_of(at[i]) != SW_SIM_MANAGED || !sw_sim_alloc_holds(at[i], bytes[i]))
			result = CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; !result && i < count; i++)
		result = sw_sim_submit(
			s, sw_sim_work_new(CU_GRAPH_NODE_TYPE_EMPTY, PREFETCH_NS + (moves ? bytes[i] / 25 : 0)), NULL);
	return result;
}

/* Does each location begin after the one before it, the first at range 0? */
static bool locations_valid(const CUmemLocation *to, const size_t *first, size_t n, size_t count)
{
	bool valid = to && first && n && n <= count && !first[0];
	for (size_t i = 1; valid && i < n; i++)
		valid = first[i] > first[i - 1] && first[i] < count;
	return valid;
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *at, size_t *bytes, size_t count, CUmemLocation *to, size_t *first,
				 size_t n, unsigned long long flags, CUstream stream)
{
	return locations_valid(to, first, n, count) ? prefetch_batch(at, bytes, count, flags, stream, true)
						    : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *at, size_t *bytes, size_t count, CUmemLocation *to,
					   size_t *first, size_t n, unsigned long long flags, CUstream stream)
{
	return cuMemPrefetchBatchAsync(at, bytes, count, to, first, n, flags, stream);
}

CUresult cuMemDiscardBatchAsync(CUdeviceptr *at, size_t *bytes, size_t count, unsigned long long flags, CUstream stream)
{
	return prefetch_batch(at, bytes, count, flags, stream, false);
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	(void)advice, (void)location;
	return sw_sim_memory_of(address) == SW_SIM_MANAGED && sw_sim_alloc_holds(address, bytes)
		       ? CUDA_SUCCESS
		       : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device)
{
	return cuMemAdvise_v2(address, bytes, advice,
			      (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device});
}
