/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW301 sync-copy",
	       "a synchronous copy makes the host wait for the kernel before it, in every round",
	       "the copy is asynchronous, on the kernel's stream; the host waits once, when it needs the results");
	constexpr int ROUNDS = 8;
	float *data = device_buffer(), *result = pinned_buffer(ROUNDS * BYTES);
	cudaStream_t compute = new_stream(cudaStreamDefault);

	for (int i = 0; i < ROUNDS; i++) {
		spin_write<<<GRID, BLOCK, 0, compute>>>(data, N, i, SPIN_NS);
		CHECK_LAUNCH();
		if (c.fixed)
			CHECK(cudaMemcpyAsync(result + i * N, data, BYTES, cudaMemcpyDeviceToHost, compute));
		else
			CHECK(cudaMemcpy(result + i * N, data, BYTES, cudaMemcpyDeviceToHost));
	}
	finish({compute}, {}, {data}, {result});
}
