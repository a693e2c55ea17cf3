/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory by kind.  Device addresses are a reserved range without access, as on a real GPU: a host access to them
 * faults. Their bytes are in a second, private mapping (the backing) that only the engine touches.
 */
#include "simcuda/sim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEVICE_BYTES (16ull << 30)
#define SMALL_ALIGN                                                                                                    \
	512u /* cudaMalloc's alignment: CUDA C++ Programming Guide, "Device Memory Accesses", at least 256 */
#define LARGE_ALIGN (2u << 20)
#define PAGE	    4096ull

static SW_VEC(struct sw_sim_alloc *) allocs; /* by base */

/* Reserves the device's addresses, without access, and its bytes.  False: no room for them. */
bool sw_sim_memory_start(struct sw_sim_device *d)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	/* Where overcommit is forbidden a smaller device has to do. */
	for (d->size = DEVICE_BYTES; d->size >= 64u << 20; d->size /= 2) {
		void *range = mmap(NULL, d->size + LARGE_ALIGN, PROT_NONE, flags, -1, 0);
		void *bytes = mmap(NULL, d->size, PROT_READ | PROT_WRITE, flags, -1, 0);
		if (range != MAP_FAILED && bytes != MAP_FAILED) {
			d->base = ((uintptr_t)range + LARGE_ALIGN - 1) & ~(uint64_t)(LARGE_ALIGN - 1);
			d->backing = bytes;
			*sw_vec_push(&d->free) = (struct sw_sim_range){d->base, d->size};
			return true;
		}
		if (range != MAP_FAILED)
			munmap(range, d->size + LARGE_ALIGN);
		if (bytes != MAP_FAILED)
			munmap(bytes, d->size);
	}
	return false;
}

/* The device whose address this is; NULL: none. */
static struct sw_sim_device *device_of(uint64_t address)
{
	for (int i = 0; i < sw_sim.devices; i++)
		if (address - sw_sim.device[i].base < sw_sim.device[i].size)
			return &sw_sim.device[i];
	return NULL;
}

/* Where the bytes of an address are in this process: device addresses have a mapping elsewhere, which the program
   cannot know. */
void *sw_sim_backing(uint64_t address)
{
	struct sw_sim_device *d = device_of(address);
	return d ? d->backing + (address - d->base) : (void *)(uintptr_t)address;
}

/* Index of the first allocation with a base above the address. */
static size_t first_above(uint64_t address)
{
	size_t low = 0, high = allocs.n;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (allocs.at[mid]->base <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The allocation that the address lies in, or the reserved range, whether it has memory or not. */
struct sw_sim_alloc *sw_sim_alloc_at(uint64_t address)
{
	size_t i = first_above(address);
	return i && address - allocs.at[i - 1]->base < allocs.at[i - 1]->size ? allocs.at[i - 1] : NULL;
}

/* The allocation that the address lies in; NULL: none, also in a reserved range without memory there. */
struct sw_sim_alloc *sw_sim_alloc_find(uint64_t address)
{
	struct sw_sim_alloc *a = sw_sim_alloc_at(address);
	return a && a->reserved && !sw_sim_reserved_holds(a, address, 1) ? NULL : a;
}

/* Memory of another process that was opened here already, by its process and number there. */
struct sw_sim_alloc *sw_sim_alloc_opened(int exporter, unsigned long long exported)
{
	for (size_t i = 0; i < allocs.n; i++)
		if (allocs.at[i]->opened && allocs.at[i]->exporter == exporter && allocs.at[i]->exported == exported)
			return allocs.at[i];
	return NULL;
}

/* Do all these bytes lie in one allocation? */
bool sw_sim_alloc_holds(uint64_t address, uint64_t bytes)
{
	const struct sw_sim_alloc *a = sw_sim_alloc_find(address);
	return a && bytes <= a->size - (address - a->base) &&
	       (!a->reserved || sw_sim_reserved_holds(a, address, bytes));
}

/* Which kind of memory the address is in; pageable where no allocation knows it. */
enum sw_sim_memory sw_sim_memory_of(uint64_t address)
{
	const struct sw_sim_alloc *a = sw_sim_alloc_find(address);
	return a ? a->memory : SW_SIM_PAGEABLE;
}

/* Enters memory into the table of allocations, which is sorted by address. */
static struct sw_sim_alloc *add_allocation(uint64_t base, uint64_t bytes, enum sw_sim_memory memory,
					   struct sw_sim_device *d)
{
	struct sw_sim_alloc *a = sw_calloc(1, sizeof *a);
	a->base = base;
	a->size = bytes;
	a->memory = memory;
	a->device = d;
	a->ctx = sw_sim_ctx_current();
	a->id = ++sw_sim.next_id;
	size_t i = first_above(base);
	sw_vec_push(&allocs);
	memmove(&allocs.at[i + 1], &allocs.at[i], (allocs.n - 1 - i) * sizeof *allocs.at);
	allocs.at[i] = a;
	return a;
}

/* Takes the first free range that fits, aligned as cudaMalloc() aligns; what is left of it stays free. */
struct sw_sim_alloc *sw_sim_alloc_device(struct sw_sim_device *d, size_t bytes)
{
	uint64_t align = bytes >= LARGE_ALIGN ? LARGE_ALIGN : SMALL_ALIGN;
	uint64_t room = (bytes + SMALL_ALIGN - 1) & ~(uint64_t)(SMALL_ALIGN - 1);
	for (size_t i = 0; room >= bytes && i < d->free.n; i++) {
		struct sw_sim_range *r = &d->free.at[i];
		uint64_t base = (r->base + align - 1) & ~(align - 1);
		if (base - r->base > r->size || r->size - (base - r->base) < room)
			continue;
		struct sw_sim_range rest = {base + room, r->size - (base - r->base) - room};
		r->size = base - r->base;
		if (rest.size && r->size) {
			sw_vec_push(&d->free);
			r = &d->free.at[i];
			memmove(r + 2, r + 1, (d->free.n - 2 - i) * sizeof *r);
			r[1] = rest;
		} else if (rest.size) {
			*r = rest;
		} else if (!r->size) {
			memmove(r, r + 1, (--d->free.n - i) * sizeof *r);
		}
		d->used += room;
		return add_allocation(base, bytes, SW_SIM_DEVICE, d);
	}
	return NULL;
}

/* Frees a range of the device's addresses: its pages go, and it joins its free neighbours. */
static void give_back(struct sw_sim_device *d, uint64_t base, uint64_t bytes)
{
	uint64_t room = (bytes + SMALL_ALIGN - 1) & ~(uint64_t)(SMALL_ALIGN - 1),
		 first = (base - d->base + PAGE - 1) & ~(PAGE - 1), last = (base - d->base + room) & ~(PAGE - 1);
	if (first < last)
		madvise(d->backing + first, last - first, MADV_DONTNEED);
	d->used -= room;
	size_t i = 0;
	while (i < d->free.n && d->free.at[i].base < base)
		i++;
	sw_vec_push(&d->free);
	struct sw_sim_range *r = &d->free.at[i];
	memmove(r + 1, r, (d->free.n - 1 - i) * sizeof *r);
	*r = (struct sw_sim_range){base, room};
	if (i + 1 < d->free.n && r->base + r->size == r[1].base) {
		r->size += r[1].size;
		memmove(r + 1, r + 2, (--d->free.n - i - 1) * sizeof *r);
	}
	if (i && r[-1].base + r[-1].size == r->base) {
		r[-1].size += r->size;
		memmove(r, r + 1, (--d->free.n - i) * sizeof *r);
	}
}

/* Removes an allocation from the sorted table and frees its memory. */
void sw_sim_alloc_release(struct sw_sim_alloc *a)
{
	size_t i = first_above(a->base) - 1;
	memmove(&allocs.at[i], &allocs.at[i + 1], (--allocs.n - i) * sizeof *allocs.at);
	sw_sim_reserved_free(a);
	if (a->memory == SW_SIM_DEVICE)
		give_back(a->device, a->base, a->size);
	else if (a->memory == SW_SIM_PINNED || a->memory == SW_SIM_MANAGED)
		munmap((void *)(uintptr_t)a->base, a->size);
	free(a);
}

/* A context ends, and its allocations with it. */
void sw_sim_alloc_clear(struct sw_sim_ctx *ctx)
{
	for (size_t i = allocs.n; i--;)
		if (allocs.at[i]->ctx == ctx)
			sw_sim_alloc_release(allocs.at[i]);
}

/* ---- the API ---- */

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	CUresult result = sw_sim_capture_unsafe();
	if (result)
		return result;
	if (!out || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_alloc *a = sw_sim_alloc_device(sw_sim_ctx_current()->device, bytes);
	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = a->base;
	return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned element)
{
	if (!out || !pitch || !width || !height || (element != 4 && element != 8 && element != 16))
		return CUDA_ERROR_INVALID_VALUE;
	size_t row = (width + SMALL_ALIGN - 1) & ~(size_t)(SMALL_ALIGN - 1), bytes;
	if (__builtin_mul_overflow(row, height, &bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = cuMemAlloc_v2(out, bytes);
	if (!result)
		*pitch = row;
	return result;
}

/* Waits for the device that owns the memory, non-blocking streams included; pool memory does not wait (measured on
   H200, driver 580.159.04, CUDA 13.0: "cudaFree 256B", "cudaFree of async ptr", "cudaFree of device-1 memory"). */
CUresult cuMemFree_v2(CUdeviceptr address)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	CUresult result = sw_sim_capture_unsafe();
	if (result)
		return result;
	if (!address)
		return CUDA_SUCCESS;
	struct sw_sim_alloc *a = sw_sim_alloc_find(address);
	if (!a || a->base != address || a->fixed || (a->memory != SW_SIM_DEVICE && a->memory != SW_SIM_MANAGED))
		return CUDA_ERROR_INVALID_VALUE;
	if (a->graph) {
		bool live = a->live;
		a->live = false;
		return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	}
	if (!a->pool)
		sw_sim_device_wait(a->device);
	else
		a->pool->used -= a->size;
	if (sw_sim_alloc_find(address) == a) /* another thread may have freed it meanwhile */
		sw_sim_alloc_release(a);
	return CUDA_SUCCESS;
}

/* Memory at the same address for host and device: pinned or managed. */
struct sw_sim_alloc *sw_sim_alloc_pages(struct sw_sim_device *d, size_t bytes, enum sw_sim_memory memory)
{
	size_t room = (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
	void *pages = room < bytes ? MAP_FAILED
				   : mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return pages == MAP_FAILED ? NULL : add_allocation((uintptr_t)pages, bytes, memory, d);
}

/* Memory that host and device reach: pinned or managed. */
static CUresult host_pages(void **out, size_t bytes, enum sw_sim_memory memory, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	CUresult result = sw_sim_capture_unsafe();
	if (result)
		return result;
	if (!out || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_alloc *a = sw_sim_alloc_pages(sw_sim_ctx_current()->device, bytes, memory);
	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	a->flags = flags;
	*out = (void *)(uintptr_t)a->base;
	return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
	return flags & ~7u ? CUDA_ERROR_INVALID_VALUE : host_pages(out, bytes, SW_SIM_PINNED, flags);
}

CUresult cuMemAllocHost_v2(void **out, size_t bytes)
{
	return cuMemHostAlloc(out, bytes, 0);
}

CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
	void *pages = NULL;
	if (!out || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = host_pages(&pages, bytes, SW_SIM_MANAGED, flags);
	if (!result)
		*out = (uintptr_t)pages;
	return result;
}

/* Frees pinned, or unregisters registered memory; both wait for the current device ("cudaFreeHost 1MiB",
   "cudaHostUnregister"; with two devices "current=0: cudaFreeHost").  otherwise: the error for any other address. */
static CUresult host_release(const void *address, enum sw_sim_memory memory, CUresult otherwise)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_alloc *a = sw_sim_alloc_find((uintptr_t)address);
	if (!a || a->base != (uintptr_t)address || a->memory != memory)
		return otherwise;
	sw_sim_device_wait(sw_sim_ctx_current()->device);
	if (sw_sim_alloc_find((uintptr_t)address) == a)
		sw_sim_alloc_release(a);
	return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *address)
{
	return address ? host_release(address, SW_SIM_PINNED, CUDA_ERROR_INVALID_VALUE) : CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *address)
{
	return host_release(address, SW_SIM_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

/* Registers memory that does not overlap any that CUDA knows. */
CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if (!address || !bytes || flags & ~15u)
		return CUDA_ERROR_INVALID_VALUE;
	size_t i = first_above((uintptr_t)address + bytes - 1);
	if (i && allocs.at[i - 1]->base + allocs.at[i - 1]->size > (uintptr_t)address)
		return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	add_allocation((uintptr_t)address, bytes, SW_SIM_REGISTERED, sw_sim_ctx_current()->device)->flags = flags;
	return CUDA_SUCCESS;
}

CUresult cuMemHostRegister(void *address, size_t bytes, unsigned flags)
{
	return cuMemHostRegister_v2(address, bytes, flags);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *address, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct sw_sim_alloc *a = sw_sim_alloc_find((uintptr_t)address);
	if (!out || flags || !a || (a->memory != SW_SIM_PINNED && a->memory != SW_SIM_REGISTERED))
		return CUDA_ERROR_INVALID_VALUE;
	*out = (uintptr_t)address; /* unified addressing */
	return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned *out, void *address)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct sw_sim_alloc *a = sw_sim_alloc_find((uintptr_t)address);
	if (!out || !a || a->memory != SW_SIM_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	*out = a->flags | CU_MEMHOSTALLOC_DEVICEMAP; /* all pinned memory is mapped with unified addressing */
	return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if (!available || !total)
		return CUDA_ERROR_INVALID_VALUE;
	const struct sw_sim_device *d = sw_sim_ctx_current()->device;
	*total = d->size;
	*available = d->size - d->used;
	return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct sw_sim_alloc *a = sw_sim_alloc_find(address);
	if (!a)
		return CUDA_ERROR_NOT_FOUND;
	if (base)
		*base = a->base;
	if (bytes)
		*bytes = a->size;
	return CUDA_SUCCESS;
}
