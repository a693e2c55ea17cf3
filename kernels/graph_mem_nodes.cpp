/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_driver.h"

int main(int argc, char **argv)
{
	Options c(argc, argv, "SW105 use-after-free of memory that a graph allocated",
		  "what a graph allocated is freed on another stream, which does not wait for the graph",
		  "that stream waits for the graph first");
	Device d;
	CUgraph graph = new_graph();
	CUDA_MEM_ALLOC_NODE_PARAMS p = {};
	CUgraphNode alloc;
	CUevent done;

	p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	p.poolProps.location.id = d.device;
	p.bytesize = BYTES;
	CHECK(cuGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &p));
	CUgraphNode fill = add_set(d, graph, {alloc}, p.dptr);
	add_copy(d, graph, {fill}, d.buffer[0], p.dptr);
	CUgraphExec exec = instantiate(graph);

	CHECK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
	CHECK(cuGraphLaunch(exec, d.stream[0]));
	CHECK(cuEventRecord(done, d.stream[0]));
	if (c.fixed)
		CHECK(cuStreamWaitEvent(d.stream[1], done, 0));
	CHECK(cuMemFreeAsync(p.dptr, d.stream[1]));
	CHECK(cuCtxSynchronize());
	CHECK(cuEventDestroy(done));
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
}
