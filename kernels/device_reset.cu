/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* One round: two streams that use one buffer. */
static void round_of_work(bool ordered)
{
	float *data = device_buffer(), *result = device_buffer();
	cudaStream_t producer = new_stream(), consumer = new_stream();
	cudaEvent_t written = new_event();

	Case::load(spin, spin_write, spin_copy, quick_write, quick_copy);
	spin_write<<<GRID, BLOCK, 0, producer>>>(data, N, 1, SPIN_NS);
	CHECK_LAUNCH();
	if (ordered) {
		CHECK(cudaEventRecord(written, producer));
		CHECK(cudaStreamWaitEvent(consumer, written, 0));
	}
	quick_copy<<<GRID, BLOCK, 0, consumer>>>(result, data, N);
	CHECK_LAUNCH();
	CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 in the second of two rounds with a device reset in between",
	       "nothing is destroyed or freed before the reset, handles and addresses come back after it; then a wait is missing",
	       "the second round is ordered like the first");

	round_of_work(true);
	CHECK(cudaDeviceReset());
	round_of_work(c.fixed);
	CHECK(cudaDeviceReset());
}
