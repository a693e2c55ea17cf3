/* SPDX-License-Identifier: Apache-2.0 */
#include <cuda_pipeline.h>

#include "case.h"

constexpr unsigned COUNT = 4 * BLOCK;

/* Division by a number that is known at the launch, as libraries do it: multiply by a magic number, shift. */
struct Divider {
	unsigned divisor, magic, shift;

	explicit Divider(unsigned d) : divisor(d), magic(0), shift(0)
	{
		while ((1ull << shift) < d)
			shift++;
		magic = static_cast<unsigned>(((1ull << 32) * ((1ull << shift) - d)) / d + 1);
	}
	__device__ unsigned div(unsigned n) const
	{
		return (__umulhi(n, magic) + n) >> shift;
	}
};

__device__ unsigned index_of()
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

/* An arc of a ring of 8 * COUNT elements. */
__global__ void spin_ring(float *data, unsigned start, unsigned ns)
{
	spin_for(ns);
	data[(start + index_of()) % (8 * COUNT)] = 1;
}

/* Every second element, several threads each. */
__global__ void spin_remainder(float *data, unsigned ns)
{
	spin_for(ns);
	data[index_of() % 64 * 2] = 1;
}

/* Seven threads an element; the index has 64 bits. */
__global__ void spin_quotient(float *data, unsigned long long n, unsigned ns)
{
	unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		data[i / 7] = 1;
}

/* Sixteen columns of rows of 32, by fields of the index. */
__global__ void spin_bits(float *data, unsigned ns)
{
	unsigned i = index_of();

	spin_for(ns);
	data[(i >> 4) * 32 + (i & 15)] = 1;
}

/* A strided view of two dimensions. */
__global__ void spin_strided(const float *in, float *out, unsigned n, Divider width, unsigned pitch, unsigned ns)
{
	unsigned i = index_of(), row = width.div(i);

	spin_for(ns);
	if (i < n)
		out[i] = in[row * pitch + (i - row * width.divisor)];
}

/* A tile of 16 x 16 a block, in rows and columns that are known at the launch; the last ones stick out. */
__global__ void spin_tiles(float *data, int width, int height, int pitch, unsigned ns)
{
	int across = (width + 15) / 16, block = blockIdx.x, thread = threadIdx.x;
	int x = block % across * 16 + thread % 16, y = block / across * 16 + thread / 16;

	spin_for(ns);
	if (x < width && y < height)
		data[y * pitch + x] = 1;
}

/* All elements of a view, each thread several. */
__global__ void spin_view(float *data, int width, int height, int pitch, unsigned ns)
{
	spin_for(ns);
	for (int i = index_of(); i < width * height; i += gridDim.x * blockDim.x)
		data[i / width * pitch + i % width] = 1;
}

/* The other one of a pair, as in sorting networks. */
__global__ void spin_partner(float *data, unsigned mask, unsigned ns)
{
	spin_for(ns);
	data[index_of() ^ mask] = 1;
}

/* Every second column, with a mask, as Triton's kernels have it: rows by half a warp, columns by the others and by
 * block. */
__global__ void spin_columns(float *data, int rows, int columns, int pitch, unsigned ns)
{
	int row = blockIdx.x * 16 + (threadIdx.x & 15), column = blockIdx.y * 64 + (threadIdx.x >> 4);

	spin_for(ns);
	for (int part = 0; part < 64; part += 16)
		if (row < rows && (column | part) < columns)
			data[row * pitch + (column | part) * 2] = 1;
}

/* One warp loads tiles, the others add them up. */
__global__ void spin_producer(const float4 *in, float *out, int tiles, unsigned ns)
{
	__shared__ float4 tile[2][128];
	const bool producer = threadIdx.x < 32;

	spin_for(ns);
	for (int t = blockIdx.x, k = 0; t < tiles; t += gridDim.x, k ^= 1) {
		if (producer) {
			for (int i = threadIdx.x; i < 128; i += 32)
				__pipeline_memcpy_async(&tile[k][i], in + t * 128 + i, sizeof *in);
			__pipeline_commit();
			__pipeline_wait_prior(0);
		}
		__syncthreads();
		if (!producer) {
			float4 v = tile[k][threadIdx.x - 32];

			out[t * 128 + threadIdx.x - 32] = v.x + v.y + v.z + v.w;
		}
	}
}

int main(int argc, char **argv)
{
	Case c(argc, argv,
	       "a race (SW101 to SW103) by the shape of an index: remainders, quotients, bit fields, strides",
	       "two streams, of which one begins where the other one still is", "they begin where the other one ends",
	       {"ring", "remainder", "quotient", "bits", "strided", "tiles", "view", "partner", "columns", "producer"});
	unsigned ns = SPIN_NS, blocks = COUNT / BLOCK;
	float *data = device_buffer(88 * COUNT * sizeof(float)), *out = device_buffer(COUNT * sizeof(float));
	float *host = pinned_buffer(4 * COUNT * sizeof(float));
	cudaStream_t a = new_stream(), b = new_stream();

	c.load(spin_ring, spin_remainder, spin_quotient, spin_bits, spin_strided, spin_tiles, spin_view, spin_partner,
	       spin_columns, spin_producer);
	if (c.is("ring")) { /* the second wraps around */
		spin_ring<<<blocks, BLOCK, 0, a>>>(data, c.fixed ? COUNT : 0, ns);
		spin_ring<<<blocks, BLOCK, 0, b>>>(data, 7 * COUNT + COUNT / 2, ns);
	} else if (c.is("remainder")) {
		spin_remainder<<<blocks, BLOCK, 0, a>>>(data, ns);
		spin_remainder<<<blocks, BLOCK, 0, b>>>(data + (c.fixed ? 1 : 2), ns);
	} else if (c.is("quotient")) {
		unsigned long long n = 7 * (COUNT / 7);

		spin_quotient<<<blocks, BLOCK, 0, a>>>(data, n, ns);
		spin_quotient<<<blocks, BLOCK, 0, b>>>(data + COUNT / 7 - !c.fixed, n, ns);
	} else if (c.is("bits")) {
		spin_bits<<<blocks, BLOCK, 0, a>>>(data, ns);
		spin_bits<<<blocks, BLOCK, 0, b>>>(data + (c.fixed ? 16 : 15), ns);
	} else if (c.is("tiles")) { /* columns of one matrix: the first part ends with the column that the second begins with */
		spin_tiles<<<5 * 4, BLOCK, 0, a>>>(data, 72, 50, 144, ns);
		spin_tiles<<<5 * 4, BLOCK, 0, b>>>(data + (c.fixed ? 72 : 71), 72, 50, 144, ns);
	} else if (c.is("view")) {
		spin_view<<<blocks, BLOCK, 0, a>>>(data, 72, 50, 144, ns);
		spin_view<<<blocks, BLOCK, 0, b>>>(data + (c.fixed ? 72 : 71), 72, 50, 144, ns);
	} else if (c.is("partner")) {
		spin_partner<<<blocks, BLOCK, 0, a>>>(data, 64, ns);
		spin_partner<<<blocks, BLOCK, 0, b>>>(data + (c.fixed ? COUNT : COUNT - 1), 64, ns);
	} else if (c.is("columns")) {
		spin_columns<<<dim3(21, 2), BLOCK, 0, a>>>(data, 333, 100, 256, ns);
		spin_columns<<<dim3(21, 2), BLOCK, 0, b>>>(data + c.fixed, 333, 100, 256, ns);
	} else if (c.is("producer")) { /* eight tiles of 512 floats */
		spin_producer<<<3, 160, 0, a>>>(reinterpret_cast<float4 *>(data), out, 8, ns);
		CHECK(cudaMemcpyAsync(data + (c.fixed ? 4 : 3) * COUNT, host, 4 * COUNT * sizeof(float),
				      cudaMemcpyHostToDevice, b));
	} else { /* a loader fills the next slot while this one is read */
		spin_strided<<<blocks, BLOCK, 0, a>>>(data, out, COUNT, Divider(24), 64, ns);
		CHECK(cudaMemcpyAsync(data + (c.fixed ? 4 * COUNT : 0), host, 4 * COUNT * sizeof(float),
				      cudaMemcpyHostToDevice, b));
	}
	CHECK_LAUNCH();
	finish({a, b}, {}, {data, out}, {host});
}
