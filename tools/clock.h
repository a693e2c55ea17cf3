/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SW_TOOLS_CLOCK_H
#define SW_TOOLS_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of a clock that only goes forward. */
static inline uint64_t sw_now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
