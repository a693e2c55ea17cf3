/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers that come in unusual ways: tables, memory, bits, other threads, arithmetic. */
#include <cstdint>

struct table4 {
	float *at[4];
};

extern "C" __global__ void table_by_block(struct table4 table, int n)
{
	if (threadIdx.x < n)
		table.at[blockIdx.x][threadIdx.x] = 1;
}

extern "C" __global__ void table_by_constant(struct table4 table, int n)
{
	if (threadIdx.x < n)
		table.at[2][threadIdx.x] = table.at[0][threadIdx.x];
}

extern "C" __global__ void table_by_parameter(struct table4 table, int which, int n)
{
	if (threadIdx.x < n)
		table.at[which][threadIdx.x] = 1;
}

extern "C" __global__ void table_all(struct table4 table, int n)
{
#pragma unroll
	for (int k = 0; k < 4; k++)
		if (threadIdx.x < n)
			table.at[k][threadIdx.x] = k;
}

extern "C" __global__ void table_in_memory(float **table, int n)
{
	if (threadIdx.x < n)
		table[blockIdx.x][threadIdx.x] = 1;
}

extern "C" __global__ void table_of_tables(float ***table)
{
	table[0][blockIdx.x][threadIdx.x] = 1;
}

extern "C" __global__ void table_local(float *a, float *b, float *c, const int *which)
{
	float *at[3] = {a, b, c};
	at[which[threadIdx.x]][threadIdx.x] = 1;
}

struct node {
	float *data;
	struct node *next;
};

extern "C" __global__ void node_data(struct node *node, int n)
{
	if (threadIdx.x < n)
		node->data[threadIdx.x] = 1;
}

extern "C" __global__ void list_walk(struct node *node, float *out)
{
	float sum = 0;
	while (node) {
		sum += node->data[threadIdx.x];
		node = node->next;
	}
	out[threadIdx.x] = sum;
}

extern "C" __global__ void select_by_parameter(float *a, float *b, int which, int n)
{
	float *to = which ? a : b;
	if (threadIdx.x < n)
		to[threadIdx.x] = 1;
}

extern "C" __global__ void select_by_parity(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float *to = i & 1 ? a : b;
	if (i < n)
		to[i] = 1;
}

extern "C" __global__ void select_by_data(float *a, float *b, const int *choice)
{
	float *to = choice[threadIdx.x] ? a : b;
	to[threadIdx.x] = 1;
}

extern "C" __global__ void as_double(double bits, int n)
{
	float *to = (float *)__double_as_longlong(bits);
	if (threadIdx.x < n)
		to[threadIdx.x] = 1;
}

extern "C" __global__ void as_number(unsigned long long address, int n)
{
	float *to = (float *)address;
	if (threadIdx.x < n)
		to[threadIdx.x] = 1;
}

extern "C" __global__ void two_halves(unsigned low, unsigned high, int n)
{
	float *to = (float *)((unsigned long long)high << 32 | low);
	if (threadIdx.x < n)
		to[threadIdx.x] = 1;
}

extern "C" __global__ void taken_apart(float *to, int n)
{
	unsigned low, high;
	asm volatile("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(to));
	float *again;
	asm volatile("mov.b64 %0, {%1, %2};" : "=l"(again) : "r"(low), "r"(high));
	if (threadIdx.x < n)
		again[threadIdx.x] = 1;
}

extern "C" __global__ void tagged(uintptr_t tagged, float *plain, int n)
{
	float *to = (float *)(tagged & ~(uintptr_t)7);
	if (threadIdx.x < n && (tagged & 7) == 3)
		to[threadIdx.x] = plain[threadIdx.x];
}

extern "C" __global__ void shuffled(float *a, float *b)
{
	unsigned long long mine = (unsigned long long)(threadIdx.x == 0 ? a : b);
	float *to = (float *)__shfl_sync(~0u, mine, 0);
	to[threadIdx.x] = 1;
}

extern "C" __global__ void by_difference(char *base, char *other)
{
	long long away = other - base;
	asm volatile("" : "+l"(away));
	base[away + threadIdx.x] = 1;
}

extern "C" __global__ void const_lies(const float *in, int n)
{
	if (threadIdx.x < n)
		((float *)in)[threadIdx.x] = 1;
}

extern "C" __global__ void only_reads(float *in, float *out, int n)
{
	if (threadIdx.x < n)
		out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void never_touched(float *a, float *b, int n)
{
	if (threadIdx.x < n && a != b)
		a[threadIdx.x] = (float)(b - a);
}

extern "C" __global__ void null_checked(float *a, float *b, int n)
{
	if (a && threadIdx.x < n)
		a[threadIdx.x] = 1;
	if (b && threadIdx.x < n)
		b[threadIdx.x] = 1;
}

extern "C" __global__ void same_buffer_twice(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = in[i];
}

extern "C" __global__ void shared_or_global(float *out, int n)
{
	__shared__ float here[64];
	float *to = n > 64 ? out : here;
	asm volatile("" : "+l"(to));
	to[threadIdx.x] = 1;
	__syncthreads();
	if (threadIdx.x == 0)
		out[64] = here[0];
}

extern "C" __global__ void walks_back(float *end, int n)
{
#pragma unroll 1
	for (float *p = end - 1 - threadIdx.x; n-- > 0; p -= blockDim.x)
		*p = 1;
}

extern "C" __global__ void pointer_stored(float **place, float *value)
{
	if (threadIdx.x == 0)
		*place = value;
}

extern "C" __global__ void offset_loaded_uniform(const int *offset, float *data, int n)
{
	if (threadIdx.x < n)
		data[*offset + threadIdx.x] = 1;
}

extern "C" __global__ void nearer_pointer(float *a, float *b, int n)
{
	float *to = a < b ? a : b;
	if (threadIdx.x < n)
		to[threadIdx.x] = 1;
}

/* A pointer from a table in memory in one mode, a parameter in the others; it moves by what is loaded. */
extern "C" __global__ void by_mode(float *const *table, float *direct, const int *steps, int mode, int n)
{
	float *to = direct;
	if (mode == 3)
		to = table[blockIdx.x];
	for (int i = 0; i < n; i++) {
		*to = 1;
		to += steps[i];
	}
}
