/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

/* Memory that a graph allocates and frees itself. */

static cudaGraphExec_t captured(const Case &c, cudaStream_t origin, cudaStream_t branch, float *other)
{
	float *data;
	cudaEvent_t fork = new_event(), join = new_event();
	const bool early = c.is("alloc") && !c.fixed;

	CHECK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
	if (early)
		CHECK(cudaEventRecord(fork, origin));
	CHECK(cudaMallocAsync(reinterpret_cast<void **>(&data), BYTES, origin));
	CHECK(cudaMemsetAsync(early ? other : data, 0, BYTES, origin));
	if (!early)
		CHECK(cudaEventRecord(fork, origin));
	CHECK(cudaStreamWaitEvent(branch, fork, 0));
	quick_write<<<GRID, BLOCK, 0, branch>>>(data, N, 1);
	CHECK_LAUNCH();
	CHECK(cudaEventRecord(join, branch));
	if (c.fixed || early) {
		CHECK(cudaStreamWaitEvent(origin, join, 0));
		CHECK(cudaFreeAsync(data, origin));
	} else {
		CHECK(cudaFreeAsync(data, origin));
		CHECK(cudaStreamWaitEvent(origin, join, 0));
	}
	return end_capture(origin);
}

/* A graph with the node that allocates; the later ones fill and free the memory. */
static cudaGraph_t new_graph(cudaGraphNode_t *alloc, cudaMemsetParams *zero)
{
	cudaMemAllocNodeParams p = {};
	cudaGraph_t graph;

	p.poolProps.allocType = cudaMemAllocationTypePinned;
	p.poolProps.location.type = cudaMemLocationTypeDevice;
	p.bytesize = BYTES;
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphAddMemAllocNode(alloc, graph, nullptr, 0, &p));
	zero->dst = p.dptr;
	zero->elementSize = 1;
	zero->width = BYTES;
	zero->height = 1;
	return graph;
}

static cudaGraphExec_t free_node(const Case &c)
{
	cudaMemsetParams zero = {};
	cudaGraphNode_t alloc, fill, release;
	cudaGraph_t graph = new_graph(&alloc, &zero);

	CHECK(cudaGraphAddMemsetNode(&fill, graph, &alloc, 1, &zero));
	if (c.fixed)
		CHECK(cudaGraphAddMemFreeNode(&release, graph, &fill, 1, zero.dst));
	else
		CHECK(cudaGraphAddMemFreeNode(&release, graph, &alloc, 1, zero.dst));
	return instantiate(graph);
}

static cudaGraphExec_t alloc_node(const Case &c)
{
	cudaMemsetParams zero = {};
	cudaGraphNode_t alloc, fill, release;
	cudaGraph_t graph = new_graph(&alloc, &zero);

	if (c.fixed)
		CHECK(cudaGraphAddMemsetNode(&fill, graph, &alloc, 1, &zero));
	else
		CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
	cudaGraphNode_t both[] = {alloc, fill};

	CHECK(cudaGraphAddMemFreeNode(&release, graph, both, 2, zero.dst));
	return instantiate(graph);
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW105 use-after-free and SW106 use-before-alloc within one graph",
	       "a branch of the graph still uses the memory that the graph frees, or uses it before it is allocated: "
	       "in a "
	       "capture, and by nodes",
	       "the free comes after the use, the use after the allocation",
	       {"free", "alloc", "free_node", "alloc_node"});
	float *other = device_buffer();
	cudaStream_t origin = new_stream(), branch = new_stream();
	cudaGraphExec_t exec = c.is("free_node")    ? free_node(c)
			       : c.is("alloc_node") ? alloc_node(c)
						    : captured(c, origin, branch, other);

	CHECK(cudaGraphLaunch(exec, origin));
	CHECK(cudaGraphLaunch(exec, origin));
	finish_graphs({exec});
	finish({origin, branch}, {}, {other});
}
