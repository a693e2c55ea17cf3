/* SPDX-License-Identifier: Apache-2.0 */
/* Conclusions from a run with a hold: that nothing orders two sides is one thing, that they touch the same bytes is
   another. */
#include "confirm/trial.h"

#include <check.h>
#include <stdlib.h>

#include "../run_suite.h"

#define BYTES 4096u

/* The later side ended while the earlier one was held; nothing was compared. */
static struct sw_outcome unordered(void)
{
	return (struct sw_outcome){.earlier = true,
				   .later = true,
				   .later_held = true,
				   .released = true,
				   .why = SW_RELEASE_DONE,
				   .probe_done = true,
				   .later_done = true,
				   .ended = true};
}

static const struct {
	bool earlier_whole, later_whole, earlier_writes, later_writes;
	bool own_order, not_executed, compared;
	uint64_t by_later, by_earlier, by_both, by_each;
	enum sw_trial_verdict verdict;
	enum sw_doubt doubt;
} races[] = {
	/* Both certain: the order is all that has to be shown. */
	{true, true, true, true, .verdict = SW_VERDICT_PROVEN},
	{true, true, true, true, .compared = true, .by_later = 9, .by_earlier = 9, .by_each = 9,
	 .verdict = SW_VERDICT_PROVEN},
	{true, true, true, true, .compared = true, .verdict = SW_VERDICT_SAME_BYTES},
	/* Simulated kernels write nothing: what was compared says nothing. */
	{true, true, true, true, .compared = true, .not_executed = true, .verdict = SW_VERDICT_PROVEN},
	/* One side only within bounds: it must be seen to change a byte. */
	{false, true, true, true, .verdict = SW_VERDICT_UNORDERED, .doubt = SW_DOUBT_PARTLY},
	{false, true, true, true, .compared = true, .by_later = 9, .verdict = SW_VERDICT_UNORDERED,
	 .doubt = SW_DOUBT_PARTLY},
	{false, true, true, true, .compared = true, .by_later = 9, .by_earlier = 1, .verdict = SW_VERDICT_PROVEN},
	{true, false, true, true, .compared = true, .by_earlier = 9, .verdict = SW_VERDICT_UNORDERED,
	 .doubt = SW_DOUBT_PARTLY},
	{true, false, true, true, .compared = true, .by_earlier = 9, .by_later = 1, .verdict = SW_VERDICT_PROVEN},
	/* A read is never seen. */
	{true, false, true, false, .compared = true, .by_earlier = 9, .by_later = 9, .verdict = SW_VERDICT_UNORDERED,
	 .doubt = SW_DOUBT_PARTLY},
	{false, true, true, false, .compared = true, .by_earlier = 9, .verdict = SW_VERDICT_PROVEN},
	/* Both within bounds: one byte that each of them changed. */
	{false, false, true, true, .compared = true, .by_earlier = 9, .by_later = 9, .verdict = SW_VERDICT_UNORDERED,
	 .doubt = SW_DOUBT_PARTLY},
	{false, false, true, true, .compared = true, .by_earlier = 9, .by_later = 9, .by_each = 1,
	 .verdict = SW_VERDICT_PROVEN},
	/* A lock: both run at any time, and change the same bytes one after the other. */
	{true, true, true, true, .own_order = true, .compared = true, .by_earlier = 9, .by_later = 9, .by_each = 9,
	 .verdict = SW_VERDICT_UNORDERED, .doubt = SW_DOUBT_OWN_ORDER},
};

START_TEST(no_order_and_bytes_in_common)
{
	struct sw_shown_finding shown = {.fingerprint = 1};
	const struct sw_trial trial = {.shown = &shown,
				       .id = SW_FINDING_RACE_WAW,
				       .bytes = BYTES,
				       .earlier_whole = races[_i].earlier_whole,
				       .later_whole = races[_i].later_whole,
				       .earlier_writes = races[_i].earlier_writes,
				       .later_writes = races[_i].later_writes,
				       .own_order = races[_i].own_order,
				       .not_executed = races[_i].not_executed};
	struct sw_outcome outcome = unordered();
	struct sw_confirmation c = {.verdict = SW_VERDICT_UNTRIED};
	outcome.compared = races[_i].compared;
	outcome.bytes = races[_i].compared ? BYTES : 0;
	outcome.by_later = races[_i].by_later;
	outcome.by_earlier = races[_i].by_earlier;
	outcome.by_both = races[_i].by_both;
	outcome.by_each = races[_i].by_each;
	sw_outcome_judge(&outcome, &trial, &c);
	ck_assert_int_eq(c.verdict, races[_i].verdict);
	ck_assert_int_eq(c.doubt, races[_i].doubt);
	ck_assert_int_eq(c.compared, races[_i].compared && !races[_i].not_executed);
}
END_TEST

/* A call that waited is no race, whatever the bytes. */
START_TEST(what_waited_is_not_proven)
{
	struct sw_shown_finding shown = {.fingerprint = 1};
	const struct sw_trial trial = {
		.shown = &shown, .id = SW_FINDING_RACE_WAW, .bytes = BYTES, .earlier_whole = true, .later_whole = true};
	struct sw_outcome outcome = unordered();
	struct sw_confirmation c = {.verdict = SW_VERDICT_UNTRIED};
	outcome.later_done = false;
	outcome.why = SW_RELEASE_BOUND;
	outcome.done_after = true;
	outcome.released_us = 1000000;
	outcome.later_us = 1000;
	outcome.done_us = 1000010;
	sw_outcome_judge(&outcome, &trial, &c);
	ck_assert_int_eq(c.verdict, SW_VERDICT_REFUTED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("outcome");
	TCase *tc = tcase_create("outcome");
	tcase_add_loop_test(tc, no_order_and_bytes_in_common, 0, sizeof races / sizeof races[0]);
	tcase_add_test(tc, what_waited_is_not_proven);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
