/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW105 use-after-free, work issued after the free",
	       "a kernel is launched on memory that was freed before (no fault: its neighbour keeps the page mapped)",
	       "the memory is freed after the kernel");
	float *neighbour = device_buffer(4096), *data = device_buffer(4096);
	cudaStream_t compute = new_stream();

	if (c.fixed) {
		quick_write<<<1, BLOCK, 0, compute>>>(data, BLOCK, 1);
		CHECK_LAUNCH();
		CHECK(cudaStreamSynchronize(compute));
		CHECK(cudaFree(data));
	} else {
		CHECK(cudaFree(data));
		quick_write<<<1, BLOCK, 0, compute>>>(data, BLOCK, 1);
		CHECK_LAUNCH();
	}
	finish({compute}, {}, {neighbour});
}
