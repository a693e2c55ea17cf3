/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

constexpr int BATCH = 8, PART = N / BATCH;

/* One problem of a batch for each row of blocks, by a table of pointers in device memory (as cublasSgemmBatched()). */
__global__ void spin_batch(float *const *out, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float *mine = out[blockIdx.y];

	spin_for(ns);
	if (i < n)
		mine[i] = 1;
}

__global__ void move_table(float **to, float *const *from)
{
	to[threadIdx.x] = from[threadIdx.x];
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 by a pointer in device memory; likely where the host could change the table, else certain",
	       "a kernel writes, by a table of pointers, what another stream copies at the same time",
	       "the copy waits for an event recorded after the kernel",
	       {"uploaded", "pinned", "rewritten"});
	/* Pinned memory may change until the copy runs; what a kernel writes to the table is unknown. */
	bool pinned = c.is("pinned"), rewritten = c.is("rewritten");
	float *data = device_buffer(), *host = pinned_buffer();
	float **table = reinterpret_cast<float **>(device_buffer(BATCH * sizeof(float *)));
	float **spare = reinterpret_cast<float **>(device_buffer(BATCH * sizeof(float *)));
	float **list = reinterpret_cast<float **>(pinned_buffer(BATCH * sizeof(float *))), *pageable[BATCH];
	cudaStream_t compute = new_stream(), copies = new_stream();
	cudaEvent_t written = new_event();

	c.load(spin_batch, move_table);
	for (int i = 0; i < BATCH; i++)
		list[i] = pageable[i] = data + i * PART;
	if (pinned)
		CHECK(cudaMemcpyAsync(table, list, sizeof pageable, cudaMemcpyHostToDevice, compute));
	else
		CHECK(cudaMemcpyAsync(rewritten ? spare : table, pageable, sizeof pageable, cudaMemcpyHostToDevice, compute));
	if (rewritten)
		move_table<<<1, BATCH, 0, compute>>>(table, spare);
	spin_batch<<<dim3(PART / BLOCK, BATCH), BLOCK, 0, compute>>>(table, PART, SPIN_NS / 8);
	CHECK_LAUNCH();
	if (c.fixed) {
		CHECK(cudaEventRecord(written, compute));
		CHECK(cudaStreamWaitEvent(copies, written, 0));
	}
	CHECK(cudaMemcpyAsync(host, data + 3 * PART, PART * sizeof(float), cudaMemcpyDeviceToHost, copies));
	finish({compute, copies}, {written},
	       {data, reinterpret_cast<float *>(table), reinterpret_cast<float *>(spare)},
	       {host, reinterpret_cast<float *>(list)});
}
