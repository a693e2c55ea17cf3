/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW302 pageable-async-copy",
	       "cudaMemcpyAsync to pageable memory: the call returns only when the copy, and all before it, is done",
	       "the host buffer is pinned");
	constexpr int ROUNDS = 8;
	float *data = device_buffer();
	float *pinned = pinned_buffer(ROUNDS * BYTES), *pageable = pageable_buffer(ROUNDS * BYTES);
	cudaStream_t compute = new_stream();

	for (int i = 0; i < ROUNDS; i++) {
		spin_write<<<GRID, BLOCK, 0, compute>>>(data, N, i, SPIN_NS);
		CHECK_LAUNCH();
		if (c.fixed)
			CHECK(cudaMemcpyAsync(pinned + i * N, data, BYTES, cudaMemcpyDeviceToHost, compute));
		else
			CHECK(cudaMemcpyAsync(pageable + i * N, data, BYTES, cudaMemcpyDeviceToHost, compute));
	}
	finish({compute}, {}, {data}, {pinned});
	free(pageable);
}
