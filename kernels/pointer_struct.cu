/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

struct Job {
	float *out;
	const float *in;
	int n;
};

/* The arguments lie in device memory, uploaded once. */
__global__ void spin_job(const Job *job, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < job->n)
		job->out[i] = job->in[i];
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 by a structure of pointers in device memory",
	       "a kernel reads, by a pointer in a structure in device memory, what another stream copies",
	       "the kernel waits for an event recorded after the copy");
	float *host = pinned_buffer(), *in = device_buffer(), *out = device_buffer(), *where = device_buffer(sizeof(Job));
	cudaStream_t copies = new_stream(), compute = new_stream();
	cudaEvent_t copied = new_event();
	const Job job = {out, in, N};

	c.load(spin_job);
	CHECK(cudaMemcpy(where, &job, sizeof job, cudaMemcpyHostToDevice));
	CHECK(cudaDeviceSynchronize());
	spin<<<1, 1, 0, copies>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(in, host, BYTES, cudaMemcpyHostToDevice, copies));
	CHECK(cudaEventRecord(copied, copies));
	if (c.fixed)
		CHECK(cudaStreamWaitEvent(compute, copied, 0));
	spin_job<<<GRID, BLOCK, 0, compute>>>(reinterpret_cast<const Job *>(where), SPIN_NS);
	CHECK_LAUNCH();
	finish({copies, compute}, {copied}, {in, out, where}, {host});
}
