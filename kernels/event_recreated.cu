/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW201 wait-on-unrecorded-event and the SW101 that it lets happen",
	       "the event is destroyed and made again between record and wait; the new one, often at the old one's "
	       "address, was never recorded",
	       "the event lives until the wait was issued");
	float *host = pinned_buffer(), *data = device_buffer(), *result = device_buffer();
	cudaStream_t producer = new_stream(), consumer = new_stream();
	cudaEvent_t ready = new_event();

	spin<<<1, 1, 0, producer>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, producer));
	CHECK(cudaEventRecord(ready, producer));
	if (c.fixed) {
		CHECK(cudaStreamWaitEvent(consumer, ready, 0));
		CHECK(cudaEventDestroy(ready)); /* allowed at once: the wait keeps what it saw */
		ready = new_event();
	} else {
		CHECK(cudaEventDestroy(ready));
		ready = new_event();
		CHECK(cudaStreamWaitEvent(consumer, ready, 0));
	}
	CHECK(cudaMemcpyAsync(result, data, BYTES, cudaMemcpyDeviceToDevice, consumer));
	finish({producer, consumer}, {ready}, {data, result}, {host});
}
