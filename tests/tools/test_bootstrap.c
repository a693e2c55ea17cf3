/* SPDX-License-Identifier: Apache-2.0 */
#include "confirm/bootstrap.h"

#include <check.h>

#include "base/hash.h"
#include "../run_suite.h"

START_TEST(no_numbers)
{
	int64_t many[SW_BOOTSTRAP_MOST + 1] = {1};
	struct sw_interval none = sw_bootstrap_median(many, 0), more = sw_bootstrap_median(many, SW_BOOTSTRAP_MOST + 1);
	ck_assert_int_eq(none.middle, 0);
	ck_assert_int_eq(more.high, 0);
}
END_TEST

START_TEST(equal_numbers_have_no_width)
{
	const int64_t five[] = {7, 7, 7, 7, 7};
	struct sw_interval i = sw_bootstrap_median(five, 5);
	ck_assert(i.low == 7 && i.middle == 7 && i.high == 7);
}
END_TEST

START_TEST(one_run_that_was_disturbed)
{
	const int64_t nine[] = {100, 101, 102, 103, 104, 105, 106, 107, 100000};
	struct sw_interval i = sw_bootstrap_median(nine, 9);
	ck_assert_int_eq(i.middle, 104);
	ck_assert_int_ge(i.low, 100);
	ck_assert_int_le(i.high, 107);
}
END_TEST

START_TEST(the_same_numbers_give_the_same_interval)
{
	const int64_t six[] = {-5, 3, 9, 14, 2, 8};
	struct sw_interval a = sw_bootstrap_median(six, 6), b = sw_bootstrap_median(six, 6);
	ck_assert(a.low == b.low && a.middle == b.middle && a.high == b.high);
	ck_assert_int_eq(a.middle, 5); /* between 3 and 8 */
	ck_assert(a.low <= a.middle && a.middle <= a.high && a.low < a.high);
}
END_TEST

/* Samples of numbers whose median is 1000: 95 of 100 intervals are meant to hold it, with eleven each. */
START_TEST(the_interval_holds_the_median)
{
	uint64_t dice = 1;
	int held = 0;
	for (int n = 0; n < 400; n++) {
		int64_t sample[11];
		for (int i = 0; i < 11; i++) {
			dice = sw_hash_u64(dice + 1);
			sample[i] = (int64_t)(dice % 2001);
		}
		struct sw_interval got = sw_bootstrap_median(sample, 11);
		held += got.low <= 1000 && 1000 <= got.high;
	}
	ck_assert_int_ge(held, 360);
	ck_assert_int_lt(held, 400);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bootstrap");
	TCase *tests = tcase_create("bootstrap");
	tcase_add_test(tests, no_numbers);
	tcase_add_test(tests, equal_numbers_have_no_width);
	tcase_add_test(tests, one_run_that_was_disturbed);
	tcase_add_test(tests, the_same_numbers_give_the_same_interval);
	tcase_add_test(tests, the_interval_holds_the_median);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
