/* SPDX-License-Identifier: Apache-2.0 */
#include <cooperative_groups.h>

#include "case.h"

/* The step has 64 bits, the index 32. */
__global__ void spin_two_phases(const float *in, float *between, float *out, int n, unsigned ns)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();

	for (int i = grid.thread_rank(); i < n; i += grid.size())
		between[i] = in[i] * 2;
	grid.sync();
	spin_for(ns);
	for (int i = grid.thread_rank(); i < n; i += grid.size())
		out[i] = between[i] + 1;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write, the result of a cooperative launch",
	       "a copy on another stream reads what a cooperative kernel writes",
	       "it waits for an event recorded after the launch");
	float *in = device_buffer(), *between = device_buffer(), *out = device_buffer(), *host = pinned_buffer();
	cudaStream_t compute = new_stream(), download = new_stream();
	cudaEvent_t done = new_event();
	int n = N;
	unsigned ns = SPIN_NS;
	void *arguments[] = {&in, &between, &out, &n, &ns};

	c.load(spin_two_phases);
	CHECK(cudaMemset(in, 0, BYTES));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaLaunchCooperativeKernel((const void *)spin_two_phases, dim3(16), dim3(BLOCK), arguments, 0, compute));
	if (c.fixed) {
		CHECK(cudaEventRecord(done, compute));
		CHECK(cudaStreamWaitEvent(download, done, 0));
	}
	CHECK(cudaMemcpyAsync(host, out, BYTES, cudaMemcpyDeviceToHost, download));
	finish({compute, download}, {done}, {in, between, out}, {host});
}
