/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* Whether the second allocation gets the address of the first one, and an edge with it, is the driver's choice. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write at an address that a pool reused",
	       "the second stream reads a result of the first, ordered by nothing but the reuse of a temporary's memory",
	       "the second stream waits for an event recorded after the result");
	float *result = device_buffer(), *copy = device_buffer();
	void *temporary;
	cudaStream_t first = new_stream(), second = new_stream();
	cudaEvent_t made = new_event();

	for (int round = 0; round < 3; round++) {
		CHECK(cudaMallocAsync(&temporary, BYTES, first));
		CHECK(cudaMemsetAsync(temporary, 1, BYTES, first));
		spin<<<1, 1, 0, first>>>(SPIN_NS);
		CHECK(cudaMemcpyAsync(result, temporary, BYTES, cudaMemcpyDeviceToDevice, first));
		CHECK(cudaFreeAsync(temporary, first));
		if (c.fixed) {
			CHECK(cudaEventRecord(made, first));
			CHECK(cudaStreamWaitEvent(second, made, 0));
		}
		CHECK(cudaMallocAsync(&temporary, BYTES, second));
		CHECK(cudaMemsetAsync(temporary, 0, BYTES, second));
		CHECK(cudaMemcpyAsync(copy, result, BYTES, cudaMemcpyDeviceToDevice, second));
		CHECK(cudaFreeAsync(temporary, second));
		CHECK(cudaStreamSynchronize(first));
		CHECK(cudaStreamSynchronize(second));
	}
	finish({first, second}, {made}, {result, copy});
}
