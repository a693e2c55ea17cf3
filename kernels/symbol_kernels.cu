/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

__device__ float table[N];
__constant__ float factors[256];

/* The variables have no address that the program knows of, until it asks for one. */
__global__ void spin_fill_table(float value, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	table[i] = value;
}

__global__ void read_table(float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = table[i];
}

__global__ void spin_scale(float *out, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	out[i] = factors[threadIdx.x];
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write, SW102 race-write-after-read on module variables",
	       "kernels of two streams use one variable, or a kernel and a copy whose address is asked for afterwards",
	       "the second stream waits for an event recorded after the first kernel", {"kernels", "late", "constant"});
	float *out = device_buffer(), *host = pinned_buffer();
	cudaStream_t first = new_stream(), second = new_stream();
	cudaEvent_t done = new_event();

	Case::load(spin_fill_table, read_table, spin_scale);
	if (c.is("constant"))
		spin_scale<<<GRID, BLOCK, 0, first>>>(out, SPIN_NS);
	else
		spin_fill_table<<<GRID, BLOCK, 0, first>>>(1, SPIN_NS);
	CHECK_LAUNCH();
	if (c.fixed) {
		CHECK(cudaEventRecord(done, first));
		CHECK(cudaStreamWaitEvent(second, done, 0));
	}
	if (c.is("kernels")) {
		read_table<<<GRID, BLOCK, 0, second>>>(out);
		CHECK_LAUNCH();
	} else if (c.is("late")) {
		CHECK(cudaMemcpyFromSymbolAsync(host, table, BYTES, 0, cudaMemcpyDeviceToHost, second));
	} else {
		CHECK(cudaMemcpyToSymbolAsync(factors, host, sizeof(factors), 0, cudaMemcpyHostToDevice, second));
	}
	finish({first, second}, {done}, {out}, {host});
}
