/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of copies, as bench_guard runs it: fill a pinned buffer, copy it to the device and back, wait, read the
 * result. Output: mean ns of a round, after some rounds that do not count.
 *
 * usage: guard_copies BYTES ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda_runtime_api.h>

#define WARM_UP 20

static void check(cudaError_t status)
{
	if (!status)
		return;
	fprintf(stderr, "guard_copies: %s\n", cudaGetErrorString(status));
	exit(1);
}

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	void *up, *down, *device;
	cudaStream_t stream;
	double start = 0;
	if (!bytes || rounds < 1) {
		fprintf(stderr, "usage: guard_copies BYTES ROUNDS\n");
		return 2;
	}
	check(cudaMallocHost(&up, bytes));
	check(cudaMallocHost(&down, bytes));
	check(cudaMalloc(&device, bytes));
	check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (long i = -WARM_UP; i < rounds; i++) {
		if (!i)
			start = now_ns();
		memset(up, (int)(i & 127), bytes);
		check(cudaMemcpyAsync(device, up, bytes, cudaMemcpyHostToDevice, stream));
		check(cudaMemcpyAsync(down, device, bytes, cudaMemcpyDeviceToHost, stream));
		check(cudaStreamSynchronize(stream));
		if (*(volatile char *)down != (char)(i & 127)) {
			fprintf(stderr, "guard_copies: round %ld: the copy went wrong\n", i);
			return 1;
		}
	}
	printf("%.0f\n", (now_ns() - start) / (double)rounds);
	return 0;
}
