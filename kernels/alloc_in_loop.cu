/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW305 device-alloc and SW306 device-free",
	       "scratch memory is allocated and freed in every round; cudaFree waits for the whole device each time",
	       "scratch memory is allocated once");
	float *scratch = device_buffer();
	cudaStream_t compute = new_stream();

	hot_begin();
	for (int i = 0; i < c.rounds(8); i++) {
		float *mine = c.fixed ? scratch : device_buffer();

		spin_write<<<GRID, BLOCK, 0, compute>>>(mine, N, i, SPIN_NS);
		CHECK_LAUNCH();
		if (!c.fixed)
			CHECK(cudaFree(mine));
		host_work(HOST_NS);
	}
	finish({compute}, {}, {scratch});
}
