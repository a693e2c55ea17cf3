/* SPDX-License-Identifier: Apache-2.0 */
/* Quotients and rests of 64-bit numbers that only the launch knows: machine code has a routine for them. */
extern "C" __global__ void long_ring(long long size, long long first, float *out)
{
	long long i = first + blockIdx.x * (long long)blockDim.x + threadIdx.x;
	out[i % size] = i;
}

extern "C" __global__ void unsigned_ring(unsigned long long size, unsigned long long first, float *out)
{
	unsigned long long i = first + blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
	out[i % size] = i;
}

extern "C" __global__ void long_rows(long long columns, long long pitch, float *out)
{
	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
	out[i / columns * pitch + i % columns] = i;
}
