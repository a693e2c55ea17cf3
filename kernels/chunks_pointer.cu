/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

__global__ void spin_scale(float *chunk, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		chunk[i] *= 2;
}

/* As chunks_offset, with the offset added to the pointer on the host. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "a race between neighbouring chunks (SW101 to SW103, by the code of the kernel)",
	       "each kernel works on one float more than its chunk", "each kernel works on its chunk alone");
	constexpr int CHUNKS = 4, EACH = N / CHUNKS;
	float *host = pinned_buffer(), *data = device_buffer();
	cudaStream_t stream[CHUNKS];

	c.load(spin_scale);
	for (int i = 0; i < CHUNKS; i++)
		stream[i] = new_stream();
	for (int i = 0; i < CHUNKS; i++) {
		int at = i * EACH, more = c.fixed || i == CHUNKS - 1 ? 0 : 1;

		CHECK(cudaMemcpyAsync(data + at, host + at, EACH * sizeof(float), cudaMemcpyHostToDevice, stream[i]));
		spin_scale<<<EACH / BLOCK + 1, BLOCK, 0, stream[i]>>>(data + at, EACH + more, SPIN_NS);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyAsync(host + at, data + at, EACH * sizeof(float), cudaMemcpyDeviceToHost, stream[i]));
	}
	finish({stream[0], stream[1], stream[2], stream[3]}, {}, {data}, {host});
}
