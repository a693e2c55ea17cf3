/* SPDX-License-Identifier: Apache-2.0 */
/* Sites that have outer conditions in common, where these make several cases. */
#include <check.h>

#include "reaches.h"
#include "../run_suite.h"

#define B (A + (1 << 20))

/* if (i != 5) { read a[i]; if (i < 100) write b[i]; }: each has its own boxes, in both cases. */
START_TEST(inner_condition)
{
	struct terms *t = terms_new();
	uint32_t i = global_index(t);
	fact(t, compare(t, SW_LT, 32, 0, i, constant(t, 32, 100)), true);
	fact(t, compare(t, SW_NE, 32, 0, i, constant(t, 32, 5)), true);
	site(t, SW_TOUCH_READ, 0, element(t, 0, i, 4, 0), 4, 1);
	site(t, SW_TOUCH_WRITE, 1, element(t, 1, i, 4, 0), 4, 2);
	launch(t, 4, 256);
	t->value[1] = B;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 4);
	expect(&r, 0, SW_EXTENT_BOX, A, 20);
	expect(&r, 1, SW_EXTENT_BOX, A + 24, 4096 - 24);
	expect(&r, 2, SW_EXTENT_BOX, B, 20);
	expect(&r, 3, SW_EXTENT_BOX, B + 24, 400 - 24);
	finish(t, &r);
}
END_TEST

/* if (i != 5) { read a[i]; write b[i < 5 ? i : what was loaded]; } */
static struct sw_reaches open_in_one_case(struct terms *t, bool loaded)
{
	uint32_t i = global_index(t), five = constant(t, 32, 5);
	uint32_t other = loaded ? value(t, SW_OP_RANGE, 64, 0, 0, INT64_MAX) : extend(t, 64, 32, 0, i);
	uint32_t index = select_term(t, 64, compare(t, SW_LT, 32, 0, i, five), extend(t, 64, 32, 0, i), other);
	fact(t, compare(t, SW_NE, 32, 0, i, five), true);
	site(t, SW_TOUCH_READ, 0, element(t, 0, i, 4, 0), 4, 1);
	site(t, SW_TOUCH_WRITE, 1, add(t, 64, param(t, 64, 1), mul(t, 64, index, constant(t, 64, 4))), 4, 1);
	launch(t, 4, 256);
	t->value[1] = B;
	return evaluate(t);
}

/* One case without bounds makes the whole site open, and leaves the other site alone. */
START_TEST(open_case)
{
	struct terms *t = terms_new();
	struct sw_reaches r = open_in_one_case(t, true);
	ck_assert_uint_eq(r.n, 3);
	expect(&r, 0, SW_EXTENT_BOX, A, 20);
	expect(&r, 1, SW_EXTENT_BOX, A + 24, 4096 - 24);
	ck_assert_uint_eq(r.at[2].extent, SW_EXTENT_OPEN);
	ck_assert_uint_eq(r.at[2].address, B);
	finish(t, &r);
	t = terms_new();
	r = open_in_one_case(t, false);
	ck_assert_uint_eq(r.n, 4);
	expect(&r, 2, SW_EXTENT_BOX, B, 20);
	expect(&r, 3, SW_EXTENT_BOX, B + 24, 4096 - 24);
	finish(t, &r);
}
END_TEST

#define SITES 1900

/* if (i != 5 && ... i != 900 && i < n) 1900 writes: the conditions are not evaluated for each of them. */
static struct sw_reaches many_sites(struct terms *t, uint64_t n)
{
	static const int64_t left_out[] = {900, 700, 500, 300, 5};
	uint32_t i = global_index(t), first = element(t, 0, i, 4, 0);
	fact(t, compare(t, SW_LT, 32, 0, i, param(t, 32, 1)), true);
	for (int k = 0; k < 5; k++)
		fact(t, compare(t, SW_NE, 32, 0, i, constant(t, 32, left_out[k])), true);
	for (int k = 0; k < SITES; k++)
		site(t, SW_TOUCH_WRITE, 0, add_constant(t, 64, first, 0x1000 * (k % 64)), 4, 6);
	launch(t, 4, 256);
	t->value[1] = n;
	return evaluate(t);
}

START_TEST(shared_conditions)
{
	struct terms *t = terms_new();
	struct sw_reaches r = many_sites(t, 1000);
	uint64_t bytes = 0;
	for (size_t k = 0; k < r.n; k++) {
		ck_assert_uint_eq(r.at[k].extent, SW_EXTENT_BOX);
		bytes += r.at[k].width * r.at[k].rows * r.at[k].slices;
	}
	ck_assert_uint_eq(bytes, 64 * 4 * (1000 - 5));
	finish(t, &r);
	t = terms_new();
	r = many_sites(t, 0);
	ck_assert_uint_eq(r.n, 0);
	finish(t, &r);
}
END_TEST

static uint32_t loaded(struct terms *t)
{
	return value(t, SW_OP_RANGE, 32, 0, 0, UINT32_MAX);
}

/* if (x < 4 || (x < 8 && y == 1)) { ... }, where both are loaded: it bounds an index that is x (0), or less than x (1),
   and no other (2). */
START_TEST(conditions_on_data)
{
	static const uint64_t bytes[] = {8 * 4, 7 * 4, 64 * 4};
	struct terms *t = terms_new();
	uint32_t tid = special(t, SW_TID_X), x = loaded(t), one = constant(t, 32, 1), first = t->f.facts;
	for (int k = 0; k < (_i == 2 ? 6 : 1); k++) {
		uint32_t more = op(t, SW_OP_AND, 1, 0, compare(t, SW_LT, 32, 0, x, constant(t, 32, 8)),
				   compare(t, SW_EQ, 32, 0, loaded(t), one));
		fact(t, op(t, SW_OP_OR, 1, 0, compare(t, SW_LT, 32, 0, x, constant(t, 32, 4)), more), true);
		x = _i == 2 ? loaded(t) : x;
	}
	if (_i == 1)
		fact(t, compare(t, SW_LT, 32, 0, tid, x), true);
	site(t, SW_TOUCH_READ, 0, element(t, 0, _i ? tid : x, 4, 0), 4, t->f.facts - first);
	launch(t, 1, 64);
	struct sw_reaches r = evaluate(t);
	uint64_t end = 0;
	for (size_t i = 0; i < r.n; i++) {
		ck_assert_uint_ne(r.at[i].extent, SW_EXTENT_OPEN);
		ck_assert_uint_eq(r.at[i].rows, 1);
		end = r.at[i].address + r.at[i].width > end ? r.at[i].address + r.at[i].width : end;
	}
	ck_assert_uint_eq(end, A + bytes[_i]);
	if (_i == 2)
		expect(&r, 0, SW_EXTENT_BOX, A, bytes[_i]);
	finish(t, &r);
}
END_TEST

/* if (tid + y + 32 * k < n) { ... p[tid + y + x + 32 * k] ... } for k = 0, 1, ..., where x and y are loaded: one is
   looked at.  One that begins below the pointer (1), or goes through another (2), is no such. */
START_TEST(alike_sites)
{
	struct terms *t = terms_new();
	uint32_t x = extend(t, 64, 32, 0, loaded(t)), y = value(t, SW_OP_RANGE, 32, 0, 0, UINT16_MAX);
	uint32_t near = add(t, 32, special(t, SW_TID_X), y), n = param(t, 32, 2);
	for (int k = 0; k < 8; k++) {
		int other = _i == 2 && k == 5;
		uint32_t address = add(t, 64, element(t, other, near, 4, 0), mul(t, 64, x, constant(t, 64, 4)));
		fact(t, compare(t, SW_LT, 32, SW_SIGNED, add_constant(t, 32, near, 32 * k), n), true);
		site(t, SW_TOUCH_READ, other, add_constant(t, 64, address, _i == 1 && k == 5 ? -16 : 128 * k), 4, 1);
	}
	launch(t, 1, 64);
	t->value[1] = A + 4096;
	t->value[2] = 1000;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, _i == 2 ? 2 : 1);
	bool below = false, other = false;
	for (size_t i = 0; i < r.n; i++) {
		ck_assert_uint_eq(r.at[i].extent, SW_EXTENT_OPEN);
		below |= r.at[i].below;
		other |= r.at[i].address != A;
	}
	ck_assert(below == (_i == 1) && other == (_i == 2));
	finish(t, &r);
}
END_TEST

/* if (n > 5) while (...) { if (x == 1 || ...) ... }: nothing is touched for a small n, also by what follows the loop
   and is made from its counter. */
START_TEST(loop_that_nobody_enters)
{
	struct terms *t = terms_new();
	uint32_t n = param(t, 32, 2), k = step(t, 32, constant(t, 32, 0), constant(t, 32, 1), 0);
	uint32_t inside = compare(t, SW_LT, 32, 0, constant(t, 32, 5), n);
	t->loop[t->f.loops++] = (struct sw_loop){.parent = UINT32_MAX, .entry = fact(t, inside, true), .entries = 1};
	t->loop[0].back = fact(t, compare(t, SW_LT, 32, 0, add_constant(t, 32, k, 1), n), true);
	t->loop[0].backs = 1;
	site(t, SW_TOUCH_READ, 0, element(t, 0, k, 4, 0), 4, 0);
	t->site[0].loop = 1;
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, k, 4, 0), 4, 0);
	launch(t, 1, 64);
	t->value[2] = _i ? 16 : 5;
	struct sw_reaches r = evaluate(t);
	if (_i)
		expect(&r, 0, SW_EXTENT_BOX, A, 64);
	else
		ck_assert_uint_eq(r.n, 0);
	finish(t, &r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("evaluate_cases");
	TCase *tests = tcase_create("evaluate_cases");
	tcase_add_test(tests, inner_condition);
	tcase_add_test(tests, open_case);
	tcase_add_test(tests, shared_conditions);
	tcase_add_loop_test(tests, conditions_on_data, 0, 3);
	tcase_add_loop_test(tests, alike_sites, 0, 3);
	tcase_add_loop_test(tests, loop_that_nobody_enters, 0, 2);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
