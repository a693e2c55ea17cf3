/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

/* A writer and a reader on two branches, that share a buffer or do not. */
static cudaGraph_t capture(cudaStream_t origin, cudaStream_t branch, cudaEvent_t forked, cudaEvent_t joined, float *written,
			   float *read, float *result)
{
	CHECK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
	CHECK(cudaEventRecord(forked, origin));
	CHECK(cudaStreamWaitEvent(branch, forked, 0));
	spin_write<<<GRID, BLOCK, 0, origin>>>(written, N, 1, SPIN_NS);
	quick_copy<<<GRID, BLOCK, 0, branch>>>(result, read, N);
	CHECK(cudaEventRecord(joined, branch));
	CHECK(cudaStreamWaitEvent(origin, joined, 0));
	return end_capture_graph(origin);
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW107 graph-branch-race, after an update",
	       "an executable graph whose branches use two buffers is updated from a capture where both use one",
	       "the capture that it is updated from gives each branch a buffer of its own");
	float *one = device_buffer(), *two = device_buffer(), *result = device_buffer();
	cudaStream_t origin = new_stream(), branch = new_stream();
	cudaEvent_t forked = new_event(), joined = new_event();
	cudaGraphExec_t exec = instantiate(capture(origin, branch, forked, joined, one, two, result));
	cudaGraph_t other = capture(origin, branch, forked, joined, c.fixed ? two : one, one, result);
	cudaGraphExecUpdateResultInfo info;

	CHECK(cudaGraphLaunch(exec, origin));
	CHECK(cudaGraphExecUpdate(exec, other, &info));
	CHECK(cudaGraphLaunch(exec, origin));
	CHECK(cudaGraphDestroy(other));
	finish_graphs({exec});
	finish({origin, branch}, {forked, joined}, {one, two, result});
}
