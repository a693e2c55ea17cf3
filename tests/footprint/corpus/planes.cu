/* SPDX-License-Identifier: Apache-2.0 */
/* Indices in two and three dimensions: pitches, tiles, transposition, division and remainder. */
#include <cstdint>

extern "C" __global__ void plane(float *out, int width, int height, int pitch)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < width && y < height)
		out[y * pitch + x] = 1;
}

extern "C" __global__ void plane_pitched(char *out, size_t pitch, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < width && y < height) {
		float *row = (float *)(out + y * pitch);
		row[x] = 1;
	}
}

extern "C" __global__ void plane_window(float *out, int left, int top, int width, int height, int pitch)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < width && y < height)
		out[(top + y) * pitch + left + x] = 1;
}

extern "C" __global__ void volume(float *out, int width, int height, int depth)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	int z = blockIdx.z * blockDim.z + threadIdx.z;
	if (x < width && y < height && z < depth)
		out[(z * height + y) * width + x] = 1;
}

extern "C" __global__ void volume_window(float *out, int width, int height, int depth, int pitch, int slice)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	int z = blockIdx.z * blockDim.z + threadIdx.z;
	if (x < width && y < height && z < depth)
		out[z * slice + y * pitch + x] = 1;
}

extern "C" __global__ void volume_loop(const float *in, float *out, int width, int height, int depth)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height)
		return;
	for (int z = 0; z < depth; z++)
		out[(z * height + y) * width + x] = in[(z * height + y) * width + x];
}

extern "C" __global__ void stencil5(const float *in, float *out, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
		return;
	int i = y * width + x;
	out[i] = in[i] + in[i - 1] + in[i + 1] + in[i - width] + in[i + width];
}

extern "C" __global__ void transpose_naive(const float *in, float *out, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < width && y < height)
		out[x * height + y] = in[y * width + x];
}

extern "C" __global__ void transpose_tiled(const float *in, float *out, int width, int height)
{
	__shared__ float tile[16][17];
	int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
	if (x < width && y < height)
		tile[threadIdx.y][threadIdx.x] = in[y * width + x];
	__syncthreads();
	x = blockIdx.y * 16 + threadIdx.x;
	y = blockIdx.x * 16 + threadIdx.y;
	if (x < height && y < width)
		out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void column_tile(float *out, int first, int columns, int rows, int pitch)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	if (x < columns && y < rows)
		out[y * pitch + first + x] = 1;
}

extern "C" __global__ void one_column(float *out, int column, int rows, int pitch)
{
	int y = blockIdx.x * blockDim.x + threadIdx.x;
	if (y < rows)
		out[y * pitch + column] = 1;
}

extern "C" __global__ void divided(float *out, int n, int width, int pitch)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i / width * pitch + i % width] = 1;
}

extern "C" __global__ void divided_constant(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i / 10 * 16 + i % 10] = 1;
}

extern "C" __global__ void divided_shift(float *out, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[(i >> 4) * 32 + (i & 15)] = 1;
}

extern "C" __global__ void quotient_read(const float *in, float *out, int n, int each)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i / each];
}

extern "C" __global__ void remainder_read(const float *in, float *out, int n, int period)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i % period];
}

extern "C" __global__ void remainder_constant(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i % 7];
}

/* As fast division does: multiply by a magic number, shift. */
extern "C" __global__ void magic_division(const float *in, float *out, unsigned n, unsigned magic, unsigned shift)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[(__umulhi(i, magic) + i) >> shift];
}

extern "C" __global__ void batched(const float *in, float *out, int n, size_t batch)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	in += blockIdx.y * batch;
	out += blockIdx.y * batch;
	if (i < n)
		out[i] = in[i];
}

extern "C" __global__ void checkerboard(float *out, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < width && y < height && (x + y) % 2 == 0)
		out[y * width + x] = 1;
}

extern "C" __global__ void diagonal(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i * n + i] = 1;
}

extern "C" __global__ void flipped_rows(const float *in, float *out, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < width && y < height)
		out[(height - 1 - y) * width + x] = in[y * width + x];
}
