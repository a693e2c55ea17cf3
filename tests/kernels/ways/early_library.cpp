/* SPDX-License-Identifier: Apache-2.0 */
/* Uses CUDA in its constructor, which runs before the constructor of any preloaded object. */
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime_api.h>

static void *scratch;

__attribute__((constructor)) static void start()
{
	if (cudaMalloc(&scratch, 4096) || cudaMemset(scratch, 0, 4096)) {
		puts("CUDA failed in the constructor");
		exit(1);
	}
}

extern "C" void early_use()
{
	if (cudaMemset(scratch, 1, 4096) || cudaDeviceSynchronize())
		exit(1);
}
