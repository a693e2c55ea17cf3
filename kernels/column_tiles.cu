/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

__global__ void spin_tile(float *matrix, int pitch, int column, int columns, int rows, unsigned ns)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

	spin_for(ns);
	if (x < columns && y < rows)
		matrix[y * pitch + column + x] = 1;
}

/* As columns, but kernels write the halves: between two rows of one tile lies a row of the other. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write between tiles of one matrix, by the code of the kernel",
	       "two streams work on the left and the right half of a matrix; the left one is a column too wide",
	       "the halves share no byte");
	constexpr int PITCH = 256, HALF = PITCH / 2, ROWS = N / PITCH;
	float *matrix = device_buffer();
	cudaStream_t left = new_stream(), right = new_stream();
	dim3 grid(HALF / 16 + 1, ROWS / 16), block(16, 16);

	c.load(spin_tile);
	spin_tile<<<grid, block, 0, left>>>(matrix, PITCH, 0, HALF + (c.fixed ? 0 : 1), ROWS, SPIN_NS);
	spin_tile<<<grid, block, 0, right>>>(matrix, PITCH, HALF, HALF, ROWS, SPIN_NS);
	CHECK_LAUNCH();
	finish({left, right}, {}, {matrix});
}
