/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW304 legacy-stream-serialisation",
	       "sets on the legacy default stream between independent kernels of two streams keep these from "
	       "overlapping",
	       "the sets run on a stream of their own");
	float *a = device_buffer(), *b = device_buffer(), *flags = device_buffer();
	cudaStream_t first = new_stream(cudaStreamDefault), second = new_stream(cudaStreamDefault);
	cudaStream_t sets = new_stream();

	hot_begin();
	for (int i = 0; i < c.rounds(4); i++) {
		spin_write<<<GRID, BLOCK, 0, first>>>(a, N, 1, SPIN_NS);
		CHECK(cudaMemsetAsync(flags, 0, BYTES, c.fixed ? sets : cudaStreamLegacy));
		spin_write<<<GRID, BLOCK, 0, second>>>(b, N, 2, SPIN_NS);
		CHECK(cudaMemsetAsync(flags, 0, BYTES, c.fixed ? sets : cudaStreamLegacy));
	}
	CHECK_LAUNCH();
	finish({first, second, sets}, {}, {a, b, flags});
}
