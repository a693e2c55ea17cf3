/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write against work of a destroyed stream",
	       "the producer's stream is destroyed, which does not wait: its work goes on",
	       "an event is recorded before the stream is destroyed, and waited for");
	float *host = pinned_buffer(), *data = device_buffer(), *result = device_buffer();
	cudaStream_t producer = new_stream(), consumer = new_stream();
	cudaEvent_t produced = new_event();

	spin<<<1, 1, 0, producer>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, producer));
	if (c.fixed)
		CHECK(cudaEventRecord(produced, producer));
	CHECK(cudaStreamDestroy(producer));
	if (c.fixed)
		CHECK(cudaStreamWaitEvent(consumer, produced, 0));
	CHECK(cudaMemcpyAsync(result, data, BYTES, cudaMemcpyDeviceToDevice, consumer));
	finish({consumer}, {produced}, {data, result}, {host});
}
