/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

constexpr int LAYERS = 4;

/* How long each layer is, only the device knows. */
__global__ void measure(int *sizes, int n)
{
	sizes[threadIdx.x] = n - (int)threadIdx.x * 256;
}

__global__ void spin_layers(float *const *layer, const int *sizes, unsigned ns)
{
	float *mine = layer[blockIdx.y];

	spin_for(ns);
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < sizes[blockIdx.y]; i += gridDim.x * blockDim.x)
		mine[i] += 1;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 by pointers in device memory, likely: how far they lead is in device memory too",
	       "a copy reads a layer that a kernel on another stream writes by a table of pointers",
	       "the copy waits for an event recorded after the kernel");
	float *weights[LAYERS], *host = pinned_buffer();
	float **table = reinterpret_cast<float **>(device_buffer(sizeof weights));
	int *sizes = reinterpret_cast<int *>(device_buffer(LAYERS * sizeof(int)));
	cudaStream_t compute = new_stream(), copies = new_stream();
	cudaEvent_t written = new_event();

	c.load(measure, spin_layers);
	for (float *&w : weights) {
		w = device_buffer();
		CHECK(cudaMemsetAsync(w, 0, BYTES, compute));
	}
	CHECK(cudaMemcpyAsync(table, weights, sizeof weights, cudaMemcpyHostToDevice, compute));
	measure<<<1, LAYERS, 0, compute>>>(sizes, N);
	spin_layers<<<dim3(16, LAYERS), BLOCK, 0, compute>>>(table, sizes, SPIN_NS / 8);
	CHECK_LAUNCH();
	if (c.fixed) {
		CHECK(cudaEventRecord(written, compute));
		CHECK(cudaStreamWaitEvent(copies, written, 0));
	}
	CHECK(cudaMemcpyAsync(host, weights[2], BYTES, cudaMemcpyDeviceToHost, copies));
	finish({compute, copies}, {written},
	       {weights[0], weights[1], weights[2], weights[3], reinterpret_cast<float *>(table),
		reinterpret_cast<float *>(sizes)},
	       {host});
}
