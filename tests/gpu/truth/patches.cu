// SPDX-License-Identifier: Apache-2.0
/*
 * What compute-sanitizer inserts before every access of global memory: enter the bytes in the launch's hash set.
 *
 * Aggregated on the device because a kernel of PyTorch makes millions of accesses to a few thousand sectors.  A mask is
 * read before it is or'ed: most accesses find their bits set and cost no atomic operation.
 *
 * Not reported by the patching API of CUDA 13.0, hence not seen here: tensor copies through a CUtensorMap, texture and
 * surface accesses, multimem instructions.
 */
#include <sanitizer_patching.h>

#include "observed.h"

static __device__ observed_sector *place_of(observed *set, unsigned long long sector)
{
	unsigned long long at = (sector * 0x9e3779b97f4a7c15ull) >> 24;
	for (int probe = 0; probe < OBSERVED_PROBES; probe++, at++) {
		observed_sector *place = &set->table[at & set->last];
		unsigned long long key = *(volatile unsigned long long *)&place->sector;
		if (!key) {
			key = atomicCAS(&place->sector, 0ull, sector);
			if (!key) {
				atomicAdd(&set->used, 1ull);
				key = sector;
			}
		}
		if (key == sector)
			return place;
	}
	return nullptr;
}

static __device__ SanitizerPatchResult enter(void *userdata, uint64_t address, uint64_t bytes, observed_role role)
{
	observed *set = (observed *)userdata;
	while (set && bytes) {
		uint32_t first = (uint32_t)(address % OBSERVED_SECTOR);
		uint32_t n = bytes < OBSERVED_SECTOR - first ? (uint32_t)bytes : OBSERVED_SECTOR - first;
		uint32_t mask = (n == 32 ? ~0u : (1u << n) - 1) << first;
		observed_sector *place = place_of(set, address / OBSERVED_SECTOR);
		if (!place)
			atomicAdd(&set->dropped, 1ull);
		else if (~*(volatile uint32_t *)&place->mask[role] & mask)
			atomicOr(&place->mask[role], mask);
		address += n;
		bytes -= n;
	}
	return SANITIZER_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ SanitizerPatchResult sw_truth_global(void *userdata, uint64_t, void *address,
									uint32_t bytes, uint32_t flags, const void *)
{
	bool reads = flags & SANITIZER_MEMORY_DEVICE_FLAG_READ, writes = flags & SANITIZER_MEMORY_DEVICE_FLAG_WRITE;
	if ((flags & SANITIZER_MEMORY_DEVICE_FLAG_PREFETCH) || !(reads || writes))
		return SANITIZER_PATCH_SUCCESS;
	return enter(userdata, (uint64_t)address, bytes,
		     reads && writes ? OBSERVED_ATOMIC : writes ? OBSERVED_WRITE : OBSERVED_READ);
}

/* LDGSTS; address 0 where the source size is 0. */
extern "C" __device__ __noinline__ SanitizerPatchResult sw_truth_copy_async(void *userdata, uint64_t, void *from,
									     uint32_t, uint32_t bytes)
{
	return from ? enter(userdata, (uint64_t)from, bytes, OBSERVED_COPY) : SANITIZER_PATCH_SUCCESS;
}

/* Bulk copies count blocks of 16 bytes. */
extern "C" __device__ __noinline__ SanitizerPatchResult sw_truth_bulk_in(void *userdata, uint64_t, uint64_t from,
									  uint32_t, uint32_t, uint32_t blocks, uint32_t)
{
	return enter(userdata, from, 16ull * (blocks & 0xffff), OBSERVED_READ);
}

extern "C" __device__ __noinline__ SanitizerPatchResult sw_truth_bulk_out(void *userdata, uint64_t, uint64_t to,
									   uint32_t, uint32_t blocks)
{
	return enter(userdata, to, 16ull * (blocks & 0xffff), OBSERVED_WRITE);
}

extern "C" __device__ __noinline__ SanitizerPatchResult sw_truth_bulk_reduce(void *userdata, uint64_t, uint64_t to,
									      uint32_t, uint32_t blocks)
{
	return enter(userdata, to, 16ull * (blocks & 0xffff), OBSERVED_ATOMIC);
}
