/* SPDX-License-Identifier: Apache-2.0 */
#include "pdl.h"

/* Two kernels of one stream, the second of which may begin when the first triggers. */

__global__ void spin_trigger_late(float *out, const float *in, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		out[i] = in[i] + 1;
	__threadfence();
	grid_trigger();
}

__global__ void write_before_wait(float *out, int n, float value)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = value;
	grid_wait();
}

__global__ void wait_then_write(float *out, int n, float value)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	grid_wait();
	if (i < n)
		out[i] = value;
}

__global__ void one_warp_waits(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (threadIdx.x < 32)
		grid_wait();
	if (i < n)
		out[i] = in[i];
}

__global__ void one_warp_waits_for_all(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (threadIdx.x < 32)
		grid_wait();
	__syncthreads();
	if (i < n)
		out[i] = in[i];
}

__global__ void wait_perhaps(float *out, const float *in, int n, int waits)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (waits)
		grid_wait();
	if (i < n)
		out[i] = in[i];
}

__global__ void weigh_then_wait(float *out, const float *in, const float *weights, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float weight = i < n ? weights[i] : 0;

	grid_wait();
	if (i < n)
		out[i] = weight * in[i];
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW109 programmatic-launch-race",
	       "the second kernel touches memory of the first one before it waits for it, or never waits",
	       "it waits first; what it reads before that, nobody writes",
	       {"read", "write", "late", "warp", "parameter", "weights", "set", "trigger"});
	float *input = device_buffer(), *data = device_buffer(), *result = device_buffer(), *other = device_buffer();
	cudaStream_t s = new_stream();
	const auto early = [&] { spin_trigger_early<<<PDL_GRID, BLOCK, 0, s>>>(data, input, PDL_N, SPIN_NS); };

	c.load(spin_trigger_early, spin_trigger_late, wait_then_copy, copy_before_wait, write_before_wait,
	       wait_then_write, one_warp_waits, one_warp_waits_for_all, wait_perhaps, weigh_then_wait);
	if (c.is("read")) { /* stale data */
		early();
		launch_overlapping(s, c.fixed ? wait_then_copy : copy_before_wait, result, data, PDL_N);
	} else if (c.is("write")) { /* the first kernel reads what the second one wrote */
		early();
		launch_overlapping(s, c.fixed ? wait_then_write : write_before_wait, input, PDL_N, 2.0f);
	} else if (c.is("late")) { /* works as measured: no document promises it */
		spin_trigger_late<<<PDL_GRID, BLOCK, 0, s>>>(data, input, PDL_N, SPIN_NS);
		launch_overlapping(s, c.fixed ? wait_then_copy : copy_before_wait, result, data, PDL_N);
	} else if (c.is("warp")) { /* the other warps do not wait */
		early();
		launch_overlapping(s, c.fixed ? one_warp_waits_for_all : one_warp_waits, result, data, PDL_N);
	} else if (c.is("parameter")) { /* no wait in this launch */
		early();
		launch_overlapping(s, wait_perhaps, result, data, PDL_N, c.fixed ? 1 : 0);
	} else if (c.is("weights")) { /* constants may be read before the wait */
		early();
		launch_overlapping(s, weigh_then_wait, result, data, c.fixed ? other : data, PDL_N);
	} else if (c.is("set")) { /* other work between the two orders both */
		early();
		if (c.fixed)
			CHECK(cudaMemsetAsync(other, 0, BYTES, s));
		launch_overlapping(s, copy_before_wait, result, data, PDL_N);
	} else { /* without a trigger nothing begins early */
		if (c.fixed)
			spin_copy<<<PDL_GRID, BLOCK, 0, s>>>(data, input, PDL_N, SPIN_NS);
		else
			early();
		launch_overlapping(s, copy_before_wait, result, data, PDL_N);
	}
	CHECK_LAUNCH();
	finish({s}, {}, {input, data, result, other});
}
