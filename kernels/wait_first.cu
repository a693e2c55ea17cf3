/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* A pipeline of streams whose waits are chained before any work is submitted. Nothing is shared, so nothing races. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW205 wait-orders-nothing",
	       "each stream waits for an event of the one before it, and only then their work is submitted",
	       "each stage is submitted, recorded and waited for before the next one");
	constexpr int STAGES = 3;
	float *data[STAGES];
	cudaStream_t stage[STAGES];
	cudaEvent_t done[STAGES];

	for (int i = 0; i < STAGES; i++) {
		data[i] = device_buffer();
		stage[i] = new_stream();
		done[i] = new_event();
	}
	if (!c.fixed)
		for (int i = 1; i < STAGES; i++) {
			CHECK(cudaEventRecord(done[i - 1], stage[i - 1]));
			CHECK(cudaStreamWaitEvent(stage[i], done[i - 1], 0));
		}
	for (int i = 0; i < STAGES; i++) {
		if (c.fixed && i)
			CHECK(cudaStreamWaitEvent(stage[i], done[i - 1], 0));
		CHECK(cudaMemsetAsync(data[i], i, BYTES, stage[i]));
		if (c.fixed)
			CHECK(cudaEventRecord(done[i], stage[i]));
	}
	CHECK(cudaDeviceSynchronize());
	for (int i = 1; i < STAGES; i++) {
		CHECK(cudaEventDestroy(done[i]));
		CHECK(cudaStreamDestroy(stage[i]));
		CHECK(cudaFree(data[i]));
	}
	finish({stage[0]}, {done[0]}, {data[0]});
}
