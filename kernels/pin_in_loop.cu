/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW307 host-pin",
	       "host memory is pinned for each round and released again: releasing waits for the whole device",
	       "the memory is pinned once");
	float *host = pageable_buffer(), *data = device_buffer(), *other = device_buffer();
	cudaStream_t copies = new_stream(), compute = new_stream();

	if (c.fixed)
		CHECK(cudaHostRegister(host, BYTES, cudaHostRegisterDefault));
	hot_begin();
	for (int i = 0; i < c.rounds(8); i++) {
		spin_write<<<GRID, BLOCK, 0, compute>>>(other, N, i, SPIN_NS);
		CHECK_LAUNCH();
		if (!c.fixed)
			CHECK(cudaHostRegister(host, BYTES, cudaHostRegisterDefault));
		CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, copies));
		CHECK(cudaStreamSynchronize(copies));
		if (!c.fixed)
			CHECK(cudaHostUnregister(host));
		host_work(HOST_NS);
	}
	CHECK(cudaDeviceSynchronize());
	hot_end();
	if (c.fixed)
		CHECK(cudaHostUnregister(host));
	finish({copies, compute}, {}, {data, other});
	free(host);
}
