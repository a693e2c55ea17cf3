/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write, kernel against kernel",
	       "a kernel on one stream reads what a kernel on another stream writes; nothing makes it wait",
	       "the writer's stream records an event after the kernel, the reader's stream waits for it");
	float *data = device_buffer(), *result = device_buffer();
	cudaStream_t writer = new_stream(), reader = new_stream();
	cudaEvent_t written = new_event();

	if (c.fixed) {
		spin_write<<<GRID, BLOCK, 0, writer>>>(data, N, 1, SPIN_NS);
		CHECK(cudaEventRecord(written, writer));
		CHECK(cudaStreamWaitEvent(reader, written, 0));
		quick_copy<<<GRID, BLOCK, 0, reader>>>(result, data, N);
	} else {
		spin_write<<<GRID, BLOCK, 0, writer>>>(data, N, 1, SPIN_NS);
		quick_copy<<<GRID, BLOCK, 0, reader>>>(result, data, N);
	}
	CHECK_LAUNCH();
	finish({writer, reader}, {written}, {data, result});
}
