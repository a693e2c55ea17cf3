/* SPDX-License-Identifier: Apache-2.0 */
/* The modules that ask for the driver's functions: CUDA runtimes, programs, profilers. */
#ifndef SW_PRELOAD_INTERCEPT_REQUESTERS_H
#define SW_PRELOAD_INTERCEPT_REQUESTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/platform/loaded_object.h"

/* Is `caller` in a profiler, or in the driver's own object by its name, whose calls are not the program's? */
bool sw_requester_is_tool(const void *caller);

/* Counts a request from `caller`.  False: it is the driver, CUPTI or a like tool, whose calls are not the program's. */
bool sw_requester_count(const void *caller);

/* The objects that are CUDA runtimes, or have one linked into them: one or two, searched at every call. */
#define SW_RUNTIMES 16u
struct sw_runtimes {
	uint32_t taken;
	struct {
		uintptr_t start, bytes; /* 0 bytes: not there yet, or unloaded */
	} at[SW_RUNTIMES];
};
extern struct sw_runtimes sw_runtimes __attribute__((visibility("hidden")));

/* Whether the code at this address is a CUDA runtime, or a program that has one linked into it. */
static inline bool sw_requester_is_runtime(const void *caller)
{
	const uint32_t taken = __atomic_load_n(&sw_runtimes.taken, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < taken && i < SW_RUNTIMES; i++) {
		const uintptr_t bytes = __atomic_load_n(&sw_runtimes.at[i].bytes, __ATOMIC_ACQUIRE);

		if ((uintptr_t)caller - sw_runtimes.at[i].start < bytes)
			return true;
	}
	return false;
}

/* Writes a CUDART record for each module that is new or whose count has doubled; the last one counts. */
void sw_requesters_describe(void);

#endif
