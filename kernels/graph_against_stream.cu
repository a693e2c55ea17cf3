/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

/* Two branches read the buffer: neither stands for the other. */
static cudaGraphExec_t two_readers(float *data, float *one, float *two, cudaStream_t origin)
{
	cudaStream_t branch = new_stream();
	cudaEvent_t forked = new_event(), joined = new_event();

	CHECK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
	CHECK(cudaEventRecord(forked, origin));
	CHECK(cudaStreamWaitEvent(branch, forked, 0));
	spin_copy<<<GRID, BLOCK, 0, origin>>>(one, data, N, SPIN_NS);
	quick_copy<<<GRID, BLOCK, 0, branch>>>(two, data, N);
	CHECK(cudaEventRecord(joined, branch));
	CHECK(cudaStreamWaitEvent(origin, joined, 0));
	cudaGraphExec_t exec = end_capture(origin);
	CHECK(cudaEventDestroy(joined));
	CHECK(cudaEventDestroy(forked));
	CHECK(cudaStreamDestroy(branch));
	return exec;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101, SW102: races of a graph with a stream",
	       "a kernel on another stream reads what a node of a graph writes (node), or writes what two unordered "
	       "nodes read "
	       "(branches); nothing makes it wait for the launch",
	       "the launching stream records an event after the graph, the other stream waits for it",
	       {"node", "branches"});
	float *data = device_buffer(), *result = device_buffer(), *more = device_buffer();
	cudaStream_t launches = new_stream(), other = new_stream();
	cudaEvent_t done = new_event();
	cudaGraphExec_t exec;

	c.load(spin_copy, spin_write, quick_copy, quick_write);
	if (c.is("branches")) {
		exec = two_readers(data, result, more, launches);
	} else {
		CHECK(cudaStreamBeginCapture(launches, cudaStreamCaptureModeThreadLocal));
		spin_write<<<GRID, BLOCK, 0, launches>>>(data, N, 1, SPIN_NS);
		exec = end_capture(launches);
	}

	CHECK(cudaGraphLaunch(exec, launches));
	if (c.fixed) {
		CHECK(cudaEventRecord(done, launches));
		CHECK(cudaStreamWaitEvent(other, done, 0));
	}
	if (c.is("branches"))
		quick_write<<<GRID, BLOCK, 0, other>>>(data, N, 2);
	else
		quick_copy<<<GRID, BLOCK, 0, other>>>(result, data, N);
	CHECK_LAUNCH();
	finish_graphs({exec});
	finish({launches, other}, {done}, {data, result, more});
}
