/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

constexpr unsigned BINS = 256;

/* Places that depend on data, and that a comparison bounds. */
__global__ void spin_compared(float *out, const unsigned *index, unsigned bins, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n && index[i] < bins)
		out[index[i]] = 1;
}

/* A mask bounds them. */
__global__ void spin_masked(float *out, const unsigned *index, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		out[index[i] & (BINS - 1)] = 1;
}

/* The first 256 elements in the order of their reversed bits. */
__global__ void spin_reversed(float *out, unsigned ns)
{
	unsigned i = threadIdx.x;

	spin_for(ns);
	out[__brev(i) >> 24] = i;
}

int main(int argc, char **argv)
{
	Case c(argc, argv,
	       "SW103 race-write-after-write, likely: where the kernels write depends on data, within bounds",
	       "two streams write to one table at places that a comparison (compared), a mask (masked) or the number "
	       "of bits "
	       "(reversed) bounds",
	       "each stream has a table of its own", {"compared", "masked", "reversed"});
	float *data = device_buffer();
	unsigned *index = (unsigned *)device_buffer();
	cudaStream_t a = new_stream(), b = new_stream();
	float *other = c.fixed ? data + BINS : data;

	c.load(spin_compared, spin_masked, spin_reversed);
	CHECK(cudaMemset(index, 0, BYTES));
	CHECK(cudaDeviceSynchronize());
	if (c.is("compared")) {
		spin_compared<<<GRID / 2, BLOCK, 0, a>>>(data, index, BINS, N / 2, SPIN_NS);
		spin_compared<<<GRID / 2, BLOCK, 0, b>>>(other, index + N / 2, BINS, N / 2, SPIN_NS);
	} else if (c.is("masked")) {
		spin_masked<<<GRID / 2, BLOCK, 0, a>>>(data, index, N / 2, SPIN_NS);
		spin_masked<<<GRID / 2, BLOCK, 0, b>>>(other, index + N / 2, N / 2, SPIN_NS);
	} else {
		spin_reversed<<<1, BLOCK, 0, a>>>(data, SPIN_NS);
		spin_reversed<<<1, BLOCK, 0, b>>>(other, SPIN_NS);
	}
	CHECK_LAUNCH();
	finish({a, b}, {}, {data, (float *)index});
}
