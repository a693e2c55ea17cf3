/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous copies, prefetches, textures and surfaces. */
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

/* Some warps load, the others compute; the compiler unrolls the producer's loop and asks how many turns remain. */
extern "C" __global__ void async_producer(const float4 *in, float *out, int tiles)
{
	__shared__ float4 tile[2][128];
	const bool producer = threadIdx.x < 32;
	for (int t = blockIdx.x, k = 0; t < tiles; t += gridDim.x, k ^= 1) {
		if (producer) {
			for (int j = threadIdx.x; j < 128; j += 32)
				__pipeline_memcpy_async(&tile[k][j], in + t * 128 + j, sizeof(float4));
			__pipeline_commit();
			__pipeline_wait_prior(0);
		}
		__syncthreads();
		if (!producer) {
			float4 v = tile[k][threadIdx.x - 32];
			out[t * 128 + threadIdx.x - 32] = v.x + v.y + v.z + v.w;
		}
	}
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

static __device__ void copy_if(float *to, const float *from, int valid)
{
	asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], 4; }" ::"r"(
			     (unsigned)__cvta_generic_to_shared(to)),
		     "l"(from), "r"(valid)
		     : "memory");
}

/* Rows beyond the last are masked, as in the matrix products of CUTLASS: a bit for each row of a thread, in registers
   or as many predicates as there are.  128 threads, 64 rows a block. */
static __device__ unsigned rows_mask(int row, int rows)
{
	unsigned mask = 0;
	for (int i = 0; i < 4; i++)
		mask |= (unsigned)(row + 16 * i < rows) << i;
	return mask;
}

static __device__ void copy_rows(float *tile, const float *from, int pitch, unsigned mask)
{
	for (int i = 0; i < 4; i++)
		copy_if(tile + 128 * i, from + 16 * i * pitch, mask & 1u << i);
}

extern "C" __global__ void masked_tile(const float *a, const float *b, float *out, int rows_a, int rows_b, int pitch)
{
	__shared__ float tile[4][512];
	int row = blockIdx.x * 64 + threadIdx.x / 8, column = threadIdx.x % 8;
	unsigned in_a = rows_mask(row, rows_a), in_b = rows_mask(row, rows_b);
	for (int i = 0; i < 2; i++) {
		copy_rows(tile[i] + threadIdx.x, a + row * pitch + column + 8 * i, pitch, in_a);
		copy_rows(tile[2 + i] + threadIdx.x, b + row * pitch + column + 8 * i, pitch, in_b);
	}
	asm volatile("cp.async.wait_all;" ::: "memory");
	__syncthreads();
	out[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x % 4][threadIdx.x ^ 1];
}

/* The mask is cleared after the last tile, so that what is prefetched too early is not read. */
extern "C" __global__ void masked_tiles(const float *in, float *out, int rows, int columns)
{
	__shared__ float tile[512];
	int row = blockIdx.x * 64 + threadIdx.x / 8, column = threadIdx.x % 8;
	unsigned mask = rows_mask(row, rows);
	const float *at = in + row * columns + column;
	float sum = 0;
	for (int left = columns; left > -16; left -= 8, at += 8) {
		if (left <= column)
			mask = 0;
		copy_rows(tile + threadIdx.x, at, columns, mask);
		asm volatile("cp.async.wait_all;" ::: "memory");
		__syncthreads();
		sum += tile[threadIdx.x ^ 1];
		__syncthreads();
	}
	out[blockIdx.x * 128 + threadIdx.x] = sum;
}
