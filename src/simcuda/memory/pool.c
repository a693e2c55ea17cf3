/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered allocation: the address is known at once, the memory goes back to the pool when the stream reaches the
   free.  The simulated pool gives freed memory back to the device at that point. */
#include "simcuda/sim.h"

#include <stdlib.h>

#define ALLOC_NS 1000u

/* A memory pool of a device, which uses no memory yet. */
struct sw_sim_pool *sw_sim_pool_new(struct sw_sim_device *d)
{
	struct sw_sim_pool *pool = sw_calloc(1, sizeof *pool);
	pool->device = d;
	pool->memory = SW_SIM_DEVICE;
	sw_sim_object_add(pool, SW_SIM_POOL, NULL);
	return pool;
}

/* Frees memory of a pool, when the stream comes to it; what a graph allocated stays the graph's. */
void sw_sim_pool_free(uint64_t address)
{
	sw_sim_lock();
	struct sw_sim_alloc *a = sw_sim_alloc_find(address);
	if (a && a->base == address && a->pool && !a->graph) {
		a->pool->used -= a->size;
		sw_sim_alloc_release(a);
	}
	sw_sim_unlock();
}

/* Allocates in stream order; `given`: from the pool `handle`, else from the current pool of the stream's device.  In a
   capture the memory belongs to the graph. */
static CUresult allocate_from(CUdeviceptr *out, size_t bytes, CUmemoryPool handle, bool given, CUstream stream)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	CUresult result = sw_sim_stream_find(stream, &s);
	if (result)
		return result;
	struct sw_sim_pool *pool = given ? sw_sim_object_get(handle, SW_SIM_POOL) : s->object.ctx->device->pool;
	if (!pool || !out || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_alloc *a = pool->memory == SW_SIM_DEVICE ? sw_sim_alloc_device(pool->device, bytes)
							       : sw_sim_alloc_pages(pool->device, bytes, pool->memory);
	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	struct sw_sim_work *work = sw_sim_work_new(CU_GRAPH_NODE_TYPE_MEM_ALLOC, ALLOC_NS);
	work->address = a->base;
	if ((result = sw_sim_submit(s, work, NULL))) {
		sw_sim_alloc_release(a);
		return result;
	}
	a->pool = pool;
	a->graph = s->capture;
	*out = a->base;
	if (a->graph)
		return CUDA_SUCCESS;
	pool->used += bytes;
	if (pool->used_high < pool->used)
		pool->used_high = pool->used;
	return CUDA_SUCCESS;
}

/* The address of a node is given when the node is made, and is the same in all launches (CUDA C++ Programming Guide,
   "Graph Memory Nodes"). The simulated device keeps its memory to the end. */
CUresult sw_sim_alloc_work(const void *params, struct sw_sim_work **out)
{
	CUDA_MEM_ALLOC_NODE_PARAMS *p = (CUDA_MEM_ALLOC_NODE_PARAMS *)(uintptr_t)params;
	struct sw_sim_device *device = sw_sim_device_at(p->poolProps.location.id);
	if (!device || !p->bytesize || p->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_alloc *a = sw_sim_alloc_device(device, p->bytesize);
	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	a->pool = device->pool;
	a->graph = true;
	p->dptr = a->base;
	*out = sw_sim_work_new(CU_GRAPH_NODE_TYPE_MEM_ALLOC, ALLOC_NS);
	(*out)->address = a->base;
	return CUDA_SUCCESS;
}

/* The graph memory that a node of this type allocates or frees; NULL: it is another node. */
static struct sw_sim_alloc *memory_of(const struct sw_sim_node *node, CUgraphNodeType type)
{
	struct sw_sim_alloc *a =
		node->work->type == type && !node->disabled ? sw_sim_alloc_find(node->work->address) : NULL;
	return a && a->graph ? a : NULL;
}

/* A graph is launched: what its nodes allocate becomes live.  False: it is live since an earlier launch, which CUDA
   refuses. */
bool sw_sim_graph_claim(const struct sw_sim_graph *graph, unsigned long long flags)
{
	struct sw_sim_alloc *a;
	for (size_t i = 0; i < graph->nodes.n; i++)
		if ((a = memory_of(graph->nodes.at[i], CU_GRAPH_NODE_TYPE_MEM_ALLOC)) && a->live &&
		    !(flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH))
			return false;
	for (size_t i = 0; i < graph->nodes.n; i++)
		if ((a = memory_of(graph->nodes.at[i], CU_GRAPH_NODE_TYPE_MEM_ALLOC)))
			a->live = true;
	for (size_t i = 0; i < graph->nodes.n; i++)
		if ((a = memory_of(graph->nodes.at[i], CU_GRAPH_NODE_TYPE_MEM_FREE)))
			a->live = false;
	return true;
}

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream)
{
	return allocate_from(out, bytes, NULL, false, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream stream)
{
	return allocate_from(out, bytes, pool, true, stream);
}

/* Frees in stream order; memory of a graph, whose addresses stay, is only marked as free. */
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	CUresult result = sw_sim_stream_find(stream, &s);
	if (result)
		return result;
	if (!address)
		return CUDA_SUCCESS;
	struct sw_sim_alloc *a = sw_sim_alloc_find(address);
	if (!a || a->base != address || (a->memory != SW_SIM_DEVICE && !a->pool) || a->fixed)
		return CUDA_ERROR_INVALID_VALUE;
	if (a->graph && !s->capture) {
		if (!a->live)
			return CUDA_ERROR_INVALID_VALUE;
		a->live = false;
	}
	if (!a->pool) { /* cudaMalloc'ed memory may be freed in stream order as well */
		a->pool = a->device->pool;
		a->pool->used += a->size;
	}
	struct sw_sim_work *work = sw_sim_work_new(CU_GRAPH_NODE_TYPE_MEM_FREE, ALLOC_NS);
	work->address = address;
	return sw_sim_submit(s, work, NULL);
}

/* Newer than the oldest headers. */
#define ALLOCATION_MANAGED 2 /* CU_MEM_ALLOCATION_TYPE_MANAGED */
#define LOCATION_NONE	   0 /* CU_MEM_LOCATION_TYPE_NONE */

/* A pool of the device's, pinned or managed memory. */
CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const int type = props ? (int)props->location.type : -1;
	const bool managed = props && (int)props->allocType == ALLOCATION_MANAGED;
	const bool host = type >= CU_MEM_LOCATION_TYPE_HOST && type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
	if (!out || !(type == CU_MEM_LOCATION_TYPE_DEVICE || host || (managed && type == LOCATION_NONE)))
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_device *d = sw_sim_device_at(type == CU_MEM_LOCATION_TYPE_DEVICE ? props->location.id : 0);
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	struct sw_sim_pool *pool = sw_sim_pool_new(d);
	pool->memory = managed ? SW_SIM_MANAGED : host ? SW_SIM_PINNED : SW_SIM_DEVICE;
	*out = (CUmemoryPool)pool;
	return CUDA_SUCCESS;
}

/* The pool of a handle. */
static CUresult find_pool(CUmemoryPool handle, struct sw_sim_pool **out)
{
	*out = sw_sim_object_get(handle, SW_SIM_POOL);
	return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The pool's memory outlives the handle until it is freed, so the object itself stays. */
CUresult cuMemPoolDestroy(CUmemoryPool handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_pool *pool;
	CUresult result = find_pool(handle, &pool);
	if (result || pool->is_default)
		return CUDA_ERROR_INVALID_VALUE;
	if (pool->device->pool == pool)
		pool->device->pool = pool->device->default_pool;
	sw_sim_object_remove(pool);
	return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	(void)keep; /* nothing is held back */
	struct sw_sim_pool *pool;
	return find_pool(handle, &pool);
}

/* Counters and settings; those that the model does not need are accepted and read back as their defaults. */
CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_pool *pool;
	CUresult result = find_pool(handle, &pool);
	if (result || !value)
		return CUDA_ERROR_INVALID_VALUE;
	switch ((int)attribute) {
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		*(int *)value = 1;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		*(cuuint64_t *)value = pool->threshold;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		*(cuuint64_t *)value = pool->used;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		*(cuuint64_t *)value = pool->used_high;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_pool *pool;
	CUresult result = find_pool(handle, &pool);
	if (result || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		pool->threshold = *(cuuint64_t *)value;
	else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH || attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
		pool->used_high = pool->used;
	return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *map, size_t count)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_pool *pool;
	return map || !count ? find_pool(handle, &pool) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle, CUmemLocation *location)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_pool *pool;
	CUresult result = find_pool(handle, &pool);
	if (!flags || !location)
		result = CUDA_ERROR_INVALID_VALUE;
	if (!result)
		*flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	return result;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice device)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_device *d = sw_sim_device_at(device);
	if (!d || !out)
		return d ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
	*out = (CUmemoryPool)d->default_pool;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice device)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_device *d = sw_sim_device_at(device);
	if (!d || !out)
		return d ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
	*out = (CUmemoryPool)d->pool;
	return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_device *d = sw_sim_device_at(device);
	struct sw_sim_pool *pool;
	CUresult result = find_pool(handle, &pool);
	if (!d)
		result = CUDA_ERROR_INVALID_DEVICE;
	if (!result)
		d->pool = pool;
	return result;
}
