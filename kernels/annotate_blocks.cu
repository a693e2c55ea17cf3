/* SPDX-License-Identifier: Apache-2.0 */
#include <syncwatch/syncwatch.h>

#include "case.h"

/* A program's own pool of many small buffers, declared to syncwatch: each is a block of its own. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW105 use-after-free inside a program's own memory pool",
	       "the pool hands a buffer to a second stream that the first still works on",
	       "the second stream waits for an event recorded where the first gave the buffer back");
	constexpr int BUFFERS = 128, EACH = N / BUFFERS;
	float *pool = device_buffer();
	cudaStream_t stream[2] = {new_stream(), new_stream()};
	cudaEvent_t given_back = new_event();

	syncwatch_name_stream(stream[0], "first");
	for (int i = 0; i < BUFFERS; i++) {
		float *buffer = pool + (size_t)i * EACH;

		syncwatch_block_begin(buffer, EACH * sizeof(float), stream[0]);
		quick_write<<<EACH / BLOCK + 1, BLOCK, 0, stream[0]>>>(buffer, EACH, 1);
		CHECK_LAUNCH();
		syncwatch_block_end(buffer, stream[0]);
	}
	CHECK(cudaEventRecord(given_back, stream[0]));
	if (c.fixed)
		CHECK(cudaStreamWaitEvent(stream[1], given_back, 0));
	syncwatch_block_begin(pool, EACH * sizeof(float), stream[1]);
	syncwatch_name_buffer(pool, "second use");
	CHECK(cudaMemsetAsync(pool, 0, EACH * sizeof(float), stream[1]));
	syncwatch_block_end(pool, stream[1]);
	finish({stream[0], stream[1]}, {given_back}, {pool});
}
