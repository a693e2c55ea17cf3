/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that go on beside the kernel, prefetches, textures and surfaces. */
#include <cstdint>
#include <cuda_pipeline.h>

extern "C" __global__ void async_tile(const float *in, float *out, int n)
{
	__shared__ float tile[128];
	int i = blockIdx.x * 128 + threadIdx.x;
	if (i < n)
		__pipeline_memcpy_async(&tile[threadIdx.x], &in[i], sizeof(float));
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	if (i < n)
		out[i] = tile[threadIdx.x];
}

extern "C" __global__ void async_vector(const float4 *in, float4 *out)
{
	__shared__ float4 tile[64];
	int i = blockIdx.x * 64 + threadIdx.x;
	__pipeline_memcpy_async(&tile[threadIdx.x], &in[i], sizeof(float4));
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	out[i] = tile[63 - threadIdx.x];
}

/* The rest of 16 bytes is filled with zeros, not read. */
extern "C" __global__ void async_partial(const float *in, float4 *out)
{
	__shared__ float4 tile[32];
	__pipeline_memcpy_async(&tile[threadIdx.x], &in[4 * threadIdx.x], 16, 8);
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void async_stages(const float *in, float *out, int tiles)
{
	__shared__ float tile[2][64];
	float sum = 0;
	__pipeline_memcpy_async(&tile[0][threadIdx.x], &in[threadIdx.x], 4);
	__pipeline_commit();
#pragma unroll 1
	for (int k = 0; k < tiles; k++) {
		if (k + 1 < tiles)
			__pipeline_memcpy_async(&tile[(k + 1) & 1][threadIdx.x], &in[(k + 1) * 64 + threadIdx.x], 4);
		__pipeline_commit();
		__pipeline_wait_prior(1);
		__syncthreads();
		sum += tile[k & 1][63 - threadIdx.x];
		__syncthreads();
	}
	out[threadIdx.x] = sum;
}

extern "C" __global__ void prefetches(const float *in, float *out)
{
	asm volatile("prefetch.global.L2 [%0];" ::"l"(in + 1024));
	out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void texture_read(cudaTextureObject_t texture, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = tex1Dfetch<float>(texture, i);
}

extern "C" __global__ void surface_write(cudaSurfaceObject_t surface, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		surf1Dwrite(in[i], surface, i * 4);
}

extern "C" __global__ void surface_both(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		surf1Dwrite(surf1Dread<float>(from, i * 4) * 2, to, i * 4);
}

struct with_texture {
	cudaTextureObject_t texture;
	float *out;
};

extern "C" __global__ void texture_in_struct(struct with_texture s)
{
	s.out[threadIdx.x] = tex1Dfetch<float>(s.texture, threadIdx.x);
}
