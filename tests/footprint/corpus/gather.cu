/* SPDX-License-Identifier: Apache-2.0 */
/* Indices that depend on data, or on arithmetic that is not affine. */
#include <cstdint>

extern "C" __global__ void gather(const float *in, const int *index, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[index[i]];
}

extern "C" __global__ void scatter(const float *in, const int *index, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[index[i]] = in[i];
}

extern "C" __global__ void gather_clamped(const float *in, const unsigned *index, float *out, int n, unsigned room)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[min(index[i], room - 1)];
}

extern "C" __global__ void gather_masked(const float *in, const int *index, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[index[i] & 63];
}

extern "C" __global__ void gather_checked(const float *in, const int *index, float *out, int n, int room)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	int at = index[i];
	if (at >= 0 && at < room)
		out[i] = in[at];
}

extern "C" __global__ void gather_byte(const float *in, const uint8_t *index, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[index[i]];
}

extern "C" __global__ void gather_short(const float *in, const short *index, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[index[i]];
}

extern "C" __global__ void gather_remainder(const float *in, const unsigned *index, float *out, int n, unsigned room)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[index[i] % room];
}

extern "C" __global__ void scatter_guarded(const int *index, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n && (unsigned)index[i] < 100u)
		out[index[i]] = 1;
}

extern "C" __global__ void from_float(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[(int)(sqrtf((float)i) * 3)];
}

extern "C" __global__ void hashed(float *table, int n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		table[(i * 2654435761u) >> 24] = 1;
}

extern "C" __global__ void embedding(const float *table, const int *words, float *out, int width)
{
	const float *row = table + (size_t)words[blockIdx.x] * width;
	for (int i = threadIdx.x; i < width; i += blockDim.x)
		out[blockIdx.x * width + i] = row[i];
}

extern "C" __global__ void sparse_product(const int *rows, const int *columns, const float *values, const float *x,
					  float *y, int n)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	if (row >= n)
		return;
	float sum = 0;
	for (int k = rows[row]; k < rows[row + 1]; k++)
		sum += values[k] * x[columns[k]];
	y[row] = sum;
}

extern "C" __global__ void binary_search(const int *sorted, const int *wanted, int *out, int n)
{
	int low = 0, high = n;
	while (low < high) {
		int middle = (low + high) / 2;
		if (sorted[middle] < wanted[threadIdx.x])
			low = middle + 1;
		else
			high = middle;
	}
	out[threadIdx.x] = low;
}

extern "C" __global__ void compact(const int *in, int *out, int n)
{
	int i = threadIdx.x;
	bool keep = i < n && in[i] > 0;
	unsigned mask = __ballot_sync(~0u, keep);
	if (keep)
		out[__popc(mask & ((1u << i) - 1))] = in[i];
}

extern "C" __global__ void chase(const int *next, int *out, int steps)
{
	int at = threadIdx.x;
	for (int k = 0; k < steps; k++)
		at = next[at];
	out[threadIdx.x] = at;
}

extern "C" __global__ void squared(float *out, int n)
{
	int i = threadIdx.x;
	if (i < n)
		out[i * i] = 1;
}

extern "C" __global__ void look_up_twice(const float *in, const int *index, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[index[i]] + in[i];
}

extern "C" __global__ void where_ballot(const int *in, int *out)
{
	if (__ballot_sync(~0u, in[threadIdx.x] > 3))
		out[threadIdx.x] = 1;
}

extern "C" __global__ void leader_of_ballot(const int *in, int *out)
{
	unsigned mask = __ballot_sync(~0u, in[threadIdx.x] > 3);
	if (threadIdx.x % 32 == __ffs(mask) - 1)
		out[blockIdx.x] = 1;
}

extern "C" __global__ void where_active(int *out)
{
	if (__activemask())
		out[threadIdx.x] = 1;
}

extern "C" __global__ void leader_of_active(int *out)
{
	if (threadIdx.x % 32 == __ffs(__activemask()) - 1)
		out[blockIdx.x] = 1;
}

extern "C" __global__ void where_log2(int *out, int n)
{
	if (31 - __clz(n) == 5)
		out[threadIdx.x] = 1;
}
