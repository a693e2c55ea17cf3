// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch: what comes before and after griddepcontrol.wait, for which threads, and triggers.

__device__ __forceinline__ void grid_wait()
{
	asm volatile("griddepcontrol.wait;" ::: "memory");
}

__device__ __forceinline__ void trigger()
{
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

extern "C" __global__ void load_before_wait(float *out, const float *in, const float *weights)
{
	float w = weights[threadIdx.x];
	grid_wait();
	out[threadIdx.x] = w * in[threadIdx.x];
}

extern "C" __global__ void store_before_wait(float *out, float *flags, const float *in)
{
	flags[threadIdx.x] = 0;
	grid_wait();
	out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void trigger_only(float *out, const float *in)
{
	trigger();
	out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void trigger_last(float *out, const float *in)
{
	out[threadIdx.x] = in[threadIdx.x];
	__threadfence();
	trigger();
}

extern "C" __global__ void trigger_last_below(float *out, const float *in, int n)
{
	if (threadIdx.x >= n)
		return;
	out[threadIdx.x] = in[threadIdx.x];
	trigger();
}

extern "C" __global__ void trigger_then_wait(float *out, const float *in)
{
	trigger();
	grid_wait();
	out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void wait_then_trigger(float *out, const float *in)
{
	grid_wait();
	trigger();
	out[threadIdx.x] = in[threadIdx.x];
}

// One thread triggers for the block: others may not have stored yet.
extern "C" __global__ void one_triggers(float *out, const float *in)
{
	out[threadIdx.x] = in[threadIdx.x];
	if (threadIdx.x == 0)
		trigger();
}

extern "C" __global__ void one_triggers_for_all(float *out, const float *in)
{
	out[threadIdx.x] = in[threadIdx.x];
	__syncthreads();
	if (threadIdx.x == 0)
		trigger();
}

extern "C" __global__ void one_warp_waits(float *out, const float *in)
{
	if (threadIdx.x < 32)
		grid_wait();
	out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void one_warp_waits_for_all(float *out, const float *in, const float *early)
{
	float x = early[threadIdx.x];
	if (threadIdx.x < 32)
		grid_wait();
	__syncthreads();
	out[threadIdx.x] = x + in[threadIdx.x];
}

// A barrier of two warps is not one of the block.
extern "C" __global__ void named_barrier(float *out, const float *in)
{
	if (threadIdx.x < 32)
		grid_wait();
	if (threadIdx.x < 64)
		asm volatile("bar.sync 1, 64;" ::: "memory");
	out[threadIdx.x] = in[threadIdx.x];
}

// The barrier comes before the wait: it tells nobody anything.
extern "C" __global__ void barrier_first(float *out, const float *in, const float *early)
{
	__syncthreads();
	float x = early[threadIdx.x];
	grid_wait();
	out[threadIdx.x] = x + in[threadIdx.x];
}

extern "C" __global__ void wait_if(float *out, const float *in, int waits)
{
	if (waits)
		grid_wait();
	out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void one_warp_waits_if(float *out, const float *in, int waits)
{
	if (waits && threadIdx.x < 32)
		grid_wait();
	__syncthreads();
	out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void wait_on_both_ways(float *out, const float *in, int way)
{
	if (way > 3) {
		grid_wait();
		out[threadIdx.x] = in[threadIdx.x];
	} else {
		grid_wait();
		out[threadIdx.x] = in[threadIdx.x + 64];
	}
}

// Every second block has nobody that waits.
extern "C" __global__ void some_blocks_wait(float *out, const float *in)
{
	if (blockIdx.x % 2 == 0 && threadIdx.x == 0)
		grid_wait();
	__syncthreads();
	out[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void wait_by_data(float *out, const float *in, const int *flag)
{
	if (*flag)
		grid_wait();
	out[threadIdx.x] = in[threadIdx.x];
}

// What only the waiting warp does comes after its wait.
extern "C" __global__ void the_warp_that_waits(float *out, const float *in)
{
	if (threadIdx.x < 32) {
		grid_wait();
		out[threadIdx.x] = in[threadIdx.x];
	}
}

// A producer waits and signals by an mbarrier: whom that holds is not followed.
extern "C" __global__ void producer_waits(float *out, const float *in)
{
	__shared__ unsigned long long full;
	unsigned at = (unsigned)__cvta_generic_to_shared(&full);
	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
	__syncthreads();
	if (threadIdx.x == 0) {
		grid_wait();
		asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
	}
	if (threadIdx.x >= 32) {
		unsigned done = 0;
		while (!done)
			asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
				     : "=r"(done)
				     : "r"(at)
				     : "memory");
		out[threadIdx.x] = in[threadIdx.x];
	}
}

__device__ __noinline__ void wait_elsewhere(float *flags)
{
	flags[threadIdx.x] = 1;
	grid_wait();
}

extern "C" __global__ void wait_in_a_function(float *out, const float *in, float *flags)
{
	wait_elsewhere(flags);
	out[threadIdx.x] = in[threadIdx.x];
}
