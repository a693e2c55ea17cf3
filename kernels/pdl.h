/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs about programmatic dependent launch.  Such kernels need sm_90. */
#ifndef KERNELS_PDL_H
#define KERNELS_PDL_H

#include "case.h"

__device__ inline void grid_wait()
{
#if __CUDA_ARCH__ >= 900
	cudaGridDependencySynchronize();
#endif
}

__device__ inline void grid_trigger()
{
#if __CUDA_ARCH__ >= 900
	cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Lets the next kernel begin at once, and works on. */
__global__ void spin_trigger_early(float *out, const float *in, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	grid_trigger();
	spin_for(ns);
	if (i < n)
		out[i] = in[i] + 1;
}

__global__ void wait_then_copy(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	grid_wait();
	if (i < n)
		out[i] = in[i];
}

__global__ void copy_before_wait(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = i < n ? in[i] : 0;

	grid_wait();
	if (i < n)
		out[i] = x;
}

constexpr int PDL_GRID = 32; /* blocks of both kernels fit on the device */
constexpr int PDL_N = PDL_GRID * BLOCK;

/* Launches with programmatic stream serialisation. */
template <typename... Parameters, typename... Arguments>
void launch_overlapping(cudaStream_t stream, void (*kernel)(Parameters...), Arguments... arguments)
{
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};

	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = PDL_GRID;
	config.blockDim = BLOCK;
	config.stream = stream;
	config.attrs = &attribute;
	config.numAttrs = 1;
	CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

#endif
