/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW105 use-after-free as a note: only an undocumented wait of cudaFree orders it; SW306",
	       "memory is freed while a kernel on another stream uses it",
	       "buffers to be freed are kept until the event after their last use is complete");
	float *data = device_buffer();
	cudaStream_t compute = new_stream();
	cudaEvent_t used = new_event();

	spin_write<<<GRID, BLOCK, 0, compute>>>(data, N, 1, SPIN_NS);
	CHECK_LAUNCH();
	CHECK(cudaEventRecord(used, compute));
	if (c.fixed)
		while (cudaEventQuery(used) == cudaErrorNotReady)
			usleep(500);
	(void)cudaGetLastError(); /* "not ready" is kept there too */
	CHECK(cudaFree(data));
	finish({compute}, {used}, {});
}
