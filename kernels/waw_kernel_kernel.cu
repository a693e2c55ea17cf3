/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write, kernel against kernel",
	       "two kernels on two streams write their results into one buffer", "each stream has a buffer of its own");
	float *first = device_buffer(), *second = device_buffer();
	cudaStream_t a = new_stream(), b = new_stream();

	if (c.fixed) {
		spin_write<<<GRID, BLOCK, 0, a>>>(first, N, 1, SPIN_NS);
		spin_write<<<GRID, BLOCK, 0, b>>>(second, N, 2, SPIN_NS);
	} else {
		spin_write<<<GRID, BLOCK, 0, a>>>(first, N, 1, SPIN_NS);
		spin_write<<<GRID, BLOCK, 0, b>>>(first, N, 2, SPIN_NS);
	}
	CHECK_LAUNCH();
	finish({a, b}, {}, {first, second});
}
