/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels by handle: what a launch needs without a query of the driver.
 *
 * cudart launches with a CUkernel cast to CUfunction, Triton with a CUfunction (measured): a handle from the library
 * functions is known to be the former, others are tried as one and then as the other.
 */
#ifndef SW_PRELOAD_INTERCEPT_FUNCTION_TABLE_H
#define SW_PRELOAD_INTERCEPT_FUNCTION_TABLE_H

#include <stdint.h>

#include "preload/intercept/cuda_types.h"
#include "preload/intercept/hook_state.h"
#include "syncwatch/format.h"

struct sw_kernel_entry {
	uint32_t id;	 /* FUNCTION record's */
	uint32_t params; /* entries in layout */
	uint32_t bytes;	 /* of the parameter block: end of its last parameter */
	uint8_t known;	 /* 1: the layout is from the driver */
	uint8_t gaps;	 /* 1: bytes of the block belong to no parameter */
	uint16_t room;	 /* entries that fit into layout */
	uint64_t owner;	 /* CUmodule or CUlibrary, 0 unknown */
	struct sw_param layout[];
};

/* The function of a launch's handle, described (FUNCTION record) at its first use.  NULL: no memory, or the driver
   does not know it. */
const struct sw_kernel_entry *sw_function_meet(CUfunction handle);
static inline const struct sw_kernel_entry *sw_function_of(CUfunction handle)
{
	const struct sw_state *state = __atomic_load_n(&sw_state_published, __ATOMIC_ACQUIRE);
	const uint64_t held = state ? sw_table_probe(&state->by_function, (uint64_t)(uintptr_t)handle) : 0;

	return __builtin_expect(held != 0, 1) ? (const struct sw_kernel_entry *)(uintptr_t)held
					      : sw_function_meet(handle);
}

/* A CUkernel that the driver handed out, and its library. */
void sw_function_is_kernel(CUkernel kernel, CUlibrary library);

/* The library of a CUkernel that the driver handed out, 0 unknown. */
uint64_t sw_functions_library_of(CUkernel kernel);

/* A module that the driver made of a library: its functions come from the library's image. */
void sw_functions_module_of(uint64_t module, uint64_t library);

/* Ids that were handed out. */
uint32_t sw_functions_known(void);

/* Before a module or library is unloaded: forgets the handles of its functions, which the driver may reuse.  Returns
   the id of its image. */
uint32_t sw_functions_unload(uint64_t code);

#endif
