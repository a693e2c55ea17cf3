/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that work together: shared memory, reductions, scans, matrix products, warps. */
#include <cstdint>

extern "C" __global__ void block_sum(const float *in, float *out, int n)
{
	__shared__ float part[256];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	part[threadIdx.x] = i < n ? in[i] : 0;
	__syncthreads();
	for (int half = blockDim.x / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		out[blockIdx.x] = part[0];
}

extern "C" __global__ void block_sum_strided(const float *in, float *out, int n)
{
	extern __shared__ float parts[];
	float sum = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
		sum += in[i];
	parts[threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (int k = 1; k < blockDim.x; k++)
			sum += parts[k];
		out[blockIdx.x] = sum;
	}
}

extern "C" __global__ void warp_sum(const float *in, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = in[i];
	for (int k = 16; k; k /= 2)
		sum += __shfl_down_sync(~0u, sum, k);
	if (threadIdx.x % 32 == 0)
		out[i / 32] = sum;
}

extern "C" __global__ void by_lane(float *out)
{
	unsigned lane;
	asm("mov.u32 %0, %%laneid;" : "=r"(lane));
	out[blockIdx.x * 32 + lane] = 1;
}

extern "C" __global__ void row_each_warp(const float *in, float *out, int rows, int columns)
{
	int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
	if (row >= rows)
		return;
	float sum = 0;
#pragma unroll 1
	for (int i = lane; i < columns; i += 32)
		sum += in[row * columns + i];
	for (int k = 16; k; k /= 2)
		sum += __shfl_xor_sync(~0u, sum, k);
	if (lane == 0)
		out[row] = sum;
}

extern "C" __global__ void scan_block(const int *in, int *out, int n)
{
	__shared__ int a[2][256];
	int t = threadIdx.x, i = blockIdx.x * 256 + t, from = 0;
	a[0][t] = i < n ? in[i] : 0;
	__syncthreads();
	for (int step = 1; step < 256; step *= 2) {
		a[1 - from][t] = a[from][t] + (t >= step ? a[from][t - step] : 0);
		from = 1 - from;
		__syncthreads();
	}
	if (i < n)
		out[i] = a[from][t];
}

extern "C" __global__ void scan_add(const int *sums, int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (blockIdx.x > 0 && i < n)
		out[i] += sums[blockIdx.x - 1];
}

extern "C" __global__ void matrix_naive(const float *a, const float *b, float *c, int m, int n, int k)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
	if (row >= m || column >= n)
		return;
	float sum = 0;
	for (int i = 0; i < k; i++)
		sum += a[row * k + i] * b[i * n + column];
	c[row * n + column] = sum;
}

extern "C" __global__ void matrix_tiled(const float *a, const float *b, float *c, int n)
{
	__shared__ float as[16][16], bs[16][16];
	int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
	float sum = 0;
	for (int tile = 0; tile < n; tile += 16) {
		as[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
		bs[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
		__syncthreads();
		for (int k = 0; k < 16; k++)
			sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
		__syncthreads();
	}
	c[row * n + column] = sum;
}

extern "C" __global__ void matrix_guarded(const float *a, const float *b, float *c, int m, int n, int k)
{
	__shared__ float as[16][16], bs[16][16];
	int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
	float sum = 0;
	for (int tile = 0; tile < k; tile += 16) {
		int ka = tile + threadIdx.x, kb = tile + threadIdx.y;
		as[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0;
		bs[threadIdx.y][threadIdx.x] = kb < k && column < n ? b[kb * n + column] : 0;
		__syncthreads();
		for (int i = 0; i < 16; i++)
			sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
		__syncthreads();
	}
	if (row < m && column < n)
		c[row * n + column] = sum;
}

extern "C" __global__ void histogram_shared(const uint8_t *in, unsigned *bins, int n)
{
	__shared__ unsigned count[256];
	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		count[i] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
		atomicAdd(&count[in[i]], 1);
	__syncthreads();
	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		atomicAdd(&bins[i], count[i]);
}

extern "C" __global__ void reverse_block(const float *in, float *out)
{
	__shared__ float tile[128];
	int base = blockIdx.x * blockDim.x;
	tile[threadIdx.x] = in[base + threadIdx.x];
	__syncthreads();
	out[base + blockDim.x - 1 - threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void bitonic_block(int *data)
{
	__shared__ int a[256];
	int t = threadIdx.x, base = blockIdx.x * 256;
	a[t] = data[base + t];
	for (int size = 2; size <= 256; size *= 2)
		for (int step = size / 2; step > 0; step /= 2) {
			__syncthreads();
			int other = t ^ step;
			if (other > t && (a[t] > a[other]) == ((t & size) == 0)) {
				int keep = a[t];
				a[t] = a[other];
				a[other] = keep;
			}
		}
	__syncthreads();
	data[base + t] = a[t];
}

extern "C" __global__ void stencil_shared(const float *in, float *out, int n)
{
	__shared__ float tile[128 + 2];
	int i = blockIdx.x * 128 + threadIdx.x;
	if (i < n)
		tile[threadIdx.x + 1] = in[i];
	if (threadIdx.x == 0 && i > 0)
		tile[0] = in[i - 1];
	if (threadIdx.x == 127 && i + 1 < n)
		tile[129] = in[i + 1];
	__syncthreads();
	if (i > 0 && i < n - 1)
		out[i] = tile[threadIdx.x] + tile[threadIdx.x + 2];
}

extern "C" __global__ void index_in_shared(const int *index, float *out)
{
	__shared__ int at[64];
	at[threadIdx.x] = index[threadIdx.x];
	__syncthreads();
	out[at[63 - threadIdx.x]] = 1;
}

extern "C" __global__ void pointer_in_shared(float *a, float *b, int which)
{
	__shared__ float *to;
	if (threadIdx.x == 0)
		to = which ? a : b;
	__syncthreads();
	to[threadIdx.x] = 1;
}

extern "C" __global__ void softmax_row(const float *in, float *out, int columns)
{
	__shared__ float part[128];
	const float *row = in + blockIdx.x * columns;
	float *to = out + blockIdx.x * columns, most = -1e30f, sum = 0;
	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		most = fmaxf(most, row[i]);
	part[threadIdx.x] = most;
	__syncthreads();
	for (int i = 0; i < blockDim.x; i++)
		most = fmaxf(most, part[i]);
	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		sum += __expf(row[i] - most);
	__syncthreads();
	part[threadIdx.x] = sum;
	__syncthreads();
	sum = 0;
	for (int i = 0; i < blockDim.x; i++)
		sum += part[i];
	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		to[i] = __expf(row[i] - most) / sum;
}

extern "C" __global__ void two_phases(float *data, float *scratch, int n)
{
	int i = threadIdx.x;
	for (int round = 0; round < 4; round++) {
		if (i < n)
			scratch[i] = data[i] * 2;
		__syncthreads();
		if (i < n)
			data[i] = scratch[n - 1 - i];
		__syncthreads();
	}
}

// The order of blocks in Triton's and CUTLASS's matrix products: groups of rows, column by column, the last one smaller.
extern "C" __global__ void grouped_blocks(float *out, int m, int n, int pitch, int group)
{
	int rows = (m + 15) / 16, columns = (n + 15) / 16;
	int in_group = group * columns;
	int first = (int)blockIdx.x / in_group * group;
	int size = min(rows - first, group);
	int row = (first + (int)blockIdx.x % in_group % size) * 16 + threadIdx.y;
	int column = (int)blockIdx.x % in_group / size * 16 + threadIdx.x;
	if (row < m && column < n)
		out[row * pitch + column] = 1;
}

extern "C" __global__ void grouped_by_four(float *out, int pitch, int columns)
{
	int in_group = 4 * columns;
	int row = ((int)blockIdx.x / in_group * 4 + (int)blockIdx.x % in_group % 4) * 16 + threadIdx.y;
	int column = (int)blockIdx.x % in_group / 4 * 16 + threadIdx.x;
	out[row * pitch + column] = 1;
}
