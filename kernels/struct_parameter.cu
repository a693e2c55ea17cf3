/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

struct View {
	float *out;
	int n;
};

__global__ void spin_view(View v, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < v.n)
		v.out[i] = 1;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "a possible race (shown with --all): the pointer travels inside a struct",
	       "a kernel that got its buffer in a struct by value is not ordered with a copy from that buffer",
	       "the copying stream waits for an event recorded after the kernel");
	float *host = pinned_buffer(), *data = device_buffer();
	cudaStream_t compute = new_stream(), copies = new_stream();
	cudaEvent_t written = new_event();

	c.load(spin_view);
	spin_view<<<GRID, BLOCK, 0, compute>>>(View{data, N}, SPIN_NS);
	CHECK_LAUNCH();
	if (c.fixed) {
		CHECK(cudaEventRecord(written, compute));
		CHECK(cudaStreamWaitEvent(copies, written, 0));
	}
	CHECK(cudaMemcpyAsync(host, data, BYTES, cudaMemcpyDeviceToHost, copies));
	finish({compute, copies}, {written}, {data}, {host});
}
