/* SPDX-License-Identifier: Apache-2.0 */
/* One element a thread, at an affine index of its number: guards of every kind, offsets, strides, widths. */
#include <cstdint>

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = a * x[i] + y[i];
}

extern "C" __global__ void add_unsigned(unsigned n, const float *x, float *y)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = x[i] + 1;
}

extern "C" __global__ void add_long(long long n, const float *x, float *y)
{
	long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = x[i] + 1;
}

extern "C" __global__ void add_size(size_t n, const float *x, float *y)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = x[i] + 1;
}

extern "C" __global__ void add_mixed(size_t n, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = x[i] + 1;
}

extern "C" __global__ void fill_all(float *out)
{
	out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

extern "C" __global__ void early_return(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	out[i] = 1;
}

extern "C" __global__ void guard_le(float *out, int last)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i <= last)
		out[i] = 1;
}

extern "C" __global__ void guard_window(float *out, int from, int to)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= from && i < to)
		out[i] = 1;
}

extern "C" __global__ void guard_half(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n / 2)
		out[i] = 1;
}

extern "C" __global__ void guard_product(float *out, int rows, int columns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < rows * columns)
		out[i] = 1;
}

extern "C" __global__ void guard_scaled(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (4 * i + 3 < n) {
		out[4 * i] = 1;
		out[4 * i + 3] = 1;
	}
}

extern "C" __global__ void only_first(float *out)
{
	if (blockIdx.x == 0 && threadIdx.x == 0)
		out[0] = 1;
}

extern "C" __global__ void only_last(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i == n - 1)
		out[i] = 1;
}

extern "C" __global__ void all_but_one(float *out, int hole)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i != hole)
		out[i] = 1;
}

extern "C" __global__ void one_each_block(float *out)
{
	if (threadIdx.x == 0)
		out[blockIdx.x] = 1;
}

extern "C" __global__ void by_thread_alone(const float *in, float *out)
{
	out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void offset_parameter(float *data, int first, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		data[first + i] *= 2;
}

extern "C" __global__ void offset_long(float *data, long long first, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		data[first + i] *= 2;
}

extern "C" __global__ void offset_pointer(float *data, int first, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float *mine = data + first;
	if (i < n)
		mine[i] *= 2;
}

extern "C" __global__ void offset_guarded(float *data, int first, int end)
{
	int i = first + blockIdx.x * blockDim.x + threadIdx.x;
	if (i < end)
		data[i] *= 2;
}

extern "C" __global__ void offset_block(float *data, int first_block, int n)
{
	int i = (first_block + blockIdx.x) * blockDim.x + threadIdx.x;
	if (i < n)
		data[i] *= 2;
}

extern "C" __global__ void stencil3(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i > 0 && i < n - 1)
		out[i] = in[i - 1] + in[i] + in[i + 1];
}

extern "C" __global__ void stencil_inside(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i] + in[i + 1] + in[i + 4];
}

extern "C" __global__ void stencil_behind(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i - 4] + in[i];
}

extern "C" __global__ void stencil_radius(const float *in, float *out, int n, int radius)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= radius && i < n - radius)
		out[i] = in[i - radius] + in[i + radius];
}

extern "C" __global__ void stencil_clamped(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[max(i - 1, 0)] + in[min(i + 1, n - 1)];
}

extern "C" __global__ void clamped_read(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i] = in[min(i, n - 1)];
}

extern "C" __global__ void halo_if(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float left = i > 0 && i < n ? in[i - 1] : 0;
	if (i < n)
		out[i] = left;
}

extern "C" __global__ void reversed(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[n - 1 - i] = in[i];
}

extern "C" __global__ void even(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[2 * i] = 1;
}

extern "C" __global__ void phase(float *out, int n, int odd)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[2 * i + odd] = 1;
}

struct point {
	float x, y, z;
};

extern "C" __global__ void field_y(struct point *points, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		points[i].y = points[i].x;
}

extern "C" __global__ void stride_parameter(float *out, int n, int stride)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i * stride] = 1;
}

extern "C" __global__ void stride_negative(float *out, int n, int stride)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i * stride] = 1;
}

extern "C" __global__ void bytes_copy(const uint8_t *in, uint8_t *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i];
}

extern "C" __global__ void widths(const uint16_t *in, double *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i];
}

extern "C" __global__ void short_index(float *out, short n)
{
	short i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = 1;
}

extern "C" __global__ void byte_index(float *out)
{
	uint8_t i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i] = 1;
}

extern "C" __global__ void two_guards(float *a, float *b, int n, int m)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] = 1;
	if (i < m)
		b[i] = 2;
}

extern "C" __global__ void scalar_switches(float *a, float *b, int n, int which)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	if (which)
		a[i] = 1;
	else
		b[i] = 1;
}

extern "C" __global__ void one_in_four(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n && threadIdx.x % 4 == 0)
		out[i] = 1;
}

extern "C" __global__ void swap_halves(float *data, int half)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < half) {
		float low = data[i];
		data[i] = data[i + half];
		data[i + half] = low;
	}
}
