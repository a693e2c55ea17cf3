/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* The rows of a pitched allocation interleave what the two streams write: hulls overlap, bytes do not. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write between strided copies",
	       "two streams fill the left and the right half of a matrix; the left one is a column too wide",
	       "the halves share no byte, though every row of one lies between two rows of the other");
	constexpr size_t ROWS = 64, WIDTH = 256, HALF = WIDTH / 2;
	float *host = pinned_buffer(ROWS * WIDTH);
	char *matrix;
	size_t pitch;
	cudaStream_t left = new_stream(), right = new_stream();

	CHECK(cudaMallocPitch((void **)&matrix, &pitch, WIDTH, ROWS));
	spin<<<1, 1, 0, left>>>(SPIN_NS);
	if (c.fixed) {
		CHECK(cudaMemcpy2DAsync(matrix, pitch, host, WIDTH, HALF, ROWS, cudaMemcpyHostToDevice, left));
		CHECK(cudaMemcpy2DAsync(matrix + HALF, pitch, host, WIDTH, HALF, ROWS, cudaMemcpyHostToDevice, right));
	} else {
		CHECK(cudaMemcpy2DAsync(matrix, pitch, host, WIDTH, HALF + 4, ROWS, cudaMemcpyHostToDevice, left));
		CHECK(cudaMemcpy2DAsync(matrix + HALF, pitch, host, WIDTH, HALF, ROWS, cudaMemcpyHostToDevice, right));
	}
	finish({left, right}, {}, {(float *)matrix}, {host});
}
