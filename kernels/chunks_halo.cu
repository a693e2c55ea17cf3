/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* Needs one element on each side of what it writes. */
__global__ void spin_blur(float *out, const float *in, int first, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		out[first + i] = in[first + i - 1] + in[first + i] + in[first + i + 1];
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 and SW102 between neighbouring chunks, by the code of the kernel",
	       "chunks of one array are copied and blurred by streams of their own, without a gap between them: each "
	       "kernel reads the last or first element of its neighbours, which their streams copy",
	       "each stream copies the halo of its chunk to a place of its own");
	constexpr int CHUNKS = 4, EACH = N / CHUNKS;
	/* Apart by two elements in the fixed case: room for the halo. */
	int apart = EACH + (c.fixed ? 2 : 0);
	float *from = pinned_buffer(BYTES + 2 * sizeof(float)), *to = pinned_buffer();
	float *in = device_buffer((CHUNKS * (size_t)apart + 2) * sizeof(float)), *out = device_buffer(2 * BYTES);
	cudaStream_t stream[CHUNKS];

	c.load(spin_blur);
	for (int i = 0; i < CHUNKS; i++)
		stream[i] = new_stream();
	CHECK(cudaMemsetAsync(in, 0, sizeof(float), stream[0]));
	CHECK(cudaMemsetAsync(in + CHUNKS * apart + 1, 0, sizeof(float), stream[CHUNKS - 1]));
	for (int i = 0; i < CHUNKS; i++) {
		int first = 1 + i * apart, halo = c.fixed ? 1 : 0;

		CHECK(cudaMemcpyAsync(in + first - halo, from + i * EACH + 1 - halo, (EACH + 2 * halo) * sizeof(float),
				      cudaMemcpyHostToDevice, stream[i]));
		spin_blur<<<EACH / BLOCK, BLOCK, 0, stream[i]>>>(out, in, first, EACH, SPIN_NS);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyAsync(to + i * EACH, out + first, EACH * sizeof(float), cudaMemcpyDeviceToHost,
				      stream[i]));
	}
	finish({stream[0], stream[1], stream[2], stream[3]}, {}, {in, out}, {from, to});
}
