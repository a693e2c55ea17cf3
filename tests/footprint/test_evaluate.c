/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of ordinary kernels written as terms, and what must come out to the byte. */
#include <check.h>
#include <stddef.h>
#include <stdio.h>

#include "reaches.h"
#include "../run_suite.h"

/* a[i] for i < n, n not a multiple of the block */
START_TEST(guarded)
{
	struct terms *t = terms_new();
	uint32_t i = global_index(t);
	fact(t, compare(t, SW_LT, 32, SW_SIGNED, i, param(t, 32, 1)), true);
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, i, 4, SW_SIGNED), 4, 1);
	launch(t, 4, 256);
	t->value[1] = 1000;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_BOX, A, 4000);
	ck_assert_uint_eq(r.at[0].role, SW_TOUCH_WRITE);
	ck_assert_uint_eq(r.at[0].root.kind, SW_ROOT_PARAM);
	finish(t, &r);
}
END_TEST

START_TEST(unguarded)
{
	struct terms *t = terms_new();
	site(t, SW_TOUCH_READ, 0, element(t, 0, global_index(t), 8, SW_SIGNED), 8, 0);
	launch(t, 4, 256);
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_BOX, A, 8192);
	finish(t, &r);
}
END_TEST

/* if (unknown) a[i]: data may let every thread through; what no data goes into may let none. */
static void guarded_by_unknown(uint32_t no_data, enum sw_extent extent)
{
	struct terms *t = terms_new();
	uint32_t unknown = value(t, SW_OP_RANGE, 1, 0, 0, 1);
	t->term[unknown].b = no_data;
	fact(t, unknown, true);
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, global_index(t), 4, SW_SIGNED), 4, 1);
	launch(t, 4, 256);
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, extent, A, 4096);
	finish(t, &r);
}

START_TEST(unknown_without_data)
{
	guarded_by_unknown(0, SW_EXTENT_BOX);
	guarded_by_unknown(1, SW_EXTENT_HULL);
}
END_TEST

/* p = n == 0 ? a : b, by the way through the code; told: by conditions of launch values. */
static struct sw_reaches alternatives(struct terms *t, bool told, uint64_t n)
{
	uint32_t zero = constant(t, 64, 0), a = param(t, 64, 0), b = param(t, 64, 2);
	uint32_t is = compare(t, SW_EQ, 64, 0, param(t, 64, 1), zero),
		 is_not = compare(t, SW_NE, 64, 0, param(t, 64, 1), zero);
	const uint32_t from[4] = {a, b, is, is_not};
	memcpy(t->alternative, from, sizeof from);
	t->f.alternatives = 4;
	uint32_t any = terms_add(t, (struct sw_term){.op = SW_TERM_ANY, .width = 64, .a = 0, .b = 2, .imm2 = told});
	site(t, SW_TOUCH_WRITE, 0, any, 4, 0);
	launch(t, 1, 32);
	t->value[1] = n;
	t->value[2] = A + 4096;
	return evaluate(t);
}

START_TEST(told_alternatives)
{
	for (uint64_t n = 0; n < 2; n++) {
		struct terms *t = terms_new();
		struct sw_reaches r = alternatives(t, true, n);
		ck_assert_uint_eq(r.n, 1);
		expect(&r, 0, SW_EXTENT_BOX, A + 4096 * n, 4);
		finish(t, &r);
		t = terms_new(); /* twin: it is unknown which */
		r = alternatives(t, false, n);
		ck_assert_uint_eq(r.n, 2);
		expect(&r, 0, SW_EXTENT_HULL, A, 4);
		expect(&r, 1, SW_EXTENT_HULL, A + 4096, 4);
		finish(t, &r);
	}
}
END_TEST

/* Nothing is executed. */
START_TEST(excluded)
{
	struct terms *t = terms_new();
	uint32_t i = global_index(t);
	fact(t, compare(t, SW_LT, 32, SW_SIGNED, i, param(t, 32, 1)), true);
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, i, 4, SW_SIGNED), 4, 1);
	launch(t, 4, 256);
	t->value[1] = 0;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 0);
	finish(t, &r);
}
END_TEST

/* if ((x >> 45) == 4) a[0], x computed in ways that are not understood: perhaps for no thread.  Data may be anything.
 */
START_TEST(part_of_unknown)
{
	for (uint32_t from = SW_FROM_DATA; from <= SW_FROM_ANYTHING; from += SW_FROM_ANYTHING - SW_FROM_DATA) {
		struct terms *t = terms_new();
		uint32_t x = value(t, SW_OP_RANGE, 64, 0, 0, -1);
		t->term[x].a = SW_WHY_COMPUTED;
		t->term[x].b = from;
		uint32_t part = op(t, SW_OP_SHR, 64, 0, x, constant(t, 32, 45));
		fact(t, compare(t, SW_EQ, 64, 0, part, constant(t, 64, 4)), true);
		site(t, SW_TOUCH_WRITE, 0, element(t, 0, constant(t, 32, 0), 4, SW_SIGNED), 4, 1);
		launch(t, 1, 32);
		struct sw_reaches r = evaluate(t);
		ck_assert_uint_eq(r.n, 1);
		expect(&r, 0, from == SW_FROM_DATA ? SW_EXTENT_BOX : SW_EXTENT_HULL, A, 4);
		finish(t, &r);
	}
}
END_TEST

/* if (0 < i && i < n) a[i - 1] with i unsigned: the subtraction must not count as wrapping. */
START_TEST(halo)
{
	struct terms *t = terms_new();
	uint32_t i = global_index(t);
	fact(t, compare(t, SW_GT, 32, 0, i, constant(t, 32, 0)), true);
	fact(t, compare(t, SW_LT, 32, 0, i, param(t, 32, 1)), true);
	site(t, SW_TOUCH_READ, 0, element(t, 0, add_constant(t, 32, i, -1), 4, 0), 4, 2);
	launch(t, 4, 256);
	t->value[1] = 1000;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_BOX, A, 999 * 4);
	finish(t, &r);
}
END_TEST

/* if ((unsigned)(i - 1) < n) a[i - 1]: one comparison for both ends. */
START_TEST(unsigned_trick)
{
	struct terms *t = terms_new();
	uint32_t i = global_index(t), j = add_constant(t, 32, i, -1);
	fact(t, compare(t, SW_LT, 32, 0, j, param(t, 32, 1)), true);
	site(t, SW_TOUCH_READ, 0, element(t, 0, j, 4, SW_SIGNED), 4, 1);
	launch(t, 4, 256);
	t->value[1] = 100;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_BOX, A, 400);
	finish(t, &r);
}
END_TEST

/* x < w && y < h: y * pitch + x */
START_TEST(tile)
{
	struct terms *t = terms_new();
	uint32_t x = global_index(t);
	uint32_t y = add(t, 32, mul(t, 32, special(t, SW_CTAID_Y), special(t, SW_NTID_Y)), special(t, SW_TID_Y));
	fact(t, compare(t, SW_LT, 32, SW_SIGNED, x, param(t, 32, 1)), true);
	fact(t, compare(t, SW_LT, 32, SW_SIGNED, y, param(t, 32, 2)), true);
	uint32_t i = add(t, 32, mul(t, 32, y, param(t, 32, 3)), x);
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, i, 4, SW_SIGNED), 4, 2);
	launch(t, 4, 16);
	t->geometry.grid[1] = 3;
	t->geometry.block[1] = 16;
	t->value[1] = 50;
	t->value[2] = 40;
	t->value[3] = 64;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect_rows(&r, 0, A, 200, 256, 40);
	free(r.at);
	t->value[3] = 50; /* dense */
	r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_BOX, A, 200 * 40);
	finish(t, &r);
}
END_TEST

/* Even elements stay even elements. */
START_TEST(strided)
{
	struct terms *t = terms_new();
	uint32_t i = global_index(t);
	fact(t, compare(t, SW_LT, 32, SW_SIGNED, i, param(t, 32, 1)), true);
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, i, 8, SW_SIGNED), 4, 1);
	launch(t, 4, 256);
	t->value[1] = 1000;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect_rows(&r, 0, A, 4, 8, 1000);
	finish(t, &r);
}
END_TEST

/* a[4 * i + 0..3]: four sites, one dense box */
START_TEST(unrolled)
{
	struct terms *t = terms_new();
	uint32_t i = global_index(t);
	uint32_t at = element(t, 0, i, 16, SW_SIGNED);
	for (int k = 0; k < 4; k++)
		site(t, SW_TOUCH_WRITE, 0, add_constant(t, 64, at, 4 * k), 4, 0);
	launch(t, 4, 256);
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_BOX, A, 16384);
	finish(t, &r);
}
END_TEST

/* for (i = first; i < n; i += all) a[i], tested at the end, entered under the same guard */
static struct terms *grid_stride(unsigned flags)
{
	struct terms *t = terms_new();
	uint32_t first = global_index(t), n = param(t, 32, 1);
	uint32_t all = mul(t, 32, special(t, SW_NTID_X), special(t, SW_NCTAID_X));
	uint32_t i = step(t, 32, first, all, 0), next = add(t, 32, i, all);
	uint32_t enter = compare(t, SW_LT, 32, flags, first, n), again = compare(t, SW_LT, 32, flags, next, n);
	t->loop[0] = (struct sw_loop){UINT32_MAX, fact(t, enter, true), 1, fact(t, again, true), 1};
	t->f.loops = 1;
	fact(t, enter, true);
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, i, 4, flags), 4, 1)->loop = 1;
	launch(t, 4, 256);
	return t;
}

START_TEST(grid_strided)
{
	struct terms *t = grid_stride(_i ? SW_SIGNED : 0);
	for (uint32_t n = 1; n < 100000; n = 3 * n + 1) {
		t->value[1] = n;
		struct sw_reaches r = evaluate(t);
		ck_assert_uint_eq(r.n, 1);
		expect(&r, 0, SW_EXTENT_BOX, A, 4 * (uint64_t)n);
		free(r.at);
	}
	free(t);
}
END_TEST

/* A loop that is tested at its head; and without any test it has no bound. */
START_TEST(head_tested)
{
	struct terms *t = terms_new();
	uint32_t first = global_index(t), n = param(t, 32, 1);
	uint32_t all = mul(t, 32, special(t, SW_NTID_X), special(t, SW_NCTAID_X));
	uint32_t i = step(t, 32, first, all, 0), test = compare(t, SW_LT, 32, SW_SIGNED, i, n);
	t->loop[0] = (struct sw_loop){UINT32_MAX, 0, 0, fact(t, test, true), 1};
	t->f.loops = 1;
	fact(t, test, true);
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, i, 4, SW_SIGNED), 4, 1)->loop = 1;
	launch(t, 4, 256);
	t->value[1] = 12345;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_BOX, A, 12345 * 4);
	free(r.at);
	t->loop[0].backs = 0;
	t->site[0].facts = 0;
	r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_OPEN, A, 0);
	finish(t, &r);
}
END_TEST

/* i / 10 * 16 + i % 10 */
START_TEST(digits)
{
	struct terms *t = terms_new();
	uint32_t i = global_index(t), ten = param(t, 32, 2);
	uint32_t q = op(t, SW_OP_DIV, 32, 0, i, ten), rest = op(t, SW_OP_REM, 32, 0, i, ten);
	uint32_t at = add(t, 32, mul(t, 32, q, constant(t, 32, 16)), rest);
	fact(t, compare(t, SW_LT, 32, 0, i, param(t, 32, 1)), true);
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, at, 4, 0), 4, 1);
	launch(t, 4, 256);
	t->value[1] = 1000;
	t->value[2] = 10;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect_rows(&r, 0, A, 40, 64, 100);
	free(r.at);
	t->value[1] = 1003; /* a last row that is not full */
	r = evaluate(t);
	ck_assert_uint_eq(r.n, 2);
	expect_rows(&r, 0, A, 40, 64, 100);
	expect(&r, 1, SW_EXTENT_BOX, A + 6400, 12);
	finish(t, &r);
}
END_TEST

/* a[clamp(i - 3, 0, n - 1)] */
START_TEST(clamped)
{
	struct terms *t = terms_new();
	uint32_t i = add_constant(t, 32, global_index(t), -3);
	uint32_t low = op(t, SW_OP_MAX, 32, SW_SIGNED, i, constant(t, 32, 0));
	uint32_t both = op(t, SW_OP_MIN, 32, SW_SIGNED, low, add_constant(t, 32, param(t, 32, 1), -1));
	site(t, SW_TOUCH_READ, 0, element(t, 0, both, 4, SW_SIGNED), 4, 0);
	launch(t, 4, 256);
	t->value[1] = 500;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_BOX, A, 2000);
	finish(t, &r);
}
END_TEST

/* a[table[i]]: loaded, bounded by a byte's range, by a guard, or by nothing */
START_TEST(gathered)
{
	struct terms *t = terms_new();
	uint32_t byte = value(t, SW_OP_RANGE, 32, 0, 0, 255), word = value(t, SW_OP_RANGE, 32, 0, 0, UINT32_MAX);
	site(t, SW_TOUCH_READ, 0, element(t, 0, byte, 4, 0), 4, 0);
	site(t, SW_TOUCH_READ, 1, element(t, 1, word, 4, 0), 4, 0);
	fact(t, compare(t, SW_LT, 32, 0, word, param(t, 32, 3)), true);
	site(t, SW_TOUCH_READ, 2, element(t, 2, word, 4, 0), 4, 1);
	launch(t, 4, 256);
	t->value[1] = A + 0x10000;
	t->value[2] = A + 0x20000;
	t->value[3] = 77;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 3);
	expect(&r, 0, SW_EXTENT_HULL, A, 1024);
	expect(&r, 1, SW_EXTENT_OPEN, A + 0x10000, 0);
	expect(&r, 2, SW_EXTENT_HULL, A + 0x20000, 77 * 4);
	ck_assert_uint_eq(r.at[1].why, SW_WHY_LOADED);
	finish(t, &r);
}
END_TEST

/* for (j = 0; j <= i; j++) a[j], i < n */
START_TEST(triangular)
{
	struct terms *t = terms_new();
	uint32_t i = global_index(t), zero = constant(t, 32, 0), one = constant(t, 32, 1);
	uint32_t j = step(t, 32, zero, one, 0), next = add(t, 32, j, one);
	uint32_t guard = compare(t, SW_LT, 32, SW_SIGNED, i, param(t, 32, 1));
	uint32_t again = compare(t, SW_LE, 32, SW_SIGNED, next, i);
	t->loop[0] = (struct sw_loop){UINT32_MAX, fact(t, guard, true), 1, fact(t, again, true), 1};
	t->f.loops = 1;
	fact(t, guard, true);
	site(t, SW_TOUCH_READ, 0, element(t, 0, j, 4, SW_SIGNED), 4, 1)->loop = 1;
	launch(t, 4, 256);
	t->value[1] = 1000;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_BOX, A, 4000);
	finish(t, &r);
}
END_TEST

/* The loop's index is used when the loop has ended: only its last value counts. */
START_TEST(after_loop)
{
	struct terms *t = grid_stride(SW_SIGNED);
	t->value[1] = 5000;
	t->site[0].loop = 0;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_HULL, A, 20000);
	ck_assert_uint_eq(r.at[0].why, SW_WHY_LOOP);
	finish(t, &r);
}
END_TEST

/* do p++; while (++i < blockIdx.x), left out by block 0: there p is what it was, though the loop is entered by others
   only (a pivot search of cuSOLVER). */
START_TEST(around_loop)
{
	struct terms *t = terms_new();
	uint32_t block = special(t, SW_CTAID_X), p = param(t, 64, 0), zero = constant(t, 32, 0);
	uint32_t some = compare(t, SW_GT, 32, SW_SIGNED, block, zero);
	uint32_t i = step(t, 32, zero, constant(t, 32, 1), 0), at = step(t, 64, p, constant(t, 64, 8), 0);
	uint32_t more = compare(t, SW_GT, 32, SW_SIGNED, block, add_constant(t, 32, i, 1));
	t->loop[0] = (struct sw_loop){UINT32_MAX, 0, 1, 1, 1};
	t->f.loops = 1;
	fact(t, some, true);
	fact(t, more, true);
	uint32_t behind = add_constant(t, 64, at, 8);
	site(t, SW_TOUCH_WRITE, 0, select_term(t, 64, some, behind, p), 8, 0);
	launch(t, 9, 32);
	struct sw_reaches r = evaluate(t);
	uint64_t end = 0;
	bool first = false;
	for (size_t k = 0; k < r.n; k++) {
		ck_assert_uint_ne(r.at[k].extent, SW_EXTENT_OPEN);
		first |= r.at[k].address == A;
		end = r.at[k].address + r.at[k].width > end ? r.at[k].address + r.at[k].width : end;
	}
	ck_assert(first);
	ck_assert_uint_eq(end, A + 72);
	finish(t, &r);
}
END_TEST

/* if (i != 5) a[i]: two boxes */
START_TEST(all_but_one)
{
	struct terms *t = terms_new();
	uint32_t i = global_index(t);
	fact(t, compare(t, SW_NE, 32, 0, i, constant(t, 32, 5)), true);
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, i, 4, 0), 4, 1);
	launch(t, 4, 256);
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 2);
	expect(&r, 0, SW_EXTENT_BOX, A, 20);
	expect(&r, 1, SW_EXTENT_BOX, A + 24, 4096 - 24);
	finish(t, &r);
}
END_TEST

START_TEST(texts)
{
	struct terms *t = grid_stride(SW_SIGNED);
	char text[200];
	sw_footprint_address_text(&t->f, 0, text, sizeof text);
	ck_assert_str_eq(text, "param 0 + 4 * (ctaid.x * ntid.x + tid.x + ntid.x * nctaid.x * k0)");
	sw_footprint_facts_text(&t->f, 0, text, sizeof text);
	ck_assert_str_eq(text, "ctaid.x * ntid.x + tid.x < param 1");
	sw_footprint_address_text(&t->f, 0, text, 20);
	ck_assert_str_eq(text, "param 0 + 4 * (...");
	t->fact[t->site[0].fact].truth = 0;
	sw_footprint_facts_text(&t->f, 0, text, sizeof text);
	ck_assert_str_eq(text, "ctaid.x * ntid.x + tid.x >= param 1");
	free(t);
	/* The low bits of a number are not the number. */
	t = terms_new();
	uint32_t low = extend(t, 32, 4, 0, add(t, 32, special(t, SW_TID_X), constant(t, 32, 1)));
	site(t, SW_TOUCH_READ, 0, element(t, 0, low, 4, 0), 4, 0);
	sw_footprint_address_text(&t->f, 0, text, sizeof text);
	ck_assert_str_eq(text, "param 0 + 4 * ((tid.x + 1) % 16)");
	free(t);
}
END_TEST

START_TEST(directions)
{
	struct terms *t = terms_new();
	uint32_t i = global_index(t);
	site(t, SW_TOUCH_READ, 0, element(t, 0, i, 4, 0), 4, 0);
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, i, 4, 0), 4, 0);
	site(t, SW_TOUCH_READ, 1, element(t, 1, i, 4, 0), 4, 0);
	struct sw_reaches r = {0};
	sw_footprint_directions(&t->f, &r);
	ck_assert_uint_eq(r.n, 2);
	ck_assert_uint_eq(r.at[0].role, SW_TOUCH_READ | SW_TOUCH_WRITE);
	ck_assert_uint_eq(r.at[0].site, 1);
	ck_assert_uint_eq(r.at[1].role, SW_TOUCH_READ);
	ck_assert_uint_eq(r.at[1].root.param, 8);
	finish(t, &r);
}
END_TEST

/* i = 3; do a[64 * blockIdx.x + i]; while (--i > (long long)blockIdx.x << 63 && i > 0): the limit of block 1 is the
   least number, which has no opposite. */
START_TEST(limit_without_opposite)
{
	struct terms *t = terms_new();
	uint32_t block = extend(t, 64, 32, 0, special(t, SW_CTAID_X));
	uint32_t i = step(t, 64, constant(t, 64, 3), constant(t, 64, -1), 0), next = add_constant(t, 64, i, -1);
	uint32_t limit = op(t, SW_OP_SHL, 64, 0, block, constant(t, 32, 63));
	uint32_t above = compare(t, SW_GT, 64, SW_SIGNED, next, limit);
	uint32_t positive = compare(t, SW_GT, 64, SW_SIGNED, next, constant(t, 64, 0));
	t->loop[0] = (struct sw_loop){UINT32_MAX, 0, 0, fact(t, above, true), 2};
	fact(t, positive, true);
	t->f.loops = 1;
	uint32_t index = add(t, 64, mul(t, 64, block, constant(t, 64, 64)), i);
	uint32_t address = add(t, 64, param(t, 64, 0), mul(t, 64, index, constant(t, 64, 4)));
	site(t, SW_TOUCH_WRITE, 0, address, 4, 0)->loop = 1;
	launch(t, 2, 1);
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_HULL, A + 4, 256 + 12);
	finish(t, &r);
}
END_TEST

/* a + 16 * ((100 - threadIdx.x) / 8) + (threadIdx.x << 63): the factor of the thread's number is the least number, and
   that in what is divided -1. */
START_TEST(digits_of_the_least_number)
{
	struct terms *t = terms_new();
	uint32_t thread = extend(t, 64, 32, 0, special(t, SW_TID_X));
	uint32_t left = op(t, SW_OP_SUB, 64, 0, constant(t, 64, 100), thread);
	uint32_t eighth = op(t, SW_OP_SHR, 64, 0, left, constant(t, 32, 3));
	uint32_t top = op(t, SW_OP_SHL, 64, 0, thread, constant(t, 32, 63));
	uint32_t offset = add(t, 64, mul(t, 64, eighth, constant(t, 64, 16)), top);
	site(t, SW_TOUCH_WRITE, 0, add(t, 64, param(t, 64, 0), offset), 4, 0);
	launch(t, 1, 32);
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_OPEN, A, 0);
	finish(t, &r);
}
END_TEST

/* unsigned char i = 1; do a[i]; while ((i += 3) < limit).  With the limit 254 i wraps around after 253, so all numbers
   that a byte holds are possible; with 253 it does not. */
START_TEST(last_step_wraps)
{
	struct terms *t = terms_new();
	uint32_t i = step(t, 8, constant(t, 8, 1), constant(t, 8, 3), 0), next = add_constant(t, 8, i, 3);
	uint32_t again = compare(t, SW_LT, 8, 0, next, constant(t, 8, _i ? -2 : -3));
	t->loop[0] = (struct sw_loop){UINT32_MAX, 0, 0, fact(t, again, true), 1};
	t->f.loops = 1;
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, extend(t, 32, 8, 0, i), 4, 0), 4, 0)->loop = 1;
	launch(t, 1, 1);
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	if (_i)
		expect(&r, 0, SW_EXTENT_HULL, A, 4 * 256);
	else
		expect_rows(&r, 0, A + 4, 4, 12, 84);
	finish(t, &r);
}
END_TEST

/* unsigned char i = start; do a[i]; while ((i += 3) != limit): i meets the limit, or is past it, or jumps over it and
   comes to it after wrapping around. */
START_TEST(until_equal)
{
	static const int starts[] = {0, 9, 0}, limits[] = {30, 6, 5};
	struct terms *t = terms_new();
	uint32_t i = step(t, 8, constant(t, 8, starts[_i]), constant(t, 8, 3), 0), next = add_constant(t, 8, i, 3);
	uint32_t again = compare(t, SW_NE, 8, 0, next, constant(t, 8, limits[_i]));
	t->loop[0] = (struct sw_loop){UINT32_MAX, 0, 0, fact(t, again, true), 1};
	t->f.loops = 1;
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, extend(t, 32, 8, 0, i), 4, 0), 4, 0)->loop = 1;
	launch(t, 1, 1);
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	if (_i)
		expect(&r, 0, SW_EXTENT_HULL, A, 4 * 256);
	else
		expect_rows(&r, 0, A, 4, 12, 10);
	finish(t, &r);
}
END_TEST

/* for (k = 0;; k++) { i = 3 * k + x; a[i]; if (i >= 50) break; }, x loaded anew in each turn: the i that let a turn
   begin says nothing of its own, so nothing bounds it. */
START_TEST(loaded_in_each_turn)
{
	struct terms *t = terms_new();
	uint32_t k = step(t, 32, constant(t, 32, 0), constant(t, 32, 3), 0);
	uint32_t i = add(t, 32, k, value(t, SW_OP_RANGE, 32, 0, 0, 100));
	t->loop[0] =
		(struct sw_loop){UINT32_MAX, 0, 0, fact(t, compare(t, SW_LT, 32, 0, i, constant(t, 32, 50)), true), 1};
	t->f.loops = 1;
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, i, 4, 0), 4, 0)->loop = 1;
	launch(t, 1, 1);
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	expect(&r, 0, SW_EXTENT_OPEN, A, 0);
	finish(t, &r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("evaluate");
	TCase *tests = tcase_create("evaluate");
	tcase_add_test(tests, guarded);
	tcase_add_test(tests, unguarded);
	tcase_add_test(tests, part_of_unknown);
	tcase_add_test(tests, unknown_without_data);
	tcase_add_test(tests, told_alternatives);
	tcase_add_test(tests, excluded);
	tcase_add_test(tests, halo);
	tcase_add_test(tests, unsigned_trick);
	tcase_add_test(tests, tile);
	tcase_add_test(tests, strided);
	tcase_add_test(tests, unrolled);
	tcase_add_loop_test(tests, grid_strided, 0, 2);
	tcase_add_test(tests, head_tested);
	tcase_add_test(tests, digits);
	tcase_add_test(tests, clamped);
	tcase_add_test(tests, gathered);
	tcase_add_test(tests, triangular);
	tcase_add_test(tests, after_loop);
	tcase_add_test(tests, around_loop);
	tcase_add_test(tests, limit_without_opposite);
	tcase_add_loop_test(tests, last_step_wraps, 0, 2);
	tcase_add_loop_test(tests, until_equal, 0, 3);
	tcase_add_test(tests, loaded_in_each_turn);
	tcase_add_test(tests, digits_of_the_least_number);
	tcase_add_test(tests, all_but_one);
	tcase_add_test(tests, texts);
	tcase_add_test(tests, directions);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
