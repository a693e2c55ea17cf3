/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a kernel as one block, laid out as the kernel sees it. */
#ifndef SW_PRELOAD_CALLS_LAUNCH_H
#define SW_PRELOAD_CALLS_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/intercept/function_table.h"
#include "preload/recorder/recorder.h"

struct sw_launch {
	CUfunction f;
	unsigned int grid[3], block[3];
	unsigned int shared;
	unsigned int cluster; /* blocks */
	unsigned int flags;   /* SW_LAUNCH_* */
	bool more;	      /* others of the same call follow: the last one carries status and duration */
	CUstream stream;
	void **params, **extra;
	const CUlaunchConfig *config; /* NULL: none */
};

/* Writes the record, and those of events that the launch records. */
void sw_launch_begin(struct sw_call *call, struct sw_launch *launch);

/* More than any block needs: 32,764 bytes at most. */
#define SW_LAUNCH_BLOCK 32768u

/* From kernelParams or, where that is given, the packed buffer of `extra`.  `block` has room for SW_LAUNCH_BLOCK bytes.
   Returns the bytes of the block, 0: no parameters, or their layout is not known. */
size_t sw_launch_block(const struct sw_kernel_entry *function, void **params, void **extra, char *block);

#endif
