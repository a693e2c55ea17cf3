/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

#include <vector>

/* One of many: an analyser that keeps only some of the readers may miss this one. */
constexpr int READERS = 100;

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW102 race-write-after-read: a hundred streams read a buffer, then it is written",
	       "the writing stream waits for all readers but the first",
	       "the writing stream waits for all readers");
	float *table = device_buffer(), *copies = device_buffer(READERS * 256);
	std::vector<cudaStream_t> streams;
	std::vector<cudaEvent_t> events;

	for (int i = 0; i <= READERS; i++)
		streams.push_back(new_stream());
	cudaStream_t writer = streams[READERS];
	spin<<<1, 1, 0, streams[0]>>>(SPIN_NS);
	CHECK_LAUNCH();
	for (int i = 0; i < READERS; i++) {
		CHECK(cudaMemcpyAsync(copies + i * 64, table, 256, cudaMemcpyDeviceToDevice, streams[i]));
		events.push_back(new_event());
		CHECK(cudaEventRecord(events[i], streams[i]));
		if (i || c.fixed)
			CHECK(cudaStreamWaitEvent(writer, events[i], 0));
	}
	CHECK(cudaMemsetAsync(table, 0, BYTES, writer));
	CHECK(cudaDeviceSynchronize());
	for (cudaEvent_t event : events)
		CHECK(cudaEventDestroy(event));
	for (cudaStream_t stream : streams)
		CHECK(cudaStreamDestroy(stream));
	finish({}, {}, {table, copies});
}
