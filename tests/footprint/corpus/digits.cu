/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses made from the digits of one number: strided tensors, warps and lanes, bit fields, rounded tiles. */
#include <cstdint>

/* Division as libraries do it by numbers that they know at the launch: multiply by a magic number, shift. */
struct Divider {
	unsigned divisor, magic, shift;
	__device__ unsigned div(unsigned n) const
	{
		return (__umulhi(n, magic) + n) >> shift;
	}
};

struct Strides {
	int dims;
	Divider size[4];
	unsigned in[4], out[4]; /* bytes */
};

/* Four elements a thread, 128 threads. */
extern "C" __global__ void strided_copy(int n, Strides t, const char *in, char *out)
{
	int index = 512 * blockIdx.x + threadIdx.x;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		if (index < n) {
			unsigned left = index, from = 0, to = 0;
#pragma unroll
			for (int d = 0; d < 4; d++) {
				if (d == t.dims)
					break;
				unsigned whole = t.size[d].div(left), rest = left - whole * t.size[d].divisor;
				left = whole;
				from += rest * t.in[d];
				to += rest * t.out[d];
			}
			*(float *)(out + to) = *(const float *)(in + from);
			index += 128;
		}
	}
}

struct AllStrides {
	int dims;
	Divider size[25];
	unsigned in[25], out[25]; /* bytes */
};

/* As PyTorch's OffsetCalculator: up to 25 dimensions, of which the launch has fewer. */
extern "C" __global__ void strided_all(int n, AllStrides t, const char *in, char *out)
{
	int index = 128 * blockIdx.x + threadIdx.x;
	if (index < n) {
		unsigned left = index, from = 0, to = 0;
#pragma unroll
		for (int d = 0; d < 25; d++) {
			if (d == t.dims)
				break;
			unsigned whole = t.size[d].div(left), rest = left - whole * t.size[d].divisor;
			left = whole;
			from += rest * t.in[d];
			to += rest * t.out[d];
		}
		*(float *)(out + to) = *(const float *)(in + from);
	}
}

/* Division of 64 bits by a magic number, rounded up or down (cutlass::FastDivmodU64).  Machine code adds it up from
   four products of halves. */
extern "C" __global__ void wide_division(const float *in, float *out, unsigned long long n, unsigned long long magic,
					 unsigned shift, unsigned down)
{
	unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[__umul64hi(i + down, magic) >> shift & 1023];
}

/* By constants: 7 has a magic number of one bit too many. */
extern "C" __global__ void by_seven(const float *in, float *out, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i / 7];
}
extern "C" __global__ void wide_by_seven(const float *in, float *out, unsigned long long n)
{
	unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i / 7];
}
extern "C" __global__ void wide_digits(const float *in, float *out, long long n)
{
	long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i / 10 * 16 + i % 10];
}

/* A row of `pitch` elements a warp. */
extern "C" __global__ void warp_rows(float *out, int pitch)
{
	int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
	out[(blockIdx.x * (blockDim.x >> 5) + warp) * pitch + lane] = 1;
}

/* One element a warp. */
extern "C" __global__ void warp_results(float *out)
{
	if ((threadIdx.x & 31) == 0)
		out[blockIdx.x * 8 + (threadIdx.x >> 5)] = 1;
}

/* All lanes store the same element. */
extern "C" __global__ void warp_same(float *out)
{
	out[blockIdx.x * 8 + (threadIdx.x >> 5)] = 1;
}

/* Bits 4 and 5 are the row, the others the column. */
extern "C" __global__ void bit_fields(float *out)
{
	unsigned t = threadIdx.x;
	out[((t >> 4) & 3) * 256 + (t >> 6) * 16 + (t & 15)] = 1;
}

/* A tile stored column by column. */
extern "C" __global__ void tile_turned(float *out, int height)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i % 24 * height + i / 24] = 1;
}

/* Columns of a row change places, so that banks do not collide. */
extern "C" __global__ void swizzle(float *out)
{
	unsigned row = threadIdx.x >> 3, column = threadIdx.x & 7;
	out[row * 8 + (column ^ (row & 7))] = 1;
}

/* The number of a tile is divided, and the threads in it are guarded. */
extern "C" __global__ void tiles_flat(float *out, int width, int height, int across)
{
	int x = blockIdx.x % across * 16 + threadIdx.x, y = blockIdx.x / across * 8 + threadIdx.y;
	if (x < width && y < height)
		out[y * width + x] = 1;
}

/* As far as a number of threads that is no multiple of a row. */
extern "C" __global__ void row_parts(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i / 10 * 16 + i % 10] = 1;
}

/* Elements of the last digit are broadcast. */
extern "C" __global__ void broadcast(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i / 12 % 5 * 8 + i % 3];
}

/* A tile of 16 x 16 a block, by numbers that are known at the launch; the last ones stick out. */
extern "C" __global__ void flat_tiles(float *data, int width, int height, int pitch)
{
	int across = (width + 15) / 16, row = blockIdx.x / across, column = blockIdx.x % across;
	int x = column * 16 + threadIdx.x % 16, y = row * 16 + threadIdx.x / 16;
	if (x < width && y < height)
		data[y * pitch + x] = 1;
}

/* Padded rows and channels. */
extern "C" __global__ void padded(float *data, int images, int channels, int height, int width)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < images * channels * height * width) {
		int x = i % width, y = i / width % height, c = i / (width * height) % channels,
		    n = i / (width * height * channels);
		data[((n * channels + c) * (height + 2) + y + 1) * (width + 2) + x + 1] = 1;
	}
}

extern "C" __global__ void rows_by_stride(float *data, int width, int height, int pitch)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < width * height; i += gridDim.x * blockDim.x)
		data[i / width * pitch + i % width] = 1;
}

/* The other one of a pair. */
extern "C" __global__ void partner(float *data, unsigned n, unsigned mask)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		data[i ^ mask] = 1;
}

/* Rows by half a warp, columns by the others, eight apart: written with | by compilers, since no sum carries. */
extern "C" __global__ void columns_or(float *out, int rows, int cols, int row, int col)
{
	int r = blockIdx.x * 16 + (threadIdx.x & 15), c = blockIdx.y * 64 + (threadIdx.x >> 4);
	if (r < rows && c < cols)
		out[r * row + c * col] = 1;
	if (r < rows && (c | 8) < cols)
		out[r * row + (c | 8) * col] = 2;
	if (r < rows && (c | 40) < cols)
		out[r * row + (c | 40) * col] = 3;
}

/* Rows by half a warp, the last block's not all there; columns by the others and in two blocks: three strides. */
extern "C" __global__ void columns_apart(float *out, int rows, int row, int col)
{
	int r = blockIdx.x * 16 + (threadIdx.x & 15), c = blockIdx.y * 64 + (threadIdx.x >> 4);
	if (r < rows)
		out[r * row + c * col] = 1;
}
