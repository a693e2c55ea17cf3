/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "nothing certain: a kernel of a graph whose parameters other kernels may change",
	       "a graph writes what another stream reads; its node may be changed on the device, so that it may write "
	       "elsewhere (updatable); or it may not (plain: SW101)",
	       "the other stream waits for the graph", {"updatable", "plain"});
	float *one = device_buffer(), *result = device_buffer();
	cudaStream_t origin = new_stream(), other = new_stream();
	cudaEvent_t done = new_event();
	cudaGraph_t graph;
	cudaGraphNode_t node;
	size_t nodes = 1;

	CHECK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
	spin_write<<<GRID, BLOCK, 0, origin>>>(one, N, 1, SPIN_NS);
	graph = end_capture_graph(origin);
	CHECK(cudaGraphGetNodes(graph, &node, &nodes));
	if (c.is("updatable")) {
		cudaLaunchAttributeValue value = {};

		value.deviceUpdatableKernelNode.deviceUpdatable = 1;
		CHECK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &value));
	}

	cudaGraphExec_t exec = instantiate(graph);

	CHECK(cudaGraphUpload(exec, origin));
	CHECK(cudaStreamSynchronize(origin));
	CHECK(cudaGraphLaunch(exec, origin));
	if (c.fixed) {
		CHECK(cudaEventRecord(done, origin));
		CHECK(cudaStreamWaitEvent(other, done, 0));
	}
	quick_copy<<<GRID, BLOCK, 0, other>>>(result, one, N);
	finish_graphs({exec});
	finish({origin, other}, {done}, {one, result});
}
