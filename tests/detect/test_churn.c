/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the analyser is that of what is alive, not that of the run. */
#include <check.h>
#include <stdio.h>

#include "detect/churn.h"
#include "detect/judge.h"

#define ROUNDS 40000u /* two million operations: after half of them every book that has a bound is full */
#define PIECE  1000u

static uint64_t go_on(struct churn *churn)
{
	uint64_t most = 0;
	for (unsigned i = 0; i < ROUNDS / 2; i += PIECE) {
		churn_go_on(churn, PIECE);
		most = churn_heap() > most ? churn_heap() : most;
	}
	return most;
}

START_TEST(nothing_grows_with_the_run)
{
	struct churn churn;
	churn_start(&churn);
	uint64_t first = go_on(&churn), second = go_on(&churn);
	printf("%llu operations: at most %llu KiB in the first half, %llu KiB in the second\n",
	       (unsigned long long)churn.operations, (unsigned long long)(first >> 10),
	       (unsigned long long)(second >> 10));
	/* Tables are resized now and then, with room for what they hold by then. */
	ck_assert_uint_le(second, first + first / 50);
	ck_assert_uint_gt(churn.operations, 1000000);
	/* Two streams a round: most of them share a description, which says so. */
	ck_assert_uint_lt(churn.judgement.streams.n, ROUNDS / 2);
	ck_assert(churn.judgement.streams.at[churn.judgement.streams.n - 1].many);
	ck_assert(!churn.judgement.streams.at[1].many);
	churn_end(&churn);
	/* Releases that only wait by measurement are notes. */
	ck_assert_uint_eq(churn.judgement.errors, 0);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, nothing_grows_with_the_run);
}

int main(void)
{
	return run_cases("churn", add);
}
