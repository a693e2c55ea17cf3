/* SPDX-License-Identifier: Apache-2.0 */
/* The table of entry points: order, lookup, names. What it must hold is checked against the driver by coverage.sh. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/ids.h"
#include "../run_suite.h"

/* As the table's head says: '_' before all others. */
static void sort_key(const char *symbol, char *key, size_t room)
{
	size_t i = 0;

	ck_assert_uint_lt(strlen(symbol), room);
	do
		key[i] = symbol[i] == '_' ? '\1' : symbol[i];
	while (symbol[i++]);
}

START_TEST(sorted_by_symbol)
{
	char before[80], after[80];

	for (size_t i = 2; i < sw_api_count(); i++) {
		sort_key(sw_api_at(i - 1)->symbol, before, sizeof before);
		sort_key(sw_api_at(i)->symbol, after, sizeof after);
		ck_assert_msg(strcmp(before, after) < 0, "%s stands before %s", sw_api_at(i - 1)->symbol,
			      sw_api_at(i)->symbol);
	}
}
END_TEST

/* Each symbol with a suffix comes from the row of the one without. */
START_TEST(twins_follow_their_row)
{
	size_t twins = 0;

	for (size_t i = 2; i < sw_api_count(); i++) {
		const struct sw_api_info *row = sw_api_at(i - 1), *twin = sw_api_at(i);
		const size_t bytes = strlen(row->symbol);

		if (!twin->per_thread)
			continue;
		twins++;
		ck_assert_msg(strncmp(row->symbol, twin->symbol, bytes) == 0 &&
				      (strcmp(twin->symbol + bytes, "_ptsz") == 0 ||
				       strcmp(twin->symbol + bytes, "_ptds") == 0),
			      "%s follows %s", twin->symbol, row->symbol);
		ck_assert(!row->per_thread);
		ck_assert_int_eq(row->cls, twin->cls);
		ck_assert_str_eq(row->runtime, twin->runtime);
	}
	ck_assert_uint_gt(twins, 50);
}
END_TEST

START_TEST(found_by_symbol)
{
	for (size_t i = 1; i < sw_api_count(); i++)
		ck_assert_uint_eq(sw_api_find(sw_api_at(i)->symbol), i);
	ck_assert_uint_eq(sw_api_find("cuMemAlloc_v3"), 0);
	ck_assert_uint_eq(sw_api_find(""), 0);
	ck_assert_uint_eq(sw_api_find("zz"), 0);
}
END_TEST

START_TEST(both_tables_agree)
{
	ck_assert_uint_eq(sw_api_count(), SW_ID_COUNT);
	for (size_t i = 0; i < sw_api_count(); i++) {
		ck_assert_str_eq(sw_api_symbol(i), sw_api_at(i)->symbol);
		ck_assert_str_eq(sw_api_runtime(i), sw_api_at(i)->runtime);
	}
}
END_TEST

START_TEST(out_of_range_is_entry_0)
{
	ck_assert_ptr_eq(sw_api_at(sw_api_count()), sw_api_at(0));
	ck_assert_str_eq(sw_api_at(SIZE_MAX)->symbol, "");
	ck_assert_str_eq(sw_api_symbol(SIZE_MAX), "");
	ck_assert_str_eq(sw_api_runtime(sw_api_count()), "");
}
END_TEST

START_TEST(names_follow_symbols)
{
	for (size_t i = 1; i < sw_api_count(); i++) {
		const struct sw_api_info *info = sw_api_at(i);
		const size_t bytes = strlen(info->name);
		const char *suffix = info->symbol + bytes;

		ck_assert_msg(strncmp(info->symbol, info->name, bytes) == 0, "%s is not a version of %s", info->symbol,
			      info->name);
		ck_assert_msg(*suffix == '\0' || *suffix == '_', "%s is not a version of %s", info->symbol, info->name);
		ck_assert_msg(info->per_thread == (strstr(suffix, "_pts") || strstr(suffix, "_ptd")),
			      "%s: wrong default stream", info->symbol);
		ck_assert_msg(!*info->runtime || strncmp(info->runtime, "cuda", 4) == 0, "%s: runtime function %s",
			      info->symbol, info->runtime);
	}
}
END_TEST

/* All versions of one function do the same. */
START_TEST(versions_share_their_class)
{
	for (size_t i = 2; i < sw_api_count(); i++) {
		const struct sw_api_info *a = sw_api_at(i - 1), *b = sw_api_at(i);

		if (strcmp(a->name, b->name) == 0)
			ck_assert_msg(a->cls == b->cls, "%s and %s differ in class", a->symbol, b->symbol);
	}
}
END_TEST

START_TEST(known_rows)
{
	const struct sw_api_info *info = sw_api_at(SW_ID_cuMemcpyHtoDAsync_v2_ptsz);

	ck_assert_str_eq(info->symbol, "cuMemcpyHtoDAsync_v2_ptsz");
	ck_assert_str_eq(info->name, "cuMemcpyHtoDAsync");
	ck_assert_str_eq(info->runtime, "cudaMemcpyAsync");
	ck_assert_int_eq(info->cls, SW_API_COPY);
	ck_assert(info->per_thread);
	ck_assert_int_eq(sw_api_at(SW_ID_cuCtxGetCurrent)->cls, SW_API_PASS);
	ck_assert_int_eq(sw_api_at(SW_ID_cuLaunchKernel)->cls, SW_API_LAUNCH);
	ck_assert(!sw_api_at(SW_ID_cuLaunchKernel)->per_thread);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("api");
	TCase *tests = tcase_create("table");

	tcase_add_test(tests, sorted_by_symbol);
	tcase_add_test(tests, twins_follow_their_row);
	tcase_add_test(tests, found_by_symbol);
	tcase_add_test(tests, both_tables_agree);
	tcase_add_test(tests, out_of_range_is_entry_0);
	tcase_add_test(tests, names_follow_symbols);
	tcase_add_test(tests, versions_share_their_class);
	tcase_add_test(tests, known_rows);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
