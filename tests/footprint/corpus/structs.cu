/* SPDX-License-Identifier: Apache-2.0 */
/* Structs by value and parameter blocks of all shapes. */
#include <cstdint>

struct view {
	float *data;
	int pitch, rows, columns;
};

extern "C" __global__ void matrix_view(struct view v)
{
	int x = threadIdx.x, y = blockIdx.x;
	if (x < v.columns && y < v.rows)
		v.data[y * v.pitch + x] = 1;
}

struct pair {
	struct view from, to;
	float factor;
};

extern "C" __global__ void nested(struct pair p)
{
	int x = threadIdx.x, y = blockIdx.x;
	if (x < p.to.columns && y < p.to.rows)
		p.to.data[y * p.to.pitch + x] = p.factor * p.from.data[y * p.from.pitch + x];
}

struct with_stale {
	float *used, *stale;
	int n;
	float *also_stale;
};

extern "C" __global__ void stale_words(struct with_stale s)
{
	if (threadIdx.x < s.n)
		s.used[threadIdx.x] = 1;
}

struct __attribute__((packed)) tight {
	uint8_t flag;
	float *data;
	uint16_t n;
};

extern "C" __global__ void packed_struct(struct tight t)
{
	if (t.flag && threadIdx.x < t.n)
		t.data[threadIdx.x] = 1;
}

struct many {
	float *at[8];
	int n[8];
};

extern "C" __global__ void many_arrays(struct many m)
{
#pragma unroll
	for (int k = 0; k < 8; k++)
		if (threadIdx.x < m.n[k])
			m.at[k][threadIdx.x] = k;
}

/* As optimisers do that work on lists of tensors: the block chooses. */
extern "C" __global__ void chosen_by_block(struct many m)
{
	int k = blockIdx.x;
	for (int i = threadIdx.x; i < m.n[k]; i += blockDim.x)
		m.at[k][i] = 1;
}

extern "C" __global__ void small_parameters(uint8_t a, float *x, uint16_t b, uint8_t c, float *y, uint8_t d)
{
	if (threadIdx.x < a + b)
		x[threadIdx.x] = 1;
	if (threadIdx.x < c + d)
		y[threadIdx.x] = 1;
}

struct big {
	float *data;
	int weights[200];
	float *result;
};

extern "C" __global__ void large_block(struct big b)
{
	float sum = 0;
	for (int i = 0; i < 200; i++)
		sum += b.weights[i] * b.data[i];
	b.result[threadIdx.x] = sum;
}

__device__ __noinline__ void write_view(const struct view &v, int x)
{
	v.data[x] = 1;
}

extern "C" __global__ void by_reference(const __grid_constant__ struct view v)
{
	if (threadIdx.x < v.columns)
		write_view(v, threadIdx.x);
}

extern "C" __global__ void changed_copy(struct view v, int steps)
{
	for (int k = 0; k < steps; k++) {
		v.data[threadIdx.x] = 1;
		v.data += v.pitch;
	}
}

struct empty {};

extern "C" __global__ void empty_struct(struct empty, float *x)
{
	x[threadIdx.x] = 1;
}

union either {
	float *pointer;
	long long number;
};

extern "C" __global__ void union_pointer(union either e, int is_pointer)
{
	if (is_pointer)
		e.pointer[threadIdx.x] = 1;
}

struct span {
	float *begin, *end;
};

extern "C" __global__ void begin_end(struct span s)
{
	for (float *p = s.begin + threadIdx.x; p < s.end; p += blockDim.x)
		*p = 1;
}

extern "C" __global__ void array_of_views(struct pair p, int which)
{
	const struct view *v = which ? &p.to : &p.from;
	if (threadIdx.x < v->columns)
		v->data[threadIdx.x] = 1;
}

extern "C" __global__ void pointer_to_struct(struct view *v)
{
	if (threadIdx.x < v->columns)
		v->data[threadIdx.x] = v->pitch;
}

extern "C" __global__ void nothing()
{
}
