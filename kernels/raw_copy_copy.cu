/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write, copy against copy: both ranges are known exactly",
	       "a buffer is filled by a copy on one stream and copied on by another stream",
	       "the second stream waits for an event recorded after the first copy");
	float *host = pinned_buffer(), *first = device_buffer(), *second = device_buffer();
	cudaStream_t fill = new_stream(), move = new_stream();
	cudaEvent_t filled = new_event();

	spin<<<1, 1, 0, fill>>>(SPIN_NS);
	if (c.fixed) {
		CHECK(cudaMemcpyAsync(first, host, BYTES, cudaMemcpyHostToDevice, fill));
		CHECK(cudaEventRecord(filled, fill));
		CHECK(cudaStreamWaitEvent(move, filled, 0));
		CHECK(cudaMemcpyAsync(second, first, BYTES, cudaMemcpyDeviceToDevice, move));
	} else {
		CHECK(cudaMemcpyAsync(first, host, BYTES, cudaMemcpyHostToDevice, fill));
		CHECK(cudaMemcpyAsync(second, first, BYTES, cudaMemcpyDeviceToDevice, move));
	}
	finish({fill, move}, {filled}, {first, second}, {host});
}
