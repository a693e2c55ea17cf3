/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write, kernel against copy",
	       "a result is copied to the host on another stream than the one whose kernel writes it",
	       "the copying stream waits for an event recorded after the kernel");
	float *host = pinned_buffer(), *data = device_buffer();
	cudaStream_t compute = new_stream(), copies = new_stream();
	cudaEvent_t written = new_event();

	if (c.fixed) {
		spin_write<<<GRID, BLOCK, 0, compute>>>(data, N, 1, SPIN_NS);
		CHECK(cudaEventRecord(written, compute));
		CHECK(cudaStreamWaitEvent(copies, written, 0));
		CHECK(cudaMemcpyAsync(host, data, BYTES, cudaMemcpyDeviceToHost, copies));
	} else {
		spin_write<<<GRID, BLOCK, 0, compute>>>(data, N, 1, SPIN_NS);
		CHECK(cudaMemcpyAsync(host, data, BYTES, cudaMemcpyDeviceToHost, copies));
	}
	CHECK_LAUNCH();
	finish({compute, copies}, {written}, {data}, {host});
}
