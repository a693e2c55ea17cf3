/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

static cudaGraphExec_t capture_write(cudaStream_t on, float *data, float value)
{
	CHECK(cudaStreamBeginCapture(on, cudaStreamCaptureModeThreadLocal));
	spin_write<<<GRID, BLOCK, 0, on>>>(data, N, value, SPIN_NS);
	return end_capture(on);
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write, two executable graphs",
	       "two executable graphs that write one buffer are launched on two streams: only launches of one and the same "
	       "follow each other by themselves",
	       "it is one executable graph, launched on both streams");
	float *data = device_buffer();
	cudaStream_t a = new_stream(), b = new_stream();
	cudaGraphExec_t first = capture_write(a, data, 1), second = capture_write(b, data, 2);

	CHECK(cudaGraphLaunch(first, a));
	CHECK(cudaGraphLaunch(c.fixed ? first : second, b));
	finish_graphs({first, second});
	finish({a, b}, {}, {data});
}
