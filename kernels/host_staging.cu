/* SPDX-License-Identifier: Apache-2.0 */
#include <array>

#include "case.h"

/* The block of arguments that a kernel finds in mapped memory. */
struct Arguments {
	const float *in;
	float *out;
	int n;
};

__global__ void spin_arguments(const Arguments *block, unsigned ns)
{
	Arguments a = *block;
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < a.n)
		a.out[i] = a.in[i];
}

/* By a kernel, so that nobody but the device knows where rows lie. */
__global__ void place_rows(float **rows, float *first, float *second)
{
	rows[0] = first;
	rows[1] = second;
}

/* A kernel whose rows lie anywhere. */
__global__ void spin_rows(float *const *rows, const float *in, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		rows[i % 2][i] = in[i];
}

/* spin_rows() that says in memory which the host polls that it is done. */
__global__ void rows_and_flag(float *const *rows, const float *in, int n, volatile int *done)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		rows[i % 2][i] = in[i];
	__threadfence_system();
	if (i == 0)
		*done = 1;
}

template <class Round> static void rounds(Round round)
{
	for (int i = 0; i < 4; i++)
		round(i);
}

/* Filled by host code, uploaded, used; two in turn, so that the host need not wait: it must, from the third on. */
static void stage(const Case &c, cudaStream_t stream)
{
	std::array<float *, 2> staging;
	float *plain[2], *device[2] = {device_buffer(), device_buffer()}, *out = device_buffer();
	float **rows = reinterpret_cast<float **>(device_buffer());
	int *done;

	for (auto &s : staging)
		CHECK(cudaMallocHost(reinterpret_cast<void **>(&s), BYTES));
	CHECK(cudaHostAlloc(reinterpret_cast<void **>(&done), sizeof *done, cudaHostAllocMapped));
	place_rows<<<1, 1, 0, stream>>>(rows, device_buffer(), device_buffer());
	CHECK_LAUNCH();
	plain[0] = staging[0];
	plain[1] = staging[1];
	*done = 0;
	CHECK(cudaDeviceSynchronize());
	rounds([&](int round) {
		int s = round % 2;
		float *to = c.is("plain") ? plain[s] : staging[s];

		if (c.fixed)
			CHECK(cudaStreamSynchronize(stream));
		for (int i = 0; i < N; i += 64)
			to[i] = round;
		CHECK(cudaMemcpyAsync(device[s], to, BYTES, cudaMemcpyHostToDevice, stream));
		if (c.is("nothing")) /* touches no memory, so it signals nothing either */
			spin<<<1, 1, 0, stream>>>(SPIN_NS);
		else if (c.is("rows"))
			spin_rows<<<GRID, BLOCK, 0, stream>>>(rows, device[s], N, SPIN_NS);
		else if (c.is("polled")) /* the host may know by that; here it does not look in time */
			rows_and_flag<<<GRID, BLOCK, 0, stream>>>(rows, device[s], N, done);
		else
			spin_copy<<<GRID, BLOCK, 0, stream>>>(out, device[s], N, SPIN_NS);
		CHECK_LAUNCH();
	});
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFreeHost(done));
}

/* Written by the host for each launch, read by the kernel when it runs. */
static void pass_arguments(const Case &c, cudaStream_t stream)
{
	float *in[2] = {device_buffer(), device_buffer()}, *out = device_buffer();
	Arguments *block;

	CHECK(cudaHostAlloc(reinterpret_cast<void **>(&block), sizeof *block, cudaHostAllocMapped));
	CHECK(cudaDeviceSynchronize());
	rounds([&](int round) {
		if (c.fixed)
			CHECK(cudaStreamSynchronize(stream));
		block->in = in[round % 2];
		block->out = out;
		block->n = N;
		spin_arguments<<<GRID, BLOCK, 0, stream>>>(block, SPIN_NS);
		CHECK_LAUNCH();
	});
	CHECK(cudaDeviceSynchronize());
}

/* Only seen with --guard-host: no CUDA call shows it. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW104 host-access-in-flight: the next round's data before the last one's are used",
	       "host code fills a buffer again, or a kernel's block of arguments, while work in flight reads it",
	       "the stream is synchronised first", {"array", "plain", "nothing", "rows", "polled", "arguments"});
	cudaStream_t stream = new_stream();

	if (c.is("arguments"))
		pass_arguments(c, stream);
	else
		stage(c, stream);
	finish({stream}, {}, {});
}
