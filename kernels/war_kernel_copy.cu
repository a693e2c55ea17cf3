/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW102 race-write-after-read, kernel against copy",
	       "the next input is copied over the present one while a kernel on another stream still reads it",
	       "the copying stream waits for an event recorded after the kernel");
	float *host = pinned_buffer(), *input = device_buffer(), *result = device_buffer();
	cudaStream_t compute = new_stream(), copies = new_stream();
	cudaEvent_t consumed = new_event();

	if (c.fixed) {
		spin_copy<<<GRID, BLOCK, 0, compute>>>(result, input, N, SPIN_NS);
		CHECK(cudaEventRecord(consumed, compute));
		CHECK(cudaStreamWaitEvent(copies, consumed, 0));
		CHECK(cudaMemcpyAsync(input, host, BYTES, cudaMemcpyHostToDevice, copies));
	} else {
		spin_copy<<<GRID, BLOCK, 0, compute>>>(result, input, N, SPIN_NS);
		CHECK(cudaMemcpyAsync(input, host, BYTES, cudaMemcpyHostToDevice, copies));
	}
	CHECK_LAUNCH();
	finish({compute, copies}, {consumed}, {input, result}, {host});
}
