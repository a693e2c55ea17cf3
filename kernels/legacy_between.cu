/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW304 legacy-stream-serialisation",
	       "a set on the legacy default stream between two independent kernels keeps the second from running "
	       "beside the "
	       "first",
	       "the set runs on a stream of its own");
	float *a = device_buffer(), *b = device_buffer(), *flags = device_buffer();
	cudaStream_t first = new_stream(cudaStreamDefault), second = new_stream(cudaStreamDefault);
	cudaStream_t sets = new_stream();

	for (int i = 0; i < 4; i++) {
		spin_write<<<GRID, BLOCK, 0, first>>>(a, N, 1, SPIN_NS);
		CHECK(cudaMemsetAsync(flags, 0, BYTES, c.fixed ? sets : cudaStreamLegacy));
		spin_write<<<GRID, BLOCK, 0, second>>>(b, N, 2, SPIN_NS);
	}
	CHECK_LAUNCH();
	finish({first, second, sets}, {}, {a, b, flags});
}
