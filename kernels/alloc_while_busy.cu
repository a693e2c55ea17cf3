/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW305 device-alloc as a note: cudaMalloc may wait, documents leave it open",
	       "memory for the second kernel is allocated while the first one runs", "all memory is allocated first");
	float *first = device_buffer(), *second = c.fixed ? device_buffer() : nullptr;
	cudaStream_t compute = new_stream();

	spin_write<<<GRID, BLOCK, 0, compute>>>(first, N, 1, SPIN_NS);
	if (!c.fixed)
		second = device_buffer();
	spin_write<<<GRID, BLOCK, 0, compute>>>(second, N, 1, SPIN_NS);
	CHECK_LAUNCH();
	finish({compute}, {}, {first, second});
}
