/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW204 capture-isolation, a branch that was not joined",
	       "the capture ends while a stream that it was forked to has not been joined back: it fails, nothing runs",
	       "the forked stream records an event at its end, the first stream waits for it");
	float *data = device_buffer();
	cudaStream_t origin = new_stream(), branch = new_stream();
	cudaEvent_t forked = new_event(), joined = new_event();
	cudaGraph_t graph = nullptr;

	CHECK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
	CHECK(cudaEventRecord(forked, origin));
	CHECK(cudaStreamWaitEvent(branch, forked, 0));
	quick_write<<<GRID, BLOCK, 0, branch>>>(data, N, 1);
	if (c.fixed) {
		CHECK(cudaEventRecord(joined, branch));
		CHECK(cudaStreamWaitEvent(origin, joined, 0));
		finish_graphs({end_capture(origin)});
	} else if (cudaStreamEndCapture(origin, &graph) != cudaErrorStreamCaptureUnjoined) {
		fprintf(stderr, "the capture was expected to fail\n");
		exit(1);
	}
	(void)cudaGetLastError();
	finish({origin, branch}, {forked, joined}, {data});
}
