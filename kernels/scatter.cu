/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

__global__ void spin_scatter(float *out, const int *index, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		out[index[i]] = 1;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write, likely: where the kernels write depends on data",
	       "two streams scatter into one array; nothing tells that the indices differ",
	       "the second stream waits for an event recorded after the first kernel");
	float *data = device_buffer(), *index = device_buffer();
	cudaStream_t a = new_stream(), b = new_stream();
	cudaEvent_t done = new_event();

	c.load(spin_scatter);
	CHECK(cudaMemset(index, 0, BYTES));
	CHECK(cudaDeviceSynchronize());
	spin_scatter<<<GRID / 2, BLOCK, 0, a>>>(data, (const int *)index, N / 2, SPIN_NS);
	if (c.fixed) {
		CHECK(cudaEventRecord(done, a));
		CHECK(cudaStreamWaitEvent(b, done, 0));
	}
	spin_scatter<<<GRID / 2, BLOCK, 0, b>>>(data, (const int *)index + N / 2, N / 2, SPIN_NS);
	CHECK_LAUNCH();
	finish({a, b}, {done}, {data, index});
}
