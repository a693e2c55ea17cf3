/* SPDX-License-Identifier: Apache-2.0 */
/* Puts work on a stream: ROUNDS of a copy, two launches, a set and a graph, from as many threads as its argument says.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "preload/intercept/cuda_types.h"

#define ROUNDS 4

static CUstream stream;
static char host[4096];

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		cuMemcpyHtoDAsync_v2(0x700000, host, sizeof host, stream);
		cuLaunchKernel((CUfunction)0x9000, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
		cuLaunchKernel((CUfunction)0x9000, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
		cuMemsetD8Async(0x700000, 0, 64, stream);
		cuGraphLaunch((CUgraphExec)0xa000, stream);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread[8];
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	CUcontext context;
	CUdeviceptr at;

	cuInit(0);
	cuCtxCreate_v2(&context, 0, 0);
	cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	cuMemAlloc_v2(&at, 1 << 20);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	cuCtxSynchronize();
	return 0;
}
