/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* The textbook overlap of copy and compute: each chunk of one array has its stream; kernels get a pointer to the chunk.
 */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write between neighbouring chunks",
	       "each copy to the device is one float longer than its chunk: the first float of the next chunk is "
	       "written by "
	       "two streams",
	       "each copy is as long as its chunk");
	constexpr int CHUNKS = 4, EACH = N / CHUNKS;
	float *from = pinned_buffer(BYTES + sizeof(float)), *to = pinned_buffer();
	float *in = device_buffer(BYTES + sizeof(float)), *out = device_buffer();
	cudaStream_t stream[CHUNKS];

	for (int i = 0; i < CHUNKS; i++)
		stream[i] = new_stream();
	for (int i = 0; i < CHUNKS; i++) {
		size_t at = (size_t)i * EACH;

		CHECK(cudaMemcpyAsync(in + at, from + at, (EACH + (c.fixed ? 0 : 1)) * sizeof(float),
				      cudaMemcpyHostToDevice, stream[i]));
		spin_copy<<<EACH / BLOCK, BLOCK, 0, stream[i]>>>(out + at, in + at, EACH, SPIN_NS);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyAsync(to + at, out + at, EACH * sizeof(float), cudaMemcpyDeviceToHost, stream[i]));
	}
	finish({stream[0], stream[1], stream[2], stream[3]}, {}, {in, out}, {from, to});
}
