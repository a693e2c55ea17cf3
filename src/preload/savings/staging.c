/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of pageable memory through a ring of pinned buffers.  To the device the bytes are taken before the call
 * returns, as the driver does.  To the host they are written when the host next waits or asks for any work and the copy
 * is done: until then it cannot know.  A program that learns of work in other ways (functions on streams, values that
 * streams write) has them written by a function on the stream, before whatever comes after the copy; that makes the
 * stream wait for the processor.
 */
#include "preload/savings/savings.h"

#include <string.h>

#include "preload/platform/lock.h"

#define SLOTS	   64u
#define FEW_SLOTS  8u /* where memory is pinned, and only what changes is copied */
#define LEAST_ROOM (64ull << 10)
#define MOST_BYTES (512ull << 20)

struct slot {
	uint8_t *at;
	CUevent event; /* when it can be used again */
	bool used;
	bool owed;    /* the copy to the host has not been written */
	bool checked; /* what the device got comes back, and is to have this hash */
	uint64_t hash;
	void *to; /* of a copy to the host */
	uint64_t bytes;
};
static struct sw_lock lock;
static struct slot slots[SLOTS];
static uint32_t n_slots, next;
static uint64_t room;
static _Atomic bool made, in_order;
static _Atomic uint32_t n_owed;
static uint64_t n_spoilt, n_unknown;

static bool stages(void)
{
	for (uint32_t i = 0; i < sw_confirm_plan.changes.sites; i++) {
		const enum sw_run_change change = sw_confirm_plan.changes.site[i].change;
		if (change == SW_CHANGE_STAGE || change == SW_CHANGE_UNPIN)
			return true;
	}
	return false;
}

/* Before the first work: pinning takes its time, and is done once. */
void sw_staging_prepare(void)
{
	__typeof__(&cuMemHostAlloc) pin = SW_SAVINGS_REAL(cuMemHostAlloc);
	__typeof__(&cuEventCreate) make = SW_SAVINGS_REAL(cuEventCreate);
	const uint64_t wanted = sw_confirm_plan.changes.room;
	void *at = NULL;
	if (!wanted || wanted > MOST_BYTES || !pin || !make || atomic_exchange(&made, true))
		return;
	room = wanted < LEAST_ROOM ? LEAST_ROOM : (wanted + 4095) / 4096 * 4096;
	const uint32_t wants = stages() ? SLOTS : FEW_SLOTS;
	const uint32_t n = room * wants > MOST_BYTES ? (uint32_t)(MOST_BYTES / room) : wants;
	if (pin(&at, n * room, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS) {
		sw_result("failed staging 0");
		return;
	}
	/* So that its pages are there. */
	memset(at, 0, n * room);
	for (uint32_t i = 0; i < n; i++) {
		slots[i].at = (uint8_t *)at + i * room;
		if (make(&slots[i].event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
			return;
		n_slots = i + 1;
	}
}

static void bring_one(struct slot *slot)
{
	memcpy(slot->to, slot->at, slot->bytes);
	slot->owed = false;
	atomic_fetch_sub(&n_owed, 1);
}

/* In the order in which they were made. */
static void bring_all(CUresult (*CUDAAPI is_done)(CUevent))
{
	if (!atomic_load(&n_owed) || !is_done)
		return;
	const uint64_t mask = sw_lock_enter(&lock);
	for (uint32_t i = 0; i < n_slots; i++) {
		struct slot *slot = &slots[(next + i) % n_slots];
		if (slot->owed && is_done(slot->event) == CUDA_SUCCESS)
			bring_one(slot);
	}
	sw_lock_leave(&lock, mask);
}

void sw_staging_bring(void)
{
	bring_all(SW_SAVINGS_REAL(cuEventQuery));
}

void sw_staging_finish(void)
{
	bring_all(SW_SAVINGS_REAL(cuEventSynchronize));
}

void sw_staging_in_order(void)
{
	if (!atomic_exchange(&in_order, true))
		sw_staging_finish();
}

static uint64_t hash_of(const uint8_t *at, uint64_t bytes)
{
	const uint64_t words = bytes & ~7ull;
	return sw_hash_bytes(words ? sw_hash_words(at, words) : SW_FNV_START, at + words, bytes - words);
}

/* It has come back. */
static void compare(struct slot *slot)
{
	n_spoilt += hash_of(slot->at, slot->bytes) != slot->hash;
	slot->checked = false;
}

void sw_staging_compare(void)
{
	__typeof__(&cuEventQuery) ask = SW_SAVINGS_REAL(cuEventQuery);
	const uint64_t mask = sw_lock_enter(&lock);
	for (uint32_t i = 0; i < n_slots && ask; i++)
		if (slots[i].checked && ask(slots[i].event) == CUDA_SUCCESS)
			compare(&slots[i]);
	sw_lock_leave(&lock, mask);
}

void sw_staging_spoilt(uint64_t *spoilt, uint64_t *unknown)
{
	const uint64_t mask = sw_lock_enter(&lock);
	*spoilt = n_spoilt;
	*unknown = n_unknown;
	for (uint32_t i = 0; i < n_slots; i++)
		*unknown += slots[i].checked;
	sw_lock_leave(&lock, mask);
}

/* Each slot in turn: the oldest is done first.  Waits for it where the ring is full. */
static struct slot *take(void)
{
	__typeof__(&cuEventSynchronize) wait = SW_SAVINGS_REAL(cuEventSynchronize);
	struct slot *slot = n_slots ? &slots[next] : NULL;
	if (!slot || (slot->used && (!wait || wait(slot->event) != CUDA_SUCCESS)))
		return NULL;
	if (slot->owed)
		bring_one(slot);
	if (slot->checked)
		compare(slot);
	next = (next + 1) % n_slots;
	slot->used = true;
	return slot;
}

static void CUDA_CB bring(void *arg)
{
	const struct slot *slot = arg;
	memcpy(slot->to, slot->at, slot->bytes);
}

static CUresult to_device(struct slot *slot, const struct sw_savings_copy *c)
{
	__typeof__(&cuMemcpyHtoDAsync_v2) copy = SW_SAVINGS_REAL(cuMemcpyHtoDAsync_v2);
	if (!copy)
		return CUDA_ERROR_NOT_SUPPORTED;
	memcpy(slot->at, (const void *)(uintptr_t)c->src, c->bytes);
	return copy(c->dst, slot->at, c->bytes, c->stream);
}

static CUresult to_host(struct slot *slot, const struct sw_savings_copy *c)
{
	__typeof__(&cuMemcpyDtoHAsync_v2) copy = SW_SAVINGS_REAL(cuMemcpyDtoHAsync_v2);
	__typeof__(&cuLaunchHostFunc) then = SW_SAVINGS_REAL(cuLaunchHostFunc);
	slot->to = (void *)(uintptr_t)c->dst;
	slot->bytes = c->bytes;
	if (!copy || !then)
		return CUDA_ERROR_NOT_SUPPORTED;
	const CUresult status = copy(slot->at, c->src, c->bytes, c->stream);
	if (status || atomic_load(&in_order))
		return status ? status : then(c->stream, bring, slot);
	slot->owed = true;
	atomic_fetch_add(&n_owed, 1);
	return CUDA_SUCCESS;
}

bool sw_staging_pageable(uint64_t address)
{
	__typeof__(&cuPointerGetAttribute) ask = SW_SAVINGS_REAL(cuPointerGetAttribute);
	CUmemorytype type = 0;
	return ask && ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)address) == CUDA_ERROR_INVALID_VALUE;
}

static bool on_device(uint64_t address)
{
	__typeof__(&cuPointerGetAttribute) ask = SW_SAVINGS_REAL(cuPointerGetAttribute);
	CUmemorytype type = 0;
	return ask && ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)address) == CUDA_SUCCESS &&
	       type == CU_MEMORYTYPE_DEVICE;
}

/* From the host to the device, or to pageable memory of the host: pinned memory can be read at once by a program that
   knows of the copy. */
bool sw_staging_copy(const struct sw_savings_copy *c)
{
	__typeof__(&cuEventRecord) record = SW_SAVINGS_REAL(cuEventRecord);
	const bool from = !on_device(c->src), to = sw_staging_pageable(c->dst);
	if (from == to || !on_device(from ? c->dst : c->src) || !c->bytes || c->bytes > room || !record)
		return false;
	const uint64_t mask = sw_lock_enter(&lock);
	struct slot *slot = take();
	bool good = slot && (from ? to_device(slot, c) : to_host(slot, c)) == CUDA_SUCCESS;
	if (slot && record(slot->event, c->stream) != CUDA_SUCCESS) {
		/* It is unknown when it can be used again; the call is made as it is, and brings the bytes itself. */
		atomic_fetch_sub(&n_owed, slot->owed);
		slot->owed = good = false;
		room = 0;
	}
	sw_lock_leave(&lock, mask);
	return good;
}

bool sw_staging_check(const struct sw_savings_copy *c, uint64_t hash)
{
	__typeof__(&cuMemcpyDtoHAsync_v2) copy = SW_SAVINGS_REAL(cuMemcpyDtoHAsync_v2);
	__typeof__(&cuEventRecord) record = SW_SAVINGS_REAL(cuEventRecord);
	const uint64_t mask = sw_lock_enter(&lock);
	struct slot *slot = c->bytes <= room && copy && record ? take() : NULL;
	const bool good = slot && copy(slot->at, c->dst, c->bytes, c->stream) == CUDA_SUCCESS &&
			  record(slot->event, c->stream) == CUDA_SUCCESS;
	if (good) {
		slot->checked = true;
		slot->hash = hash;
		slot->bytes = c->bytes;
	}
	n_unknown += !good;
	sw_lock_leave(&lock, mask);
	return good;
}
