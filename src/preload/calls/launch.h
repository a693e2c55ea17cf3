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

/* Field by field: an initialiser would clear what sw_launch_tail() fills. */
static inline __attribute__((always_inline)) void sw_launch_set(struct sw_launch *l, unsigned int flags, CUfunction f,
								unsigned int gx, unsigned int gy, unsigned int gz,
								unsigned int bx, unsigned int by, unsigned int bz,
								unsigned int shared, CUstream stream, void **params,
								void **extra)
{
	struct sw_rec_launch *r = &l->tail.launch;

	l->f = f;
	l->params = params;
	l->extra = extra;
	l->config = NULL;
	l->more = false;
	r->stream = (uint64_t)(uintptr_t)stream;
	r->params = 0;
	r->grid[0] = gx;
	r->grid[1] = gy;
	r->grid[2] = gz;
	r->block[0] = (uint16_t)bx;
	r->block[1] = (uint16_t)by;
	r->block[2] = (uint16_t)bz;
	r->flags = (uint16_t)flags;
	r->param_bytes = 0;
	r->cluster = 0;
	r->shared_bytes = shared;
	r->launch = 0;
}

/* Writes the record, and those of events that the launch records. */
void sw_launch_begin(struct sw_call *call, struct sw_launch *launch);

/* More than any block needs: 32,764 bytes at most. */
#define SW_LAUNCH_BLOCK 32768u

/* From kernelParams or, where that is given, the packed buffer of `extra`.  `block` has room for SW_LAUNCH_BLOCK bytes.
   Returns the bytes of the block, 0: no parameters, or their layout is not known. */
size_t sw_launch_block(const struct sw_kernel_entry *function, void **params, void **extra, char *block);

#endif
