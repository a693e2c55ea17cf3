/* SPDX-License-Identifier: Apache-2.0 */
#include "pdl.h"

/* Three kernels of one stream: the second triggers before it waits for the first, so the third may begin while the
   first still runs.  It touches nothing of the second, and its own wait comes after the load. */

__global__ void trigger_then_wait(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	grid_trigger();
	grid_wait();
	if (i < n)
		out[i] = 1;
}

__global__ void wait_then_trigger(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	grid_wait();
	grid_trigger();
	if (i < n)
		out[i] = 1;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW109 programmatic-launch-race",
	       "a kernel reads, before its wait, what the kernel before the last one writes, and the last one "
	       "triggered before its own wait",
	       "the kernel in between waits before it triggers");
	float *input = device_buffer(), *data = device_buffer(), *other = device_buffer(), *result = device_buffer();
	cudaStream_t s = new_stream();

	c.load(spin_trigger_early, copy_before_wait, trigger_then_wait, wait_then_trigger);
	spin_trigger_early<<<PDL_GRID, BLOCK, 0, s>>>(data, input, PDL_N, SPIN_NS);
	launch_overlapping(s, c.fixed ? wait_then_trigger : trigger_then_wait, other, PDL_N);
	launch_overlapping(s, copy_before_wait, result, data, PDL_N);
	CHECK_LAUNCH();
	finish({s}, {}, {input, data, other, result});
}
