/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW203 event-overwritten and the SW101 that it lets happen",
	       "one event is recorded for two producers before the consumer waits: the second record replaces the first",
	       "the consumer waits after each record; a wait keeps what it saw, so one event is enough");
	float *host = pinned_buffer(), *left = device_buffer(), *right = device_buffer(), *result = device_buffer();
	cudaStream_t first = new_stream(), second = new_stream(), consumer = new_stream();
	cudaEvent_t ready = new_event();

	spin<<<1, 1, 0, first>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(left, host, BYTES, cudaMemcpyHostToDevice, first));
	CHECK(cudaMemcpyAsync(right, host, BYTES, cudaMemcpyHostToDevice, second));
	if (c.fixed) {
		CHECK(cudaEventRecord(ready, first));
		CHECK(cudaStreamWaitEvent(consumer, ready, 0));
		CHECK(cudaEventRecord(ready, second));
		CHECK(cudaStreamWaitEvent(consumer, ready, 0));
	} else {
		CHECK(cudaEventRecord(ready, first));
		CHECK(cudaEventRecord(ready, second));
		CHECK(cudaStreamWaitEvent(consumer, ready, 0));
	}
	CHECK(cudaMemcpyAsync(result, left, BYTES, cudaMemcpyDeviceToDevice, consumer));
	CHECK(cudaMemcpyAsync(result, right, BYTES, cudaMemcpyDeviceToDevice, consumer));
	finish({first, second, consumer}, {ready}, {left, right, result}, {host});
}
