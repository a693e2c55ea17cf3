/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* The signature says that both may be written; the code says which. */
__global__ void spin_use(float *weights, float *out, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		out[i] = weights[i];
}

__global__ void spin_train(float *weights, float *out, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		out[i] = weights[i] -= 1;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW102 race-write-after-read on weights that two streams use, by the code of the kernels",
	       "one of the kernels also changes the weights", "both kernels only read the weights, though not as const");
	float *weights = device_buffer(), *x = device_buffer(), *y = device_buffer();
	cudaStream_t a = new_stream(), b = new_stream();

	c.load(spin_use, spin_train);
	spin_use<<<GRID, BLOCK, 0, a>>>(weights, x, N, SPIN_NS);
	if (c.fixed)
		spin_use<<<GRID, BLOCK, 0, b>>>(weights, y, N, SPIN_NS);
	else
		spin_train<<<GRID, BLOCK, 0, b>>>(weights, y, N, SPIN_NS);
	CHECK_LAUNCH();
	finish({a, b}, {}, {weights, x, y});
}
