/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write, set against copy",
	       "a buffer is cleared on one stream and filled on another: which comes last is left to chance",
	       "the filling stream waits for an event recorded after the clearing");
	float *host = pinned_buffer(), *data = device_buffer();
	cudaStream_t clear = new_stream(), fill = new_stream();
	cudaEvent_t cleared = new_event();

	spin<<<1, 1, 0, clear>>>(SPIN_NS);
	if (c.fixed) {
		CHECK(cudaMemsetAsync(data, 0, BYTES, clear));
		CHECK(cudaEventRecord(cleared, clear));
		CHECK(cudaStreamWaitEvent(fill, cleared, 0));
		CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, fill));
	} else {
		CHECK(cudaMemsetAsync(data, 0, BYTES, clear));
		CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, fill));
	}
	finish({clear, fill}, {cleared}, {data}, {host});
}
