/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that move the address: grid-stride, rows, triangles, do-while, break, several counters. */
#include <cstdint>

extern "C" __global__ void grid_stride(float *out, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		out[i] = 1;
}

extern "C" __global__ void grid_stride_rolled(const float *in, float *out, int n)
{
#pragma unroll 1
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		out[i] = in[i];
}

extern "C" __global__ void grid_stride_unrolled(const float *in, float *out, int n)
{
#pragma unroll 4
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		out[i] = in[i];
}

extern "C" __global__ void grid_stride_size(float *out, size_t n)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		out[i] = 1;
}

extern "C" __global__ void grid_stride_unsigned(float *out, unsigned n)
{
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		out[i] = 1;
}

extern "C" __global__ void grid_stride_pointer(float *out, float *end)
{
	for (float *p = out + blockIdx.x * blockDim.x + threadIdx.x; p < end; p += gridDim.x * blockDim.x)
		*p = 1;
}

extern "C" __global__ void grid_stride_from(float *out, int first, int n)
{
	for (int i = first + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		out[i] = 1;
}

extern "C" __global__ void grid_stride_2d(float *out, int width, int height, int pitch)
{
	for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += gridDim.y * blockDim.y)
		for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < width; x += gridDim.x * blockDim.x)
			out[y * pitch + x] = 1;
}

extern "C" __global__ void block_stride(float *out, int each)
{
	float *mine = out + blockIdx.x * each;
	for (int i = threadIdx.x; i < each; i += blockDim.x)
		mine[i] = 1;
}

extern "C" __global__ void count_up(float *out, int n)
{
	for (int i = 0; i < n; i++)
		out[i] = i;
}

extern "C" __global__ void count_constant(float *out)
{
#pragma unroll 1
	for (int i = 0; i < 37; i++)
		out[i] = 1;
}

extern "C" __global__ void count_down(float *out, int n)
{
#pragma unroll 1
	for (int i = n - 1; i >= 0; i--)
		out[i] = 1;
}

extern "C" __global__ void count_by_three(float *out, int n)
{
#pragma unroll 1
	for (int i = 0; i < n; i += 3)
		out[i] = 1;
}

extern "C" __global__ void do_while(float *out, int n)
{
	int i = threadIdx.x;
#pragma unroll 1
	do {
		out[i] = 1;
		i += blockDim.x;
	} while (i < n);
}

extern "C" __global__ void loop_break(const int *in, float *out, int n)
{
#pragma unroll 1
	for (int i = 0; i < n; i++) {
		if (in[i] < 0)
			break;
		out[i] = 1;
	}
}

extern "C" __global__ void loop_until(const int *in, int *out)
{
	int i = threadIdx.x;
	while (in[i] != 0)
		i++;
	out[threadIdx.x] = i;
}

extern "C" __global__ void row_sum(const float *in, float *out, int rows, int columns)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	if (row >= rows)
		return;
	float sum = 0;
	for (int i = 0; i < columns; i++)
		sum += in[row * columns + i];
	out[row] = sum;
}

extern "C" __global__ void column_sum(const float *in, float *out, int rows, int columns)
{
	int column = blockIdx.x * blockDim.x + threadIdx.x;
	if (column >= columns)
		return;
	float sum = 0;
	for (int i = 0; i < rows; i++)
		sum += in[i * columns + column];
	out[column] = sum;
}

extern "C" __global__ void two_rows_in_four(const float *in, float *out, int columns, int rows, int pitch)
{
#pragma unroll 1
	for (int row = blockIdx.x; row < rows; row += 2)
#pragma unroll 1
		for (int i = threadIdx.x; i < columns; i += blockDim.x)
			out[row * pitch + i] = in[i];
}

extern "C" __global__ void triangle(float *out, int n)
{
	int row = blockIdx.x;
#pragma unroll 1
	for (int column = threadIdx.x; column <= row && column < n; column += blockDim.x)
		out[row * n + column] = 1;
}

extern "C" __global__ void triangle_nested(float *out, int n)
{
#pragma unroll 1
	for (int row = threadIdx.x; row < n; row += blockDim.x)
#pragma unroll 1
		for (int column = 0; column < row; column++)
			out[row * n + column] = 1;
}

extern "C" __global__ void doubling(float *out, int n)
{
#pragma unroll 1
	for (int i = 1; i < n; i *= 2)
		out[i] = 1;
}

extern "C" __global__ void halving(float *out, int n)
{
#pragma unroll 1
	for (int i = n; i > 0; i /= 2)
		out[i - 1] = 1;
}

extern "C" __global__ void windows(const float *in, float *out, int n, int width)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i + width > n)
		return;
	float best = in[i];
	for (int k = 1; k < width; k++)
		best = fmaxf(best, in[i + k]);
	out[i] = best;
}

extern "C" __global__ void each_thread_eight(const float *in, float *out, int n)
{
	int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
#pragma unroll
	for (int k = 0; k < 8; k++)
		if (first + k < n)
			out[first + k] = in[first + k];
}

extern "C" __global__ void each_block_tile(const float *in, float *out, int n)
{
	int base = blockIdx.x * blockDim.x * 4;
#pragma unroll
	for (int k = 0; k < 4; k++) {
		int i = base + k * blockDim.x + threadIdx.x;
		if (i < n)
			out[i] = in[i];
	}
}

extern "C" __global__ void two_pointers_walk(const float *in, float *out, int n)
{
	const float *from = in + threadIdx.x;
	float *to = out + threadIdx.x;
#pragma unroll 1
	while (n-- > 0) {
		*to = *from;
		from += blockDim.x;
		to += blockDim.x;
	}
}

extern "C" __global__ void horner(const float *coefficients, float *values, int degree, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float x = values[i], sum = 0;
	for (int k = degree; k >= 0; k--)
		sum = sum * x + coefficients[k];
	values[i] = sum;
}

// grid.size() of cooperative groups has 64 bits: an int that is kept in 64 bits, its upper half cut off in each round.
extern "C" __global__ void stride_of_grid(float *out, int n)
{
	unsigned long long size = (unsigned long long)gridDim.x * blockDim.x;
	unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
	for (int i = first; i < n; i += size)
		out[i] = 1;
}

extern "C" __global__ void stride_of_size(float *out, int n, unsigned long long by)
{
	unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
	for (int i = first; i < n; i += by)
		out[i] = 1;
}
