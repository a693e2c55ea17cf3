/* SPDX-License-Identifier: Apache-2.0 */
/* The variants for -default-stream per-thread. */
#include "simcuda/runtime/twin.h"

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes,
			       cudaStream_t stream);

#include "simcuda/runtime/twins.def"
