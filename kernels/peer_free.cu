/* SPDX-License-Identifier: Apache-2.0 */
#include "devices.h"

/* Reads before it spins: what is read is still there by then, so that the program ends in order. */
__global__ void spin_after_copy(float *out, const float *in, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = in[i];
	spin_for(ns);
}

int main(int argc, char **argv)
{
	TwoDevices c(argc, argv, "SW105 use-after-free: cudaFree waits for the GPU that owns the memory, not for others that use it",
	       "memory of GPU 1 is freed while a kernel of GPU 0 reads it", "GPU 0 is waited for before the memory is freed");
	float *data = device_buffer_on(1), *result = device_buffer_on(0);
	cudaStream_t reader = new_stream_on(0);

	Case::load(spin_after_copy);
	spin_after_copy<<<GRID, BLOCK, 0, reader>>>(result, data, N, SPIN_NS);
	CHECK_LAUNCH();
	if (c.fixed)
		CHECK(cudaStreamSynchronize(reader));
	CHECK(cudaFree(data));
	finish({reader}, {}, {result});
}
