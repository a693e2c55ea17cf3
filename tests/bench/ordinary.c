/* SPDX-License-Identifier: Apache-2.0 */
#include "ordinary.h"

#include <string.h>

static uint64_t state = 1, address_state = 1;

static uint64_t next(uint64_t *from)
{
	uint64_t z = (*from += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void ordinary_seed(uint64_t seed)
{
	state = seed;
}

uint64_t ordinary_random(uint64_t below)
{
	return next(&state) % below;
}

/* ---- parameters, one after the other */

static void add(struct ordinary_launch *l, const void *value, uint32_t bytes, uint32_t align)
{
	l->at = (l->at + align - 1) / align * align;
	memcpy(l->params + l->at, value, bytes);
	l->at += bytes;
}

static void add_int(struct ordinary_launch *l, uint32_t value)
{
	add(l, &value, 4, 4);
}

static void add_long(struct ordinary_launch *l, uint64_t value)
{
	add(l, &value, 8, 8);
}

/* A tensor of a caching allocator: aligned to 512 bytes. */
static void add_tensor(struct ordinary_launch *l)
{
	add_long(l, UINT64_C(0x7f0000000000) + (next(&address_state) % (UINT64_C(1) << 26)) * 512);
}

static void set_grid(struct ordinary_launch *l, uint64_t blocks, uint32_t threads)
{
	l->grid[0] = (uint32_t)blocks;
	l->grid[1] = l->grid[2] = l->block[1] = l->block[2] = 1;
	l->block[0] = threads;
}

static uint32_t between(uint32_t lo, uint32_t hi)
{
	return lo + (uint32_t)ordinary_random(hi - lo + 1);
}

/* ---- tensors */

struct shape {
	uint32_t dims, size[4], elements;
};

static struct shape some_shape(uint32_t dims)
{
	struct shape s = {.dims = dims, .elements = 1};
	for (uint32_t i = 0; i < dims; i++) {
		s.size[i] = between(2, i ? 64 : 300);
		s.elements *= s.size[i];
	}
	return s;
}

/* The divider that PyTorch computes on the host. */
static void add_divider(struct ordinary_launch *l, uint32_t divisor)
{
	uint32_t shift = 0;
	while (shift < 32 && (UINT64_C(1) << shift) < divisor)
		shift++;
	uint64_t magic = ((UINT64_C(1) << 32) * ((UINT64_C(1) << shift) - divisor)) / divisor + 1;
	add_int(l, divisor);
	add_int(l, (uint32_t)magic);
	add_int(l, shift);
}

/* args tensors of that shape: the first one contiguous, the others a slice, transposed or broadcast. */
static void add_offsets(struct ordinary_launch *l, const struct shape *s, uint32_t args)
{
	uint32_t stride[25][3] = {{0}};
	for (uint32_t a = 0; a < args; a++) {
		uint32_t kind = a ? between(0, 2) : 0, by = 4 * (kind == 1 ? 2 : 1);
		for (uint32_t d = 0; d < s->dims; d++) {
			stride[d][a] = kind == 2 && d + 1 == s->dims ? 0 : by;
			by *= s->size[d] + (kind == 1 ? 3 : 0);
		}
	}
	add_int(l, s->dims);
	for (uint32_t d = 0; d < 25; d++)
		add_divider(l, d < s->dims ? s->size[d] : 1);
	for (uint32_t d = 0; d < 25; d++)
		for (uint32_t a = 0; a < args; a++)
			add_int(l, stride[d][a]);
}

/* ---- kernels */

static void make_strided(struct ordinary_launch *l)
{
	struct shape s = some_shape(between(2, 4));
	set_grid(l, (s.elements + 511) / 512, 128);
	add_int(l, s.elements);
	l->at = 8;
	add_offsets(l, &s, 3);
	for (int i = 0; i < 3; i++)
		add_tensor(l);
}

static void make_vectorized(struct ordinary_launch *l)
{
	uint32_t n = between(1, 4000000);
	set_grid(l, (n + 1023) / 1024, 128);
	add_int(l, n);
	for (int i = 0; i < 3; i++)
		add_tensor(l);
}

static void make_copy(struct ordinary_launch *l)
{
	uint32_t n = between(1, 1000000);
	set_grid(l, n / 256 + 1 < 1056 ? n / 256 + 1 : 1056, 256);
	add_tensor(l);
	add_tensor(l);
	add_int(l, n);
}

static void make_row_sum(struct ordinary_launch *l)
{
	uint32_t columns = between(1, 5000);
	set_grid(l, between(1, 4096), 256);
	add_tensor(l);
	add_tensor(l);
	add_int(l, columns);
	add_int(l, columns + between(0, 1) * 16);
}

static void make_softmax(struct ordinary_launch *l)
{
	set_grid(l, between(1, 4096), 256);
	add_tensor(l);
	add_tensor(l);
	add_int(l, between(1, 5000));
}

static void make_layer_norm(struct ordinary_launch *l)
{
	set_grid(l, between(1, 4096), 256);
	add_int(l, 4 * between(16, 2048));
	add_int(l, 0x3727c5ac);
	for (int i = 0; i < 6; i++)
		add_tensor(l);
}

static void make_reduce(struct ordinary_launch *l)
{
	struct shape in = some_shape(2), out = some_shape(2);
	uint32_t blocks = (out.elements + 7) / 8;
	set_grid(l, blocks, 32);
	l->block[1] = 8;
	add_int(l, in.elements);
	add_int(l, out.elements);
	add_int(l, 32); /* one warp an output */
	add_int(l, 8);
	add_int(l, 1);
	add_int(l, 0);
	add_int(l, 0);
	add_int(l, 0);
	add_int(l, 1);
	add_offsets(l, &in, 2);
	add_offsets(l, &out, 2);
	add_tensor(l);
	add_tensor(l);
}

static void make_gemm_small(struct ordinary_launch *l)
{
	uint32_t m = between(1, 600), n = between(1, 600), k = between(1, 600);
	set_grid(l, (n + 15) / 16, 16);
	l->grid[1] = (m + 15) / 16;
	l->block[1] = 16;
	for (int i = 0; i < 3; i++)
		add_tensor(l);
	add_int(l, m);
	add_int(l, n);
	add_int(l, k);
}

static void make_gemm_tiles(struct ordinary_launch *l)
{
	uint32_t m = 4 * between(1, 500), n = 4 * between(1, 500), k = 4 * between(1, 500);
	set_grid(l, (n + 127) / 128, 256);
	l->grid[1] = (m + 127) / 128;
	for (int i = 0; i < 3; i++)
		add_tensor(l);
	add_int(l, m);
	add_int(l, n);
	add_int(l, k);
	add_int(l, k);
	add_int(l, n);
	add_int(l, n);
	add_int(l, 0x3f800000);
	add_int(l, 0);
}

static void make_transpose(struct ordinary_launch *l)
{
	uint32_t width = between(1, 3000), height = between(1, 3000);
	set_grid(l, (width + 31) / 32, 32);
	l->grid[1] = (height + 31) / 32;
	l->block[1] = 8;
	add_tensor(l);
	add_tensor(l);
	add_int(l, width);
	add_int(l, height);
}

static void make_cat(struct ordinary_launch *l)
{
	uint32_t n = between(2, 6), size[64] = {0}, offset[64] = {0}, elements[64] = {0}, all = 0;
	struct shape s = some_shape(3);
	for (uint32_t i = 0; i < n; i++) {
		size[i] = between(1, 40);
		offset[i] = all;
		all += size[i];
		elements[i] = size[i] * s.size[0] * s.size[2];
	}
	set_grid(l, 264, 512);
	l->grid[1] = n;
	add_tensor(l);
	for (uint32_t i = 0; i < 64; i++)
		if (i < n)
			add_tensor(l);
		else
			add_long(l, 0);
	add(l, offset, sizeof offset, 4);
	add(l, size, sizeof size, 4);
	add(l, elements, sizeof elements, 4);
	l->at += 64 + 64 * 16; /* contiguous, stride: not read */
	uint32_t out_size[4] = {1, s.size[0], all, s.size[2]};
	uint32_t out_stride[4] = {s.size[0] * all * s.size[2], all * s.size[2], s.size[2], 1};
	add(l, out_size, sizeof out_size, 4);
	add(l, out_stride, sizeof out_stride, 4);
	add_int(l, 2);
	add_int(l, s.size[2]);
}

static void make_index(struct ordinary_launch *l)
{
	struct shape s = some_shape(2);
	set_grid(l, (s.elements + 511) / 512, 128);
	add_int(l, s.elements);
	l->at = 8;
	add_offsets(l, &s, 3);
	for (int i = 0; i < 3; i++)
		add_tensor(l);
	add_int(l, 1);
	uint64_t size[25] = {between(10, 50000)}, stride[25] = {4 * s.size[0]};
	add(l, size, sizeof size, 8);
	add(l, stride, sizeof stride, 8);
	add_tensor(l);
	l->at += 24 * 8;
}

static void make_embedding(struct ordinary_launch *l)
{
	set_grid(l, between(1, 4096), 256);
	for (int i = 0; i < 3; i++)
		add_tensor(l);
	add_int(l, between(16, 4096));
	add_long(l, between(1000, 60000));
}

static void make_adam(struct ordinary_launch *l)
{
	uint32_t n = between(2, 20), blocks = 0;
	uint64_t elements[36] = {0};
	uint8_t tensor[320] = {0};
	uint32_t chunk[320] = {0};
	for (uint32_t i = 0; i < n; i++) {
		elements[i] = between(64, 600000);
		for (uint32_t c = 0; c * UINT64_C(65536) < elements[i]; c++, blocks++) {
			tensor[blocks] = (uint8_t)i;
			chunk[blocks] = c;
		}
	}
	set_grid(l, blocks, 512);
	add_long(l, 65536);
	for (uint32_t i = 0; i < 4 * 36; i++)
		if (i % 36 < n)
			add_tensor(l);
		else
			add_long(l, 0);
	add(l, elements, sizeof elements, 8);
	add(l, tensor, sizeof tensor, 1);
	add(l, chunk, sizeof chunk, 4);
	add_int(l, 0x3a83126f);
}

#define OFFSETS(args) (4 + 25 * 12 + 25 * 4 * (args))
const struct ordinary_kernel ordinary_kernels[] = {
	{"elementwise_strided", make_strided, 2, {4, OFFSETS(3) + 24}},
	{"elementwise_vectorized", make_vectorized, 2, {4, 24}},
	{"copy_float4", make_copy, 3, {8, 8, 4}},
	{"row_sum", make_row_sum, 4, {8, 8, 4, 4}},
	{"softmax", make_softmax, 3, {8, 8, 4}},
	{"layer_norm", make_layer_norm, 8, {4, 4, 8, 8, 8, 8, 8, 8}},
	{"reduce_strided", make_reduce, 1, {36 + 2 * OFFSETS(2) + 4 + 16}},
	{"gemm_small", make_gemm_small, 6, {8, 8, 8, 4, 4, 4}},
	{"gemm_tiles", make_gemm_tiles, 11, {8, 8, 8, 4, 4, 4, 4, 4, 4, 4, 4}},
	{"transpose", make_transpose, 4, {8, 8, 4, 4}},
	{"cat", make_cat, 5, {8, 512 + 768 + 64 + 1024, 32, 4, 4}},
	{"index_elementwise", make_index, 2, {4, OFFSETS(3) + 24 + 8 + 600}},
	{"embedding", make_embedding, 5, {8, 8, 8, 4, 8}},
	{"adam", make_adam, 3, {8, 1152 + 288 + 320 + 1280, 4}},
};
const size_t n_ordinary_kernels = sizeof ordinary_kernels / sizeof *ordinary_kernels;

void ordinary_launch(const struct ordinary_kernel *kernel, uint64_t shapes, uint64_t addresses,
		     struct ordinary_launch *out)
{
	memset(out, 0, sizeof *out);
	state = shapes * UINT64_C(0x9e3779b97f4a7c15) + 1;
	address_state = addresses * UINT64_C(0xd1b54a32d192ed03) + 7;
	kernel->make(out);
}
