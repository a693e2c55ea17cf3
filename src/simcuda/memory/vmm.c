/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory: addresses are reserved, memory is created, one is mapped to the other. The bytes belong to the
 * addresses, so memory that is mapped twice does not show the same bytes.
 */
#include "simcuda/sim.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRANULE (2ull << 20)

struct memory {
	struct sw_sim_device *device;
	uint64_t size;
	uint32_t users; /* handles and mappings */
	CUmemAllocationProp prop;
};

/* Memory that is imported has another handle (measured on H200, driver 580.159.04). */
struct handle {
	struct sw_sim_object object;
	struct memory *memory;
};

struct mapping {
	uint64_t address, size;
	struct memory *memory;
	bool accessible;
};

struct sw_sim_reserved {
	SW_VEC(struct mapping) mappings;
};

/* One user less; without any the memory is free. */
static void memory_drop(struct memory *memory)
{
	if (--memory->users)
		return;
	memory->device->used -= memory->size;
	free(memory);
}

/* Takes mapping `i` away. */
static void unmap_memory(struct sw_sim_reserved *r, size_t i)
{
	struct memory *memory = r->mappings.at[i].memory;
	r->mappings.at[i] = r->mappings.at[--r->mappings.n];
	memory_drop(memory);
}

/* Is all of this range mapped, maybe by several mappings in a row, and made accessible? */
bool sw_sim_reserved_holds(const struct sw_sim_alloc *alloc, uint64_t address, uint64_t bytes)
{
	const struct sw_sim_reserved *r = alloc->reserved;
	while (bytes) {
		size_t i = 0;
		while (i < r->mappings.n && address - r->mappings.at[i].address >= r->mappings.at[i].size)
			i++;
		if (i == r->mappings.n || !r->mappings.at[i].accessible)
			return false;
		uint64_t here = r->mappings.at[i].size - (address - r->mappings.at[i].address);
		if (here >= bytes)
			return true;
		address += here;
		bytes -= here;
	}
	return true;
}

/* Unmaps all that a reserved range has, and frees what is known of it. */
void sw_sim_reserved_free(struct sw_sim_alloc *alloc)
{
	if (!alloc->reserved)
		return;
	while (alloc->reserved->mappings.n)
		unmap_memory(alloc->reserved, 0);
	alloc->device->used += alloc->size; /* what releasing the addresses takes off again */
	free(alloc->reserved->mappings.at);
	free(alloc->reserved);
}

CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *prop,
				       CUmemAllocationGranularity_flags option)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	(void)option;
	if (!out || !prop || !sw_sim_device_at(prop->location.id))
		return CUDA_ERROR_INVALID_VALUE;
	*out = GRANULE;
	return CUDA_SUCCESS;
}

/* Reserves addresses of the device that have no memory until it is mapped. */
CUresult cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t alignment, CUdeviceptr wish,
			     unsigned long long flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	(void)wish; /* a hint */
	if (!out || !size || size % GRANULE || (alignment & (alignment - 1)) || alignment > GRANULE || flags)
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_alloc *a = sw_sim_alloc_device(sw_sim_ctx_current()->device, size);
	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	a->reserved = sw_calloc(1, sizeof *a->reserved);
	a->fixed = true;
	a->device->used -= size;
	*out = a->base;
	return CUDA_SUCCESS;
}

/* Frees addresses that nothing is mapped to. */
CUresult cuMemAddressFree(CUdeviceptr address, size_t size)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_alloc *a = sw_sim_alloc_at(address);
	if (!a || !a->reserved || a->base != address || a->size != size || a->reserved->mappings.n)
		return CUDA_ERROR_INVALID_VALUE;
	sw_sim_alloc_release(a);
	return CUDA_SUCCESS;
}

/* One more handle of the memory. */
static CUmemGenericAllocationHandle handle_new(struct memory *memory)
{
	struct handle *handle = sw_calloc(1, sizeof *handle);
	handle->memory = memory;
	memory->users++;
	sw_sim_object_add(handle, SW_SIM_MEMORY, NULL);
	return (uintptr_t)handle;
}

/* The memory of a handle; NULL: none. */
static struct memory *memory_of(CUmemGenericAllocationHandle handle)
{
	const struct handle *h = sw_sim_object_get((const void *)(uintptr_t)handle, SW_SIM_MEMORY);
	return h ? h->memory : NULL;
}

/* Memory without an address, counted as used. */
CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t size, const CUmemAllocationProp *prop,
		     unsigned long long flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	/* Memory of the host lies in the first device's: the host reaches all of it here. */
	const bool device = prop && prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
	struct sw_sim_device *d = prop ? sw_sim_device_at(device ? prop->location.id : 0) : NULL;
	if (!out || !size || size % GRANULE || !d || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (d->used > d->size || size > d->size - d->used)
		return CUDA_ERROR_OUT_OF_MEMORY;
	struct memory *memory = sw_calloc(1, sizeof *memory);
	memory->device = d;
	memory->size = size;
	memory->prop = *prop;
	d->used += size;
	*out = handle_new(memory);
	return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct handle *h = sw_sim_object_get((const void *)(uintptr_t)handle, SW_SIM_MEMORY);
	if (!h)
		return CUDA_ERROR_INVALID_VALUE;
	sw_sim_object_remove(h);
	memory_drop(h->memory);
	free(h);
	return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *out, CUmemGenericAllocationHandle handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct memory *memory = memory_of(handle);
	if (!memory || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = memory->prop;
	return CUDA_SUCCESS;
}

/* ---- by descriptors, within this process ---- */

/* Content of the file behind an exported descriptor. */
struct passed {
	struct memory *memory;
	pid_t pid;
};

/* The file keeps the memory to the end: its last close is not seen. */
CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
				      unsigned long long flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct passed passed = {memory_of(handle), getpid()};
	if (!out || !passed.memory || flags || !(passed.memory->prop.requestedHandleTypes & type))
		return CUDA_ERROR_INVALID_VALUE;
	if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return sw_sim_unsupported("shareable handles other than file descriptors");
	int fd = memfd_create("simulated CUDA memory", MFD_CLOEXEC);
	if (fd < 0 || write(fd, &passed, sizeof passed) != sizeof passed) {
		if (fd >= 0)
			close(fd);
		return CUDA_ERROR_OPERATING_SYSTEM;
	}
	passed.memory->users++;
	*(int *)out = fd;
	return CUDA_SUCCESS;
}

/* Only within the process: memory of others has no bytes here. */
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *out, void *shared, CUmemAllocationHandleType type)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct passed passed;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return sw_sim_unsupported("shareable handles other than file descriptors");
	if (pread((int)(intptr_t)shared, &passed, sizeof passed, 0) != sizeof passed)
		return CUDA_ERROR_INVALID_VALUE;
	if (passed.pid != getpid())
		return sw_sim_unsupported("memory of other processes by descriptor");
	*out = handle_new(passed.memory);
	return CUDA_SUCCESS;
}

/* Maps the whole of some memory to reserved addresses that are free; not accessible yet. */
CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
		  unsigned long long flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_alloc *a = sw_sim_alloc_at(address);
	struct memory *memory = memory_of(handle);
	if (!a || !a->reserved || !memory || offset || flags || size != memory->size || address % GRANULE ||
	    size > a->size - (address - a->base))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < a->reserved->mappings.n; i++) {
		const struct mapping *m = &a->reserved->mappings.at[i];
		if (m->address < address + size && address < m->address + m->size)
			return CUDA_ERROR_INVALID_VALUE;
	}
	*sw_vec_push(&a->reserved->mappings) = (struct mapping){address, size, memory, false};
	memory->users++;
	return CUDA_SUCCESS;
}

/* Whole mappings only: "cuMemUnmap cannot unmap a sub-range of an address range mapped by cuMemMap". */
CUresult cuMemUnmap(CUdeviceptr address, size_t size)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_alloc *a = sw_sim_alloc_at(address);
	uint64_t covered = 0;
	if (!a || !a->reserved)
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_reserved *r = a->reserved;
	for (size_t i = 0; i < r->mappings.n; i++)
		if (r->mappings.at[i].address >= address && r->mappings.at[i].address - address < size)
			covered += r->mappings.at[i].size;
	if (covered != size)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = r->mappings.n; i--;)
		if (r->mappings.at[i].address >= address && r->mappings.at[i].address - address < size)
			unmap_memory(r, i);
	return CUDA_SUCCESS;
}

/* Makes all mappings in the range accessible, or inaccessible, to all devices. */
CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *desc, size_t count)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_alloc *a = sw_sim_alloc_at(address);
	bool any = false;
	if (!a || !a->reserved || !desc || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < a->reserved->mappings.n; i++) {
		struct mapping *m = &a->reserved->mappings.at[i];
		if (m->address < address || m->address - address >= size)
			continue;
		m->accessible = desc->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
		any = true;
	}
	return any ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_alloc *a = sw_sim_alloc_at(address);
	if (!flags || !location || !a || !a->reserved)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = sw_sim_reserved_holds(a, address, 1) ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
						      : CU_MEM_ACCESS_FLAGS_PROT_NONE;
	return CUDA_SUCCESS;
}
