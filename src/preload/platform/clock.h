/* SPDX-License-Identifier: Apache-2.0 */
/* Ticks: the counter of the processor where it runs at one rate, else CLOCK_MONOTONIC in nanoseconds. */
#ifndef SW_PRELOAD_PLATFORM_CLOCK_H
#define SW_PRELOAD_PLATFORM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

extern bool sw_clock_is_tsc __attribute__((visibility("hidden"))); /* set once by sw_clock_start() */

static inline uint64_t sw_clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t); /* vDSO: no system call */
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The time stamp counter of x86-64, the virtual counter of aarch64: some nanoseconds. */
static inline uint64_t sw_clock_counter(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

static inline uint64_t sw_clock_ticks(void)
{
	return __builtin_expect(sw_clock_is_tsc, 1) ? sw_clock_counter() : sw_clock_ns(CLOCK_MONOTONIC);
}

struct sw_clock_pair {
	uint64_t ticks, monotonic_ns;
};

/* Both clocks at the same moment, to within some tens of nanoseconds. */
struct sw_clock_pair sw_clock_read(void);

/* Chooses the clock; takes about a quarter of a millisecond. Returns a first estimate of ticks a second. */
uint64_t sw_clock_start(void);

/* Ticks a second from two pairs; 0 when they are too close. */
uint64_t sw_clock_rate(struct sw_clock_pair first, struct sw_clock_pair last);

#endif
