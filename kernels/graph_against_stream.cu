/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write, a graph against a stream",
	       "a kernel on another stream reads what a node of a graph writes; nothing makes it wait for the launch",
	       "the launching stream records an event after the graph, the reader's stream waits for it");
	float *data = device_buffer(), *result = device_buffer();
	cudaStream_t launches = new_stream(), reader = new_stream();
	cudaEvent_t written = new_event();

	CHECK(cudaStreamBeginCapture(launches, cudaStreamCaptureModeThreadLocal));
	spin_write<<<GRID, BLOCK, 0, launches>>>(data, N, 1, SPIN_NS);
	cudaGraphExec_t exec = end_capture(launches);

	CHECK(cudaGraphLaunch(exec, launches));
	if (c.fixed) {
		CHECK(cudaEventRecord(written, launches));
		CHECK(cudaStreamWaitEvent(reader, written, 0));
	}
	quick_copy<<<GRID, BLOCK, 0, reader>>>(result, data, N);
	CHECK_LAUNCH();
	finish_graphs({exec});
	finish({launches, reader}, {written}, {data, result});
}
