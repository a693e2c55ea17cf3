/* SPDX-License-Identifier: Apache-2.0 */
#include "devices.h"

int main(int argc, char **argv)
{
	TwoDevices c(argc, argv, "SW101 between the default streams of two GPUs",
	       "a kernel on the default stream of GPU 1 reads what one on the default stream of GPU 0 writes: each GPU has "
	       "a default stream of its own",
	       "the host waits for GPU 0 in between");
	float *data = device_buffer_on(0), *result = device_buffer_on(1);

	on(0);
	spin_write<<<GRID, BLOCK>>>(data, N, 1, SPIN_NS);
	CHECK_LAUNCH();
	if (c.fixed)
		CHECK(cudaStreamSynchronize(cudaStreamLegacy));
	on(1);
	quick_copy<<<GRID, BLOCK>>>(result, data, N);
	CHECK_LAUNCH();
	synchronize_all();
	finish({}, {}, {data, result});
}
