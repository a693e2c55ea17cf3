/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

static cudaStream_t stream_of(const std::string &kind)
{
	if (kind == "legacy")
		return cudaStreamLegacy;
	if (kind == "per-thread")
		return cudaStreamPerThread;
	return new_stream(kind == "blocking" ? cudaStreamDefault : cudaStreamNonBlocking);
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 where the kinds of the two streams order nothing, silence where they do",
	       "the producer's stream and the consumer's (two streams unless both are one default stream) are not "
	       "linked by "
	       "the program; only the legacy default stream orders itself with streams that are not non-blocking",
	       "the consumer's stream waits for an event, which is right for all kinds",
	       {"legacy legacy", "legacy per-thread", "legacy blocking", "legacy non-blocking", "per-thread legacy",
		"per-thread per-thread", "per-thread blocking", "per-thread non-blocking", "blocking legacy",
		"blocking per-thread", "blocking blocking", "blocking non-blocking", "non-blocking legacy",
		"non-blocking per-thread", "non-blocking blocking", "non-blocking non-blocking"});
	float *host = pinned_buffer(), *data = device_buffer(), *result = device_buffer();
	cudaStream_t producer = stream_of(c.word(0)), consumer = stream_of(c.word(1));
	cudaEvent_t produced = new_event();

	spin<<<1, 1, 0, producer>>>(SPIN_NS);
	if (c.fixed) {
		CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, producer));
		CHECK(cudaEventRecord(produced, producer));
		CHECK(cudaStreamWaitEvent(consumer, produced, 0));
		CHECK(cudaMemcpyAsync(result, data, BYTES, cudaMemcpyDeviceToDevice, consumer));
	} else {
		CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, producer));
		CHECK(cudaMemcpyAsync(result, data, BYTES, cudaMemcpyDeviceToDevice, consumer));
	}
	finish({}, {produced}, {data, result},
	       {host}); /* streams end with the process: default ones cannot be destroyed */
}
