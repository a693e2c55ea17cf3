/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels that programs launch most, written as the libraries of deep learning write them, for bench_evaluate:
 *
 *     nvcc -std=c++17 -O3 -arch=sm_90 --compress-mode=size -fatbin -o ordinary.fatbin ordinary.cu
 */
#include <cstdint>

/* ---- elementwise over strided tensors: as PyTorch's OffsetCalculator and IntDivider do */

struct Divider {
	unsigned divisor, magic, shift;
	__device__ unsigned div(unsigned n) const
	{
		return (__umulhi(n, magic) + n) >> shift;
	}
};

template <int ARGS> struct Offsets {
	int dims;
	Divider size[25];
	unsigned stride[25][ARGS];
	__device__ void get(unsigned index, unsigned out[ARGS]) const
	{
		for (int a = 0; a < ARGS; a++)
			out[a] = 0;
#pragma unroll
		for (int d = 0; d < 25; d++) {
			if (d == dims)
				break;
			unsigned whole = size[d].div(index), rest = index - whole * size[d].divisor;
			index = whole;
#pragma unroll
			for (int a = 0; a < ARGS; a++)
				out[a] += rest * stride[d][a];
		}
	}
};

struct Strided {
	Offsets<3> offsets;
	char *data[3];
};

extern "C" __global__ void __launch_bounds__(128) elementwise_strided(int n, Strided t)
{
	int index = 512 * blockIdx.x + threadIdx.x;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		if (index < n) {
			unsigned at[3];
			t.offsets.get(index, at);
			*(float *)(t.data[0] + at[0]) = *(float *)(t.data[1] + at[1]) + *(float *)(t.data[2] + at[2]);
			index += 128;
		}
	}
}

/* ---- elementwise over contiguous tensors: four elements a thread, the last block one by one */

struct Pointers {
	char *data[3];
};

extern "C" __global__ void __launch_bounds__(128) elementwise_vectorized(int n, Pointers t)
{
	int rest = n - 1024 * blockIdx.x, base = 1024 * blockIdx.x;
	if (rest < 1024) {
		float a[8], b[8];
		int at = threadIdx.x;
#pragma unroll
		for (int i = 0; i < 8; i++, at += 128)
			if (at < rest) {
				a[i] = ((float *)t.data[1])[base + at];
				b[i] = ((float *)t.data[2])[base + at];
			}
		at = threadIdx.x;
#pragma unroll
		for (int i = 0; i < 8; i++, at += 128)
			if (at < rest)
				((float *)t.data[0])[base + at] = a[i] * b[i];
	} else {
		float4 *out = (float4 *)((float *)t.data[0] + base);
		const float4 *a = (const float4 *)((float *)t.data[1] + base), *b = (const float4 *)((float *)t.data[2] + base);
#pragma unroll
		for (int i = 0; i < 2; i++) {
			float4 x = a[threadIdx.x + 128 * i], y = b[threadIdx.x + 128 * i];
			out[threadIdx.x + 128 * i] = make_float4(x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.w);
		}
	}
}

extern "C" __global__ void copy_float4(float4 *out, const float4 *in, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		out[i] = in[i];
}

/* ---- reductions */

__device__ float block_sum(float x)
{
	__shared__ float part[32];
	for (int d = 16; d; d /= 2)
		x += __shfl_down_sync(~0u, x, d);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = x;
	__syncthreads();
	if (threadIdx.x < 32) {
		x = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
		for (int d = 16; d; d /= 2)
			x += __shfl_down_sync(~0u, x, d);
		if (threadIdx.x == 0)
			part[0] = x;
	}
	__syncthreads();
	return part[0];
}

extern "C" __global__ void row_sum(float *out, const float *in, int columns, int pitch)
{
	float sum = 0;
	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		sum += in[(size_t)blockIdx.x * pitch + i];
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		out[blockIdx.x] = sum;
}

extern "C" __global__ void softmax(float *out, const float *in, int columns)
{
	const float *row = in + (int64_t)blockIdx.x * columns;
	float most = -1e30f, sum = 0;
	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		most = fmaxf(most, row[i]);
	most = block_sum(most);
	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		sum += __expf(row[i] - most);
	sum = block_sum(sum);
	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		out[(int64_t)blockIdx.x * columns + i] = __expf(row[i] - most) / sum;
}

extern "C" __global__ void layer_norm(int n, float epsilon, const float4 *in, const float4 *gamma, const float4 *beta,
				      float *mean, float *rstd, float4 *out)
{
	const float4 *row = in + (int64_t)blockIdx.x * (n / 4);
	float sum = 0, squares = 0;
	for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
		float4 x = row[i];
		sum += x.x + x.y + x.z + x.w;
		squares += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
	}
	sum = block_sum(sum) / n;
	squares = rsqrtf(block_sum(squares) / n + epsilon);
	for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
		float4 x = row[i], g = gamma[i], b = beta[i];
		out[(int64_t)blockIdx.x * (n / 4) + i] = make_float4(x.x * g.x + b.x, x.y * g.y + b.y, x.z * g.z + b.z,
								     x.w * g.w + b.w);
	}
	if (threadIdx.x == 0) {
		mean[blockIdx.x] = sum;
		rstd[blockIdx.x] = squares;
	}
}

/* A reduction over strided tensors, several outputs a block, four values at a time. */
struct Reduce {
	int inputs, outputs, step_input, step_output;
	int input_mult[3], output_mult[2];
	Offsets<2> input, output;
	const float *in;
	float *out;
};

extern "C" __global__ void __launch_bounds__(512, 4) reduce_strided(Reduce r)
{
	unsigned output = threadIdx.x * r.output_mult[0] + threadIdx.y * r.output_mult[1] + blockIdx.x * r.step_output;
	unsigned input = threadIdx.x * r.input_mult[0] + threadIdx.y * r.input_mult[1] + blockIdx.y * r.input_mult[2];
	unsigned base[2];
	float sum[4] = {0, 0, 0, 0};
	r.output.get(output, base);
	if (output >= r.outputs)
		return;
	const float *in = (const float *)((const char *)r.in + base[1]);
	unsigned end = r.inputs, stride = r.step_input, at[2];
	while (input + 3 * stride < end) {
#pragma unroll
		for (int i = 0; i < 4; i++) {
			r.input.get(input + i * stride, at);
			sum[i] += in[at[0] / 4];
		}
		input += 4 * stride;
	}
#pragma unroll
	for (int i = 0; i < 4; i++) {
		if (input >= end)
			break;
		r.input.get(input, at);
		sum[i] += in[at[0] / 4];
		input += stride;
	}
	if (threadIdx.x == 0 || r.output_mult[0])
		*(float *)((char *)r.out + base[0]) = sum[0] + sum[1] + sum[2] + sum[3];
}

/* ---- matrices */

extern "C" __global__ void gemm_small(const float *a, const float *b, float *c, int m, int n, int k)
{
	__shared__ float as[16][16], bs[16][16];
	int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
	float sum = 0;
	for (int t = 0; t < k; t += 16) {
		as[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : 0;
		bs[threadIdx.y][threadIdx.x] = column < n && t + threadIdx.y < k ? b[(t + threadIdx.y) * n + column] : 0;
		__syncthreads();
		for (int i = 0; i < 16; i++)
			sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
		__syncthreads();
	}
	if (row < m && column < n)
		c[row * n + column] = sum;
}

extern "C" __global__ void __launch_bounds__(256) gemm_tiles(const float4 *a, const float4 *b, float4 *c, int m, int n, int k,
							     int lda, int ldb, int ldc, float alpha, float beta)
{
	__shared__ float4 as[8][32], bs[8][32];
	int tile_row = blockIdx.y * 128, tile_column = blockIdx.x * 128;
	float sum[8][8] = {};
	for (int t = 0; t < k; t += 8) {
		int row = tile_row + threadIdx.x / 2, column = t + threadIdx.x % 2 * 4;
		float4 zero = make_float4(0, 0, 0, 0);
		as[threadIdx.x / 32][threadIdx.x % 32] = row < m && column < k ? a[(row * (int64_t)lda + column) / 4] : zero;
		row = t + threadIdx.x / 32, column = tile_column + threadIdx.x % 32 * 4;
		bs[threadIdx.x / 32][threadIdx.x % 32] = row < k && column < n ? b[(row * (int64_t)ldb + column) / 4] : zero;
		__syncthreads();
		for (int i = 0; i < 8; i++) {
			float4 x = as[i][threadIdx.x / 16 * 2], y = bs[i][threadIdx.x % 16 * 2];
			for (int j = 0; j < 8; j++)
				sum[j][i] += x.x * y.y + x.z * y.w;
		}
		__syncthreads();
	}
#pragma unroll
	for (int i = 0; i < 8; i++) {
		int row = tile_row + threadIdx.x / 16 * 8 + i;
#pragma unroll
		for (int j = 0; j < 8; j += 4) {
			int column = tile_column + threadIdx.x % 16 * 8 + j;
			if (row >= m || column >= n)
				continue;
			float4 *to = &c[(row * (int64_t)ldc + column) / 4];
			float4 old = beta != 0 ? *to : make_float4(0, 0, 0, 0);
			*to = make_float4(alpha * sum[i][j] + beta * old.x, alpha * sum[i][j + 1] + beta * old.y,
					  alpha * sum[i][j + 2] + beta * old.z, alpha * sum[i][j + 3] + beta * old.w);
		}
	}
}

extern "C" __global__ void transpose(float *out, const float *in, int width, int height)
{
	__shared__ float tile[32][33];
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
	for (int i = 0; i < 32; i += 8)
		if (x < width && y + i < height)
			tile[threadIdx.y + i][threadIdx.x] = in[(int64_t)(y + i) * width + x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
	for (int i = 0; i < 32; i += 8)
		if (x < height && y + i < width)
			out[(int64_t)(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
}

/* ---- tables of tensors, indices */

struct CatInput {
	const float *in[64];
	unsigned offset[64], size[64], elements[64];
	bool contiguous[64];
	unsigned stride[64][4];
};
struct CatOutput {
	unsigned size[4], stride[4];
};

extern "C" __global__ void cat(float *out, __grid_constant__ const CatInput t, CatOutput o, int concat, unsigned stride)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = t.elements[blockIdx.y];
	if (i >= n)
		return;
	const float *in = t.in[blockIdx.y];
	unsigned offset = t.offset[blockIdx.y], size = t.size[blockIdx.y], start = offset * stride, step = gridDim.x * blockDim.x;
	while (i < n) {
		unsigned at = i, to = 0;
#pragma unroll
		for (int d = 3; d >= 1; d--) {
			unsigned length = d == concat ? size : o.size[d], next = at / length;
			to += (at - next * length) * o.stride[d];
			at = next;
		}
		out[start + to + at * o.stride[0]] = in[i];
		i += step;
	}
}

struct Index {
	Offsets<3> offsets;
	char *out;
	const char *in;
	const char *index;
	int indices;
	int64_t size[25], stride[25];
	const char *pointer[25];
};

extern "C" __global__ void __launch_bounds__(128) index_elementwise(int n, Index t)
{
	int index = 512 * blockIdx.x + threadIdx.x;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		if (index < n) {
			unsigned at[3];
			int64_t offset = 0;
			t.offsets.get(index, at);
#pragma unroll
			for (int k = 0; k < 25; k++) {
				if (k == t.indices)
					break;
				int64_t x = *(const int64_t *)(t.pointer[k] + at[2]);
				if (x < 0)
					x += t.size[k];
				offset += x * t.stride[k];
			}
			*(float *)(t.out + at[0]) = *(const float *)(t.in + at[1] + offset);
			index += 128;
		}
	}
}

extern "C" __global__ void embedding(float *out, const float *weight, const int64_t *index, int columns, int64_t rows)
{
	int64_t row = index[blockIdx.x];
	for (int i = threadIdx.x; i < columns; i += blockDim.x)
		out[(int64_t)blockIdx.x * columns + i] = weight[row * columns + i];
}

struct Tensors {
	void *address[4][36];
	int64_t elements[36];
	unsigned char tensor[320];
	int chunk[320];
};

extern "C" __global__ void __launch_bounds__(512) adam(int64_t chunk_elements, __grid_constant__ const Tensors t, float rate)
{
	int tensor = t.tensor[blockIdx.x], chunk = t.chunk[blockIdx.x];
	int64_t n = t.elements[tensor] - chunk * chunk_elements;
	float *p[4];
	for (int i = 0; i < 4; i++)
		p[i] = (float *)t.address[i][tensor] + chunk * chunk_elements;
	if (n > chunk_elements)
		n = chunk_elements;
	for (int64_t from = 0; from < n; from += blockDim.x * 4) {
#pragma unroll
		for (int i = 0; i < 4; i++) {
			int64_t at = from + threadIdx.x + i * blockDim.x;
			if (at < n) {
				float g = p[1][at], m = p[2][at] * 0.9f + g * 0.1f, v = p[3][at] * 0.99f + g * g * 0.01f;
				p[2][at] = m;
				p[3][at] = v;
				p[0][at] -= rate * m * rsqrtf(v);
			}
		}
	}
}
