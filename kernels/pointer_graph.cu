/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

constexpr int BATCH = 8, PART = N / BATCH;

__global__ void spin_batch(float *const *out, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float *mine = out[blockIdx.y];

	spin_for(ns);
	if (i < n)
		mine[i] = 1;
}

static void fill(float **list, float *data)
{
	for (int i = 0; i < BATCH; i++)
		list[i] = data + i * PART;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 by a pointer in device memory that a kernel of a graph follows",
	       "a kernel node writes, by a table of pointers, what another stream copies at the same time",
	       "the copy waits for an event recorded after the graph", {"uploaded", "node", "captured", "refilled"});
	/* Where a node copies the table the host may change it before the launch, as "refilled" does. */
	bool node = c.is("node"), uploaded = c.is("uploaded"), refilled = c.is("refilled");
	float *data = device_buffer(), *other = device_buffer(), *host = pinned_buffer();
	float **table = reinterpret_cast<float **>(device_buffer(BATCH * sizeof(float *)));
	float **list = reinterpret_cast<float **>(pinned_buffer(BATCH * sizeof(float *))), *pageable[BATCH];
	size_t bytes = sizeof pageable;
	cudaStream_t compute = new_stream(), copies = new_stream();
	cudaEvent_t written = new_event();
	cudaGraph_t graph;
	cudaGraphNode_t upload, batch;
	int n = PART;
	unsigned ns = SPIN_NS / 8;
	void *args[] = {&table, &n, &ns};
	cudaKernelNodeParams kernel = {};

	c.load(spin_batch);
	fill(list, data);
	fill(pageable, data);
	if (uploaded)
		CHECK(cudaMemcpyAsync(table, pageable, bytes, cudaMemcpyHostToDevice, compute));
	if (node) {
		kernel.func = reinterpret_cast<void *>(spin_batch);
		kernel.gridDim = dim3(PART / BLOCK, BATCH);
		kernel.blockDim = dim3(BLOCK);
		kernel.kernelParams = args;
		CHECK(cudaGraphCreate(&graph, 0));
		CHECK(cudaGraphAddMemcpyNode1D(&upload, graph, nullptr, 0, table, list, bytes, cudaMemcpyHostToDevice));
		CHECK(cudaGraphAddKernelNode(&batch, graph, &upload, 1, &kernel));
	} else {
		CHECK(cudaStreamBeginCapture(compute, cudaStreamCaptureModeGlobal));
		if (!uploaded)
			CHECK(cudaMemcpyAsync(table, list, bytes, cudaMemcpyHostToDevice, compute));
		spin_batch<<<dim3(PART / BLOCK, BATCH), BLOCK, 0, compute>>>(table, PART, ns);
		graph = end_capture_graph(compute);
	}
	cudaGraphExec_t exec = instantiate(graph);
	if (refilled) {
		CHECK(cudaGraphLaunch(exec, compute));
		CHECK(cudaStreamSynchronize(compute));
		fill(list, other);
	}
	CHECK(cudaGraphLaunch(exec, compute));
	if (c.fixed) {
		CHECK(cudaEventRecord(written, compute));
		CHECK(cudaStreamWaitEvent(copies, written, 0));
	}
	CHECK(cudaMemcpyAsync(host, data + 3 * PART, PART * sizeof(float), cudaMemcpyDeviceToHost, copies));
	finish_graphs({exec});
	finish({compute, copies}, {written}, {data, other, reinterpret_cast<float *>(table)},
	       {host, reinterpret_cast<float *>(list)});
}
