/* SPDX-License-Identifier: Apache-2.0 */
/* Module variables: arrays, counters, pointers, constants, tables that point to each other. */

__device__ float array[256];
__device__ unsigned counter;
__device__ float *pointer;
__device__ float *pointers[4];
__constant__ float weights[64];
__constant__ float *constant_pointer;
__device__ float other[64];
__device__ float *to_other = other;
__device__ volatile int flag;
struct settings {
	float *out;
	int n;
};
__constant__ struct settings settings;

extern "C" __global__ void symbol_write(int n)
{
	if (threadIdx.x < n)
		array[threadIdx.x] = 1;
}

extern "C" __global__ void symbol_read(float *out, int n)
{
	if (threadIdx.x < n)
		out[threadIdx.x] = array[threadIdx.x + 8];
}

extern "C" __global__ void symbol_count(void)
{
	atomicAdd(&counter, 1);
}

extern "C" __global__ void symbol_pointer(int n)
{
	if (threadIdx.x < n)
		pointer[threadIdx.x] = 1;
}

extern "C" __global__ void symbol_pointers(int which)
{
	pointers[which][threadIdx.x] = 1;
}

extern "C" __global__ void symbol_pointer_set(float *to)
{
	if (threadIdx.x == 0)
		pointer = to;
}

extern "C" __global__ void constant_read(float *out)
{
	out[threadIdx.x] = weights[threadIdx.x & 63] * weights[3];
}

extern "C" __global__ void constant_pointer_write(int n)
{
	if (threadIdx.x < n)
		constant_pointer[threadIdx.x] = 1;
}

extern "C" __global__ void constant_struct(void)
{
	if (threadIdx.x < settings.n)
		settings.out[threadIdx.x] = 1;
}

extern "C" __global__ void symbol_to_symbol(int n)
{
	if (threadIdx.x < n)
		to_other[threadIdx.x] = 1;
}

extern "C" __global__ void symbol_or_parameter(float *out, int which)
{
	float *to = which ? out : array;
	to[threadIdx.x] = 1;
}

extern "C" __global__ void symbol_flag(float *out)
{
	if (flag)
		out[threadIdx.x] = 1;
}

extern "C" __global__ void symbol_gather(const int *index, float *out)
{
	out[threadIdx.x] = array[index[threadIdx.x]];
}
