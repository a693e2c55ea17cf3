/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

__global__ void rarely(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = 1;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW308 module-load",
	       "the first launch of a kernel loads its code while another stream is busy, which holds work back",
	       "the kernel is loaded at the start, by asking for its attributes");
	float *a = device_buffer(), *b = device_buffer();
	cudaStream_t busy = new_stream(), other = new_stream();

	if (c.fixed)
		c.load(rarely);
	spin_write<<<GRID, BLOCK, 0, busy>>>(a, N, 1, SPIN_NS);
	rarely<<<GRID, BLOCK, 0, other>>>(b, N);
	CHECK_LAUNCH();
	finish({busy, other}, {}, {a, b});
}
