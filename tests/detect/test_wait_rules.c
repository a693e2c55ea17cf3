/* SPDX-License-Identifier: Apache-2.0 */
/* Waits that no document decides: as built in, and as a table of calibrate says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "judge.h"

/* A table of calibrate for the next judgement: calls, and whether each waited for a kernel on the three kinds of
 * streams. */
static char path[64];

static void write_table(const char *gpu, const char *const rows[][2], size_t n)
{
	struct sw_behaviour table = {.driver = 13000};
	strcpy(table.gpu, gpu);
	for (size_t i = 0; i < n; i++) {
		struct sw_behaviour_row row = {0};
		strcpy(row.name, rows[i][0]);
		for (int s = 0; s < SW_SPINNERS; s++)
			row.waits[s] = (struct sw_waits){rows[i][1][s], '-', '-', 1000};
		*sw_vec_push(&table.rows) = row;
	}
	strcpy(path, "/tmp/syncwatch-table-XXXXXX");
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	FILE *out = fdopen(fd, "w");
	sw_behaviour_write(&table, out);
	fclose(out);
	sw_behaviour_free(&table);
}

static struct sw_judgement *judged_by(struct tb *tb, const char *table)
{
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.behaviour = table});
	if (table)
		unlink(table);
	return j;
}

#define FREES(verdicts)                                                                                                \
	{"cudaFree 256B", verdicts},                                                                                   \
	{                                                                                                              \
		"cudaFree 1GiB", verdicts                                                                              \
	}
#define WRITE(gpu, ...)                                                                                                \
	do {                                                                                                           \
		static const char *const write_rows[][2] = {__VA_ARGS__};                                              \
		write_table(gpu, write_rows, sizeof write_rows / sizeof write_rows[0]);                                \
	} while (0)

/* Another buffer is freed between two writes of the same one: its wait is all that orders them. */
static struct tb *order_by_free(void)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 4096, S1);
	tb_free_sync(tb, SW_MEM_DEVICE, DEV2);
	tb_set(tb, DEV, 4096, S2);
	return tb;
}

static struct tb *order_by_malloc(void)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 4096, S1);
	tb_alloc(tb, SW_MEM_DEVICE, DEV + (16u << 20), 4096);
	tb_set(tb, DEV, 4096, S2);
	return tb;
}

START_TEST(a_free_orders_as_measured)
{
	struct sw_judgement *j = judged_by(order_by_free(), NULL);
	ck_assert_int_eq(only(j, SW_FINDING_RACE_WAW)->severity, SW_NOTE);
	ck_assert(only(j, SW_FINDING_RACE_WAW)->measured_order);
	ck_assert_uint_eq(j->wait_rules.used.n, 0);
	sw_judgement_free(j);

	WRITE("Test GPU", FREES("111"));
	j = judged_by(order_by_free(), path);
	ck_assert_int_eq(only(j, SW_FINDING_RACE_WAW)->severity, SW_NOTE);
	ck_assert_uint_eq(j->wait_rules.used.n, 1);
	ck_assert_uint_eq(j->wait_rules.differs, 0);
	sw_judgement_free(j);
}
END_TEST

START_TEST(a_free_that_never_waits_orders_nothing)
{
	WRITE("Test GPU", FREES("000"));
	struct sw_judgement *j = judged_by(order_by_free(), path);
	ck_assert_int_eq(only(j, SW_FINDING_RACE_WAW)->severity, SW_ERROR);
	ck_assert(!only(j, SW_FINDING_RACE_WAW)->measured_order);
	ck_assert_uint_eq(j->wait_rules.differs, 1u << SW_WAIT_RULE_FREE);
	sw_judgement_free(j);
}
END_TEST

START_TEST(a_malloc_that_waits_orders_as_measured)
{
	struct sw_judgement *j = judged_by(order_by_malloc(), NULL);
	ck_assert_int_eq(only(j, SW_FINDING_RACE_WAW)->severity, SW_ERROR);
	sw_judgement_free(j);
	WRITE("Test GPU", {"cudaMalloc 256B", "111"}, {"cudaMalloc 1GiB", "111"});
	j = judged_by(order_by_malloc(), path);
	ck_assert_int_eq(only(j, SW_FINDING_RACE_WAW)->severity, SW_NOTE);
	ck_assert(only(j, SW_FINDING_RACE_WAW)->measured_order);
	sw_judgement_free(j);
}
END_TEST

/* Nothing is decided by repetitions that disagree, by rows that do, or by half of them. */
START_TEST(what_is_not_clear_stays_as_built_in)
{
	static const char *const tables[][2][2] = {
		{FREES("0?0")},
		{FREES("0-0")},
		{{"cudaFree 256B", "000"}, {"cudaFree 1GiB", "111"}},
		{{"cudaFree 256B", "000"}, {"cudaFree", "000"}},
		{FREES("010")},
	};
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		write_table("Test GPU", tables[i], 2);
		struct sw_judgement *j = judged_by(order_by_free(), path);
		ck_assert_int_eq(only(j, SW_FINDING_RACE_WAW)->severity, SW_NOTE);
		ck_assert_uint_eq(j->wait_rules.used.n, 1);
		ck_assert_uint_eq(j->wait_rules.differs, 0);
		sw_judgement_free(j);
	}
}
END_TEST

static void complains(const char *table, const char *part)
{
	struct sw_judgement *j = judged_by(order_by_free(), table);
	ck_assert_int_eq(only(j, SW_FINDING_RACE_WAW)->severity, SW_NOTE);
	ck_assert_uint_eq(j->wait_rules.used.n, 0);
	ck_assert_uint_eq(j->wait_rules.complaints.n, 1);
	ck_assert_msg(strstr(j->wait_rules.complaints.at[0], part) != NULL, "%s", j->wait_rules.complaints.at[0]);
	sw_judgement_free(j);
}

START_TEST(tables_that_do_not_fit_are_named_and_not_used)
{
	WRITE("Other GPU", FREES("000"));
	complains(path, "is of Other GPU with CUDA driver 13000, this run of Test GPU");
	complains("/nonexistent", "/nonexistent: No such file");
	WRITE("Test GPU", FREES("000"));
	ck_assert_int_eq(truncate(path, 100), 0);
	complains(path, "not whole");
}
END_TEST

/* Without a table in its folder there is nothing to complain of; with one it is found by the GPU's name and driver. */
START_TEST(the_stored_table_is_found)
{
	char folder[] = "/tmp/syncwatch-data-XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("XDG_DATA_HOME", folder, 1);
	struct sw_judgement *j = judged_with(order_by_free(), &(struct sw_judge_options){.behaviour = ""});
	ck_assert_uint_eq(j->wait_rules.used.n + j->wait_rules.complaints.n, 0);
	sw_judgement_free(j);
	WRITE("Test GPU", FREES("000"));
	char *home = sw_behaviour_folder(), *stored = sw_behaviour_path("Test GPU", 13000);
	ck_assert_int_eq(mkdir(home, 0700), 0);
	ck_assert_int_eq(rename(path, stored), 0);
	j = judged_with(order_by_free(), &(struct sw_judge_options){.behaviour = ""});
	ck_assert_int_eq(only(j, SW_FINDING_RACE_WAW)->severity, SW_ERROR);
	ck_assert_str_eq(j->wait_rules.used.at[0], stored);
	sw_judgement_free(j);
	unlink(stored);
	rmdir(home);
	rmdir(folder);
	free(stored);
	free(home);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, a_free_orders_as_measured);
	tcase_add_test(tc, a_free_that_never_waits_orders_nothing);
	tcase_add_test(tc, a_malloc_that_waits_orders_as_measured);
	tcase_add_test(tc, what_is_not_clear_stays_as_built_in);
	tcase_add_test(tc, tables_that_do_not_fit_are_named_and_not_used);
	tcase_add_test(tc, the_stored_table_is_found);
}

int main(void)
{
	return run_cases("may", add);
}
