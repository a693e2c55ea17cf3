/* SPDX-License-Identifier: Apache-2.0 */
/* Vector accesses, cache hints, copies of bytes. */
#include <cstdint>
#include <cuda_fp16.h>

extern "C" __global__ void copy_float4(const float4 *in, float4 *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i];
}

extern "C" __global__ void scale_float2(float2 *data, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		float2 v = data[i];
		data[i] = make_float2(v.x * 2, v.y * 3);
	}
}

extern "C" __global__ void copy_double2(const double2 *in, double2 *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i];
}

extern "C" __global__ void split_float4(const float4 *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		float4 v = in[i];
		out[i] = v.x;
		out[i + n] = v.y;
		out[i + 2 * n] = v.z;
		out[i + 3 * n] = v.w;
	}
}

extern "C" __global__ void half2_axpy(const __half2 *x, __half2 *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = __hfma2(x[i], x[i], y[i]);
}

extern "C" __global__ void bytes4(const uchar4 *in, uchar4 *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		uchar4 v = in[i];
		out[i] = make_uchar4(v.w, v.z, v.y, v.x);
	}
}

extern "C" __global__ void read_only_cache(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = __ldg(&in[i]);
}

extern "C" __global__ void streaming(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		__stcs(&out[i], __ldcs(&in[i]) + __ldcg(&in[i]));
}

extern "C" __global__ void restricted(const float *__restrict__ in, float *__restrict__ out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i] + in[n - 1 - i];
}

/* Four at a time, then the rest. */
extern "C" __global__ void vector_with_tail(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, quads = n / 4;
	if (i < quads)
		((float4 *)out)[i] = ((const float4 *)in)[i];
	int rest = quads * 4 + i;
	if (rest < n)
		out[rest] = in[rest];
}

/* Bytes up to alignment, words, bytes. */
extern "C" __global__ void copy_aligned(const uint8_t *in, uint8_t *out, int n)
{
	int t = threadIdx.x, head = (16 - (int)((uintptr_t)out & 15)) & 15;
	if (head > n)
		head = n;
	if (t < head)
		out[t] = in[t];
	int words = (n - head) / 16;
	for (int i = t; i < words; i += blockDim.x)
		((uint4 *)(out + head))[i] = ((const uint4 *)(in + head))[i];
	for (int i = head + words * 16 + t; i < n; i += blockDim.x)
		out[i] = in[i];
}

extern "C" __global__ void copy_bytes(uint8_t *to, const uint8_t *from, size_t n)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		to[i] = from[i];
}

extern "C" __global__ void struct_copy(const int4 *in, int4 *out)
{
	struct wide {
		int4 a, b, c;
	};
	((struct wide *)out)[threadIdx.x] = ((const struct wide *)in)[threadIdx.x];
}

extern "C" __global__ void unaligned_fields(const uint8_t *in, uint32_t *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		const uint8_t *p = in + 5 * i;
		out[i] = p[1] | p[2] << 8 | p[3] << 16 | p[4] << 24;
	}
}

extern "C" __global__ void set_bytes(uint8_t *to, int value, size_t n)
{
	size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
	for (int k = 0; k < 4; k++)
		if (i + k < n)
			to[i + k] = (uint8_t)value;
}
