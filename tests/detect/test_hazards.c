/* SPDX-License-Identifier: Apache-2.0 */
/* SW101-SW106: each hazard and its fixed twin. */
#include <check.h>
#include <stdlib.h>

#include "detect/judge.h"

static void order(struct tb *tb, uint64_t from, uint64_t to)
{
	tb_event_record(tb, E1, from);
	tb_stream_wait(tb, to, E1);
}

START_TEST(read_after_write)
{
	struct tb *tb = two_streams();
	h2d(tb, DEV, PIN, 4096, S1);
	if (_i)
		order(tb, S1, S2);
	d2d(tb, DEV2, DEV + 100, 8, S2);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
		ck_assert_uint_eq(j->errors, 0);
	} else {
		const struct sw_finding *f = only(j, 101);
		ck_assert_int_eq(f->severity, SW_ERROR);
		ck_assert_int_eq(f->confidence, SW_CERTAIN);
		ck_assert_int_eq(f->basis, SW_BASIS_DOCUMENTED);
		ck_assert_uint_eq(f->count, 1);
		ck_assert_int_eq(f->fix, SW_FIX_EVENT);
		ck_assert_uint_eq(f->access[0].bytes, 4096);
		ck_assert_uint_eq(f->access[1].address, DEV + 100);
		ck_assert_uint_eq(f->access[1].bytes, 8);
		ck_assert_int_eq(f->access[0].role, SW_WRITE);
		ck_assert_int_eq(f->access[1].role, SW_READ);
		ck_assert_uint_eq(j->streams.at[f->access[0].stream].handle, S1);
		ck_assert_uint_eq(j->streams.at[f->access[1].stream].handle, S2);
		ck_assert_uint_eq(j->allocations.at[f->access[1].allocation - 1].address, DEV);
		ck_assert_uint_eq(j->errors, 1);
	}
	sw_judgement_free(j);
}
END_TEST

START_TEST(write_after_read)
{
	struct tb *tb = two_streams();
	d2h(tb, PIN, DEV, 4096, S1);
	if (_i)
		order(tb, S1, S2);
	tb_set(tb, DEV + 4095, 16, S2);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, 102);
		ck_assert_int_eq(f->severity, SW_ERROR);
		ck_assert_int_eq(f->access[0].role, SW_READ);
		ck_assert_uint_eq(f->access[1].bytes, 16);
	}
	sw_judgement_free(j);
}
END_TEST

START_TEST(write_after_write)
{
	struct tb *tb = two_streams();
	for (int i = 0; i < 3; i++) {
		tb_set(tb, DEV, 64, S1);
		if (_i == 1)
			order(tb, S1, S2);
		tb_set(tb, _i == 2 ? DEV + 64 : DEV + 63, 64, S2);
		if (_i == 1)
			order(tb, S2, S1);
	}
	struct sw_judgement *j = judged(tb);
	if (_i)
		no_hazards(j);
	else
		ck_assert_uint_eq(only(j, 103)->severity, SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

START_TEST(readers_may_share)
{
	struct tb *tb = two_streams();
	d2h(tb, PIN, DEV, 4096, S1);
	d2h(tb, PIN + 4096, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

/* Kernels by their signature: writers of one base conflict, const readers do not. */
START_TEST(kernels_by_signature)
{
	struct tb *tb = two_streams();
	uint32_t add = tb_function(tb, "_Z3addPfPKf", 2, 8, 8);
	tb_launch(tb, add, S1, 2, DEV, DEV2);
	if (_i == 1)
		order(tb, S1, S2);
	tb_launch(tb, add, S2, 2, _i == 2 ? DEV + 4096 : DEV, DEV2);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, 103);
		ck_assert_int_eq(f->severity, SW_WARNING);
		ck_assert_int_eq(f->confidence, SW_LIKELY);
		ck_assert_int_eq(f->access[1].evidence, SW_EV_SIGNATURE);
		ck_assert_int_eq(f->access[1].param, 0);
		ck_assert(!f->access[1].extent_known);
	}
	sw_judgement_free(j);
}
END_TEST

/* Kernels without a name that tells anything: possible, on request. */
START_TEST(kernels_by_assumption)
{
	struct tb *tb = two_streams();
	uint32_t f = tb_function(tb, "plain", 1, 8);
	tb_launch(tb, f, S1, 1, DEV);
	tb_launch(tb, f, S2, 1, DEV);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = _i});
	if (_i) {
		ck_assert_int_eq(only(j, 101)->confidence, SW_POSSIBLE);
		ck_assert(only(j, 101)->hidden);
	} else {
		no_hazards(j);
	}
	ck_assert_uint_eq(j->errors + j->warnings, 0);
	sw_judgement_free(j);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hazards");
	TCase *tc = tcase_create("pairs");
	tcase_add_loop_test(tc, read_after_write, 0, 2);
	tcase_add_loop_test(tc, write_after_read, 0, 2);
	tcase_add_loop_test(tc, write_after_write, 0, 3);
	tcase_add_test(tc, readers_may_share);
	tcase_add_loop_test(tc, kernels_by_signature, 0, 3);
	tcase_add_loop_test(tc, kernels_by_assumption, 0, 2);
	suite_add_tcase(suite, tc);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
