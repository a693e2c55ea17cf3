/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_driver.h"

/* A captured wait for an event that is recorded outside of the graph: each launch waits for its latest record. */
int main(int argc, char **argv)
{
	Options c(argc, argv, "SW101 race-read-after-write: a graph waits for an external event",
		  "the event is recorded before the fill that the graph should wait for",
		  "the event is recorded after the fill");
	Device d;
	CUgraph graph;
	CUevent filled;

	CHECK(cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING));
	CHECK(cuStreamBeginCapture(d.stream[1], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	CHECK(cuStreamWaitEvent(d.stream[1], filled, CU_EVENT_WAIT_EXTERNAL));
	CHECK(cuMemcpyDtoDAsync(d.buffer[1], d.buffer[0], BYTES, d.stream[1]));
	CHECK(cuStreamEndCapture(d.stream[1], &graph));
	CUgraphExec exec = instantiate(graph);

	if (!c.fixed)
		CHECK(cuEventRecord(filled, d.stream[0]));
	CHECK(cuMemsetD8Async(d.buffer[0], 1, BYTES, d.stream[0]));
	if (c.fixed)
		CHECK(cuEventRecord(filled, d.stream[0]));
	CHECK(cuGraphLaunch(exec, d.stream[1]));
	CHECK(cuCtxSynchronize());
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuEventDestroy(filled));
}
