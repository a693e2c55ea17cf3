/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW309 device-config",
	       "a larger stack is asked for while a kernel runs: the call waits for the device",
	       "the limit is set before any work");
	float *data = device_buffer();
	cudaStream_t compute = new_stream();
	size_t stack;

	CHECK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
	if (c.fixed)
		CHECK(cudaDeviceSetLimit(cudaLimitStackSize, stack + 1024));
	spin_write<<<GRID, BLOCK, 0, compute>>>(data, N, 1, SPIN_NS);
	CHECK_LAUNCH();
	if (!c.fixed)
		CHECK(cudaDeviceSetLimit(cudaLimitStackSize, stack + 1024));
	finish({compute}, {}, {data});
}
