/* SPDX-License-Identifier: Apache-2.0 */
/* Eight host threads at once, fifty sets each; every one must be there in the trace, under its thread. */
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>

static void check(cudaError_t status)
{
	if (status != cudaSuccess) {
		puts(cudaGetErrorString(status));
		exit(1);
	}
}

int main()
{
	std::vector<std::thread> threads;

	for (int t = 0; t < 8; t++)
		threads.emplace_back([] {
			cudaStream_t stream;
			void *data;

			check(cudaStreamCreate(&stream));
			check(cudaMalloc(&data, 4096));
			for (int i = 0; i < 50; i++)
				check(cudaMemsetAsync(data, i, 4096, stream));
			check(cudaStreamSynchronize(stream));
			check(cudaFree(data));
			check(cudaStreamDestroy(stream));
		});
	for (std::thread &t : threads)
		t.join();
	puts("done");
	return 3;
}
