// SPDX-License-Identifier: Apache-2.0
// Tables in the parameter block: which pointer a block works on is a matter of what the launch put there.  Entries behind
// those in use hold what an earlier launch left.
#include <cstdint>

struct lists {
	float *at[2][8];
	int64_t n[8];
	uint8_t tensor[16];
	int chunk[16];
};

// As optimisers do that take all their tensors in one launch.
extern "C" __global__ void apply_lists(const __grid_constant__ struct lists l, int64_t size)
{
	int t = l.tensor[blockIdx.x];
	int64_t first = l.chunk[blockIdx.x] * size, n = l.n[t] - first;
#pragma unroll 1
	for (int64_t i = threadIdx.x; i < n && i < size; i += blockDim.x)
		l.at[1][t][first + i] = l.at[0][t][first + i];
}

// The same, with the block's entry in use or not: the struct is copied.
extern "C" __global__ void apply_one(struct lists l, int k)
{
	l.at[k][l.tensor[blockIdx.x]][threadIdx.x] = 1;
}

struct inputs {
	const float *at[4];
	unsigned offset[4], n[4];
};

extern "C" __global__ void concatenate(float *out, const __grid_constant__ struct inputs in)
{
	unsigned n = in.n[blockIdx.y], offset = in.offset[blockIdx.y];
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		out[offset + i] = in.at[blockIdx.y][i];
}

struct signed_table {
	float *at[4];
	int16_t which[4];
};

// A negative entry counts from the end of another one.
extern "C" __global__ void signed_index(const __grid_constant__ struct signed_table t)
{
	t.at[0][t.which[blockIdx.x] + (int)threadIdx.x] = 1;
}

extern "C" __global__ void by_thread(const __grid_constant__ struct signed_table t)
{
	t.at[threadIdx.y][threadIdx.x] = 1;
}

extern "C" __global__ void by_data(const __grid_constant__ struct signed_table t, const unsigned *which)
{
	t.at[which[threadIdx.x] & 1][threadIdx.x] = 1;
}
