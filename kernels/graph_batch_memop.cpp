/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_driver.h"

int main(int argc, char **argv)
{
	Options c(argc, argv, "SW101 race-read-after-write after a flag that a graph writes",
		  "the node that writes the flag does not depend on the node that fills the buffer",
		  "it depends on it");
	Device d;
	CUdeviceptr flag = d.buffer[2];
	CUgraph graph = new_graph();
	CUstreamBatchMemOpParams op = {};
	CUDA_BATCH_MEM_OP_NODE_PARAMS p = {};
	CUgraphNode write;

	CHECK(cuMemsetD8Async(flag, 0, 256, d.stream[0]));
	CHECK(cuStreamSynchronize(d.stream[0]));
	op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	op.writeValue.address = flag;
	op.writeValue.value = 1;
	p.ctx = d.context;
	p.count = 1;
	p.paramArray = &op;
	Nodes fill = {add_set(d, graph, {}, d.buffer[0])};
	CHECK(cuGraphAddBatchMemOpNode(&write, graph, fill.data(), c.fixed ? 1 : 0, &p));
	CUgraphExec exec = instantiate(graph);

	CHECK(cuGraphLaunch(exec, d.stream[0]));
	CHECK(cuStreamWaitValue32(d.stream[1], flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
	CHECK(cuMemcpyDtoDAsync(d.buffer[1], d.buffer[0], BYTES, d.stream[1]));
	CHECK(cuCtxSynchronize());
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
}
