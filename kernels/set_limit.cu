/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW309 device-config",
	       "larger and larger stacks are asked for while kernels run: each call waits for the device",
	       "the limit is set before any work");
	float *data = device_buffer();
	cudaStream_t compute = new_stream();
	size_t stack;

	CHECK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
	if (c.fixed)
		CHECK(cudaDeviceSetLimit(cudaLimitStackSize, stack + 8 * 1024));
	for (int i = 1; i <= 8; i++) {
		spin_write<<<GRID, BLOCK, 0, compute>>>(data, N, 1, SPIN_NS);
		CHECK_LAUNCH();
		if (!c.fixed)
			CHECK(cudaDeviceSetLimit(cudaLimitStackSize, stack + i * 1024));
	}
	finish({compute}, {}, {data});
}
