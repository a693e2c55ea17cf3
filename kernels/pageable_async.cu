/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW302 pageable-async-copy",
	       "cudaMemcpyAsync to pageable memory: the call returns only when the copy, and all before it, is done",
	       "the host buffer is pinned");
	constexpr int SLOTS = 8;
	float *data = device_buffer();
	float *pinned = pinned_buffer(SLOTS * BYTES), *pageable = pageable_buffer(SLOTS * BYTES);
	cudaStream_t compute = new_stream();

	hot_begin();
	for (int i = 0; i < c.rounds(8); i++) {
		float *mine = (c.fixed ? pinned : pageable) + i % SLOTS * N;

		spin_write<<<GRID, BLOCK, 0, compute>>>(data, N, i, SPIN_NS);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyAsync(mine, data, BYTES, cudaMemcpyDeviceToHost, compute));
		host_work(HOST_NS);
	}
	finish({compute}, {}, {data}, {pinned});
	free(pageable);
}
