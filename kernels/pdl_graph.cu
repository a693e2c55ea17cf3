/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"
#include "pdl.h"

/* Programmatic edges of graphs: the second kernel may begin when the first triggers. */

static void captured(const Case &c, cudaStream_t s, float *result, float *data, const float *input)
{
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	spin_trigger_early<<<PDL_GRID, BLOCK, 0, s>>>(data, input, PDL_N, SPIN_NS);
	launch_overlapping(s, c.fixed ? wait_then_copy : copy_before_wait, result, data, PDL_N);
	cudaGraphExec_t exec = end_capture(s);

	CHECK(cudaGraphLaunch(exec, s));
	finish_graphs({exec});
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, void *kernel, void **arguments, const cudaGraphNode_t *after,
				  const cudaGraphEdgeData *edge)
{
	cudaGraphNodeParams p = {};
	cudaGraphNode_t node;

	p.type = cudaGraphNodeTypeKernel;
	p.kernel.func = kernel;
	p.kernel.gridDim = PDL_GRID;
	p.kernel.blockDim = BLOCK;
	p.kernel.kernelParams = arguments;
#if CUDART_VERSION >= 13000
	CHECK(cudaGraphAddNode(&node, graph, after, edge, after ? 1 : 0, &p));
#else
	CHECK(cudaGraphAddNode_v2(&node, graph, after, edge, after ? 1 : 0, &p));
#endif
	return node;
}

static void added(const Case &c, cudaStream_t s, float *result, float *data, float *input)
{
	cudaGraphEdgeData edge = {};
	cudaGraph_t graph;
	int n = PDL_N;
	unsigned ns = SPIN_NS;
	void *first_arguments[] = {&data, &input, &n, &ns}, *second_arguments[] = {&result, &data, &n};

	if (!c.fixed) { /* else a plain one: the second kernel begins when the first has ended */
		edge.type = cudaGraphDependencyTypeProgrammatic;
		edge.from_port = cudaGraphKernelNodePortProgrammatic;
	}
	CHECK(cudaGraphCreate(&graph, 0));
	cudaGraphNode_t first = add_kernel(graph, (void *)spin_trigger_early, first_arguments, nullptr, nullptr);

	add_kernel(graph, (void *)copy_before_wait, second_arguments, &first, &edge);
	cudaGraphExec_t exec = instantiate(graph);

	CHECK(cudaGraphLaunch(exec, s));
	finish_graphs({exec});
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW109 programmatic-launch-race",
	       "the second kernel of a graph reads what the first one writes, before it waits for it",
	       "it waits first; or the edge is a plain one", {"capture", "edge"});
	float *input = device_buffer(), *data = device_buffer(), *result = device_buffer();
	cudaStream_t s = new_stream();

	c.load(spin_trigger_early, wait_then_copy, copy_before_wait);
	if (c.is("capture"))
		captured(c, s, result, data, input);
	else
		added(c, s, result, data, input);
	CHECK_LAUNCH();
	finish({s}, {}, {input, data, result});
}
