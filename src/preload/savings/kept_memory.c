/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is not freed but kept for the next allocation of that size.  All later work comes after the work that was
 * there when it was freed; pinned memory, which the host writes at once, is used again when that work is done.
 */
#include "preload/savings/savings.h"

#include "preload/platform/lock.h"

#define BLOCKS	   1024u
#define MOST_BYTES (4ull << 30)

struct block {
	uint64_t address, bytes;
	uint32_t kind; /* id of the entry point that allocated it, 0: free slot */
	unsigned flags;
	bool kept;
	struct sw_fence fence; /* its event stays with the slot */
};
static struct sw_lock lock;
static struct block blocks[BLOCKS];
static uint32_t n_blocks; /* slots that were ever used */
static uint64_t kept_bytes;

/* The one that was kept first: its work ends first. */
static struct block *take(uint32_t kind, uint64_t bytes, unsigned flags, bool host)
{
	static uint32_t from;
	for (uint32_t i = 0; i < n_blocks; i++) {
		struct block *b = &blocks[(from + i) % n_blocks];
		if (b->kind != kind || !b->kept || b->bytes != bytes || b->flags != flags ||
		    (host && !sw_fence_passed(&b->fence)))
			continue;
		from = (from + i + 1) % n_blocks;
		return b;
	}
	return NULL;
}

bool sw_kept_take(uint32_t kind, uint64_t bytes, unsigned flags, bool host, uint64_t *address)
{
	const uint64_t mask = sw_lock_enter(&lock);
	struct block *b = take(kind, bytes, flags, host);
	const bool good = b && (host || sw_fence_order(&b->fence));
	if (good) {
		b->kept = false;
		kept_bytes -= b->bytes;
		*address = b->address;
	}
	sw_lock_leave(&lock, mask);
	return good;
}

void sw_kept_made(uint32_t kind, uint64_t bytes, unsigned flags, uint64_t address)
{
	const uint64_t mask = sw_lock_enter(&lock);
	struct block *slot = NULL;
	for (uint32_t i = 0; i < n_blocks; i++) {
		if (blocks[i].address == address)
			blocks[i].kind = 0; /* freed where we do not look */
		if (!blocks[i].kind)
			slot = &blocks[i];
	}
	if (!slot && n_blocks < BLOCKS)
		slot = &blocks[n_blocks++];
	if (slot) {
		slot->address = address;
		slot->bytes = bytes;
		slot->flags = flags;
		slot->kept = false;
		slot->kind = kind;
	}
	sw_lock_leave(&lock, mask);
}

bool sw_kept_give(uint64_t address)
{
	const uint64_t mask = sw_lock_enter(&lock);
	bool good = false;
	for (uint32_t i = 0; i < n_blocks && !good; i++) {
		struct block *b = &blocks[i];
		if (!b->kind || b->kept || b->address != address)
			continue;
		if (kept_bytes + b->bytes > MOST_BYTES || !sw_fence_put(&b->fence))
			break;
		b->kept = good = true;
		kept_bytes += b->bytes;
	}
	sw_lock_leave(&lock, mask);
	return good;
}

void sw_kept_gone(uint64_t address)
{
	const uint64_t mask = sw_lock_enter(&lock);
	for (uint32_t i = 0; i < n_blocks; i++) {
		struct block *b = &blocks[i];
		if (!b->kind || b->address != address)
			continue;
		kept_bytes -= b->kept ? b->bytes : 0;
		b->kind = 0;
	}
	sw_lock_leave(&lock, mask);
}

/* The device is full: what is kept goes. */
bool sw_kept_drop(void)
{
	__typeof__(&cuMemFree_v2) release = SW_SAVINGS_REAL(cuMemFree_v2);
	const uint64_t mask = sw_lock_enter(&lock);
	bool any = false;
	for (uint32_t i = 0; i < n_blocks && release; i++) {
		struct block *b = &blocks[i];
		if (b->kind != SW_ID_cuMemAlloc_v2 || !b->kept)
			continue;
		any |= release(b->address) == CUDA_SUCCESS;
		kept_bytes -= b->bytes;
		b->kind = 0;
	}
	sw_lock_leave(&lock, mask);
	return any;
}

void sw_kept_forget(void)
{
	const uint64_t mask = sw_lock_enter(&lock);
	for (uint32_t i = 0; i < n_blocks; i++)
		blocks[i] = (struct block){0};
	kept_bytes = 0;
	sw_lock_leave(&lock, mask);
}
