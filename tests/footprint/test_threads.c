/* SPDX-License-Identifier: Apache-2.0 */
/* Threads work on kernels that are expected; nothing waits for a kernel that was not asked for. */
#include <check.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "../run_suite.h"

enum { KERNELS = 64 };
static struct fake_image image;
static sem_t begun, finish;

static void start(void)
{
	fake_reset();
	sem_init(&begun, 0, 0);
	sem_init(&finish, 0, 0);
	fake_block(&image);
	for (uint32_t i = 0; i < KERNELS; i++) {
		char name[16];
		snprintf(name, sizeof name, "k%u", i);
		fake_entry(&image, i % 2 ? FAKE_PTX : FAKE_ELF, 90, 0, name);
	}
	fake_entry(&image, FAKE_ELF, 90, 0, "slow");
}

static void stop(void)
{
	fake_free(&image);
	ck_assert_uint_eq(fake_modules, 0);
}

static void hold_slow(const char *kernel)
{
	if (strcmp(kernel, "slow") == 0) {
		sem_post(&begun);
		sem_wait(&finish);
	}
}

/* Would wait forever if get() waited for what a thread is at. */
START_TEST(get_waits_for_its_own_only)
{
	struct sw_footprint_library *l = sw_footprint_library_open(NULL, 2);
	struct sw_footprint_image named = fake_named(&image, 1, 0);
	fake_reading = hold_slow;
	sw_footprint_library_expect(l, &named, 90, "slow");
	sem_wait(&begun);
	ck_assert_ptr_nonnull(sw_footprint_library_get(l, &named, 90, "k0")->footprint);
	ck_assert_ptr_nonnull(sw_footprint_library_get(l, &named, 90, "k63")->footprint);
	sem_post(&finish);
	ck_assert_ptr_nonnull(sw_footprint_library_get(l, &named, 90, "slow")->footprint);
	sw_footprint_library_close(l);
}
END_TEST

START_TEST(each_is_read_once_by_whomever)
{
	struct sw_footprint_library *l = sw_footprint_library_open(NULL, 8);
	struct sw_footprint_image named[2] = {fake_named(&image, 1, 0), fake_named(&image, 2, 0)};
	char name[16];
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < KERNELS; i++) {
			snprintf(name, sizeof name, "k%d", i);
			sw_footprint_library_expect(l, &named[i % 2], 90, name);
			sw_footprint_library_expect(l, &named[1 - i % 2], 90, name);
		}
	for (int i = KERNELS; i-- > 0;) {
		snprintf(name, sizeof name, "k%d", i);
		for (int k = 0; k < 2; k++)
			ck_assert_ptr_nonnull(sw_footprint_library_get(l, &named[k], 90, name)->footprint);
	}
	ck_assert_uint_eq(fake_ptx[90].read, KERNELS);
	ck_assert_uint_eq(fake_sass[90].read, KERNELS);
	ck_assert_uint_eq(image.asked, 2);
	struct sw_footprint_library_totals t = sw_footprint_library_totals(l);
	ck_assert_uint_eq(t.asked, 2 * KERNELS);
	ck_assert_uint_eq(t.analysed, 2 * KERNELS);
	sw_footprint_library_close(l);
}
END_TEST

/* A library may be closed while its threads have much to do, and must not wait for all of that. */
START_TEST(close_leaves_the_rest_undone)
{
	struct sw_footprint_library *l = sw_footprint_library_open(NULL, 3);
	struct sw_footprint_image named = fake_named(&image, 1, 0);
	char name[16];
	for (int i = 0; i < KERNELS; i++) {
		snprintf(name, sizeof name, "k%d", i);
		sw_footprint_library_expect(l, &named, 90, name);
	}
	sw_footprint_library_close(l);
	sw_footprint_library_close(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("threads");
	TCase *t = tcase_create("threads");
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, get_waits_for_its_own_only);
	tcase_add_test(t, each_is_read_once_by_whomever);
	tcase_add_test(t, close_leaves_the_rest_undone);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
