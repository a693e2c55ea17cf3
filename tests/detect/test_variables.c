/* SPDX-License-Identifier: Apache-2.0 */
/* Module variables: memory that kernels use without a pointer, and the host by an address that it asks for. */
#include "detect/judge.h"
#include "detect/kernels.h"

#define COUNTERS 0x7f2000000000ull
#define LIBRARY	 0x7001ull

static struct tb *program(void)
{
	struct tb *tb = with_code(two_streams());
	tb_code(tb, SW_REC_CODE_LOAD, LIBRARY, tb->image);
	return tb;
}

static struct sw_rec_alloc *ask(struct tb *tb, const char *name, uint64_t library)
{
	struct sw_rec_alloc *a = tb_alloc(tb, SW_MEM_SYMBOL, COUNTERS, *name == 't' ? 2048 : 1024);
	a->owner = library;
	tb_name(tb, SW_NAME_SYMBOL, COUNTERS, 0, name);
	return a;
}

static void variable(struct tb *tb, uint64_t stream)
{
	test_launch(tb, &(struct test_call)VARIABLE, stream);
}

static void look_up(struct tb *tb, uint64_t stream)
{
	test_launch(tb, &(struct test_call)LOOK_UP(DEV), stream);
}

static void only_error(struct tb *tb, int id, size_t times)
{
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.symbol_kernels, 0);
	ck_assert_uint_eq(count_of(j, id), times);
	if (times) {
		const struct sw_finding *f = only(j, id);
		ck_assert_int_eq(f->severity, SW_ERROR);
		ck_assert_str_eq(j->allocations.at[f->access[0]->allocation - 1].name, "counters");
	} else {
		no_hazards(j);
	}
	sw_judgement_free(j);
}

/* The variable's address is never asked for. */
START_TEST(two_kernels_meet)
{
	struct tb *tb = program();
	variable(tb, S1);
	if (!_i)
		order(tb, S1, S2);
	variable(tb, S2);
	only_error(tb, 103, (size_t)_i);
}
END_TEST

/* 0: asked for before the kernel runs, 1: after that, 2: both; 3: as 1, ordered. */
START_TEST(whoever_asks_meets_the_kernel)
{
	struct tb *tb = program();
	if (_i == 0 || _i == 2)
		ask(tb, "counters", LIBRARY);
	variable(tb, S1);
	if (_i)
		ask(tb, "counters", LIBRARY);
	if (_i == 3)
		order(tb, S1, S2);
	tb_set(tb, COUNTERS + 512, 8, S2);
	only_error(tb, 103, _i != 3);
}
END_TEST

/* The kernel that comes after meets what the host did by the address, and the kernel before that. */
START_TEST(both_names_are_one)
{
	struct tb *tb = program();
	variable(tb, S1);
	ask(tb, "counters", LIBRARY);
	tb_set(tb, COUNTERS, 8, S1);
	if (_i)
		order(tb, S1, S2);
	variable(tb, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), _i ? 0 : 2);
	sw_judgement_free(j);
}
END_TEST

/* 0: of another library; 1: another context; 2: other bytes; 3: another variable. */
START_TEST(others_do_not_meet)
{
	struct tb *tb = program();
	variable(tb, S1);
	if (_i == 0) {
		uint32_t image = tb->image;
		with_code(tb);
		ck_assert_uint_ne(tb->image, image);
		variable(tb, S2);
	} else if (_i == 1) {
		tb_context(tb, 2, 0);
		tb->ctx = 2;
		tb_stream_create(tb, S3, NONBLOCKING);
		variable(tb, S3);
	} else if (_i == 2) {
		ask(tb, "counters", LIBRARY)->bytes = 4096;
		tb_set(tb, COUNTERS + 1024, 8, S2);
	} else {
		look_up(tb, S2);
	}
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

START_TEST(readers_do_not_meet_each_other)
{
	struct tb *tb = program();
	look_up(tb, S1);
	look_up(tb, S2);
	if (_i) {
		ask(tb, "table", LIBRARY);
		tb_set(tb, COUNTERS + 4 * 20, 4, S2);
	}
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 102), (size_t)_i);
	ck_assert_uint_eq(count_of(j, 103), 1); /* what both kernels write */
	if (_i)
		ck_assert_int_eq(only(j, 102)->severity, SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

/* 0: what is read is what is written; 1: something else of the same variable. */
START_TEST(what_is_written_is_looked_at)
{
	struct tb *tb = program();
	ask(tb, "table", LIBRARY);
	look_up(tb, S1);
	tb_set(tb, COUNTERS + (_i ? 1536 : 16), 4, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 102), !_i);
	if (!_i)
		ck_assert_int_eq(only(j, 102)->severity, SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

/* A module whose load was not seen: its variables may be those of the kernel, or others. */
START_TEST(unknown_modules_prove_nothing)
{
	struct tb *tb = with_code(two_streams());
	ask(tb, "counters", 0x9999);
	variable(tb, S1);
	tb_set(tb, COUNTERS, 8, S2);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	ck_assert_uint_eq(j->coverage.symbol_kernels, 1);
	sw_judgement_free(j);
}
END_TEST

/* Words that look like the place of a variable that has none. */
START_TEST(no_address_leads_there)
{
	struct tb *tb = program();
	variable(tb, S1);
	tb_launch(tb, tb_function(tb, "_Z3addPf", 1, 8), S2, 1, UINT64_C(0x5357000000000000));
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = true});
	no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, two_kernels_meet, 0, 2);
	tcase_add_loop_test(tc, whoever_asks_meets_the_kernel, 0, 4);
	tcase_add_loop_test(tc, both_names_are_one, 0, 2);
	tcase_add_loop_test(tc, others_do_not_meet, 0, 4);
	tcase_add_loop_test(tc, readers_do_not_meet_each_other, 0, 2);
	tcase_add_loop_test(tc, what_is_written_is_looked_at, 0, 2);
	tcase_add_test(tc, unknown_modules_prove_nothing);
	tcase_add_test(tc, no_address_leads_there);
}

int main(void)
{
	return run_cases("variables", add);
}
