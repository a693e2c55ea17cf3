/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: of known functions, through pointers, virtual, recursive; the heap; printf and assert; templates, lambdas. */
#include <cassert>
#include <cstdint>
#include <cstdio>

__device__ __noinline__ void put(float *out, int i, float value)
{
	out[i] = value;
}

__device__ __noinline__ float get(const float *in, int i)
{
	return in[i];
}

__device__ __noinline__ float *element(float *out, int i)
{
	return out + i;
}

__device__ __noinline__ int position(int i, int n)
{
	return n - 1 - i;
}

extern "C" __global__ void calls_put(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		put(out, i, 1);
}

extern "C" __global__ void calls_two(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		put(out, i, get(in, i));
}

extern "C" __global__ void calls_twice(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		put(a, i, 1);
		put(b, i + 1, 2);
	}
}

extern "C" __global__ void pointer_returned(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		*element(out, i) = 1;
}

extern "C" __global__ void index_returned(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[position(i, n)] = 1;
}

__device__ __noinline__ void fill_down(float *out, int depth)
{
	out[depth] = 1;
	if (depth > 0)
		fill_down(out, depth - 1);
	out[depth] += 1;
}

extern "C" __global__ void recursive(float *out, int depth)
{
	fill_down(out, depth);
}

typedef void (*action)(float *out, int i);
__device__ __noinline__ void action_one(float *out, int i)
{
	out[i] = 1;
}
__device__ __noinline__ void action_two(float *out, int i)
{
	out[i + 64] = 2;
}
__device__ action actions[2] = {action_one, action_two};

extern "C" __global__ void function_selected(float *out, int which)
{
	action f = which ? action_one : action_two;
	f(out, threadIdx.x);
}

extern "C" __global__ void function_table(float *out, int which)
{
	actions[which](out, threadIdx.x);
}

struct shape {
	__device__ virtual float area(const float *sides) const = 0;
};
struct square : shape {
	__device__ float area(const float *sides) const override
	{
		return sides[0] * sides[0];
	}
};
struct oblong : shape {
	__device__ float area(const float *sides) const override
	{
		return sides[0] * sides[1];
	}
};

extern "C" __global__ void virtual_call(const float *sides, float *out, int which)
{
	square s;
	oblong o;
	const shape *of = which ? (const shape *)&s : (const shape *)&o;
	asm volatile("" : "+l"(of));
	out[threadIdx.x] = of->area(sides);
}

struct work {
	float *out;
	const float *in;
	int n;
};

__device__ __noinline__ void do_work(struct work w, int i)
{
	if (i < w.n)
		w.out[i] = w.in[i];
}

extern "C" __global__ void struct_passed(struct work w)
{
	do_work(w, blockIdx.x * blockDim.x + threadIdx.x);
}

__device__ __noinline__ void fill_struct(struct work *w, float *out, const float *in, int n)
{
	w->out = out;
	w->in = in;
	w->n = n;
}

extern "C" __global__ void struct_filled(float *out, const float *in, int n)
{
	struct work w;
	fill_struct(&w, out, in, n);
	do_work(w, blockIdx.x * blockDim.x + threadIdx.x);
}

extern "C" __global__ void prints(const float *in, float *out, int n)
{
	int i = threadIdx.x;
	if (i < n)
		out[i] = in[i];
	if (i == n)
		printf("%d %p %f\n", i, out, in[0]);
}

extern "C" __global__ void asserts(const float *in, float *out, int n)
{
	int i = threadIdx.x;
	assert(n > 0);
	if (i < n)
		out[i] = in[i];
}

extern "C" __global__ void heap(float *out, int n)
{
	float *own = (float *)malloc(n * sizeof(float));
	if (!own)
		return;
	for (int i = 0; i < n; i++)
		own[i] = i;
	out[threadIdx.x] = own[n - 1];
	free(own);
}

template <typename T, int K> __global__ void templated(T *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[K * i] = T(1);
}
template __global__ void templated<float, 2>(float *, int);
template __global__ void templated<double, 1>(double *, int);

template <typename F> __device__ void each(int n, F f)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		f(i);
}

extern "C" __global__ void lambda_called(const float *in, float *out, float factor, int n)
{
	each(n, [=](int i) { out[i] = factor * in[i]; });
}

__device__ __noinline__ int first_of(const int *in)
{
	return in[0];
}

extern "C" __global__ void index_from_call(const int *in, float *out)
{
	out[first_of(in)] = 1;
}

extern "C" __global__ void local_array(const float *in, float *out, const int *order)
{
	float keep[16];
	for (int i = 0; i < 16; i++)
		keep[i] = in[threadIdx.x * 16 + i];
	float sum = 0;
	for (int i = 0; i < 16; i++)
		sum += keep[order[i] & 15] * i;
	out[threadIdx.x] = sum;
}

extern "C" __global__ void local_pointers(float *a, float *b, int n)
{
	float *volatile at[2];
	at[0] = a;
	at[1] = b;
	if (threadIdx.x < n)
		at[1][threadIdx.x] = at[0][threadIdx.x];
}
