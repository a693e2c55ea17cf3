/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW107 graph-branch-race, nodes made one by one",
	       "a graph made node by node copies into a buffer and out of it, without the dependency between the two",
	       "the second copy depends on the first");
	float *data = device_buffer(), *in = pinned_buffer(), *out = pinned_buffer();
	cudaStream_t stream = new_stream();
	cudaGraph_t graph;
	cudaGraphNode_t fill, upload, download;
	cudaMemsetParams zero = {};

	zero.dst = data;
	zero.elementSize = 1;
	zero.width = BYTES;
	zero.height = 1;
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
	CHECK(cudaGraphAddMemcpyNode1D(&upload, graph, &fill, 1, data, in, BYTES, cudaMemcpyHostToDevice));
	CHECK(cudaGraphAddMemcpyNode1D(&download, graph, c.fixed ? &upload : &fill, 1, out, data, BYTES,
				       cudaMemcpyDeviceToHost));
	cudaGraphExec_t exec = instantiate(graph);

	CHECK(cudaGraphLaunch(exec, stream));
	finish_graphs({exec});
	finish({stream}, {}, {data}, {in, out});
}
