/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/loads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define POOL   0x7f0000000000ull
#define PINNED 0x7e0000000000ull
#define STREAM 0x1000u
#define KINDS  256u /* of launches, where only offsets are new */

/* As nvcc lays out the parameters of ordinary.cu. */
struct divider {
	uint32_t divisor, magic, shift;
};
struct strided {
	uint32_t n, pad;
	uint32_t dims;
	struct divider size[25];
	uint32_t stride[25][3];
	uint32_t pad_data;
	uint64_t data[3];
};
struct gemm {
	uint64_t a, b, c;
	uint32_t m, n, k;
};
struct row_sum {
	uint64_t out, in;
	uint32_t columns, pitch;
};
struct copy {
	uint64_t out, in;
	uint32_t n;
};

struct load {
	struct tb *tb;
	uint32_t strided, gemm, row_sum, copy;
	uint64_t state;
};

static uint32_t pick(struct load *l, uint32_t n)
{
	l->state = l->state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((l->state >> 33) % n);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void read_code(struct tb *tb)
{
	FILE *file = fopen(SW_ORDINARY, "rb");
	unsigned char bytes[256 << 10];
	size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0;
	if (!n || fclose(file))
		die(SW_ORDINARY);
	tb->image = tb_image(tb, SW_IMAGE_FATBIN, NULL, bytes, n);
}

static void begin(struct load *l, struct tb *tb, unsigned streams)
{
	*l = (struct load){.tb = tb, .state = 1};
	for (unsigned i = 0; i < streams; i++)
		tb_stream_create(tb, STREAM + i * 16, 1);
	tb_alloc(tb, SW_MEM_PINNED, PINNED, 1 << 20);
	read_code(tb);
	l->strided = tb_function(tb, "elementwise_strided", 2, 4, (unsigned)(sizeof(struct strided) - 8));
	l->gemm = tb_function(tb, "gemm_small", 6, 8, 8, 8, 4, 4, 4);
	l->row_sum = tb_function(tb, "row_sum", 4, 8, 8, 4, 4);
	l->copy = tb_function(tb, "copy_float4", 3, 8, 8, 4);
}

static void launch(struct load *l, uint32_t function, uint64_t stream, const void *block, size_t bytes,
		   const uint32_t shape[4])
{
	struct sw_rec_launch *r = tb_launch_block(l->tb, function, stream, block, bytes);
	r->grid[0] = shape[0];
	r->grid[1] = shape[1];
	r->block[0] = shape[2];
	r->block[1] = shape[3];
}

/* PyTorch's IntDivider: n / divisor == (umulhi(n, magic) + n) >> shift. */
static struct divider divide_by(uint32_t divisor)
{
	struct divider d = {.divisor = divisor};
	while (d.shift < 32 && (1ull << d.shift) < divisor)
		d.shift++;
	d.magic = (uint32_t)(((1ull << 32) * ((1ull << d.shift) - divisor)) / divisor + 1);
	return d;
}

/* rows x columns of a wider matrix, written densely. */
static void launch_strided(struct load *l, uint64_t stream, const uint64_t at[3], uint32_t rows, uint32_t columns)
{
	struct strided s = {.n = rows * columns, .dims = 2};
	for (unsigned d = 0; d < 25; d++)
		s.size[d] = divide_by(d == 0 ? columns : d == 1 ? rows : 1);
	for (unsigned a = 0; a < 3; a++) {
		s.stride[0][a] = 4;
		s.stride[1][a] = 4 * (a ? columns + columns / 2 : columns);
		s.data[a] = at[a];
	}
	uint32_t shape[4] = {(s.n + 511) / 512, 1, 128, 1};
	launch(l, l->strided, stream, &s, sizeof s, shape);
}

/* One of the four, with tensors of up to `bytes` each. */
static void launch_some(struct load *l, uint64_t stream, const uint64_t at[3], uint32_t bytes)
{
	uint32_t columns = 32 + pick(l, 96), most = bytes / 4 / (columns + columns / 2), rows = 1 + pick(l, most);
	uint32_t n = bytes / 32 + pick(l, bytes / 32);
	switch (pick(l, 4)) {
	case 0:
		launch_strided(l, stream, at, rows, columns);
		break;
	case 1: {
		struct gemm g = {at[1], at[2], at[0], rows % 64 + 1, columns, columns};
		uint32_t shape[4] = {(g.n + 15) / 16, (g.m + 15) / 16, 16, 16};
		launch(l, l->gemm, stream, &g, sizeof g, shape);
		break;
	}
	case 2: {
		struct row_sum r = {at[0], at[1], columns, columns + columns / 2};
		launch(l, l->row_sum, stream, &r, sizeof r, (uint32_t[4]){rows, 1, 128, 1});
		break;
	}
	default: {
		struct copy c = {at[0], at[1], n};
		launch(l, l->copy, stream, &c, 24, (uint32_t[4]){(n + 255) / 256, 1, 256, 1});
	}
	}
}

void load_generation(struct tb *tb, uint64_t launches)
{
	struct load l;
	begin(&l, tb, 1);
	for (unsigned i = 0; i < 64; i++)
		tb_alloc(tb, SW_MEM_DEVICE, POOL + ((uint64_t)i << 25), 20 << 20);
	for (uint64_t i = 0; i < launches; i++) {
		uint64_t at[3];
		for (unsigned k = 0; k < 3; k++)
			at[k] = POOL + ((uint64_t)pick(&l, 64) << 25) + pick(&l, 30000) * 512;
		launch_some(&l, STREAM, at, 1u << (16 + pick(&l, 5)));
		if (i % 300 == 299) {
			tb_copy(tb, PINNED, SW_SIDE_HOST, POOL, SW_SIDE_DEVICE, 64, STREAM);
			tb_sync(tb, SW_SYNC_STREAM, STREAM);
		}
	}
}

void load_slices(struct tb *tb, uint64_t launches)
{
	struct load l;
	begin(&l, tb, 4);
	tb_alloc(tb, SW_MEM_DEVICE, POOL, 1u << 30);
	for (uint64_t i = 0; i < launches; i++) {
		uint64_t at[3], stream = i % 4;
		for (unsigned k = 0; k < 3; k++)
			at[k] = POOL + (stream << 28) + (uint64_t)pick(&l, 500000) * 512;
		launch_some(&l, STREAM + stream * 16, at, 1u << (16 + pick(&l, 5)));
		if (i % 4000 == 3999)
			tb_sync(tb, SW_SYNC_CONTEXT, 0);
	}
}

/* Slots of 128 KiB, every fourth a stream's own.  kinds: kernels with sizes, so many; 0: sizes are always others. */
static void launch_in_slots(struct tb *tb, uint64_t launches, uint32_t kinds)
{
	struct load l, kind;
	begin(&l, tb, 4);
	kind = l;
	tb_alloc(tb, SW_MEM_DEVICE, POOL, 2ull << 30);
	for (uint64_t i = 0; i < launches; i++) {
		uint64_t at[3], stream = i % 4;
		for (unsigned k = 0; k < 3; k++)
			at[k] = POOL + ((pick(&l, 1u << 12) * 4ull + stream) << 17) + pick(&l, 64) * 64;
		kind.state = kinds ? pick(&l, kinds) : 0;
		struct load *what = kinds ? &kind : &l;
		launch_some(what, STREAM + stream * 16, at, 1u << (12 + pick(what, 4)));
		if (i % 4000 == 3999)
			tb_sync(tb, SW_SYNC_CONTEXT, 0);
	}
}

void load_rivals(struct tb *tb, uint64_t launches)
{
	launch_in_slots(tb, launches, 0);
}

void load_moved_rivals(struct tb *tb, uint64_t launches)
{
	launch_in_slots(tb, launches, KINDS);
}

/* Each pair of call sites comes together once, in either order. */
void load_hazards(struct tb *tb, uint64_t findings)
{
	uint64_t side = 1;
	while (2 * side * side - 1 < findings)
		side++;
	tb_stream_create(tb, STREAM, 1);
	tb_stream_create(tb, STREAM + 1, 1);
	tb_alloc(tb, SW_MEM_DEVICE, POOL, 1 << 20);
	for (uint64_t i = 0; i < side * side; i++) {
		tb_stack(tb, 1, UINT64_C(0x10000) + i % side);
		tb_set(tb, POOL, 4096, STREAM);
		tb_stack(tb, 1, UINT64_C(0x20000) + i / side);
		tb_set(tb, POOL, 4096, STREAM + 1);
	}
}
