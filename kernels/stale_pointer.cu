/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

struct Job {
	float *out;
	const float *in; /* not used by every kernel: may be left from the last job */
	int n;
};

__global__ void spin_fill(Job job, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < job.n)
		job.out[i] = 1;
}

__global__ void spin_move(Job job, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < job.n)
		job.out[i] = job.in[i];
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 or SW102 through a struct, by the code of the kernel",
	       "a kernel reads, by a pointer in a struct, what another stream copies",
	       "the kernel has the same struct but never uses that pointer");
	float *host = pinned_buffer(), *in = device_buffer(), *out = device_buffer();
	cudaStream_t copies = new_stream(), compute = new_stream();
	Job job = {out, in, N};

	c.load(spin_fill, spin_move);
	spin<<<1, 1, 0, copies>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(in, host, BYTES, cudaMemcpyHostToDevice, copies));
	if (c.fixed)
		spin_fill<<<GRID, BLOCK, 0, compute>>>(job, SPIN_NS);
	else
		spin_move<<<GRID, BLOCK, 0, compute>>>(job, SPIN_NS);
	CHECK_LAUNCH();
	finish({copies, compute}, {}, {in, out}, {host});
}
