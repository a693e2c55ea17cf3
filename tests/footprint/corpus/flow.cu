/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow of all shapes, arithmetic that wraps, code that is long. */
#include <cstdint>

extern "C" __global__ void switch_scalar(float *a, float *b, float *c, int which)
{
	switch (which) {
	case 0:
		a[threadIdx.x] = 1;
		break;
	case 1:
		b[threadIdx.x] = 2;
		break;
	default:
		c[threadIdx.x] = 3;
	}
}

extern "C" __global__ void switch_many(float *out, const int *what)
{
	int t = threadIdx.x;
	switch (what[t]) {
	case 0:
		out[t] = 1;
		break;
	case 1:
		out[t + 64] = 2;
		break;
	case 2:
		out[t + 128] = 3.5f;
		break;
	case 3:
		out[t + 192] = out[t];
		break;
	case 4:
		out[t + 256] = out[t + 64];
		break;
	case 5:
		out[t + 320] = -1;
		break;
	case 6:
		out[t + 384] = sinf(t);
		break;
	case 7:
		out[t + 448] = expf(t);
		break;
	}
}

extern "C" __global__ void several_returns(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	out[i] = 1;
	if (i >= n / 2)
		return;
	out[i + n] = 2;
	if (i >= n / 4)
		return;
	out[i + 2 * n] = 3;
}

extern "C" __global__ void skips(float *out, int n)
{
#pragma unroll 1
	for (int i = 0; i < n; i++) {
		if (i < 10)
			continue;
		out[i] = 1;
	}
}

/* Two entries into one loop. */
extern "C" __global__ void irreducible(float *out, int n, int way)
{
	int i = 0;
	if (way)
		goto middle;
top:
	out[i] = 1;
	i++;
middle:
	if (i >= n)
		return;
	out[i + 1024] = 2;
	i++;
	if (i < n)
		goto top;
}

extern "C" __global__ void state_machine(const int *in, float *out, int n)
{
	int state = 0;
#pragma unroll 1
	for (int i = 0; i < n; i++)
		switch (state) {
		case 0:
			state = in[i] & 1;
			out[i] = 0;
			break;
		case 1:
			state = in[i] & 2;
			out[i] = 1;
			break;
		default:
			state = 0;
			out[i] = 2;
		}
}

/* Wraps: 65536 x 65536 is 0. */
extern "C" __global__ void wraps_unsigned(float *out, unsigned stride)
{
	unsigned i = threadIdx.x;
	out[i * stride] = 1;
}

extern "C" __global__ void wraps_below_zero(float *out, unsigned n)
{
	unsigned i = threadIdx.x - 16;
	if (i < n)
		out[i] = 1;
}

extern "C" __global__ void narrow_sum(float *out, unsigned first)
{
	uint16_t i = (uint16_t)(first + threadIdx.x);
	out[i] = 1;
}

extern "C" __global__ void sign_of_index(float *out, int shift)
{
	int i = (int)threadIdx.x - shift;
	out[i] = 1;
}

extern "C" __global__ void unsigned_64(float *out, uint64_t first)
{
	out[first + threadIdx.x] = 1;
}

extern "C" __global__ void guard_by_block(float *out, int blocks)
{
	if (blockIdx.x >= blocks)
		return;
	out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

extern "C" __global__ void first_and_last_block(float *out)
{
	if (blockIdx.x == 0)
		out[threadIdx.x] = 1;
	if (blockIdx.x == gridDim.x - 1)
		out[1000 - threadIdx.x] = 2;
}

extern "C" __global__ void either_guard(float *out, int a, int b)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < a || i >= b)
		out[i] = 1;
}

extern "C" __global__ void not_guard(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (!(i >= n))
		out[i] = 1;
}

extern "C" __global__ void guard_in_double(float *out, double n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = 1;
}

extern "C" __global__ void guard_on_data(const int *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n && in[i] > 5)
		out[i] = 1;
}

extern "C" __global__ void guard_loaded(const int *n, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < *n)
		out[i] = 1;
}

extern "C" __global__ void bits_select(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i & ~3] = 1;
}

extern "C" __global__ void butterfly(float *data, int n, int mask)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		data[i ^ mask] = 1;
}

extern "C" __global__ void or_index(float *out, int n)
{
	int i = threadIdx.x;
	if (i < n)
		out[i << 2 | 1] = 1;
}

extern "C" __global__ void bit_reversed(float *out)
{
	out[__brev(threadIdx.x) >> 26] = 1;
}

extern "C" __global__ void rounded_up(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	int end = (n + 31) / 32 * 32;
	if (i < end)
		out[i] = 1;
}

extern "C" __global__ void bounded_by_minimum(float *out, int n, int m)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < min(n, m))
		out[i] = 1;
}

#define STEP(k) x = x * 1.01f + in[(k) * 64 + threadIdx.x]; out[(k) * 64 + threadIdx.x] = x;
#define STEP4(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3)
#define STEP16(k) STEP4(k) STEP4(k + 4) STEP4(k + 8) STEP4(k + 12)
#define STEP64(k) STEP16(k) STEP16(k + 16) STEP16(k + 32) STEP16(k + 48)
extern "C" __global__ void very_long(const float *in, float *out)
{
	float x = 0;
	STEP64(0) STEP64(64) STEP64(128) STEP64(192)
}

extern "C" __global__ void stops(float *out, int n)
{
	int i = threadIdx.x;
	if (i >= n)
		asm volatile("exit;");
	out[i] = 1;
}

extern "C" __global__ void traps(float *out, int n)
{
	int i = threadIdx.x;
	if (n < 0)
		__trap();
	if (i < n)
		out[i] = 1;
}

/* Rings: two arcs where the end is passed. */
extern "C" __global__ void ring(float *buf, int start, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		buf[(start + i) % 1000] = i;
}

extern "C" __global__ void ring_unsigned(float *buf, unsigned start, unsigned count)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		buf[(start + i) % 1000u] = i;
}

extern "C" __global__ void ring_loop(float *buf, int start, int count)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
		buf[(start + i) % 1000] = i;
}
