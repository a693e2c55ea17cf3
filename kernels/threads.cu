/* SPDX-License-Identifier: Apache-2.0 */
#include <future>
#include <thread>

#include "case.h"

/* Two host threads, a stream each.  The hand-over between the threads is correct; that between the streams is the
 * question. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write between the streams of two host threads",
	       "the consumer's thread knows that the copy was issued, and takes that for done",
	       "the producer's thread hands an event over, the consumer's stream waits for it");
	float *host = pinned_buffer(), *data = device_buffer(), *result = device_buffer();
	cudaStream_t producer = new_stream(), consumer = new_stream();
	cudaEvent_t produced = new_event();
	std::promise<void> issued;

	std::thread first([&] {
		spin<<<1, 1, 0, producer>>>(SPIN_NS);
		CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, producer));
		CHECK(cudaEventRecord(produced, producer));
		issued.set_value();
	});
	std::thread second([&] {
		issued.get_future().wait();
		if (c.fixed)
			CHECK(cudaStreamWaitEvent(consumer, produced, 0));
		CHECK(cudaMemcpyAsync(result, data, BYTES, cudaMemcpyDeviceToDevice, consumer));
	});
	first.join();
	second.join();
	finish({producer, consumer}, {produced}, {data, result}, {host});
}
