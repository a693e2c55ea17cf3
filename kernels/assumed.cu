/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* Unmangled names say nothing about parameters. */
extern "C" __global__ void spin_fill(float *out, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		out[i] = 1;
}

extern "C" __global__ void sum_pairs(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = in[i] + in[i ^ 1];
}

int main(int argc, char **argv)
{
	Case c(argc, argv,
	       "a possible race (shown with --all): what the kernels touch is assumed, their names tell nothing",
	       "a kernel on one stream reads what a kernel on another stream writes; nothing makes it wait",
	       "the reader's stream waits for an event recorded after the writer");
	float *data = device_buffer(), *result = device_buffer();
	cudaStream_t writer = new_stream(), reader = new_stream();
	cudaEvent_t written = new_event();

	c.load(spin_fill, sum_pairs);
	spin_fill<<<GRID, BLOCK, 0, writer>>>(data, N, SPIN_NS);
	if (c.fixed) {
		CHECK(cudaEventRecord(written, writer));
		CHECK(cudaStreamWaitEvent(reader, written, 0));
	}
	sum_pairs<<<GRID, BLOCK, 0, reader>>>(result, data, N);
	CHECK_LAUNCH();
	finish({writer, reader}, {written}, {data, result});
}
