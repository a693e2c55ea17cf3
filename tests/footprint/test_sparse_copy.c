/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of bytes most of which are zero. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/kernel/store/containers.h"
#include "../run_suite.h"

#define PAGE 4096u
#define MOST (9 * PAGE)

static void check(const unsigned char *bytes, size_t n, size_t pages)
{
	size_t mapped, filled;
	unsigned char *copy = sw_sparse_copy(bytes, n, &mapped, &filled);
	ck_assert_uint_gt(mapped, n);
	ck_assert_uint_eq(filled, pages * PAGE);
	ck_assert_int_eq(memcmp(copy, bytes, n), 0);
	ck_assert_uint_eq(copy[n], 0);
	sw_sparse_free(copy, mapped);
}

/* One byte at each place that matters: the ends of pages, and of the words that are looked at. */
START_TEST(no_byte_is_lost)
{
	unsigned char *bytes = calloc(MOST, 1);
	const size_t sizes[] = {1, 63, 64, 65, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE + 63, 3 * PAGE};
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		check(bytes, sizes[s], 0);
		for (size_t at = 0; at < sizes[s]; at++) {
			bytes[at] = 1;
			check(bytes, sizes[s], 1);
			bytes[at] = 0;
		}
	}
	free(bytes);
}
END_TEST

START_TEST(pages_of_zeros_take_no_memory)
{
	unsigned char *bytes = calloc(MOST, 1);
	for (unsigned mask = 0; mask < 1u << 9; mask++) {
		memset(bytes, 0, MOST);
		for (unsigned page = 0; page < 9; page++)
			bytes[page * PAGE + mask % PAGE] = (unsigned char)(mask >> page & 1);
		check(bytes, MOST, (size_t)__builtin_popcount(mask));
	}
	free(bytes);
}
END_TEST

START_TEST(nothing_is_one_zero)
{
	check((const unsigned char *)"", 0, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sparse_copy");
	TCase *t = tcase_create("sparse_copy");
	tcase_set_timeout(t, 60);
	tcase_add_test(t, no_byte_is_lost);
	tcase_add_test(t, pages_of_zeros_take_no_memory);
	tcase_add_test(t, nothing_is_one_zero);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
