/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write, copy against kernel",
	       "input is copied to the device on one stream, the kernel that reads it runs on another",
	       "the kernel's stream waits for an event recorded after the copy");
	float *host = pinned_buffer(), *data = device_buffer(), *result = device_buffer();
	cudaStream_t copies = new_stream(), compute = new_stream();
	cudaEvent_t copied = new_event();

	spin<<<1, 1, 0, copies>>>(SPIN_NS); /* the copy starts late */
	if (c.fixed) {
		CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, copies));
		CHECK(cudaEventRecord(copied, copies));
		CHECK(cudaStreamWaitEvent(compute, copied, 0));
		quick_copy<<<GRID, BLOCK, 0, compute>>>(result, data, N);
	} else {
		CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, copies));
		quick_copy<<<GRID, BLOCK, 0, compute>>>(result, data, N);
	}
	CHECK_LAUNCH();
	finish({copies, compute}, {copied}, {data, result}, {host});
}
