/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* Built twice: what stream 0 means is decided by nvcc's -default-stream. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write, with -default-stream per-thread only",
	       "a copy on stream 0 is followed by its consumer on a blocking stream: in order with the legacy default "
	       "stream, "
	       "a race with the per-thread one",
	       "the consumer's stream waits for an event");
	float *host = pinned_buffer(), *data = device_buffer(), *result = device_buffer();
	cudaStream_t consumer = new_stream(cudaStreamDefault);
	cudaEvent_t produced = new_event();

	spin<<<1, 1>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, 0));
	if (c.fixed) {
		CHECK(cudaEventRecord(produced, 0));
		CHECK(cudaStreamWaitEvent(consumer, produced, 0));
	}
	CHECK(cudaMemcpyAsync(result, data, BYTES, cudaMemcpyDeviceToDevice, consumer));
	finish({consumer}, {produced}, {data, result}, {host});
}
