/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

__global__ void spin_every_second(float *out, int first, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		out[2 * i + first] = 1;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write between strided kernels, by their code",
	       "two streams write the even elements of one array",
	       "one stream writes the even elements, the other one the odd elements between them");
	float *data = device_buffer();
	cudaStream_t a = new_stream(), b = new_stream();

	c.load(spin_every_second);
	spin_every_second<<<GRID / 2, BLOCK, 0, a>>>(data, 0, N / 2, SPIN_NS);
	spin_every_second<<<GRID / 2, BLOCK, 0, b>>>(data, c.fixed ? 1 : 0, N / 2, SPIN_NS);
	CHECK_LAUNCH();
	finish({a, b}, {}, {data});
}
