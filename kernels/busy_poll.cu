/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW403 busy-poll", "the host asks again and again whether a long kernel is done",
	       "the host sleeps in cudaEventSynchronize, with an event made for blocking waits");
	float *data = device_buffer();
	cudaStream_t compute = new_stream();
	cudaEvent_t done = new_event(cudaEventDisableTiming | cudaEventBlockingSync);

	hot_begin();
	for (int i = 0; i < c.rounds(8); i++) {
		spin_write<<<GRID, BLOCK, 0, compute>>>(data, N, i, SPIN_NS);
		CHECK_LAUNCH();
		CHECK(cudaEventRecord(done, compute));
		if (c.fixed)
			CHECK(cudaEventSynchronize(done));
		else
			while (cudaEventQuery(done) == cudaErrorNotReady)
				;
		(void)cudaGetLastError(); /* "not ready" is kept there too */
	}
	finish({compute}, {done}, {data});
}
