/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the programs about graphs share. */
#ifndef KERNELS_GRAPH_H
#define KERNELS_GRAPH_H

#include "case.h"

inline cudaGraphExec_t instantiate(cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

inline cudaGraph_t end_capture_graph(cudaStream_t origin)
{
	cudaGraph_t graph;

	CHECK(cudaStreamEndCapture(origin, &graph));
	return graph;
}

inline cudaGraphExec_t end_capture(cudaStream_t origin)
{
	return instantiate(end_capture_graph(origin));
}

/* The usual order: what runs is done before it is returned. */
inline void finish_graphs(std::initializer_list<cudaGraphExec_t> execs)
{
	CHECK(cudaDeviceSynchronize());
	for (cudaGraphExec_t exec : execs)
		CHECK(cudaGraphExecDestroy(exec));
}

#endif
