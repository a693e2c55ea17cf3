/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points that came after CUDA 13.0, asked for by name: where the driver has none of that name the program ends
   with 77. */
#include "graph_driver.h"

template <typename F> static F entry(const char *name, int version)
{
	CUdriverProcAddressQueryResult answer;
	void *found = nullptr;

	if (cuGetProcAddress(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &answer) != CUDA_SUCCESS || !found) {
		fprintf(stderr, "the driver has no %s of CUDA %d.%d\n", name, version / 1000, version % 1000 / 10);
		exit(77);
	}
	return reinterpret_cast<F>(found);
}

static void copy(CUdeviceptr to, CUdeviceptr from, CUmemcpySrcAccessOrder order, CUstream stream)
{
	auto call = entry<CUresult (*)(CUdeviceptr, CUdeviceptr, size_t, CUmemcpyAttributes *, CUstream)>(
		"cuMemcpyWithAttributesAsync", 13020);
	CUmemcpyAttributes attributes = {};

	attributes.srcAccessOrder = order;
	CHECK(call(to, from, BYTES, &attributes, stream));
}

static void copy_box(CUdeviceptr to, CUdeviceptr from, CUmemcpySrcAccessOrder order, CUstream stream)
{
	auto call = entry<CUresult (*)(CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream)>(
		"cuMemcpy3DWithAttributesAsync", 13020);
	CUDA_MEMCPY3D_BATCH_OP op = {};

	op.src.type = op.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
	op.src.op.ptr.ptr = from;
	op.dst.op.ptr.ptr = to;
	op.extent = {BYTES / 64, 64, 1};
	op.srcAccessOrder = order;
	CHECK(call(&op, 0, stream));
}

/* One copy whose source is, or is not, read in the order of its stream, which fills it before. */
static void source_order(const Options &c, Device &d, CUmemcpySrcAccessOrder order, bool box)
{
	void *pinned;

	CHECK(cuMemHostAlloc(&pinned, BYTES, 0));
	const CUdeviceptr host = reinterpret_cast<CUdeviceptr>(pinned);

	CHECK(cuMemcpyDtoHAsync(pinned, d.buffer[0], BYTES, d.stream[0]));
	(box ? copy_box : copy)(d.buffer[1], host, c.fixed ? CU_MEMCPY_SRC_ACCESS_ORDER_STREAM : order, d.stream[0]);
	CHECK(cuCtxSynchronize());
	CHECK(cuMemFreeHost(pinned));
}

struct Recapture {
	CUgraphExec exec;
	CUcontext context;
	int differ;
};

/* What the header calls CUgraphRecaptureCallback. */
static CUresult CUDA_CB take_over(void *data, CUgraphNode node, const CUgraphNodeParams *, const CUgraphNodeParams *now,
				  unsigned)
{
	Recapture *r = static_cast<Recapture *>(data);
	CUDA_MEMSET_NODE_PARAMS p = {};

	r->differ++;
	p.dst = now->memset.dst;
	p.value = now->memset.value;
	p.elementSize = now->memset.elementSize;
	p.width = now->memset.width;
	p.height = now->memset.height;
	return cuGraphExecMemsetNodeSetParams(r->exec, node, &p, r->context);
}

/* A graph is captured again with another buffer, and its executable graph takes that over while it is captured. */
static void recapture(const Options &c, Device &d)
{
	auto begin = entry<CUresult (*)(CUstream, CUstreamCaptureMode, CUgraph,
					CUresult(CUDA_CB *)(void *, CUgraphNode, const CUgraphNodeParams *,
							    const CUgraphNodeParams *, unsigned),
					void *)>("cuStreamBeginRecaptureToGraph", 13030);
	CUgraph graph, again;

	CHECK(cuStreamBeginCapture(d.stream[0], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	CHECK(cuMemsetD8Async(d.buffer[0], 1, BYTES, d.stream[0]));
	CHECK(cuStreamEndCapture(d.stream[0], &graph));

	Recapture r = {instantiate(graph), d.context, 0};

	CHECK(begin(d.stream[0], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, graph, take_over, &r));
	CHECK(cuMemsetD8Async(d.buffer[1], 1, BYTES, d.stream[0]));
	CHECK(cuStreamEndCapture(d.stream[0], &again));
	if (again != graph || r.differ != 1)
		exit(1);
	CHECK(cuGraphLaunch(r.exec, d.stream[0]));
	/* What the graph was made with, and no longer touches, or what it touches now. */
	CHECK(cuMemcpyDtoDAsync(d.buffer[2], d.buffer[c.fixed ? 0 : 1], BYTES, d.stream[1]));
	CHECK(cuCtxSynchronize());
	CHECK(cuGraphExecDestroy(r.exec));
	CHECK(cuGraphDestroy(graph));
}

int main(int argc, char **argv)
{
	Options c(argc, argv, "SW104 and SW101 with entry points of CUDA 13.1 to 13.5",
		  "the source of one copy is read during the call (during), at any time (any), or so are layers of it "
		  "(layers), while earlier work of its stream still fills it; or another stream reads what a graph "
		  "writes "
		  "since it was captured again (recapture)",
		  "the source is read in stream order; the other stream reads what the graph wrote before",
		  {"during", "any", "layers", "recapture"});
	Device d;

	if (c.is("recapture"))
		recapture(c, d);
	else
		source_order(c, d,
			     c.is("during") ? CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL
					    : CU_MEMCPY_SRC_ACCESS_ORDER_ANY,
			     c.is("layers"));
}
