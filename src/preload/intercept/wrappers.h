/* SPDX-License-Identifier: Apache-2.0 */
/* Our function for each entry point. */
#ifndef SW_PRELOAD_INTERCEPT_WRAPPERS_H
#define SW_PRELOAD_INTERCEPT_WRAPPERS_H

#include <stddef.h>
#include <stdint.h>

#include "api/ids.h"

/* How far from the table the function lies, 0: it passes through.  Addresses would need a relocation each, which is
   more than the table itself, and all of them before the program's first instruction. */
extern const int32_t sw_wrapper_distances[SW_ID_COUNT] __attribute__((visibility("hidden")));

/* NULL where it passes through. */
static inline void *sw_wrapper(uint16_t id)
{
	const int32_t distance = sw_wrapper_distances[id];

	return distance ? (void *)((uintptr_t)sw_wrapper_distances + (uintptr_t)(intptr_t)distance) : NULL;
}

#endif
