/* SPDX-License-Identifier: Apache-2.0 */
#include <nvtx3/nvToolsExt.h>

#include <string>
#include <thread>

#include "case.h"

/* A step that must not wait: the range "step" of NVTX, whose first entry is a warm-up.  What is forbidden happens in
   the second one, or, done right, before, after, on another thread, or in a way that does not wait. */

__global__ void late_write(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = 1;
}

struct Step {
	float *data, *pinned, *pageable;
	cudaStream_t compute;
	std::string what;

	/* The call that is forbidden. */
	void wrong() const
	{
		void *p;

		if (what == "wait")
			CHECK(cudaStreamSynchronize(compute));
		else if (what == "value")
			CHECK(cudaMemcpy(pinned, data, sizeof *data, cudaMemcpyDeviceToHost));
		else if (what == "alloc")
			CHECK(cudaMalloc(&p, BYTES));
		else if (what == "free")
			CHECK(cudaFree(data));
		else if (what == "pin")
			CHECK(cudaHostRegister(pageable, BYTES, cudaHostRegisterDefault));
		else if (what == "pageable")
			CHECK(cudaMemcpyAsync(data, pageable, BYTES, cudaMemcpyHostToDevice, compute));
		else if (what == "load")
			late_write<<<GRID, BLOCK, 0, compute>>>(data, N);
		else
			quick_write<<<GRID, BLOCK>>>(data, N, 1);
		CHECK_LAUNCH();
	}

	/* The purpose without what is forbidden, where there is one. */
	void right() const
	{
		void *p;

		if (what == "value" || what == "pageable")
			CHECK(cudaMemcpyAsync(pinned, data, sizeof *data, cudaMemcpyDeviceToHost, compute));
		if (what == "alloc") {
			CHECK(cudaMallocAsync(&p, BYTES, compute));
			CHECK(cudaFreeAsync(p, compute));
		}
	}
};

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW601 to SW607 forbidden-*", "a step waits, allocates, pins or loads where a rule forbids it",
	       "it does so before or after the step, or on a thread that is not in it",
	       {"wait", "value", "alloc", "free", "pin", "pageable", "load", "device-wait"});
	Step step = {device_buffer(), pinned_buffer(), pageable_buffer(), new_stream(cudaStreamDefault), c.word(0)};
	cudaStream_t other = new_stream(cudaStreamDefault);
	float *second = device_buffer();

	if (c.fixed && step.what == "load")
		Case::load(late_write);
	for (int i = 0; i < 3; i++) {
		nvtxRangePushA("step");
		spin_write<<<GRID, BLOCK, 0, step.compute>>>(second, N, 1, 100000);
		CHECK_LAUNCH();
		if (i == 1 && !c.fixed)
			step.wrong();
		if (i == 1 && c.fixed && step.what == "load")
			step.wrong();
		if (i == 1 && c.fixed)
			step.right();
		if (i == 1 && c.fixed && step.what == "wait") /* a thread that is not in the step may */
			std::thread([&] { step.wrong(); }).join();
		if (i == 1 && step.what == "device-wait") {
			spin_write<<<GRID, BLOCK, 0, other>>>(step.data, N, 1, 100000);
			CHECK_LAUNCH();
		}
		nvtxRangePop();
	}
	CHECK(cudaDeviceSynchronize());
	if (c.fixed && step.what != "load")
		step.wrong();
	finish({step.compute, other}, {}, step.what == "free" ? std::initializer_list<float *>{second}
							      : std::initializer_list<float *>{second, step.data},
	       {step.pinned});
	if (step.what == "pin")
		CHECK(cudaHostUnregister(step.pageable));
	free(step.pageable);
}
