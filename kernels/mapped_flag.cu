/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* The last block to finish tells the host. */
__global__ void spin_produce(float *out, int n, unsigned *blocks, volatile int *flag, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		out[i] = 1;
	__threadfence_system();
	__syncthreads();
	if (threadIdx.x == 0 && atomicAdd(blocks, 1) == gridDim.x - 1)
		*flag = 1;
}

/* Works when the host says that there is something to do.  Ends after a second even when the host never does. */
__global__ void spin_serve(float *out, const float *in, int n, volatile int *flag)
{
	unsigned long long start = now_ns();
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	while (*flag == 0 && now_ns() - start < 1000000000)
		;
	__threadfence_system();
	if (i < n)
		out[i] = in[i];
}

/* The simulated CUDA does not run kernels. */
static void wait_for(const volatile int *flag)
{
	auto start = std::chrono::steady_clock::now();

	while (!*flag && std::chrono::steady_clock::now() - start < std::chrono::milliseconds(200))
		;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write, possible: a flag in memory of the host may order the two",
	       "a kernel and the host signal each other by a flag in pinned memory, but no event orders the work",
	       "by a flag that the other side waits for, and by an event", {"produce", "serve"});
	float *data = device_buffer(), *result = device_buffer(), *host = pinned_buffer();
	volatile int *flag = reinterpret_cast<volatile int *>(pinned_buffer(sizeof(int)));
	unsigned *blocks = reinterpret_cast<unsigned *>(device_buffer(sizeof(unsigned)));
	cudaStream_t compute = new_stream(), other = new_stream();
	cudaEvent_t done = new_event();

	c.load(spin_produce, spin_serve);
	CHECK(cudaMemsetAsync(blocks, 0, sizeof *blocks, compute));
	if (c.is("produce")) {
		spin_produce<<<GRID, BLOCK, 0, compute>>>(data, N, blocks, const_cast<int *>(flag), SPIN_NS);
		wait_for(flag);
		if (c.fixed) {
			CHECK(cudaEventRecord(done, compute));
			CHECK(cudaStreamWaitEvent(other, done, 0));
		}
		quick_copy<<<GRID, BLOCK, 0, other>>>(result, data, N);
	} else {
		if (c.fixed) {
			CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, other));
			CHECK(cudaEventRecord(done, other));
			CHECK(cudaStreamWaitEvent(compute, done, 0));
		}
		spin_serve<<<1, BLOCK, 0, compute>>>(result, data, BLOCK, const_cast<int *>(flag));
		if (!c.fixed) {
			CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, other));
			CHECK(cudaStreamSynchronize(other));
		}
		*flag = 1;
	}
	CHECK_LAUNCH();
	finish({compute, other}, {done}, {data, result, reinterpret_cast<float *>(blocks)},
	       {host, reinterpret_cast<float *>(const_cast<int *>(flag))});
}
