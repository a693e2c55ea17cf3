/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is used again. */
#include <check.h>
#include <string.h>

#include "footprint/store/spare_memory.h"
#include "../run_suite.h"

#define MIB ((size_t)1 << 20)

static struct sw_spare_memory memory;

static void start(void)
{
	memory = (struct sw_spare_memory){.limit = 16 * MIB};
}

static void stop(void)
{
	sw_spare_drop(&memory);
	ck_assert_uint_eq(memory.bytes, 0);
	ck_assert_uint_eq(memory.n, 0);
}

static void *take(size_t wanted, bool briefly, size_t *bytes)
{
	void *at = sw_spare_take(&memory, wanted, briefly, bytes);
	ck_assert_ptr_nonnull(at);
	ck_assert_uint_ge(*bytes, wanted);
	memset(at, 1, *bytes);
	return at;
}

START_TEST(what_was_given_is_taken_again)
{
	size_t bytes, again;
	void *first = take(5 * MIB, false, &bytes);
	sw_spare_give(&memory, first, bytes);
	ck_assert_ptr_eq(take(4 * MIB, false, &again), first);
	ck_assert_uint_eq(again, bytes);
	ck_assert_uint_eq(memory.bytes, 0);
	sw_spare_give(&memory, first, again);
}
END_TEST

/* The smallest that is large enough; nothing much larger, unless it comes back soon. */
START_TEST(the_size_fits)
{
	size_t small_bytes, large_bytes, bytes;
	void *small = take(100000, false, &small_bytes), *large = take(6 * MIB, false, &large_bytes);
	sw_spare_give(&memory, small, small_bytes);
	sw_spare_give(&memory, large, large_bytes);
	ck_assert_ptr_eq(take(1, true, &bytes), small);
	sw_spare_give(&memory, small, bytes);
	void *other = take(MIB, false, &bytes);
	ck_assert_ptr_ne(other, large);
	sw_spare_give(&memory, other, bytes);
	ck_assert_ptr_eq(take(2 * MIB, true, &bytes), large);
	sw_spare_give(&memory, large, bytes);
}
END_TEST

START_TEST(what_is_kept_is_bounded)
{
	size_t bytes[2 * SW_MAX_SPARES];
	void *at[2 * SW_MAX_SPARES];
	for (size_t i = 0; i < 2 * SW_MAX_SPARES; i++)
		at[i] = take(i % 3 ? 1000 : 3 * MIB, false, &bytes[i]);
	for (size_t i = 0; i < 2 * SW_MAX_SPARES; i++) {
		sw_spare_give(&memory, at[i], bytes[i]);
		ck_assert_uint_le(memory.bytes, memory.limit);
		ck_assert_uint_le(memory.n, SW_MAX_SPARES);
	}
	ck_assert_uint_gt(memory.n, 0);
	uint32_t kept = memory.n;
	size_t huge;
	void *more_than_all = take(17 * MIB, false, &huge);
	sw_spare_give(&memory, more_than_all, huge);
	ck_assert_uint_eq(memory.n, kept);
}
END_TEST

START_TEST(what_cannot_be_had)
{
	size_t bytes;
	ck_assert_ptr_null(sw_spare_take(&memory, SIZE_MAX, false, &bytes));
	ck_assert_ptr_null(sw_spare_take(&memory, SIZE_MAX / 2, false, &bytes));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spare_memory");
	TCase *t = tcase_create("spare_memory");
	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, what_was_given_is_taken_again);
	tcase_add_test(t, the_size_fits);
	tcase_add_test(t, what_is_kept_is_bounded);
	tcase_add_test(t, what_cannot_be_had);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
