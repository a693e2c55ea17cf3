/* SPDX-License-Identifier: Apache-2.0 */
#include "confirm/saving_spans.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "../run_suite.h"

#define MS	1000000ull
#define PAIRS	5u
#define ROUNDS	40u
#define SITE	3u
#define LOADING 7u /* this round loads a library */

/* The time of a part in a run: `ms` and up to a fiftieth of it more. */
static uint64_t takes(uint64_t ms, uint64_t run, uint64_t part)
{
	return ms * MS + sw_hash_u64(run * 1000 + part + 1) % (ms * MS / 50 + 1);
}

static uint64_t loading(uint64_t run, uint64_t least_ms)
{
	return (least_ms + run * 97 % 400) * MS;
}

static void add(struct sw_marks *marks, uint32_t nth, uint64_t ns)
{
	*sw_vec_push(&marks->at) = (struct sw_mark){SITE, nth, ns};
}

/* Rounds of `ms`; one of them loads a library as well, which takes 0.2 to 0.6 s. */
static struct sw_marks run_of(uint64_t number, uint64_t ms, bool loads)
{
	struct sw_marks marks = {.end_ns = 0};
	uint64_t now = 12345 * MS * (number + 1);
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		add(&marks, i, now);
		now += takes(ms, number, i) + (loads && i == LOADING ? loading(number, 200) : 0);
	}
	marks.end_ns = now;
	return marks;
}

struct runs {
	struct sw_marks base[PAIRS], with[PAIRS];
	struct sw_saving_stretch out;
};

static struct runs *runs_of(uint64_t base_ms, uint64_t with_ms, bool loads)
{
	struct runs *runs = sw_calloc(1, sizeof *runs);
	for (uint32_t i = 0; i < PAIRS; i++) {
		runs->base[i] = run_of(2 * i, base_ms, loads);
		runs->with[i] = run_of(2 * i + 1, with_ms, loads);
	}
	return runs;
}

static void compare(struct runs *runs)
{
	sw_saving_compare(runs->base, runs->with, PAIRS, NULL, &runs->out);
}

static void end(struct runs *runs)
{
	for (uint32_t i = 0; i < PAIRS; i++) {
		sw_marks_free(&runs->base[i]);
		sw_marks_free(&runs->with[i]);
	}
	free(runs);
}

/* 0: what loads a library is left out, and the others say what is saved; 1: nothing loads one. */
START_TEST(a_part_that_loads_a_library)
{
	struct runs *runs = runs_of(10, 7, !_i);
	compare(runs);
	ck_assert_uint_eq(runs->out.parts, ROUNDS);
	ck_assert_uint_eq(runs->out.left_out, !_i);
	const int64_t expected = (int64_t)((ROUNDS - !_i) * 3 * MS);
	ck_assert_int_ge(runs->out.saved.low, expected - expected / 20);
	ck_assert_int_le(runs->out.saved.high, expected + expected / 20);
	ck_assert_int_ge(runs->out.saved.middle, runs->out.saved.low);
	ck_assert_int_le(runs->out.saved.middle, runs->out.saved.high);
	if (_i)
		ck_assert_int_eq(runs->out.left_out_ns, 0);
	else
		ck_assert_int_ge(runs->out.left_out_ns, (int64_t)(200 * MS));
	end(runs);
}
END_TEST

/* Two runs of one kind are disturbed for a while, each elsewhere: the interval stays small. */
START_TEST(runs_that_are_disturbed)
{
	struct runs *runs = runs_of(10, 7, false);
	for (uint32_t run = 0; run < 2; run++) {
		for (uint32_t k = 1; k < ROUNDS; k++)
			runs->base[run].at.at[k].ns +=
				(k <= 10 + run * 10 ? k <= run * 10 ? 0 : k - run * 10 : 10) * 50 * MS;
		runs->base[run].end_ns += 500 * MS;
	}
	compare(runs);
	ck_assert_uint_eq(runs->out.left_out, 0);
	ck_assert_int_ge(runs->out.saved.low, (int64_t)(ROUNDS * 29 * MS / 10));
	ck_assert_int_le(runs->out.saved.middle, (int64_t)(ROUNDS * 31 * MS / 10));
	end(runs);
}
END_TEST

/* Each fourth round takes long, and differs as the others of these do: none is left out. */
START_TEST(parts_that_all_differ)
{
	struct runs *runs = runs_of(1, 1, false);
	for (uint32_t i = 0; i < PAIRS; i++) {
		for (uint32_t k = 0; k < ROUNDS; k++) {
			runs->base[i].at.at[k].ns += k / 4 * (50 + sw_hash_u64(i * 100 + k / 4 + 1) % 10) * MS;
			runs->with[i].at.at[k].ns += k / 4 * (30 + sw_hash_u64(i * 200 + k / 4 + 1) % 10) * MS;
		}
		runs->base[i].end_ns += ROUNDS / 4 * 55 * MS;
		runs->with[i].end_ns += ROUNDS / 4 * 35 * MS;
	}
	compare(runs);
	ck_assert_uint_eq(runs->out.left_out, 0);
	end(runs);
}
END_TEST

/* A change that makes each run differ in the same way is what is measured, however long it takes. */
START_TEST(a_change_that_costs_much_once)
{
	struct runs *runs = runs_of(10, 10, false);
	for (uint32_t i = 0; i < PAIRS; i++) {
		for (uint32_t k = LOADING; k < ROUNDS; k++)
			runs->with[i].at.at[k].ns += 900 * MS;
		runs->with[i].end_ns += 900 * MS;
	}
	compare(runs);
	ck_assert_uint_eq(runs->out.left_out, 0);
	ck_assert_int_lt(runs->out.saved.high, -(int64_t)(880 * MS));
	end(runs);
}
END_TEST

/* Without the change all calls are made at once and the last part waits for the work (0), or each call waits (1); with
   it the last part waits for what is left.  The last part holds the effect: it is not left out, although it differs by
   more than all others. */
START_TEST(waiting_that_moves_to_the_last_part)
{
	struct runs *runs = runs_of(_i ? 5 : 1, 1, false);
	for (uint32_t i = 0; i < PAIRS; i++) {
		runs->base[i].end_ns += (_i ? 0 : 240 * MS) + i % 3 * 2 * MS;
		runs->with[i].end_ns += (_i ? 80 : 120) * MS + i % 2 * 2 * MS;
	}
	compare(runs);
	ck_assert_uint_eq(runs->out.left_out, 0);
	ck_assert_int_ge(runs->out.saved.low, (int64_t)((_i ? 160 - 80 : 120) * MS - 8 * MS));
	ck_assert_int_le(runs->out.saved.high, (int64_t)((_i ? 160 - 80 : 120) * MS + 8 * MS));
	end(runs);
}
END_TEST

/* Calls that one run did not make begin no part; 1: it made none of them. */
START_TEST(calls_that_are_not_made_in_each_run)
{
	struct runs *runs = runs_of(10, 7, false);
	runs->with[2].at.n = _i ? 0 : ROUNDS / 2;
	compare(runs);
	ck_assert_uint_eq(runs->out.parts, _i ? 0 : ROUNDS / 2);
	end(runs);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("saving-spans");
	TCase *tc = tcase_create("saving-spans");
	tcase_add_loop_test(tc, a_part_that_loads_a_library, 0, 2);
	tcase_add_test(tc, runs_that_are_disturbed);
	tcase_add_test(tc, parts_that_all_differ);
	tcase_add_test(tc, a_change_that_costs_much_once);
	tcase_add_loop_test(tc, waiting_that_moves_to_the_last_part, 0, 2);
	tcase_add_loop_test(tc, calls_that_are_not_made_in_each_run, 0, 2);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
