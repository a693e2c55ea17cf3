/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks' hash table: against a plain array, and with readers that run while it grows. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "preload/intercept/identity_table.h"
#include "../run_suite.h"

#define KEYS 5000u

/* Keys as handles are: aligned, close together. */
static uint64_t key_of(uint64_t i)
{
	return 0x7f0000000000ull + i * 64;
}

START_TEST(absent)
{
	struct sw_table table = {0};

	ck_assert_uint_eq(sw_table_get(&table, 1), 0);
	sw_table_delete(&table, 1);
	ck_assert(sw_table_put(&table, 7, 70));
	ck_assert_uint_eq(sw_table_get(&table, 0), 0);
	ck_assert_uint_eq(sw_table_get(&table, 8), 0);
	sw_table_delete(&table, 0);
	ck_assert_uint_eq(table.live, 1);
}
END_TEST

START_TEST(like_an_array)
{
	struct sw_table table = {0};
	static uint64_t model[KEYS];
	uint32_t live = 0;

	srand(1);
	for (int step = 0; step < 200000; step++) {
		const uint64_t i = (uint64_t)rand() % KEYS;

		if (rand() % 3) {
			live += model[i] == 0;
			model[i] = (uint64_t)step + 1;
			ck_assert(sw_table_put(&table, key_of(i), model[i]));
		} else {
			live -= model[i] != 0;
			model[i] = 0;
			sw_table_delete(&table, key_of(i));
		}
	}
	for (uint64_t i = 0; i < KEYS; i++)
		ck_assert_uint_eq(sw_table_get(&table, key_of(i)), model[i]);
	ck_assert_uint_eq(table.live, live);
}
END_TEST

/* Handles that come and go leave no more than what lives at one time needs. */
START_TEST(churn_does_not_grow)
{
	struct sw_table table = {0};

	for (uint64_t i = 0; i < 300000; i++) {
		ck_assert(sw_table_put(&table, key_of(i), 1));
		if (i >= 10)
			sw_table_delete(&table, key_of(i - 10));
	}
	ck_assert_uint_eq(table.live, 10);
	ck_assert_uint_eq(sw_table_get(&table, key_of(299999)), 1);
	ck_assert_uint_eq(sw_table_get(&table, key_of(1)), 0);
}
END_TEST

/* Memory of the process, in pages. */
static unsigned long resident(void)
{
	unsigned long size, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%lu %lu", &size, &pages) != 2)
		ck_abort_msg("statm");
	fclose(f);
	return pages;
}

/* Two million handles, of which a thousand live at a time, each under a new address. */
START_TEST(memory_follows_what_lives)
{
	if (SANITIZED) /* freed memory stays in quarantine */
		return;
	struct sw_table table = {0};
	const unsigned long before = resident();

	for (uint64_t i = 0; i < 2000000; i++) {
		ck_assert(sw_table_put(&table, key_of(i), 1));
		if (i >= 1000)
			sw_table_delete(&table, key_of(i - 1000));
	}
	ck_assert_uint_lt(resident() - before, 512);
	for (uint64_t i = 0; i < 300000; i++)
		ck_assert(sw_table_put(&table, key_of(i), i + 1));
	ck_assert_uint_gt(resident() - before, 1000);
	for (uint64_t i = 10; i < 300000; i++)
		sw_table_delete(&table, key_of(i));
	ck_assert_uint_lt(resident() - before, 512); /* the spare's pages were given up, but for what libc holds */
	for (uint64_t i = 0; i < 10; i++)
		ck_assert_uint_eq(sw_table_get(&table, key_of(i)), i + 1);
}
END_TEST

static bool is_even(uint64_t key, uint64_t value, uint64_t with)
{
	(void)key;
	return value % with == 0;
}

START_TEST(sweep)
{
	struct sw_table table = {0};

	for (uint64_t i = 1; i <= 1000; i++)
		ck_assert(sw_table_put(&table, key_of(i), i));
	sw_table_sweep(&table, is_even, 2);
	for (uint64_t i = 1; i <= 1000; i++)
		ck_assert_uint_eq(sw_table_get(&table, key_of(i)), i % 2 ? i : 0);
	ck_assert_uint_eq(table.live, 500);
}
END_TEST

static struct sw_table shared;
static uint64_t published;

/* An entry that was put before `published` was raised must be found, with its value. */
static void *reader(void *data)
{
	uint64_t *wrong = data;

	for (uint64_t seen = 0; seen < KEYS;) {
		seen = __atomic_load_n(&published, __ATOMIC_ACQUIRE);
		for (uint64_t i = 0; i < seen; i++)
			*wrong += sw_table_get(&shared, key_of(i)) != i + 1;
	}
	return NULL;
}

START_TEST(readers_while_it_grows)
{
	pthread_t threads[3];
	uint64_t wrong[3] = {0};

	for (int t = 0; t < 3; t++)
		ck_assert_int_eq(pthread_create(&threads[t], NULL, reader, &wrong[t]), 0);
	for (uint64_t i = 0; i < KEYS; i++) {
		ck_assert(sw_table_put(&shared, key_of(i), i + 1));
		__atomic_store_n(&published, i + 1, __ATOMIC_RELEASE);
	}
	for (int t = 0; t < 3; t++) {
		pthread_join(threads[t], NULL);
		ck_assert_uint_eq(wrong[t], 0);
	}
}
END_TEST

static bool stop;

/* Key 0 always has its value, the others have theirs or none. */
static void *churn_reader(void *data)
{
	uint64_t *wrong = data;

	for (uint64_t n = 0; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE) || n < 1000; n++) {
		const uint64_t i = 1 + n % 3000, got = sw_table_get(&shared, key_of(i));

		*wrong += got != 0 && got != i + 1;
		*wrong += sw_table_get(&shared, key_of(0)) != 1;
	}
	return NULL;
}

/* Slots are used again for other keys, grow, shrink and change places under the readers. */
START_TEST(readers_while_keys_go)
{
	pthread_t threads[3];
	uint64_t wrong[3] = {0};

	ck_assert(sw_table_put(&shared, key_of(0), 1));
	for (int t = 0; t < 3; t++)
		ck_assert_int_eq(pthread_create(&threads[t], NULL, churn_reader, &wrong[t]), 0);
	for (int round = 0; round < 200; round++) {
		const uint64_t most = round % 2 ? 3000 : 40;

		for (uint64_t i = 1; i <= most; i++)
			ck_assert(sw_table_put(&shared, key_of(i), i + 1));
		for (uint64_t i = 1; i <= most; i++)
			sw_table_delete(&shared, key_of(i));
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	for (int t = 0; t < 3; t++) {
		pthread_join(threads[t], NULL);
		ck_assert_uint_eq(wrong[t], 0);
	}
}
END_TEST

static void *taker(void *data)
{
	uint64_t **taken = data;

	for (int i = 0; i < 20000; i++) {
		taken[i] = sw_table_memory(24);
		if (taken[i])
			*taken[i] += (uintptr_t)taken[i]; /* two owners would add twice */
	}
	return NULL;
}

START_TEST(memory_has_one_owner)
{
	static uint64_t *taken[3][20000];
	pthread_t threads[3];

	for (int t = 0; t < 3; t++)
		ck_assert_int_eq(pthread_create(&threads[t], NULL, taker, taken[t]), 0);
	for (int t = 0; t < 3; t++)
		pthread_join(threads[t], NULL);
	for (int t = 0; t < 3; t++) {
		for (int i = 0; i < 20000; i++) {
			ck_assert_ptr_nonnull(taken[t][i]);
			ck_assert_uint_eq((uintptr_t)taken[t][i] % 16, 0);
			ck_assert_uint_eq(*taken[t][i], (uintptr_t)taken[t][i]);
		}
	}
	ck_assert_ptr_nonnull(sw_table_memory(1 << 20));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("table");
	TCase *tests = tcase_create("table");

	tcase_set_timeout(tests, 60); /* sanitized, on a loaded machine */
	tcase_add_test(tests, absent);
	tcase_add_test(tests, like_an_array);
	tcase_add_test(tests, churn_does_not_grow);
	tcase_add_test(tests, memory_follows_what_lives);
	tcase_add_test(tests, sweep);
	tcase_add_test(tests, readers_while_it_grows);
	tcase_add_test(tests, readers_while_keys_go);
	tcase_add_test(tests, memory_has_one_owner);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
