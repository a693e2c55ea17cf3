/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the per-thread default stream variant of a function: the same call through the driver's per-thread entry
 * points. */
#ifndef SW_SIMCUDA_RUNTIME_TWIN_H
#define SW_SIMCUDA_RUNTIME_TWIN_H

#include "simcuda/runtime/rt.h"

extern const struct sw_rt_driver *const sw_rt_legacy, *const sw_rt_per_thread;

#define TWIN(name, suffix, params, args)                                                                               \
	extern __typeof__(name) name##suffix;                                                                          \
	cudaError_t name##suffix params                                                                                \
	{                                                                                                              \
		sw_rt_d = sw_rt_per_thread;                                                                            \
		cudaError_t result = name args;                                                                        \
		sw_rt_d = sw_rt_legacy;                                                                                \
		return result;                                                                                         \
	}

#endif
