/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* As PyTorch's wait_stream() in a row: all streams wait for the one that made the data, then each for the one before
   it, and only then their work is submitted. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW205 wait-orders-nothing",
	       "streams wait for each other in a chain before their work is submitted; what the waits cover they come "
	       "after anyway",
	       "each stage is submitted, recorded and waited for before the next one");
	constexpr int STAGES = 3;
	float *data[STAGES];
	cudaStream_t stage[STAGES], maker = new_stream();
	cudaEvent_t done[STAGES], made = new_event();

	for (int i = 0; i < STAGES; i++) {
		data[i] = device_buffer();
		stage[i] = new_stream();
		done[i] = new_event();
		CHECK(cudaMemsetAsync(data[i], 0, BYTES, maker));
	}
	CHECK(cudaEventRecord(made, maker));
	for (int i = 0; i < STAGES; i++)
		CHECK(cudaStreamWaitEvent(stage[i], made, 0));
	for (int i = 1; i < STAGES && !c.fixed; i++) {
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
	finish({stage[0], maker}, {done[0], made}, {data[0]});
}
