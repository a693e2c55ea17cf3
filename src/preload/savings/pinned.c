/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pageable memory that the program copies to the device again and again: it is pinned at its first copy, and then the
 * copies are asynchronous, as they are in the program that allocates it pinned.  The host may then write it before the
 * copy is done, and memory that is freed and allocated again has other pages at its address than those that are pinned.
 * So a few words of each copy are compared with those of the one before, and in the run whose results are checked all
 * bytes that the device got are compared with what the memory held when the call was made.
 */
#include "preload/savings/savings.h"

#include "preload/platform/lock.h"
#include "preload/platform/sys.h"

#define RANGES	   256u
#define MOST_BYTES (8ull << 30)
#define PAGE	   4096u
#define SAMPLES	   512u

static struct sw_lock lock;
static struct range {
	uint64_t at, bytes; /* bytes 0: free */
	uint64_t words;	    /* hash of some of them */
	bool pinned;	    /* else it is copied through the ring */
} ranges[RANGES];
static uint64_t pinned_bytes;
static _Atomic uint64_t n_ranges, copies, refilled;

static uint64_t low_of(uint64_t at)
{
	return at / PAGE * PAGE;
}

static uint64_t high_of(uint64_t at, uint64_t bytes)
{
	return (at + bytes + PAGE - 1) / PAGE * PAGE;
}

static uint64_t words_of(uint64_t at, uint64_t bytes)
{
	const uint64_t words = bytes / sizeof(uint64_t), step = words / SAMPLES + 1;
	const uint64_t from = (at + 7) & ~7ull;
	uint64_t hash = SW_FNV_START;
	for (uint64_t i = 0; from + (i + 1) * 8 <= at + bytes; i += step)
		hash = sw_hash_u64(hash ^ ((const volatile uint64_t *)(uintptr_t)from)[i]) + hash;
	return hash;
}

static struct range *find(uint64_t at, uint64_t bytes)
{
	struct range *slot = NULL;
	for (uint32_t i = 0; i < RANGES; i++) {
		if (ranges[i].bytes == bytes && ranges[i].at == at)
			return &ranges[i];
		slot = ranges[i].bytes ? slot : &ranges[i];
	}
	if (slot)
		*slot = (struct range){.at = at};
	return slot;
}

static void pin(struct range *range, uint64_t bytes)
{
	__typeof__(&cuMemHostRegister_v2) enlist = SW_SAVINGS_REAL(cuMemHostRegister_v2);
	const uint64_t low = low_of(range->at), high = high_of(range->at, bytes), begun = sw_sys_monotonic();
	range->bytes = bytes;
	if (!enlist || pinned_bytes + bytes > MOST_BYTES || !sw_staging_pageable(range->at) ||
	    enlist((void *)(uintptr_t)low, high - low, CU_MEMHOSTREGISTER_PORTABLE) != CUDA_SUCCESS)
		return;
	range->pinned = true;
	range->words = words_of(range->at, bytes);
	pinned_bytes += bytes;
	atomic_fetch_add(&n_ranges, 1);
	sw_marks_once(sw_sys_monotonic() - begun);
}

/* Copies from it may still run. */
static void unpin(struct range *range)
{
	__typeof__(&cuMemHostUnregister) delist = SW_SAVINGS_REAL(cuMemHostUnregister);
	__typeof__(&cuCtxSynchronize) wait = SW_SAVINGS_REAL(cuCtxSynchronize);
	if (wait)
		wait();
	if (delist)
		delist((void *)(uintptr_t)low_of(range->at));
	range->pinned = false;
	pinned_bytes -= range->bytes;
}

/* The memory is pinned, and what it was: else it never is. */
static bool ready(struct range *range, uint64_t bytes)
{
	if (!range->bytes)
		pin(range, bytes);
	if (!range->pinned)
		return false;
	if (range->words == words_of(range->at, bytes))
		return true;
	atomic_fetch_add(&refilled, 1);
	unpin(range);
	return false;
}

static uint64_t hash_of(const struct sw_savings_copy *c)
{
	const uint64_t words = c->bytes & ~7ull;
	const char *at = (const char *)(uintptr_t)c->src;
	return sw_hash_bytes(words ? sw_hash_words(at, words) : SW_FNV_START, at + words, c->bytes - words);
}

bool sw_pinned_copy(const struct sw_savings_copy *c)
{
	__typeof__(&cuMemcpyHtoDAsync_v2) copy = SW_SAVINGS_REAL(cuMemcpyHtoDAsync_v2);
	if (!copy || !c->bytes || !sw_own_stream_device(c->dst))
		return false;
	const uint64_t mask = sw_lock_enter(&lock);
	struct range *range = find(c->src, c->bytes);
	const bool good = range && ready(range, c->bytes);
	sw_lock_leave(&lock, mask);
	if (!good)
		return false;
	const uint64_t hash = sw_confirm_plan.changes.outputs ? hash_of(c) : 0;
	if (copy(c->dst, (const void *)(uintptr_t)c->src, c->bytes, c->stream) != CUDA_SUCCESS)
		return false;
	if (sw_confirm_plan.changes.outputs)
		sw_staging_check(c, hash);
	atomic_fetch_add(&copies, 1);
	return true;
}

bool sw_pinned_has(uint64_t address)
{
	bool has = false;
	if (!atomic_load(&n_ranges))
		return false;
	const uint64_t mask = sw_lock_enter(&lock);
	for (uint32_t i = 0; i < RANGES && !has; i++)
		has = ranges[i].pinned && address >= low_of(ranges[i].at) &&
		      address < high_of(ranges[i].at, ranges[i].bytes);
	sw_lock_leave(&lock, mask);
	return has;
}

void sw_pinned_release(const void *at, uint64_t bytes)
{
	const uint64_t low = low_of((uintptr_t)at), high = high_of((uintptr_t)at, bytes);
	if (!atomic_load(&n_ranges))
		return;
	const uint64_t mask = sw_lock_enter(&lock);
	for (uint32_t i = 0; i < RANGES; i++)
		if (ranges[i].pinned && low_of(ranges[i].at) < high && high_of(ranges[i].at, ranges[i].bytes) > low)
			unpin(&ranges[i]);
	sw_lock_leave(&lock, mask);
}

void sw_pinned_end(void)
{
	uint64_t spoilt, unknown;
	sw_staging_spoilt(&spoilt, &unknown);
	if (atomic_load(&copies))
		sw_result("pinned %llu %llu %llu %llu %llu", (unsigned long long)atomic_load(&n_ranges),
			  (unsigned long long)atomic_load(&copies), (unsigned long long)spoilt,
			  (unsigned long long)unknown, (unsigned long long)atomic_load(&refilled));
}
