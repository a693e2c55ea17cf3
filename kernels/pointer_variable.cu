/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

constexpr int PARTS = 4, PART = N / PARTS;

__device__ float *parts[PARTS];

__global__ void spin_parts(unsigned ns)
{
	spin_for(ns);
	parts[blockIdx.y][blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 by pointers in a module variable",
	       "a kernel writes where the pointers of a variable lead to, and another stream clears one of these parts",
	       "the other stream clears what no pointer leads to");
	float *data = device_buffer(), *rest = device_buffer(), *list[PARTS];
	cudaStream_t a = new_stream(), b = new_stream();

	c.load(spin_parts);
	for (int i = 0; i < PARTS; i++)
		list[i] = data + i * PART;
	CHECK(cudaMemcpyToSymbol(parts, list, sizeof list));
	CHECK(cudaDeviceSynchronize());
	spin_parts<<<dim3(PART / BLOCK, PARTS), BLOCK, 0, a>>>(SPIN_NS);
	CHECK_LAUNCH();
	CHECK(cudaMemsetAsync(c.fixed ? rest : data + 2 * PART, 0, PART * sizeof(float), b));
	finish({a, b}, {}, {data, rest});
}
