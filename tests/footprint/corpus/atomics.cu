/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic operations of all kinds. */
#include <cstdint>
#include <cuda_fp16.h>

extern "C" __global__ void atomic_count(unsigned *counter)
{
	atomicAdd(counter, 1);
}

extern "C" __global__ void atomic_sum(const float *in, float *sum, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(sum, in[i]);
}

extern "C" __global__ void atomic_each(int *data, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicMax(&data[i], 7);
}

extern "C" __global__ void atomic_kinds(unsigned *data)
{
	atomicAdd(&data[0], 1);
	atomicSub(&data[1], 1);
	atomicMin(&data[2], threadIdx.x);
	atomicMax(&data[3], threadIdx.x);
	atomicAnd(&data[4], threadIdx.x);
	atomicOr(&data[5], threadIdx.x);
	atomicXor(&data[6], threadIdx.x);
	atomicInc(&data[7], 100);
	atomicDec(&data[8], 100);
	atomicExch(&data[9], threadIdx.x);
	atomicCAS(&data[10], 0u, threadIdx.x);
}

extern "C" __global__ void atomic_wide(unsigned long long *data)
{
	atomicAdd(&data[threadIdx.x], 1ull);
}

extern "C" __global__ void atomic_double(double *data)
{
	atomicAdd(&data[threadIdx.x], 1.0);
}

extern "C" __global__ void atomic_half2(__half2 *data)
{
	atomicAdd(&data[threadIdx.x], __half2half2(__ushort_as_half(0x3c00)));
}

extern "C" __global__ void atomic_half(__half *data)
{
	atomicAdd(&data[threadIdx.x], __ushort_as_half(0x3c00));
}

extern "C" __global__ void atomic_old_value(unsigned *counter, unsigned *out)
{
	out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(counter, 1);
}

extern "C" __global__ void compare_and_swap_loop(float *product, float factor)
{
	int *bits = (int *)product, seen = *bits, assumed;
	do {
		assumed = seen;
		seen = atomicCAS(bits, assumed, __float_as_int(__int_as_float(assumed) * factor));
	} while (seen != assumed);
}

extern "C" __global__ void atomic_system(unsigned *data)
{
	atomicAdd_system(&data[threadIdx.x], 1u);
}

extern "C" __global__ void atomic_block(unsigned *data)
{
	atomicAdd_block(&data[blockIdx.x], 1u);
}

extern "C" __global__ void atomic_slot(unsigned *counter, unsigned *out)
{
	out[atomicAdd(counter, 1)] = threadIdx.x;
}

extern "C" __global__ void atomic_slot_guarded(unsigned *counter, unsigned *out, unsigned room)
{
	unsigned slot = atomicAdd(counter, 1);
	if (slot < room)
		out[slot] = threadIdx.x;
}

extern "C" __global__ void atomic_histogram(const uint8_t *in, unsigned *bins, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(&bins[in[i]], 1);
}

extern "C" __global__ void atomic_scatter(const int *index, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(&out[index[i]], 1.0f);
}

extern "C" __global__ void reduce_instruction(int *data)
{
	asm volatile("red.global.add.s32 [%0], 1;" ::"l"(data + threadIdx.x) : "memory");
}

extern "C" __global__ void spin_lock(int *lock, int *data)
{
	if (threadIdx.x)
		return;
	while (atomicCAS(lock, 0, 1))
		;
	__threadfence();
	data[0]++;
	__threadfence();
	atomicExch(lock, 0);
}

extern "C" __global__ void atomic_shared_only(unsigned *out)
{
	__shared__ unsigned count;
	if (threadIdx.x == 0)
		count = 0;
	__syncthreads();
	atomicAdd(&count, threadIdx.x);
	__syncthreads();
	if (threadIdx.x == 0)
		out[blockIdx.x] = count;
}

extern "C" __global__ void atomic_predicated(unsigned *counter, const int *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n && in[i] > 0)
		atomicAdd(counter, 1);
}

/* Atomic among the threads of a block: for any other kernel a load and a store. */
extern "C" __global__ void atomic_block_scope(unsigned *counter, unsigned *old)
{
	atomicAdd_block(counter + blockIdx.x, 1u);
	old[threadIdx.x] = atomicMax_block(counter + 16, threadIdx.x);
}
