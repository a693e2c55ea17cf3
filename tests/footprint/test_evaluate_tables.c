/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers looked up in tables of the parameter block: by block, by data, with entries that nothing fills.  Loops that
 * some threads alone enter. */
#include <check.h>
#include <stddef.h>

#include "reaches.h"
#include "../run_suite.h"

/* The parameter block as bytes: where each table begins is the test's own knowledge. */
struct tables {
	uint64_t at[12]; /* pointers; those after the first three: what an earlier launch left */
	uint64_t n[4];
	uint8_t which[32];
	int16_t part[32];
};
#define STALE UINT64_C(0x7e0000000000)

static struct tables *tables_new(struct terms *t)
{
	struct tables *block = calloc(1, sizeof *block);
	for (int i = 0; i < 12; i++)
		block->at[i] = i < 3 ? A + (uint64_t)i * 65536 : STALE + (uint64_t)i;
	t->geometry.params = block;
	t->geometry.param_bytes = t->f.param_bytes = sizeof *block;
	return block;
}

/* An element of a table at byte `from` of the block, by an index of 32 bits. */
static uint32_t lookup(struct terms *t, size_t from, unsigned bytes, unsigned width, unsigned flags, uint32_t index)
{
	uint32_t offset = add_constant(t, 64, mul(t, 64, extend(t, 64, 32, SW_SIGNED, index), constant(t, 64, bytes)),
				       (int64_t)from);
	uint32_t at = op(t, SW_TERM_ELEMENT, width, flags, offset, 0);
	t->term[at].imm = bytes;
	t->term[at].c = t->f.param_bytes;
	return at;
}

#define LOOKUP(t, member, width, flags, index)                                                                         \
	lookup(t, offsetof(struct tables, member), sizeof((struct tables *)0)->member[0], width, flags, index)

static void table_site(struct terms *t, uint32_t pointer, uint32_t index)
{
	uint32_t address = add(t, 64, pointer, mul(t, 64, extend(t, 64, 32, SW_SIGNED, index), constant(t, 64, 4)));
	t->root[site(t, SW_TOUCH_WRITE, 0, address, 4, 0)->root].span = sizeof((struct tables *)0)->at;
}

/* at[which[blockIdx.x]][part[blockIdx.x] * 64 + threadIdx.x] */
START_TEST(table_by_block)
{
	struct terms *t = terms_new();
	struct tables *block = tables_new(t);
	uint32_t ctaid = special(t, SW_CTAID_X), which = LOOKUP(t, which, 32, 0, ctaid);
	uint32_t part = LOOKUP(t, part, 32, SW_SIGNED, ctaid);
	table_site(t, LOOKUP(t, at, 64, 0, which),
		   add(t, 32, mul(t, 32, part, constant(t, 32, 64)), special(t, SW_TID_X)));
	static const uint8_t whiches[] = {0, 0, 0, 2, 1, 1};
	static const int16_t parts[] = {0, 1, 2, 0, -1, 0};
	memset(block->which, 7, sizeof block->which);
	memcpy(block->which, whiches, sizeof whiches);
	memcpy(block->part, parts, sizeof parts);
	t->geometry.grid[0] = sizeof whiches;
	t->geometry.block[0] = 64;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 3);
	expect(&r, 0, SW_EXTENT_BOX, A, 3 * 256);
	expect(&r, 1, SW_EXTENT_BOX, A + 65536 - 256, 2 * 256);
	expect(&r, 2, SW_EXTENT_BOX, A + 2 * 65536, 256);
	ck_assert_uint_eq(r.at[2].root.param, 16);
	ck_assert_uint_eq(r.at[2].root.span, 8);
	free(block);
	finish(t, &r);
}
END_TEST

/* The pointer is known, how far is not: somewhere from the words that the launch uses. */
START_TEST(table_open)
{
	struct terms *t = terms_new();
	struct tables *block = tables_new(t);
	uint32_t which = LOOKUP(t, which, 32, 0, special(t, SW_CTAID_X));
	table_site(t, LOOKUP(t, at, 64, 0, which), value(t, SW_OP_RANGE, 32, 0, 0, UINT32_MAX));
	memset(block->which, 7, sizeof block->which);
	block->which[0] = 2;
	block->which[1] = 1;
	t->geometry.grid[0] = 2;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(r.at[i].extent, SW_EXTENT_OPEN);
		ck_assert_uint_eq(r.at[i].root.param, 8 * (i + 1));
		ck_assert_uint_eq(r.at[i].root.span, 8);
		ck_assert_uint_eq(r.at[i].address, A + (i + 1) * 65536);
	}
	free(block);
	finish(t, &r);
}
END_TEST

/* if (which[blockIdx.x] < n[0] && n[1]) counter++: one place, whichever the blocks, where an entry is small enough. */
START_TEST(one_place_by_block)
{
	for (unsigned least = 0; least < 4; least++) {
		struct terms *t = terms_new();
		struct tables *block = tables_new(t);
		uint32_t which = LOOKUP(t, which, 32, 0, special(t, SW_CTAID_X));
		fact(t, compare(t, SW_NE, 32, 0, param(t, 32, 13), constant(t, 32, 0)), true);
		fact(t, compare(t, SW_LT, 32, 0, which, param(t, 32, 12)), true);
		site(t, SW_TOUCH_WRITE, 1, add_constant(t, 64, param(t, 64, 1), 32), 4, 2);
		for (unsigned i = 0; i < 32; i++)
			block->which[i] = (uint8_t)(64 - i); /* 33 to 64 */
		block->n[0] = least == 1 ? 33 : 34;	     /* of 34: the last block alone is one */
		block->n[1] = least != 2;
		t->geometry.grid[0] = least == 3 ? 31 : 32;
		struct sw_reaches r = evaluate(t);
		ck_assert_uint_eq(r.n, least == 0);
		if (r.n)
			expect(&r, 0, SW_EXTENT_BOX, A + 65536 + 32, 4);
		free(block);
		finish(t, &r);
	}
}
END_TEST

/* Loaded from memory: any of the table, as far as a mask bounds it. */
START_TEST(table_by_data)
{
	struct terms *t = terms_new();
	struct tables *block = tables_new(t);
	uint32_t any = op(t, SW_OP_AND, 32, 0, value(t, SW_OP_RANGE, 32, 0, 0, UINT32_MAX), constant(t, 32, 1));
	table_site(t, LOOKUP(t, at, 64, 0, any), special(t, SW_TID_X));
	t->geometry.block[0] = 32;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 2);
	expect(&r, 0, SW_EXTENT_HULL, A, 128);
	expect(&r, 1, SW_EXTENT_HULL, A + 65536, 128);
	free(block);
	finish(t, &r);
}
END_TEST

/* A word outside the block is not known, and one that is hidden may be any word. */
START_TEST(table_unknown)
{
	struct terms *t = terms_new();
	struct tables *block = tables_new(t);
	for (int i = 0; i < 2; i++) {
		t->f.sites = t->f.roots = 0;
		table_site(t, i ? value(t, SW_OP_RANGE, 64, 0, 0, -1) : LOOKUP(t, at, 64, 0, constant(t, 32, 100000)),
			   special(t, SW_TID_X));
		struct sw_reaches r = evaluate(t);
		ck_assert_uint_eq(r.n, 1);
		ck_assert_uint_eq(r.at[0].extent, SW_EXTENT_OPEN);
		ck_assert_uint_eq(r.at[0].root.span, sizeof block->at);
		free(r.at);
	}
	struct sw_reaches r = {0};
	free(block);
	finish(t, &r);
}
END_TEST

/* A part of a grid so large that its blocks cannot be evaluated in groups, and a block cut short. */
START_TEST(table_of_many)
{
	struct terms *t = terms_new();
	struct tables *block = tables_new(t);
	uint32_t mixed =
		op(t, SW_OP_AND, 32, 0, mul(t, 32, special(t, SW_CTAID_X), constant(t, 32, 40503)), constant(t, 32, 1));
	table_site(t, LOOKUP(t, at, 64, 0, mixed), special(t, SW_TID_X));
	t->geometry.grid[0] = 1u << 20;
	struct sw_reaches r = evaluate(t);
	for (size_t i = 0; i < r.n; i++)
		ck_assert_uint_lt(r.at[i].address - A, 2 * 65536);
	ck_assert_uint_eq(r.n, 2);
	t->geometry.param_bytes = 4;
	r.n = 0;
	sw_footprint_evaluate(&t->f, &t->geometry, &r);
	ck_assert_uint_eq(r.n, 1);
	ck_assert_uint_eq(r.at[0].extent, SW_EXTENT_OPEN);
	free(block);
	finish(t, &r);
}
END_TEST

/* for (k = 0; tid == 0 && k < n; k++) ...; p += tid < 8 ? k : 0, both inside of if (tid == 0): what holds on the way
   into the loop holds for no thread that looks at neither (PyTorch, upsample_gen2d_aa). */
START_TEST(loop_of_others)
{
	struct terms *t = terms_new();
	uint32_t tid = special(t, SW_TID_X), zero = constant(t, 32, 0), n = param(t, 32, 1);
	uint32_t alone = compare(t, SW_EQ, 32, 0, tid, zero), few = compare(t, SW_LT, 32, 0, tid, constant(t, 32, 8));
	uint32_t k = step(t, 32, zero, constant(t, 32, 1), 0);
	uint32_t more = compare(t, SW_LT, 32, SW_SIGNED, add_constant(t, 32, k, 1), n);
	t->loop[0] = (struct sw_loop){UINT32_MAX, 0, 1, 1, 1};
	t->f.loops = 1;
	fact(t, alone, true);
	fact(t, more, true);
	uint32_t counted = select_term(t, 32, few, k, zero);
	uint32_t passed = compare(t, SW_LT, 32, SW_SIGNED, counted, n);
	uint32_t others = compare(t, SW_NE, 32, 0, tid, zero);
	fact(t, op(t, SW_OP_OR, 1, 0, passed, others), true);
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, tid, 4, 0), 4, 1);
	launch(t, 1, 32);
	t->value[1] = 5;
	struct sw_reaches r = evaluate(t);
	uint64_t end = 0, bytes = 0;
	for (size_t i = 0; i < r.n; i++) {
		end = r.at[i].address + r.at[i].width > end ? r.at[i].address + r.at[i].width : end;
		bytes += r.at[i].width;
	}
	ck_assert_uint_eq(end, A + 128);
	ck_assert_uint_ge(bytes, 128);
	finish(t, &r);
}
END_TEST

/* at[blockIdx.x][(unsigned)n[blockIdx.x] * 64 + threadIdx.x]: a number of which a half counts is no pointer. */
START_TEST(index_by_halves)
{
	struct terms *t = terms_new();
	struct tables *block = tables_new(t);
	uint32_t ctaid = special(t, SW_CTAID_X);
	uint32_t index = extend(t, 32, 32, 0, LOOKUP(t, n, 64, 0, ctaid));
	table_site(t, LOOKUP(t, at, 64, 0, ctaid),
		   add(t, 32, mul(t, 32, index, constant(t, 32, 64)), special(t, SW_TID_X)));
	for (uint64_t i = 0; i < 3; i++)
		block->n[i] = i | UINT64_C(5) << 32;
	t->geometry.grid[0] = 3;
	t->geometry.block[0] = 64;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 3);
	for (uint32_t i = 0; i < 3; i++) {
		expect(&r, i, SW_EXTENT_BOX, A + (uint64_t)i * (65536 + 256), 256);
		ck_assert_uint_eq(r.at[i].root.param, 8 * i);
		ck_assert_uint_eq(r.at[i].root.span, 8);
	}
	free(block);
	finish(t, &r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("evaluate/tables");
	TCase *tests = tcase_create("evaluate/tables");
	tcase_add_test(tests, table_by_block);
	tcase_add_test(tests, table_open);
	tcase_add_test(tests, one_place_by_block);
	tcase_add_test(tests, table_by_data);
	tcase_add_test(tests, table_unknown);
	tcase_add_test(tests, table_of_many);
	tcase_add_test(tests, loop_of_others);
	tcase_add_test(tests, index_by_halves);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
