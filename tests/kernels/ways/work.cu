/* SPDX-License-Identifier: Apache-2.0 */
/* A little of everything, built with each kind of libcudart: one launch, two copies, a set, an event, a wait. */
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		cudaError_t check_status = (call);                                                                     \
		if (check_status != cudaSuccess) {                                                                     \
			printf("%s: %s\n", #call, cudaGetErrorString(check_status));                                   \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

__global__ void step(float *data, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] += 1;
}

int main()
{
	constexpr int N = 4096;
	float *host, *device;
	cudaEvent_t done;

	CHECK(cudaMallocHost((void **)&host, N * sizeof(float)));
	CHECK(cudaMalloc((void **)&device, N * sizeof(float)));
	CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
	CHECK(cudaMemsetAsync(device, 0, N * sizeof(float), 0));
	CHECK(cudaMemcpyAsync(device, host, N * sizeof(float), cudaMemcpyHostToDevice, 0));
	step<<<N / 256, 256>>>(device, N);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpyAsync(host, device, N * sizeof(float), cudaMemcpyDeviceToHost, 0));
	CHECK(cudaEventRecord(done, 0));
	CHECK(cudaEventSynchronize(done));
	CHECK(cudaEventDestroy(done));
	CHECK(cudaFree(device));
	CHECK(cudaFreeHost(host));
	puts("done");
	return 3; /* a status that must come through */
}
