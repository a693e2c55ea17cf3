/* SPDX-License-Identifier: Apache-2.0 */
/* The variants for -default-stream per-thread: the same calls through the driver's per-thread entry points. */
#include "simcuda/runtime/rt.h"

extern const struct sw_rt_driver *const sw_rt_legacy, *const sw_rt_per_thread;
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes,
			       cudaStream_t stream);

#define TWIN(name, suffix, params, args)                                                                               \
	extern __typeof__(name) name##suffix;                                                                          \
	cudaError_t name##suffix params                                                                                \
	{                                                                                                              \
		sw_rt_d = sw_rt_per_thread;                                                                            \
		cudaError_t result = name args;                                                                        \
		sw_rt_d = sw_rt_legacy;                                                                                \
		return result;                                                                                         \
	}
#include "simcuda/runtime/twins.def"
