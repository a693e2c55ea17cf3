/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW402 redundant-sync",
	       "the device is synchronised a second time though nothing was issued between", "one wait is enough");
	float *host = pinned_buffer(), *data = device_buffer();
	cudaStream_t stream = new_stream();

	hot_begin();
	for (int i = 0; i < c.rounds(4); i++) {
		CHECK(cudaMemcpyAsync(host, data, BYTES, cudaMemcpyDeviceToHost, stream));
		CHECK(cudaStreamSynchronize(stream));
		if (!c.fixed)
			CHECK(cudaDeviceSynchronize());
	}
	finish({stream}, {}, {data}, {host});
}
