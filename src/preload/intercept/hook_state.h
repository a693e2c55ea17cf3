/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hooks remember about the process: contexts, functions, images, which entry points are described.
 *
 * It lies in pages that a fork child sees as zeroes (MADV_WIPEONFORK): the child writes a trace of its own, in which
 * nothing is described yet, and a lock that another thread held at the fork is free again.  CUDA itself does not
 * survive a fork, so no handle of the parent is of use to the child.
 */
#ifndef SW_PRELOAD_INTERCEPT_HOOK_STATE_H
#define SW_PRELOAD_INTERCEPT_HOOK_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/ids.h"
#include "preload/intercept/cuda_types.h"
#include "preload/platform/lock.h"
#include "preload/intercept/identity_table.h"

#define SW_STATE_CONTEXTS     256 /* ids fit a byte, 0 is "unknown" */
#define SW_STATE_UNKNOWN      64  /* entry points that the table does not know */
#define SW_STATE_REQUESTERS   32  /* modules that asked for entry points */
#define SW_STATE_ANNOTATIONS  14  /* enum sw_annotation, and those of preload/pools/pools.h */
#define SW_STATE_DESCRIPTIONS (SW_ID_COUNT + SW_STATE_UNKNOWN + SW_STATE_ANNOTATIONS)

#define SW_STATE_RETIRED 512 /* entries of functions that are not reused yet: a launch may still read one */

struct sw_state_context {
	CUcontext handle; /* NULL: ended */
	CUgreenCtx green; /* the green context that it came from */
	int32_t device;
	bool primary;
};

struct sw_kernel_entry;

struct sw_state {
	struct sw_lock lock;
	uint32_t epoch;		/* grows when a context ends: what threads cached is invalid */
	uint32_t contexts;	/* ids handed out */
	uint32_t context_again; /* id that was reused last: once all are used, those of ended contexts are reused */
	uint32_t devices_described;
	uint32_t driver_told;
	uint32_t functions;   /* ids handed out */
	uint32_t images;      /* ids handed out */
	uint64_t image_bytes; /* images copied, or about to be */
	struct sw_state_context context[SW_STATE_CONTEXTS];
	struct sw_kernel_entry *retired[SW_STATE_RETIRED]; /* of functions that were unloaded, in turn */
	uint64_t retired_count;
	struct sw_kernel_entry *free_entries;
	struct sw_table by_function; /* CUfunction or CUkernel -> struct sw_kernel_entry */
	struct sw_table by_stream;   /* CUstream -> context id */
	struct sw_table kernels;     /* handles known to be CUkernel -> CUlibrary */
	struct sw_table by_code;     /* CUmodule or CUlibrary -> image id */
	struct sw_table by_node;     /* CUgraphNode -> record of the call that made it */
	struct sw_table by_exec;     /* CUgraphExec -> hash of its description */
	struct sw_table by_content;  /* hash of an image -> image id */
	uint32_t requests_described[SW_STATE_REQUESTERS];
	uint8_t described[SW_STATE_DESCRIPTIONS];
};

extern struct sw_state *sw_state_published __attribute__((visibility("hidden")));
struct sw_state *sw_state_begin(void);

/* Never NULL. */
static inline struct sw_state *sw_state(void)
{
	struct sw_state *state = __atomic_load_n(&sw_state_published, __ATOMIC_ACQUIRE);

	return __builtin_expect(state != NULL, 1) ? state : sw_state_begin();
}

/*
 * For changes; never held around a call of the program's or the driver's code that could block.  Signals are blocked
 * meanwhile: a handler of the program that makes a CUDA call would wait for the thread that it interrupted, one that
 * jumps away would never release the lock.  Returns the argument of sw_state_unlock().
 */
static inline uint64_t sw_state_lock(struct sw_state *state)
{
	return sw_lock_enter(&state->lock);
}

static inline void sw_state_unlock(struct sw_state *state, uint64_t mask)
{
	sw_lock_leave(&state->lock, mask);
}

#endif
