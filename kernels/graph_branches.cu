/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW107 graph-branch-race, in a captured graph",
	       "two branches of a capture write and read one buffer; the fork and the join do not order the two",
	       "the reading branch waits for an event after the writer");
	float *data = device_buffer(), *result = device_buffer();
	cudaStream_t origin = new_stream(), branch = new_stream();
	cudaEvent_t forked = new_event(), written = new_event(), joined = new_event();

	CHECK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
	CHECK(cudaEventRecord(forked, origin));
	CHECK(cudaStreamWaitEvent(branch, forked, 0));
	spin_write<<<GRID, BLOCK, 0, origin>>>(data, N, 1, SPIN_NS);
	if (c.fixed) {
		CHECK(cudaEventRecord(written, origin));
		CHECK(cudaStreamWaitEvent(branch, written, 0));
	}
	quick_copy<<<GRID, BLOCK, 0, branch>>>(result, data, N);
	CHECK(cudaEventRecord(joined, branch));
	CHECK(cudaStreamWaitEvent(origin, joined, 0));
	cudaGraphExec_t exec = end_capture(origin);

	for (int i = 0; i < 3; i++)
		CHECK(cudaGraphLaunch(exec, origin));
	finish_graphs({exec});
	finish({origin, branch}, {forked, written, joined}, {data, result});
}
