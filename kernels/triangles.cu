/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* From the diagonal to the right. */
__global__ void spin_upper(float *matrix, int side, unsigned ns)
{
	int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;

	spin_for(ns);
	if (column < side && column >= row)
		matrix[row * side + column] = 1;
}

/* From the left; `below` rows under the diagonal. */
__global__ void lower(float *matrix, int side, int below)
{
	int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;

	if (column < side && column <= row - below)
		matrix[row * side + column] = 2;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write and SW101, triangles of a matrix",
	       "two kernels on two streams fill the triangles of a matrix, and both write the diagonal (possible only "
	       "where "
	       "there are many rows); or a copy reads the whole matrix meanwhile",
	       "only one of them writes the diagonal, the copy waits", {"rows", "many", "copy"});
	const int side = c.is("rows") ? 200 : 1000;
	const size_t bytes = sizeof(float) * side * side;
	float *matrix = device_buffer(bytes), *host = pinned_buffer(bytes);
	cudaStream_t a = new_stream(), b = new_stream();
	cudaEvent_t done = new_event();
	const dim3 grid((side + BLOCK - 1) / BLOCK, side);

	c.load(spin_upper, lower);
	CHECK(cudaDeviceSynchronize());
	spin_upper<<<grid, BLOCK, 0, a>>>(matrix, side, SPIN_NS / 10);
	if (!c.is("copy")) {
		lower<<<grid, BLOCK, 0, b>>>(matrix, side, c.fixed ? 1 : 0);
	} else {
		if (c.fixed) {
			CHECK(cudaEventRecord(done, a));
			CHECK(cudaStreamWaitEvent(b, done, 0));
		}
		CHECK(cudaMemcpyAsync(host, matrix, bytes, cudaMemcpyDeviceToHost, b));
	}
	CHECK_LAUNCH();
	finish({a, b}, {done}, {matrix}, {host});
}
