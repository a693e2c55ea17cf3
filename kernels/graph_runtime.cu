/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

/* Nodes and copies that the runtime API makes: memory of graphs, conditional bodies, external events, batches. */

static void memory(const Case &c, const cudaStream_t stream[2])
{
	cudaMemAllocNodeParams p = {};
	cudaMemsetParams zero = {};
	cudaGraphNode_t alloc, fill;
	cudaGraph_t graph;
	cudaEvent_t done = new_event();

	p.poolProps.allocType = cudaMemAllocationTypePinned;
	p.poolProps.location.type = cudaMemLocationTypeDevice;
	p.bytesize = BYTES;
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &p));
	zero.dst = p.dptr;
	zero.elementSize = 1;
	zero.width = BYTES;
	zero.height = 1;
	CHECK(cudaGraphAddMemsetNode(&fill, graph, &alloc, 1, &zero));
	cudaGraphExec_t exec = instantiate(graph);

	CHECK(cudaGraphLaunch(exec, stream[0]));
	CHECK(cudaEventRecord(done, stream[0]));
	if (c.fixed)
		CHECK(cudaStreamWaitEvent(stream[1], done, 0));
	CHECK(cudaFreeAsync(p.dptr, stream[1]));
	finish_graphs({exec});
	CHECK(cudaEventDestroy(done));
}

static void body(const Case &c, const cudaStream_t stream[2], float *data)
{
	cudaGraphConditionalHandle handle;
	cudaGraphNodeParams p = {};
	cudaMemsetParams zero = {};
	cudaGraphNode_t fill, node, inner;
	cudaGraph_t graph;

	zero.dst = data;
	zero.elementSize = 1;
	zero.width = BYTES;
	zero.height = 1;
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
	CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
	p.type = cudaGraphNodeTypeConditional;
	p.conditional.handle = handle;
	p.conditional.type = cudaGraphCondTypeIf;
	p.conditional.size = 1;
#if CUDART_VERSION >= 13000
	CHECK(cudaGraphAddNode(&node, graph, &fill, nullptr, c.fixed ? 1 : 0, &p));
#else
	CHECK(cudaGraphAddNode(&node, graph, &fill, c.fixed ? 1 : 0, &p));
#endif
	CHECK(cudaGraphAddMemsetNode(&inner, p.conditional.phGraph_out[0], nullptr, 0, &zero));
	cudaGraphExec_t exec = instantiate(graph);

	CHECK(cudaGraphLaunch(exec, stream[0]));
	finish_graphs({exec});
}

static void external(const Case &c, const cudaStream_t stream[2], float *data, float *other)
{
	cudaEvent_t filled = new_event();

	CHECK(cudaStreamBeginCapture(stream[1], cudaStreamCaptureModeThreadLocal));
	CHECK(cudaStreamWaitEvent(stream[1], filled, cudaEventWaitExternal));
	CHECK(cudaMemcpyAsync(other, data, BYTES, cudaMemcpyDeviceToDevice, stream[1]));
	cudaGraphExec_t exec = end_capture(stream[1]);

	if (!c.fixed)
		CHECK(cudaEventRecord(filled, stream[0]));
	CHECK(cudaMemsetAsync(data, 1, BYTES, stream[0]));
	if (c.fixed)
		CHECK(cudaEventRecord(filled, stream[0]));
	CHECK(cudaGraphLaunch(exec, stream[1]));
	finish_graphs({exec});
	CHECK(cudaEventDestroy(filled));
}

/* Entries of one batch have no order among each other. */
static void batch(const Case &c, const cudaStream_t stream[2], float *data, float *other)
{
	size_t bytes = BYTES / 4;
	float *end = data + N / 2;
	void *to[] = {other, c.fixed ? static_cast<void *>(end) : data};
	const void *from[] = {data, other + N / 2};
	size_t sizes[] = {bytes, bytes}, first = 0;
	cudaMemcpyAttributes attributes = {};

	attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
#if CUDART_VERSION >= 13000
	CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream[0]));
#else
	CHECK(cudaMemcpyBatchAsync(to, const_cast<void **>(from), sizes, 2, &attributes, &first, 1, nullptr, stream[0]));
#endif
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "by what the runtime API makes of graphs and batches: SW105, SW107, SW101, SW108",
	       "memory of a graph is freed too early; a conditional body and a node write one buffer; a graph waits for an event "
	       "that was recorded too early; one entry of a batch writes what another one reads",
	       "the missing wait, dependency or record is there; the entries are apart", {"memory", "body", "external", "batch"});
	float *data = device_buffer(), *other = device_buffer();
	cudaStream_t stream[2] = {new_stream(), new_stream()};
	cudaStreamAttrValue policy = {};

	policy.syncPolicy = cudaSyncPolicyAuto;
	CHECK(cudaStreamSetAttribute(stream[0], cudaLaunchAttributeSynchronizationPolicy, &policy));
	CHECK(cudaStreamCopyAttributes(stream[1], stream[0]));
	CHECK(cudaStreamGetAttribute(stream[1], cudaLaunchAttributeSynchronizationPolicy, &policy));
	if (c.is("memory"))
		memory(c, stream);
	else if (c.is("body"))
		body(c, stream, data);
	else if (c.is("external"))
		external(c, stream, data, other);
	else
		batch(c, stream, data, other);
	finish({stream[0], stream[1]}, {}, {data, other}, {});
}
