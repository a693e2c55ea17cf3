/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a kernel as one block, laid out as the kernel sees it. */
#ifndef SW_PRELOAD_CALLS_LAUNCH_H
#define SW_PRELOAD_CALLS_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/intercept/function_table.h"
#include "preload/calls/launch_tail.h"
#include "preload/recorder/recorder.h"

struct sw_launch {
	CUfunction f;
	void **params, **extra;
	const CUlaunchConfig *config; /* NULL: none */
	bool more;		      /* others of the same call follow: the last one carries status and duration */
	struct sw_launch_tail tail;   /* stream, geometry, flags */
};

/* In whole words, as they are compared and copied: a word that is stored in parts cannot be loaded for a while.  An
   initialiser would clear what sw_launch_tail() fills. */
static inline __attribute__((always_inline)) void sw_launch_set(struct sw_launch *l, unsigned int flags, CUfunction f,
								unsigned int gx, unsigned int gy, unsigned int gz,
								unsigned int bx, unsigned int by, unsigned int bz,
								unsigned int shared, CUstream stream, void **params,
								void **extra)
{
	uint64_t *words = &l->tail.words[sizeof(struct sw_rec) / 8];

	l->f = f;
	l->params = params;
	l->extra = extra;
	l->config = NULL;
	l->more = false;
	l->tail.hash = 0;
	l->tail.unsought = false;
	l->tail.fresh = false;
	words[0] = (uint64_t)(uintptr_t)stream;
	words[2] = gx | (uint64_t)gy << 32;
	words[3] = gz | (uint64_t)(uint16_t)bx << 32 | (uint64_t)by << 48;
	words[4] = (uint16_t)bz | (uint64_t)(uint16_t)flags << 16;
	words[5] = shared;
}

/* The kernel, 0 unknown, and that there are no parameters yet. */
static inline void sw_launch_set_function(struct sw_launch *l, uint32_t id)
{
	l->tail.words[sizeof(struct sw_rec) / 8 + 1] = id;
}

/* Writes the record, and those of events that the launch records. */
void sw_launch_begin(struct sw_call *call, struct sw_launch *launch);

/* sw_hook_begin() and, where it says that the call is recorded, sw_launch_begin(). */
void *sw_launch_enter(struct sw_call *call, uint32_t what, void *frame, struct sw_launch *launch);
/* The call that sw_launch_enter() began has returned. */
void sw_launch_leave(struct sw_call *call, CUstream stream, CUresult status);

/* From kernelParams or, where that is given, the packed buffer of `extra`.  `block` has room for SW_LAUNCH_BLOCK_MAX
   bytes. Returns the bytes of the block, 0: no parameters, or their layout is not known. */
size_t sw_launch_block(const struct sw_kernel_entry *function, void **params, void **extra, char *block);

#endif
