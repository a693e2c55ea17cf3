/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects that ended: another may lie at such an address now. */
#include "preload/python/python.h"

#include "base/hash.h"

#define RING	256u
#define WATCHED (1u << 15)
#define GONE	1u /* in place of a code object that ended: a search continues past it */

uint64_t sw_python_freed_count;

static void (*original)(void *code);

/* The one that took a number writes its entry after it: a reader in between finds none, and takes all as freed.  No
   lock: a child that is forked meanwhile would never get it. */
static struct {
	uint64_t n; /* 1 + the number that was given to it, 0: being written */
	const void *code;
} ring[RING];

/* Open addressing. No entry is removed, so that threads need no lock; when it is full every end counts. */
static uint64_t watched[WATCHED];
static uint32_t used;
static bool full;

/* Says to all readers that the code object at this address has ended. */
static void publish_code(const void *code)
{
	const uint64_t n = __atomic_fetch_add(&sw_python_freed_count, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&ring[n % RING].n, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&ring[n % RING].code, code, __ATOMIC_SEQ_CST);
	__atomic_store_n(&ring[n % RING].n, n + 1, __ATOMIC_SEQ_CST);
}

/* The n-th code object that ended, NULL: overwritten since.  The number is read before and after, since another thread
   may write there. */
const void *sw_python_freed_at(uint64_t n)
{
	if (__atomic_load_n(&ring[n % RING].n, __ATOMIC_ACQUIRE) != n + 1)
		return NULL;
	const void *code = __atomic_load_n(&ring[n % RING].code, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&ring[n % RING].n, __ATOMIC_RELAXED) == n + 1 ? code : NULL;
}

/* Where the search for a code object begins. */
static uint32_t place_of_code(const void *code)
{
	return (uint32_t)sw_hash_u64((uintptr_t)code) % WATCHED;
}

/* Was the code object watched?  If so it is no more. */
static bool forget_code(const void *code)
{
	bool found = __atomic_load_n(&full, __ATOMIC_ACQUIRE);
	for (uint32_t i = place_of_code(code), n = 0; n < WATCHED; i = (i + 1) % WATCHED, n++) {
		uint64_t there = __atomic_load_n(&watched[i], __ATOMIC_ACQUIRE);
		if (!there)
			break;
		if (there == (uintptr_t)code) {
			__atomic_store_n(&watched[i], GONE, __ATOMIC_RELEASE);
			found = true;
		}
	}
	return found;
}

/* Notes the address of a code object that is in a recorded stack, without a lock.  Once the table is full, the end of
   any code object counts. */
void sw_python_freed_watch(const void *code)
{
	uint32_t i = place_of_code(code);
	for (uint32_t n = 0; n < WATCHED; i = (i + 1) % WATCHED, n++) {
		uint64_t there = __atomic_load_n(&watched[i], __ATOMIC_ACQUIRE);
		if (there == (uintptr_t)code)
			return;
		if (!there && __atomic_load_n(&used, __ATOMIC_RELAXED) >= WATCHED / 4 * 3)
			break;
		if (!there && __atomic_compare_exchange_n(&watched[i], &there, (uintptr_t)code, false, __ATOMIC_ACQ_REL,
							  __ATOMIC_ACQUIRE)) {
			__atomic_add_fetch(&used, 1, __ATOMIC_RELAXED);
			return;
		}
		if (there == (uintptr_t)code) /* another thread was faster */
			return;
	}
	__atomic_store_n(&full, true, __ATOMIC_RELEASE);
}

/* Runs in place of PyCode_Type.tp_dealloc, which it calls: tells readers first, since the address may be used again as
   soon as that returns. */
static void code_ends(void *code)
{
	if (forget_code(code))
		publish_code(code);
	original(code);
}

/* Puts our function in place of the one that frees code objects, to learn when an address stands for another one.
   False: it cannot be written. */
bool sw_python_freed_start(void *code_type, uint32_t type_free)
{
	void (**slot)(void *) = (void (**)(void *))(void *)((char *)code_type + type_free);
	void (*now)(void *) = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	if (now == code_ends) /* in a child of fork() */
		return true;
	if (!now || !sw_python_writable(slot))
		return false;
	original = now;
	__atomic_store_n(slot, code_ends, __ATOMIC_RELEASE);
	return true;
}
