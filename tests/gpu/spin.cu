/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels whose time is known: each spins for so many milliseconds of the device's own nanosecond timer, between two events.
 * Prints "kernel MS", the time between its events; then "graph MS" for graphs of three nodes, "copy MS" for copies.
 */
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		cudaError_t e_ = (call);                                                                               \
		if (e_ != cudaSuccess) {                                                                               \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));                                    \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

__global__ void spin(unsigned long long ns)
{
	unsigned long long start, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - start < ns);
}

static cudaStream_t stream;
static cudaEvent_t before, after;

static void print(const char *what)
{
	float ms;

	CHECK(cudaEventRecord(after, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaEventElapsedTime(&ms, before, after));
	printf("%s %.6f\n", what, ms);
	CHECK(cudaEventRecord(before, stream));
}

int main(int argc, char **argv)
{
	const unsigned long long ns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10) * 1000000;
	const size_t bytes = 64 << 20;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	void *host, *device;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&before));
	CHECK(cudaEventCreate(&after));
	CHECK(cudaMallocHost(&host, bytes));
	CHECK(cudaMalloc(&device, bytes));
	spin<<<1, 1, 0, stream>>>(1000); /* loads it */
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 3; i++)
		spin<<<1, 1, 0, stream>>>(1000000);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaEventRecord(before, stream));
	for (int i = 0; i < 20; i++) {
		spin<<<1, 1, 0, stream>>>(ns);
		print("kernel");
	}
	for (int i = 0; i < 5; i++) {
		CHECK(cudaGraphLaunch(exec, stream));
		print("graph");
	}
	for (int i = 0; i < 5; i++) {
		CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
		print("copy");
	}
	CHECK(cudaDeviceSynchronize());
	return 0;
}
