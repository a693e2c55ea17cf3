/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

/* Memory that a captured graph allocates and frees. */

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW105 use-after-free and SW106 use-before-alloc within one graph",
	       "a branch of the graph still reads the memory that the graph frees, or reads it before it is allocated",
	       "the free comes after the branches are joined; the branch begins after the allocation",
	       {"free", "alloc"});
	float *data, *other = device_buffer();
	cudaStream_t origin = new_stream(), branch = new_stream();
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
	cudaGraphExec_t exec = end_capture(origin);

	CHECK(cudaGraphLaunch(exec, origin));
	finish_graphs({exec});
	finish({origin, branch}, {fork, join}, {other});
}
