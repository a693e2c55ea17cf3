/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs for the recorder's own thread, which gets no processor for a while, or ever. */
#include <check.h>
#include <stdatomic.h>

#include "preload/platform/isolated_thread.h"
#include "preload/platform/sys.h"
#include "../run_suite.h"

#define MS	   1000000ull
#define SECOND	   (1000 * MS)
#define PATIENCE   (10 * MS) /* sw_isolated_run() */
#define INSISTENCE SECOND

static _Atomic uint32_t serves, ended;
static _Atomic uint64_t open_at;

/* Waits for a processor until `serves` is set, or until `open_at`. */
static int body(void)
{
	sw_isolated_enter();
	while (!ended) {
		if (open_at && sw_sys_monotonic() >= open_at)
			serves = 1;
		if (serves)
			sw_isolated_serve(MS);
		else
			sw_sys_wait((const uint32_t *)&serves, 0, &(struct timespec){.tv_nsec = MS});
	}
	return 0;
}

struct done {
	unsigned here, there;
};

static void job(void *with)
{
	struct done *done = with;
	*(sw_isolated_here() ? &done->there : &done->here) += 1;
}

static void start(bool serving)
{
	serves = serving;
	ck_assert_int_eq(sw_isolated_start(body), 0);
	while (!sw_isolated_entered())
		sw_isolated_wait_entered(&(struct timespec){.tv_nsec = MS});
}

static void stop(void)
{
	ended = 1;
	while (sw_isolated_thread())
		sw_sys_wait((const uint32_t *)&ended, 1, &(struct timespec){.tv_nsec = MS});
}

START_TEST(jobs_run_there)
{
	struct done done = {0};
	start(true);
	unsigned there = sw_isolated_run(job, &done);
	ck_assert_uint_eq(done.there, there); /* a machine that is busy for longer than it waits: here */
	ck_assert_uint_eq(done.here, !there);
	stop();
	ck_assert(!sw_isolated_run(job, &done) && !sw_isolated_insist(job, &done));
	ck_assert_uint_eq(done.here + done.there, 2);
}
END_TEST

/* The caller runs a job after a while, the thread only when that is insisted on. */
START_TEST(a_job_waits_for_the_thread_that_can_do_it)
{
	struct done done = {0};
	start(false);
	ck_assert(!sw_isolated_run(job, &done));
	ck_assert_uint_eq(done.here, 1);
	const uint64_t since = sw_sys_monotonic();
	open_at = since + 5 * PATIENCE;
	const bool there = sw_isolated_insist(job, &done);
	ck_assert(there || sw_sys_monotonic() - since >= INSISTENCE);
	ck_assert_uint_eq(done.there, there);
	ck_assert_uint_eq(done.here, 1);
	stop();
}
END_TEST

START_TEST(what_was_in_vain_is_not_waited_for_again)
{
	struct done done = {0};
	start(false);
	const uint64_t since = sw_sys_monotonic();
	ck_assert(!sw_isolated_insist(job, &done));
	const uint64_t first = sw_sys_monotonic();
	ck_assert_uint_ge(first - since, INSISTENCE);
	for (int i = 0; i < 20; i++)
		ck_assert(!sw_isolated_insist(job, &done));
	ck_assert_uint_lt(sw_sys_monotonic() - first, 20 * INSISTENCE);
	ck_assert_uint_eq(done.here + done.there, 0);
	stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("isolated");
	TCase *tc = tcase_create("isolated");
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, jobs_run_there);
	tcase_add_test(tc, a_job_waits_for_the_thread_that_can_do_it);
	tcase_add_test(tc, what_was_in_vain_is_not_waited_for_again);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
