/* SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>

#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW309 device-config",
	       "larger and larger stacks are asked for while kernels run: each call waits for the device",
	       "the limit is set before any work");
	float *data = device_buffer();
	cudaStream_t compute = new_stream();
	constexpr int MOST = 64; /* KiB a thread: all that can be resident get it */
	int rounds = std::min(c.rounds(8), MOST);
	size_t stack;

	CHECK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
	if (c.fixed)
		CHECK(cudaDeviceSetLimit(cudaLimitStackSize, stack + rounds * 1024));
	hot_begin();
	for (int i = 1; i <= rounds; i++) {
		spin_write<<<GRID, BLOCK, 0, compute>>>(data, N, 1, SPIN_NS);
		CHECK_LAUNCH();
		if (!c.fixed)
			CHECK(cudaDeviceSetLimit(cudaLimitStackSize, stack + i * 1024));
		host_work(HOST_NS);
	}
	finish({compute}, {}, {data});
}
