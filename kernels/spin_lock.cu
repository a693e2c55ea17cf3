/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* A critical section under a spin lock, one thread of a block for all of it: taken and released by atomic operations on
   one word, with fences of the device's scope. */
__device__ void lock(int *word, bool exchange)
{
	if (threadIdx.x == 0) {
		if (exchange)
			while (atomicExch(word, 1) != 0)
				;
		else
			while (atomicCAS(word, 0, 1) != 0)
				;
		__threadfence();
	}
	__syncthreads();
}

__device__ void unlock(int *word)
{
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		atomicExch(word, 0);
	}
}

__global__ void add_locked(float *sums, int *word, float value)
{
	lock(word, false);
	sums[threadIdx.x] += value;
	unlock(word);
}

__global__ void add_exchange(float *sums, int *word, float value)
{
	lock(word, true);
	sums[threadIdx.x] += value;
	unlock(word);
}

__global__ void add_unlocked(float *sums, float value)
{
	sums[threadIdx.x] += value;
}

/* An atomic maximum by compare and swap: no lock, and nothing waits. */
__global__ void add_and_maximum(float *sums, int *maximum, float value)
{
	int seen = *maximum, now = seen;

	sums[threadIdx.x] += value;
	do {
		seen = now;
		now = atomicCAS(maximum, seen, max(seen, (int)threadIdx.x));
	} while (now != seen);
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW102, SW103 where a kernel does not take the lock of another, or there is none",
	       "one kernel adds to the sums without the lock, taken by compare and swap (swap) or exchange (exchange); "
	       "or the "
	       "loop around compare and swap is no lock (maximum)",
	       "both kernels take the lock; the second kernel waits for the first", {"swap", "exchange", "maximum"});
	float *sums = device_buffer();
	int *word = (int *)device_buffer(sizeof(int));
	cudaStream_t a = new_stream(), b = new_stream();
	cudaEvent_t added = new_event();

	c.load(add_locked, add_exchange, add_unlocked, add_and_maximum);
	CHECK(cudaMemset(word, 0, sizeof(int)));
	CHECK(cudaMemset(sums, 0, BYTES));
	CHECK(cudaDeviceSynchronize());
	if (c.is("maximum")) {
		add_and_maximum<<<1, BLOCK, 0, a>>>(sums, word, 1);
		if (c.fixed) {
			CHECK(cudaEventRecord(added, a));
			CHECK(cudaStreamWaitEvent(b, added, 0));
		}
		add_and_maximum<<<1, BLOCK, 0, b>>>(sums, word + 1, 2);
	} else {
		if (c.is("swap"))
			add_locked<<<4, BLOCK, 0, a>>>(sums, word, 1);
		else
			add_exchange<<<4, BLOCK, 0, a>>>(sums, word, 1);
		if (!c.fixed)
			add_unlocked<<<1, BLOCK, 0, b>>>(sums, 2);
		else if (c.is("swap"))
			add_locked<<<4, BLOCK, 0, b>>>(sums, word, 2);
		else
			add_exchange<<<4, BLOCK, 0, b>>>(sums, word, 2);
	}
	CHECK_LAUNCH();
	finish({a, b}, {added}, {sums, (float *)word});
}
