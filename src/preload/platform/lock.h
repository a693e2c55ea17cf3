/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's lock, for the slow paths only.  Signals are blocked while it is held: a handler that jumps out of
 * the recorder, or a cancellation, can't leave it taken.  A fork child starts with a fresh one (process.c).
 */
#ifndef SW_PRELOAD_PLATFORM_LOCK_H
#define SW_PRELOAD_PLATFORM_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/platform/sys.h"

struct sw_lock {
	_Atomic uint32_t word; /* 0 free, 1 taken, 2 taken and waited for */
};

/* Returns the signal mask to give to sw_lock_leave().  Signals get through while it waits: nothing is held then. */
static inline uint64_t sw_lock_enter(struct sw_lock *lock)
{
	uint64_t mask = sw_sys_block_signals();
	uint32_t was = 0;
	if (atomic_compare_exchange_strong_explicit(&lock->word, &was, 1, memory_order_acquire, memory_order_relaxed))
		return mask;
	while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire)) {
		sw_sys_set_signals(mask);
		sw_sys_wait((const uint32_t *)&lock->word, 2, NULL);
		sw_sys_block_signals();
	}
	return mask;
}

/* Takes the lock if it is free. */
static inline bool sw_lock_try(struct sw_lock *lock, uint64_t *mask)
{
	uint32_t was = 0;
	*mask = sw_sys_block_signals();
	if (atomic_compare_exchange_strong_explicit(&lock->word, &was, 1, memory_order_acquire, memory_order_relaxed))
		return true;
	sw_sys_set_signals(*mask);
	return false;
}

static inline void sw_lock_leave(struct sw_lock *lock, uint64_t mask)
{
	if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2)
		sw_sys_wake((const uint32_t *)&lock->word, 1);
	sw_sys_set_signals(mask);
}

#endif
