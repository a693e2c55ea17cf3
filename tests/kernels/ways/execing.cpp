/* SPDX-License-Identifier: Apache-2.0 */
/* Uses CUDA and becomes another program that does: two traces, although the process id stays the same. */
#include <cstdio>

#include <unistd.h>

#include <cuda_runtime_api.h>

int main(int argc, char **argv)
{
	void *data;

	if (argc < 2 || cudaMalloc(&data, 4096) || cudaMemset(data, 1, 4096) || cudaFree(data))
		return 1;
	execv(argv[1], argv + 1);
	perror(argv[1]);
	return 1;
}
