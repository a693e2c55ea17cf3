/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that wait for or signal each other through memory. */
#include <cooperative_groups.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;

extern "C" __global__ void poll_volatile(volatile int *flag, float *out)
{
	while (*flag == 0)
		;
	out[threadIdx.x] = 1;
}

extern "C" __global__ void poll_acquire(int *flag, float *out)
{
	int seen;
	do
		asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
	while (seen == 0);
	out[threadIdx.x] = 1;
}

extern "C" __global__ void signal_release(float *out, int *flag)
{
	out[threadIdx.x] = 1;
	__syncthreads();
	if (threadIdx.x == 0)
		asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
}

extern "C" __global__ void signal_volatile(float *out, volatile int *flag)
{
	out[threadIdx.x] = 1;
	__threadfence();
	if (threadIdx.x == 0)
		*flag = 1;
}

extern "C" __global__ void signal_system(float *out, unsigned *flag)
{
	out[threadIdx.x] = 1;
	__threadfence_system();
	if (threadIdx.x == 0)
		atomicExch_system(flag, 1u);
}

extern "C" __global__ void atomic_reference(int *counter, float *out)
{
	cuda::atomic_ref<int, cuda::thread_scope_device> c(*counter);
	c.fetch_add(1, cuda::memory_order_acq_rel);
	out[threadIdx.x] = 1;
}

extern "C" __global__ void grid_sync(float *data, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		data[i] = i;
	cg::this_grid().sync();
	if (i < n)
		out[i] = data[n - 1 - i];
}

extern "C" __global__ void last_block(const float *in, float *part, unsigned *done, float *out)
{
	__shared__ bool last;
	if (threadIdx.x == 0) {
		part[blockIdx.x] = in[blockIdx.x];
		__threadfence();
		last = atomicAdd(done, 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (last && threadIdx.x == 0) {
		float sum = 0;
#pragma unroll 1
		for (int i = 0; i < gridDim.x; i++)
			sum += part[i];
		*out = sum;
	}
}

extern "C" __global__ void volatile_data(volatile float *data, int n)
{
	if (threadIdx.x < n)
		data[threadIdx.x] += 1;
}

extern "C" __global__ void relaxed_load(const int *in, int *out)
{
	int seen;
	asm volatile("ld.relaxed.sys.global.s32 %0, [%1];" : "=r"(seen) : "l"(in + threadIdx.x));
	out[threadIdx.x] = seen;
}
