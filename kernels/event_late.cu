/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW201 wait-on-unrecorded-event and the SW101 that it lets happen",
	       "the wait is issued before the event is recorded: a wait looks at the latest record there is, and none "
	       "is",
	       "the event is recorded before the wait is issued");
	float *host = pinned_buffer(), *data = device_buffer(), *result = device_buffer();
	cudaStream_t producer = new_stream(), consumer = new_stream();
	cudaEvent_t ready = new_event();

	spin<<<1, 1, 0, producer>>>(SPIN_NS);
	if (c.fixed) {
		CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, producer));
		CHECK(cudaEventRecord(ready, producer));
		CHECK(cudaStreamWaitEvent(consumer, ready, 0));
		CHECK(cudaMemcpyAsync(result, data, BYTES, cudaMemcpyDeviceToDevice, consumer));
	} else {
		CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, producer));
		CHECK(cudaStreamWaitEvent(consumer, ready, 0));
		CHECK(cudaEventRecord(ready, producer));
		CHECK(cudaMemcpyAsync(result, data, BYTES, cudaMemcpyDeviceToDevice, consumer));
	}
	finish({producer, consumer}, {ready}, {data, result}, {host});
}
