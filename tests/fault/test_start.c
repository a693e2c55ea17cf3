/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that make their first calls while another starts the recording: none waits for long, and each is recorded.
 * One of them always waits when the state moves to the page that forks clear.  And threads that need the recorder's own
 * thread while it gets no time: none waits for more than 10 ms with signals blocked.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faulty_sys.h"
#include "preload/platform/sys.h"
#include "preload/recording.h"
#include "../run_suite.h"

enum { THREADS = 8, TRIES = 5 };

/* Recording starts within some ms; a thread that is not woken waits for two seconds. */
#define LONG_NS 1000000000u

static pthread_barrier_t together;
static _Atomic uint64_t longest_ns;

static void *first_call(void *unused)
{
	pthread_barrier_wait(&together);
	const uint64_t start = sw_sys_monotonic();
	fake_wait(1, 0);
	const uint64_t ns = sw_sys_monotonic() - start;
	uint64_t seen = atomic_load(&longest_ns);
	while (seen < ns && !atomic_compare_exchange_weak(&longest_ns, &seen, ns))
		;
	return unused;
}

static void first_calls(void)
{
	pthread_t threads[THREADS];
	pthread_barrier_init(&together, NULL, THREADS);
	fault_map_after_waits(1);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, first_call, NULL))
			abort();
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void leave(int unused)
{
	(void)unused;
	exit(atomic_load(&longest_ns) < LONG_NS ? 0 : 3);
}

START_TEST(test_first_calls_at_once)
{
	unsigned quick = 0;
	for (unsigned i = 0; i < TRIES; i++) {
		struct trace t;
		const int status = record_in_child("stacks=0", first_calls, leave);
		ck_assert(WIFEXITED(status));
		quick += WEXITSTATUS(status) == 0;
		read_whole(&t, "t.swt");
		ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], THREADS);
		ck_assert_uint_eq(t.header->records_lost, 0);
		trace_free(&t);
		unlink("t.swt");
	}
	ck_assert_uint_gt(quick, 0); /* of five: other programs may hold the processors during one */
}
END_TEST

/* ---- a machine that has no time for the recorder's own thread ---------------------------------------------------- */

#define MOST_BLOCKED_NS 10000000u
#define MANY		20000u /* of each thread: seven chunks, more in all than stand ready */

static void *many_calls(void *unused)
{
	fake_wait(1, 0);
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	for (unsigned i = 1; i < MANY; i++)
		fake_wait(1, 0);
	return unused;
}

static void calls_without_helper(void)
{
	pthread_t threads[THREADS];
	pthread_barrier_init(&together, NULL, THREADS + 1);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, many_calls, NULL))
			abort();
	pthread_barrier_wait(&together);
	waits_measure(true);
	while (!waits_still())
		sched_yield();
	pthread_barrier_wait(&together);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (waits_longest_ns() > MOST_BLOCKED_NS || waits_endless())
		_exit(4);
	if (!waits_longest_ns()) /* no thread had to wait: the test shows nothing */
		_exit(5);
	waits_measure(false);
}

START_TEST(test_waits_with_signals_blocked)
{
	struct trace t;
	const int status = record_in_child("stacks=0", calls_without_helper, exit);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], THREADS * MANY);
	ck_assert_uint_eq(t.header->records_lost, 0);
	trace_free(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("start");
	TCase *c = tcase_create("start");
	tcase_add_checked_fixture(c, enter_directory, remove_directory);
	tcase_add_test(c, test_first_calls_at_once);
	tcase_add_test(c, test_waits_with_signals_blocked);
	suite_add_tcase(s, c);
	return run_suite(s);
}
