/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader of machine code is tested with; compiled by hand:
 *	nvcc -cubin -arch=sm_XX -o sm_XX.cubin sample.cu
 */
#include <cstdio>

__constant__ int table[16];
__device__ float total;

extern "C" __global__ void saxpy(float *y, const float *x, float a, long long n)
{
	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
	if (i < n)
		y[i] += a * x[i];
}

extern "C" __global__ void parts(int *out, const int *in, int which)
{
	__shared__ int buffer[256];
	buffer[threadIdx.x] = in[threadIdx.x];
	__syncthreads();
	switch (which) {
	case 0: out[threadIdx.x] = buffer[0]; break;
	case 1: out[threadIdx.x * 2] = table[which + in[0]]; break;
	case 2: atomicAdd(out + 7, in[1]); break;
	case 3: atomicAdd(&total, 1.0f); break;
	case 4: out[in[threadIdx.x]] = 4; break;
	case 5: out[9] = in[3] / in[4]; break;
	case 6: printf("%d\n", in[5]); break;
	case 7: out[11] = buffer[255 - threadIdx.x]; break;
	}
}

static __device__ __noinline__ void put(long long *to, long long n, long long d)
{
	*to = n / d;
}

extern "C" __global__ void calls(long long *out, const long long *in)
{
	put(out + threadIdx.x, in[0], in[1]);
	put(out + 1000 + threadIdx.x, in[2], in[3]);
}
