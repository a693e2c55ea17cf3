/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* A row a warp, as long as a warp has lanes; rows lie `pitch` elements apart. */
__global__ void spin_rows(float *data, int pitch, unsigned ns)
{
	int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;

	spin_for(ns);
	data[(blockIdx.x * (blockDim.x >> 5) + warp) * pitch + lane] += 1;
}

/* Two streams on the left and the right half of the rows of one array. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "a race (SW101 to SW103) between two halves of each row, by the code of the kernels",
	       "the right half starts one element early", "each stream works on its half alone");
	constexpr int PITCH = 64, ROWS = 4 * BLOCK / 32;
	float *data = device_buffer(PITCH * ROWS * sizeof(float));
	cudaStream_t a = new_stream(), b = new_stream();

	c.load(spin_rows);
	spin_rows<<<4, BLOCK, 0, a>>>(data, PITCH, SPIN_NS);
	spin_rows<<<4, BLOCK, 0, b>>>(data + (c.fixed ? 32 : 31), PITCH, SPIN_NS);
	CHECK_LAUNCH();
	finish({a, b}, {}, {data});
}
