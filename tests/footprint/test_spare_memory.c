/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is used again. */
#include <check.h>
#include <string.h>

#include "footprint/kernel/store/containers.h"
#include "../run_suite.h"

static struct sw_spare_memory memory;

static void start(void)
{
	memory = (struct sw_spare_memory){0};
}

static void stop(void)
{
	sw_spare_drop(&memory);
	ck_assert_uint_eq(memory.n, 0);
}

/* All of it can be written. */
static char *take(size_t wanted, size_t *bytes)
{
	char *at = sw_spare_take(&memory, wanted, bytes);
	ck_assert_ptr_nonnull(at);
	ck_assert_uint_ge(*bytes, wanted);
	memset(at, 1, *bytes);
	return at;
}

/* Whatever the sizes are: pieces of two go into one, and those of one into two. */
START_TEST(what_was_given_is_used_again)
{
	size_t bytes[3];
	char *at[3];
	for (size_t i = 0; i < 2; i++)
		at[i] = take((i + 1) * SW_SPARE_PIECE, &bytes[i]);
	ck_assert_uint_eq(memory.used_again, 0);
	for (size_t i = 0; i < 2; i++)
		sw_spare_give(&memory, at[i], bytes[i]);
	ck_assert_uint_eq(memory.n, 3);
	at[2] = take(4 * SW_SPARE_PIECE - 1, &bytes[2]);
	ck_assert_uint_eq(memory.used_again, 3);
	ck_assert_uint_eq(memory.n, 0);
	sw_spare_give(&memory, at[2], bytes[2]);
	for (size_t i = 0; i < 2; i++)
		at[i] = take((i + 1) * SW_SPARE_PIECE, &bytes[i]);
	ck_assert_uint_eq(memory.used_again, 6);
	at[0][bytes[0] - 1] = 2; /* it is nobody else's */
	ck_assert_int_eq(at[1][0], 1);
	for (size_t i = 0; i < 2; i++)
		sw_spare_give(&memory, at[i], bytes[i]);
}
END_TEST

START_TEST(what_is_kept_is_bounded)
{
	size_t bytes;
	char *at = take((SW_MAX_SPARES + 3) * SW_SPARE_PIECE, &bytes);
	sw_spare_give(&memory, at, bytes);
	ck_assert_uint_eq(memory.n, SW_MAX_SPARES);
	at = take(1, &bytes);
	ck_assert_uint_lt(bytes, SW_SPARE_PIECE);
	sw_spare_give(&memory, at, bytes);
	ck_assert_uint_eq(memory.n, SW_MAX_SPARES);
	ck_assert_uint_eq(memory.used_again, 0);
}
END_TEST

START_TEST(what_cannot_be_had)
{
	size_t bytes;
	ck_assert_ptr_null(sw_spare_take(&memory, SIZE_MAX, &bytes));
	ck_assert_ptr_null(sw_spare_take(&memory, SIZE_MAX / 2, &bytes));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spare_memory");
	TCase *t = tcase_create("spare_memory");
	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, what_was_given_is_used_again);
	tcase_add_test(t, what_is_kept_is_bounded);
	tcase_add_test(t, what_cannot_be_had);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
