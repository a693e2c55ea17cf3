/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-host.so: how host threads order each other (--strict-host).  Loaded after libsyncwatch.so; without it,
 * and until the first CUDA call, everything passes through.
 *
 * A wrapper records a release before the real call and an acquire after it, so that in the order of the trace a release
 * comes before the acquires that it let through.  errno and results are the real call's; nothing here locks, allocates
 * or makes a system call in steady state.
 */
#ifndef SW_PRELOAD_STRICT_STRICT_H
#define SW_PRELOAD_STRICT_STRICT_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>

#include "preload/recorder/companion.h"

/* The functions that we stand before. */
struct sw_strict_real {
#define STRICT(result, name, parameters, version) result(*name) parameters;
#include "preload/strict/functions.def"
#undef STRICT
};
extern struct sw_strict_real sw_strict_real;
extern bool sw_strict_ready;
/* Any thread, also in constructors that run before ours. */
void sw_strict_start(void);

static inline const struct sw_strict_real *sw_real(void)
{
	if (__builtin_expect(!__atomic_load_n(&sw_strict_ready, __ATOMIC_ACQUIRE), 0))
		sw_strict_start();
	return &sw_strict_real;
}

#define SW_EXPORT __attribute__((visibility("default")))

/* `frame`: of the wrapper. */
void sw_strict_release(enum sw_through kind, const void *object, const void *frame);
void sw_strict_acquire(enum sw_through kind, const void *object, const void *frame);
#define RELEASE(kind, object) sw_strict_release(SW_THROUGH_##kind, object, __builtin_frame_address(0))
#define ACQUIRE(kind, object) sw_strict_acquire(SW_THROUGH_##kind, object, __builtin_frame_address(0))

/* ---- threads (thread.c) ---- */

struct sw_strict_birth; /* what a new thread gets */

/* Whether what this thread does is recorded at all: a CUDA call was made, we are not inside of one, and it is no thread
   of the driver's own. */
bool sw_strict_watching(const void *frame);

/* Is this address in code of CUDA's own libraries? errno is not kept. */
bool sw_strict_foreign(const void *caller);

/* The companion's table, NULL: libsyncwatch.so is not there. */
const struct sw_companion *sw_strict_companion(void);
struct sw_sync_thread *sw_strict_filter(void);

#endif
