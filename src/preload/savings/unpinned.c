/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the program registers with CUDA and that is not: copies of it go through the ring of pinned buffers.  A
 * kernel that gets its address reaches it directly, so it is registered after all.
 */
#include "preload/savings/savings.h"

#include <string.h>

#include "preload/platform/lock.h"

#define RANGES 256u

static struct sw_lock lock;
static struct range {
	uint64_t at, bytes; /* bytes 0: free */
	unsigned flags;
	bool pinned; /* after all */
} ranges[RANGES];
static _Atomic uint32_t n_ranges; /* in use, those that are pinned after all left out */

bool sw_unpinned_add(void *at, size_t bytes, unsigned flags)
{
	bool good = false;
	/* Mapped for the device, or memory of a device: not what a copy alone uses. */
	if (!bytes || flags & ~(unsigned)CU_MEMHOSTREGISTER_PORTABLE)
		return false;
	const uint64_t mask = sw_lock_enter(&lock);
	for (uint32_t i = 0; i < RANGES && !good; i++)
		if (!ranges[i].bytes) {
			ranges[i] = (struct range){(uintptr_t)at, bytes, flags, false};
			atomic_fetch_add(&n_ranges, 1);
			good = true;
		}
	sw_lock_leave(&lock, mask);
	return good;
}

static struct range *find(uint64_t address)
{
	for (uint32_t i = 0; i < RANGES; i++)
		if (ranges[i].bytes && address - ranges[i].at < ranges[i].bytes)
			return &ranges[i];
	return NULL;
}

/* True: there was nothing to release. */
bool sw_unpinned_drop(void *at)
{
	const uint64_t mask = sw_lock_enter(&lock);
	struct range *range = find((uintptr_t)at);
	bool good = false;
	if (range && range->at == (uintptr_t)at) {
		good = !range->pinned;
		range->bytes = 0;
		if (good)
			atomic_fetch_sub(&n_ranges, 1);
	}
	sw_lock_leave(&lock, mask);
	return good;
}

bool sw_unpinned_has(uint64_t address)
{
	if (!atomic_load(&n_ranges))
		return false;
	const uint64_t mask = sw_lock_enter(&lock);
	const struct range *range = find(address);
	const bool has = range && !range->pinned;
	sw_lock_leave(&lock, mask);
	return has;
}

static void pin(uint64_t address)
{
	__typeof__(&cuMemHostRegister_v2) enlist = SW_SAVINGS_REAL(cuMemHostRegister_v2);
	const uint64_t mask = sw_lock_enter(&lock);
	struct range *range = find(address);
	if (range && !range->pinned && enlist &&
	    enlist((void *)(uintptr_t)range->at, range->bytes, range->flags) == CUDA_SUCCESS) {
		range->pinned = true;
		atomic_fetch_sub(&n_ranges, 1);
	}
	sw_lock_leave(&lock, mask);
}

void sw_unpinned_parameters(const void *block, size_t bytes)
{
	uint64_t word;
	for (size_t at = 0; atomic_load(&n_ranges) && at + sizeof word <= bytes; at += sizeof word) {
		memcpy(&word, (const char *)block + at, sizeof word);
		if (sw_unpinned_has(word))
			pin(word);
	}
}
