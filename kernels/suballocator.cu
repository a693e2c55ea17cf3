/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* One allocation cut into buffers by the program itself, as frameworks do. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write inside a program's own memory pool",
	       "a buffer of the pool is handed to a second stream while the first still works on it",
	       "each stream gets a buffer of its own");
	constexpr int BUFFERS = 8, EACH = N / BUFFERS;
	float *pool = device_buffer();
	cudaStream_t stream[BUFFERS];

	for (int i = 0; i < BUFFERS; i++)
		stream[i] = new_stream();
	for (int i = 0; i < BUFFERS; i++) {
		float *buffer = pool + (size_t)i * EACH;

		spin_write<<<EACH / BLOCK, BLOCK, 0, stream[i]>>>(buffer, EACH, 1, SPIN_NS);
		CHECK_LAUNCH();
		CHECK(cudaMemsetAsync(buffer, 0, EACH * sizeof(float), stream[i]));
	}
	if (!c.fixed)
		CHECK(cudaMemsetAsync(pool, 0, EACH * sizeof(float), stream[1]));
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < BUFFERS; i++)
		CHECK(cudaStreamDestroy(stream[i]));
	finish({}, {}, {pool});
}
