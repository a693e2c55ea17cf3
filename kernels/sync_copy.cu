/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW301 sync-copy",
	       "a synchronous copy makes the host wait for the kernel before it, in every round",
	       "the copy is asynchronous, on the kernel's stream; the host prepares the next round meanwhile and waits "
	       "once, when "
	       "it needs the results");
	constexpr int SLOTS = 8;
	float *data = device_buffer(), *result = pinned_buffer(SLOTS * BYTES);
	cudaStream_t compute = new_stream(cudaStreamDefault);

	hot_begin();
	for (int i = 0; i < c.rounds(8); i++) {
		float *mine = result + i % SLOTS * N;

		spin_write<<<GRID, BLOCK, 0, compute>>>(data, N, i, SPIN_NS);
		CHECK_LAUNCH();
		if (c.fixed)
			CHECK(cudaMemcpyAsync(mine, data, BYTES, cudaMemcpyDeviceToHost, compute));
		else
			CHECK(cudaMemcpy(mine, data, BYTES, cudaMemcpyDeviceToHost));
		host_work(HOST_NS);
	}
	finish({compute}, {}, {data}, {result});
}
