/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW303 sync-memset",
	       "cudaMemset of pinned host memory waits for all that blocking streams do",
	       "cudaMemsetAsync on a stream of its own");
	float *data = device_buffer(), *host = pinned_buffer();
	cudaStream_t compute = new_stream(cudaStreamDefault), sets = new_stream();

	hot_begin();
	for (int i = 0; i < c.rounds(8); i++) {
		spin_write<<<GRID, BLOCK, 0, compute>>>(data, N, 1, SPIN_NS);
		CHECK_LAUNCH();
		if (c.fixed)
			CHECK(cudaMemsetAsync(host, 0, BYTES, sets));
		else
			CHECK(cudaMemset(host, 0, BYTES));
		host_work(HOST_NS);
	}
	finish({compute, sets}, {}, {data}, {host});
}
