/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW401 over-wide-sync",
	       "the host waits for the whole device, though what follows needs one short copy only; a long kernel "
	       "on another stream holds the host up",
	       "the host waits for the copy's stream");
	float *host = pinned_buffer(), *small = device_buffer(), *large = device_buffer(), *seen = pageable_buffer();
	cudaStream_t compute = new_stream(), copies = new_stream();

	hot_begin();
	for (int i = 0; i < c.rounds(8); i++) {
		spin_write<<<GRID, BLOCK, 0, compute>>>(large, N, i, SPIN_NS);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyAsync(host, small, BYTES, cudaMemcpyDeviceToHost, copies));
		if (c.fixed)
			CHECK(cudaStreamSynchronize(copies));
		else
			CHECK(cudaDeviceSynchronize());
		CHECK(cudaMemcpy(seen, host, BYTES, cudaMemcpyHostToHost));
		host_work(HOST_NS);
	}
	finish({compute, copies}, {}, {small, large}, {host});
	free(seen);
}
