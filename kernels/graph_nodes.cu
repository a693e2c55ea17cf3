/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

/* What a node depends on is written in different ways in the calls that add it. */

static cudaMemsetParams zeros(float *data)
{
	cudaMemsetParams zero = {};

	zero.dst = data;
	zero.elementSize = 1;
	zero.width = BYTES;
	zero.height = 1;
	return zero;
}

/* Nothing. */
static void alone(const Case &c, cudaGraph_t graph, float *data, float *out)
{
	cudaMemsetParams zero = zeros(data);
	cudaGraphNode_t fill, download;

	CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
	if (c.fixed)
		CHECK(cudaGraphAddMemcpyNode1D(&download, graph, &fill, 1, out, data, BYTES, cudaMemcpyDeviceToHost));
	else
		CHECK(cudaGraphAddMemcpyNode1D(&download, graph, nullptr, 0, out, data, BYTES, cudaMemcpyDeviceToHost));
}

/* One node, but not the one that writes. */
static void other(const Case &c, cudaGraph_t graph, float *data, float *out)
{
	cudaGraphNode_t begin, write, download;
	cudaKernelNodeParams p = {};
	int n = N;
	float value = 1;
	void *arguments[] = {&data, &n, &value};

	p.func = reinterpret_cast<void *>(quick_write);
	p.gridDim = GRID;
	p.blockDim = BLOCK;
	p.kernelParams = arguments;
	CHECK(cudaGraphAddEmptyNode(&begin, graph, nullptr, 0));
	CHECK(cudaGraphAddKernelNode(&write, graph, &begin, 1, &p));
	if (c.fixed) {
		CHECK(cudaGraphAddMemcpyNode1D(&download, graph, &write, 1, out, data, BYTES, cudaMemcpyDeviceToHost));
	} else {
		CHECK(cudaGraphAddMemcpyNode1D(&download, graph, &begin, 1, out, data, BYTES, cudaMemcpyDeviceToHost));
	}
}

/* The graph that holds the node is what must depend. */
static void child(const Case &c, cudaGraph_t graph, float *data, float *out)
{
	cudaMemsetParams zero = zeros(data);
	cudaGraphNode_t fill, inner, download;
	cudaGraph_t part;

	CHECK(cudaGraphCreate(&part, 0));
	CHECK(cudaGraphAddMemcpyNode1D(&inner, part, nullptr, 0, out, data, BYTES, cudaMemcpyDeviceToHost));
	CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
	if (c.fixed)
		CHECK(cudaGraphAddChildGraphNode(&download, graph, &fill, 1, part));
	else
		CHECK(cudaGraphAddChildGraphNode(&download, graph, nullptr, 0, part));
	CHECK(cudaGraphDestroy(part));
}

/* A list that is made elsewhere. */
static void list(const Case &c, cudaGraph_t graph, float *data, float *out)
{
	cudaMemsetParams zero = zeros(data);
	cudaGraphNode_t first, second, fill, download;

	CHECK(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
	CHECK(cudaGraphAddEmptyNode(&second, graph, nullptr, 0));
	CHECK(cudaGraphAddMemsetNode(&fill, graph, &first, 1, &zero));
	cudaGraphNode_t before[] = {first, second, fill};

	CHECK(cudaGraphAddMemcpyNode1D(&download, graph, before, c.fixed ? 3 : 2, out, data, BYTES,
				       cudaMemcpyDeviceToHost));
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW107 graph-branch-race, whatever the call that adds the later node lists",
	       "a node that reads a buffer does not depend on the node that writes it, but on nothing, on another "
	       "node, in "
	       "a child graph, or on a list of others",
	       "it depends on it", {"alone", "other", "child", "list"});
	float *data = device_buffer(), *out = pinned_buffer();
	cudaStream_t stream = new_stream();
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	if (c.is("alone"))
		alone(c, graph, data, out);
	else if (c.is("other"))
		other(c, graph, data, out);
	else if (c.is("child"))
		child(c, graph, data, out);
	else
		list(c, graph, data, out);
	cudaGraphExec_t exec = instantiate(graph);

	CHECK(cudaGraphLaunch(exec, stream));
	finish_graphs({exec});
	finish({stream}, {}, {data}, {out});
}
