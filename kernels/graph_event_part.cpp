/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_driver.h"

int main(int argc, char **argv)
{
	Options c(argc, argv, "SW101 race-read-after-write after an event that stands for a part of a graph",
		  "the node that records the event depends on one of two fills, the other is read after the event",
		  "it depends on both");
	Device d;
	CUgraph graph = new_graph();
	CUgraphNode record;
	CUevent filled;

	CHECK(cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING));
	Nodes fills = {add_set(d, graph, {}, d.buffer[0]), add_set(d, graph, {}, d.buffer[1])};
	CHECK(cuGraphAddEventRecordNode(&record, graph, fills.data(), c.fixed ? 2 : 1, filled));
	CUgraphExec exec = instantiate(graph);

	CHECK(cuGraphLaunch(exec, d.stream[0]));
	CHECK(cuStreamWaitEvent(d.stream[1], filled, 0));
	CHECK(cuMemcpyDtoDAsync(d.buffer[2], d.buffer[1], BYTES, d.stream[1]));
	CHECK(cuCtxSynchronize());
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuEventDestroy(filled));
}
