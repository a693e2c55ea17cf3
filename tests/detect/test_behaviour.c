/* SPDX-License-Identifier: Apache-2.0 */
/* The table of calibrate: written, read back, refused; and the table that is built in. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "detect/behaviour/behaviour.h"
#include "../run_suite.h"

static struct sw_behaviour table;

static void teardown(void)
{
	sw_behaviour_free(&table);
}

static int read_text(const char *text, size_t bytes, struct sw_error *error)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, bytes, "r");
	int rc = sw_behaviour_read(&table, in, "t.tsv", error);
	fclose(in);
	return rc;
}

#define HEAD                                                                                                           \
	"syncwatch-behaviour\t1\ngpu\tNVIDIA H200\ndriver\t13000\t580.159.04\nsimulated\t0\n"                          \
	"call\tidle_us\tnb_blocks\tnb_next\tnb_own\tnb_us\tblk_blocks\tblk_next\tblk_own\tblk_us\t"                    \
	"leg_blocks\tleg_next\tleg_own\tleg_us\n"
#define ROW "cudaFree 256B\t1.250\t1\t-\t-\t20031.733\t?\t-\t-\t4.000\t0\t0\t-\t0.007\n"

START_TEST(what_is_written_is_read_back)
{
	struct sw_error error;
	char *text = NULL;
	size_t bytes;
	ck_assert_int_eq(read_text(HEAD ROW, strlen(HEAD ROW), &error), 0);
	ck_assert_str_eq(table.gpu, "NVIDIA H200");
	ck_assert_uint_eq(table.driver, 13000);
	ck_assert_str_eq(table.driver_text, "580.159.04");
	ck_assert_uint_eq(table.rows.n, 1);
	const struct sw_behaviour_row *row = sw_behaviour_find(&table, "cudaFree 256B");
	ck_assert_ptr_eq(row, table.rows.at);
	ck_assert_uint_eq(row->idle_ns, 1250);
	ck_assert_int_eq(row->waits[SW_SPIN_NONBLOCKING].blocks, '1');
	ck_assert_uint_eq(row->waits[SW_SPIN_NONBLOCKING].ns, 20031733);
	ck_assert_int_eq(row->waits[SW_SPIN_BLOCKING].blocks, '?');
	ck_assert_int_eq(row->waits[SW_SPIN_LEGACY].next, '0');
	ck_assert_uint_eq(row->waits[SW_SPIN_LEGACY].ns, 7);
	ck_assert_ptr_null(sw_behaviour_find(&table, "cudaFree"));
	FILE *out = open_memstream(&text, &bytes);
	sw_behaviour_write(&table, out);
	fclose(out);
	ck_assert_str_eq(text, HEAD ROW);
	free(text);
}
END_TEST

START_TEST(every_cut_is_refused_or_lacks_whole_rows_only)
{
	static const char whole[] = HEAD ROW;
	for (size_t n = 1; n < sizeof whole - 1; n++) {
		struct sw_error error = {0};
		int rc = read_text(whole, n, &error);
		ck_assert_msg(rc || n == strlen(HEAD), "%zu bytes are taken for a whole table", n);
		ck_assert(!rc || (strstr(error.text, "t.tsv") && !strchr(error.text, '\n')));
		sw_behaviour_free(&table);
	}
}
END_TEST

START_TEST(what_is_no_table_is_refused_with_its_line)
{
	static const struct {
		const char *text, *part;
	} rows[] = {
		{"hello\n", "t.tsv:1: no table of syncwatch calibrate"},
		{"syncwatch-behaviour\t2\n", "version '2', of which this syncwatch knows 1"},
		{"syncwatch-behaviour\tx\n", "version 'x'"},
		{"syncwatch-behaviour\t1\ncpu\tNVIDIA H200\n", "t.tsv:2: no table of syncwatch calibrate: 'gpu'"},
		{"syncwatch-behaviour\t1\ngpu\t\n", "t.tsv:2: the name of the GPU"},
		{"syncwatch-behaviour\t1\ngpu\tx\ndriver\t-1\t\n", "t.tsv:3: the version of the driver"},
		{"syncwatch-behaviour\t1\ngpu\tx\ndriver\t1\t\nsimulated\t2\n", "t.tsv:4: simulated"},
		{HEAD "cudaFree\t1.000\n", "t.tsv:6: a row has 14 columns"},
		{HEAD ROW ROW, "t.tsv:7: the name of the call is empty, too long, or stands twice"},
		{HEAD "a\t1.0\t1\t-\t-\t1.000\t1\t-\t-\t1.000\t1\t-\t-\t1.000\n", "t.tsv:6: a verdict is one of"},
		{HEAD "a\t1.000\t2\t-\t-\t1.000\t1\t-\t-\t1.000\t1\t-\t-\t1.000\n", "t.tsv:6: a verdict is one of"},
		{HEAD "a\t1.000\t\t-\t-\t1.000\t1\t-\t-\t1.000\t1\t-\t-\t1.000\n", "t.tsv:6: a verdict is one of"},
		{HEAD "a\t9999999999999.000\t1\t-\t-\t1.000\t1\t-\t-\t1.000\t1\t-\t-\t1.000\n",
		 "t.tsv:6: a verdict is one of"},
		{HEAD "a\033[31m\t1.000\t1\t-\t-\t1.000\t1\t-\t-\t1.000\t1\t-\t-\t1.000\n", "t.tsv:6: not plain text"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct sw_error error = {0};
		ck_assert_int_ne(read_text(rows[i].text, strlen(rows[i].text), &error), 0);
		ck_assert_msg(strstr(error.text, rows[i].part) != NULL, "row %zu: %s", i, error.text);
	}
}
END_TEST

START_TEST(long_lines_and_endless_tables_are_refused)
{
	struct sw_error error;
	size_t bytes;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);
	fputs(HEAD, out);
	for (int i = 0; i < 2000; i++)
		fprintf(out, "call %d\t1.000\t1\t-\t-\t1.000\t1\t-\t-\t1.000\t1\t-\t-\t1.000\n", i);
	fclose(out);
	ck_assert_int_ne(read_text(text, bytes, &error), 0);
	ck_assert_ptr_nonnull(strstr(error.text, "too many rows"));
	memset(text, 'x', bytes);
	ck_assert_int_ne(read_text(text, bytes, &error), 0);
	ck_assert_ptr_nonnull(strstr(error.text, "t.tsv:1: the line is too long"));
	free(text);
}
END_TEST

/* Tables of several GPUs lie side by side; a name may hold what file names should not. */
START_TEST(a_table_has_a_place_of_its_own)
{
	setenv("XDG_DATA_HOME", "/data", 1);
	char *path = sw_behaviour_path("NVIDIA GeForce/x", 12080);
	ck_assert_str_eq(path, "/data/syncwatch/behaviour-1-NVIDIA_GeForce_x-12080.tsv");
	free(path);
	setenv("XDG_DATA_HOME", "relative", 1);
	setenv("HOME", "/home/me", 1);
	path = sw_behaviour_path("A", 1);
	ck_assert_str_eq(path, "/home/me/.local/share/syncwatch/behaviour-1-A-1.tsv");
	free(path);
	unsetenv("HOME");
	ck_assert_ptr_null(sw_behaviour_path("A", 1));
}
END_TEST

START_TEST(what_is_built_in_is_whole)
{
	const struct sw_behaviour_known *known;
	size_t n = 0;
	for (; (known = sw_behaviour_known_at(n)); n++) {
		ck_assert_ptr_eq(sw_behaviour_known(known->name), known);
		ck_assert_uint_lt(strlen(known->name), sizeof((struct sw_behaviour_row *)0)->name);
		for (int s = 0; s < SW_SPINNERS; s++)
			ck_assert_msg(strchr("01?-", known->blocks[s]) && strchr("01?-", known->next[s]) &&
					      strchr("01?-", known->own[s]) && strchr("01?", known->documented[s]) &&
					      known->blocks[s] && known->next[s] && known->own[s] &&
					      known->documented[s],
				      "%s", known->name);
		/* A call that the documents decide names the place. */
		ck_assert_msg(strcspn(known->documented, "01") == SW_SPINNERS || *known->source, "%s", known->name);
	}
	ck_assert_uint_gt(n, 140);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("behaviour");
	TCase *tc = tcase_create("behaviour");
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, what_is_written_is_read_back);
	tcase_add_test(tc, every_cut_is_refused_or_lacks_whole_rows_only);
	tcase_add_test(tc, what_is_no_table_is_refused_with_its_line);
	tcase_add_test(tc, long_lines_and_endless_tables_are_refused);
	tcase_add_test(tc, a_table_has_a_place_of_its_own);
	tcase_add_test(tc, what_is_built_in_is_whole);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
