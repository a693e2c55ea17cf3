/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

__global__ void spin_chunk(float *data, int first, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		data[first + i] *= 2;
}

/* As chunks, but the kernel gets the whole array and an offset: only its code shows what it touches. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "a race between neighbouring chunks (SW101 to SW103, by the code of the kernel)",
	       "each kernel starts one float before its chunk", "each kernel works on its chunk alone");
	constexpr int CHUNKS = 4, EACH = N / CHUNKS;
	float *host = pinned_buffer(), *data = device_buffer();
	cudaStream_t stream[CHUNKS];

	c.load(spin_chunk);
	for (int i = 0; i < CHUNKS; i++)
		stream[i] = new_stream();
	for (int i = 0; i < CHUNKS; i++) {
		int at = i * EACH, early = c.fixed || i == 0 ? 0 : 1;

		CHECK(cudaMemcpyAsync(data + at, host + at, EACH * sizeof(float), cudaMemcpyHostToDevice, stream[i]));
		spin_chunk<<<EACH / BLOCK, BLOCK, 0, stream[i]>>>(data, at - early, EACH, SPIN_NS);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyAsync(host + at, data + at, EACH * sizeof(float), cudaMemcpyDeviceToHost, stream[i]));
	}
	finish({stream[0], stream[1], stream[2], stream[3]}, {}, {data}, {host});
}
