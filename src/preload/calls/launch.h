/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a kernel as one block, laid out as the kernel sees it. */
#ifndef SW_PRELOAD_CALLS_LAUNCH_H
#define SW_PRELOAD_CALLS_LAUNCH_H

#include <stddef.h>

#include "preload/intercept/function_table.h"

/* More than any block needs: 32,764 bytes at most. */
#define SW_LAUNCH_BLOCK 32768u

/* From kernelParams or, where that is given, the packed buffer of `extra`.  `block` has room for SW_LAUNCH_BLOCK bytes.
   Returns the bytes of the block, 0: no parameters, or their layout is not known. */
size_t sw_launch_block(const struct sw_kernel_entry *function, void **params, void **extra, char *block);

#endif
