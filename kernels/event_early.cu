/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW202 wait-covers-nothing and the SW101 that it lets happen",
	       "the event is recorded before the copy that the other stream means to wait for",
	       "the event is recorded after the copy");
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
		CHECK(cudaEventRecord(ready, producer));
		CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, producer));
		CHECK(cudaStreamWaitEvent(consumer, ready, 0));
		CHECK(cudaMemcpyAsync(result, data, BYTES, cudaMemcpyDeviceToDevice, consumer));
	}
	finish({producer, consumer}, {ready}, {data, result}, {host});
}
