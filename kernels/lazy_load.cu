/* SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>
#include <utility>

#include "case.h"

/* As many kernels as there are rounds: each has its code loaded once. */
constexpr int KINDS = 64;

template <int KIND> __global__ void spin_rarely(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(SPIN_NS);
	if (i < n)
		out[i] = KIND;
}

using Kernel = void (*)(float *, int);

template <int... KIND> Kernel kernel_of(int kind, std::integer_sequence<int, KIND...>)
{
	static const Kernel kernels[] = {spin_rarely<KIND>...};

	return kernels[kind];
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW308 module-load",
	       "in each step a kernel is launched for the first time while another stream is busy: loading its code "
	       "keeps the two from overlapping",
	       "the kernels are loaded at the start, by asking for their attributes");
	float *a = device_buffer(), *b = device_buffer();
	cudaStream_t busy = new_stream(), other = new_stream();
	float *results = pinned_buffer(2 * sizeof *results);
	int rounds = std::min(c.rounds(8), KINDS);

	for (int i = 0; c.fixed && i < rounds; i++)
		c.load(kernel_of(i, std::make_integer_sequence<int, KINDS>()));
	hot_begin();
	for (int i = 0; i < rounds; i++) {
		Kernel first_time = kernel_of(i, std::make_integer_sequence<int, KINDS>());

		spin_write<<<GRID, BLOCK, 0, busy>>>(a, N, 1, SPIN_NS);
		first_time<<<GRID, BLOCK, 0, other>>>(b, N);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyAsync(&results[0], a, sizeof *results, cudaMemcpyDeviceToHost, busy));
		CHECK(cudaMemcpyAsync(&results[1], b, sizeof *results, cudaMemcpyDeviceToHost, other));
		CHECK(cudaStreamSynchronize(busy));
		CHECK(cudaStreamSynchronize(other));
	}
	finish({busy, other}, {}, {a, b}, {results});
}
