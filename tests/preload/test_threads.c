/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that a recorder must survive: short ones, calls in destructors, cancellation, longjmp, signals, nested calls.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "recording.h"
#include "../run_suite.h"

#define NO_STACKS "stacks=0"

static void twenty(void)
{
	calls(20);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void *short_thread(void *unused)
{
	calls(2);
	return unused;
}

static void ten_thousand_threads(void)
{
	pthread_t threads[4];
	for (unsigned i = 0; i < 10000 / 4; i++) {
		for (unsigned k = 0; k < 4; k++)
			if (pthread_create(&threads[k], NULL, short_thread, NULL))
				abort();
		for (unsigned k = 0; k < 4; k++)
			pthread_join(threads[k], NULL);
	}
}

START_TEST(test_short_threads)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, ten_thousand_threads, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 20000);
	ck_assert_uint_ge(t.kinds[SW_REC_THREAD], 10000);
	ck_assert_uint_le(t.writers, 6);
	ck_assert_uint_eq(t.header->records_lost, 0);
	/* 10000 THREAD records and 20000 calls of 48 bytes, not 10000 chunks */
	ck_assert_uint_le(t.chunks, 6 + (10000 * 56 + 20000 * 48) / (256 << 10) + 2);
	trace_free(&t);
}
END_TEST

static pthread_key_t late;

static void late_destructor(void *round)
{
	calls(1);
	if ((uintptr_t)round > 1)
		pthread_setspecific(late, (void *)((uintptr_t)round - 1));
}

static void *late_caller(void *unused)
{
	calls(1);
	pthread_setspecific(late, (void *)3);
	return unused;
}

static void late_calls(void)
{
	pthread_t thread;
	pthread_key_create(&late, late_destructor);
	for (unsigned i = 0; i < 20; i++) {
		if (pthread_create(&thread, NULL, late_caller, NULL))
			abort();
		pthread_join(thread, NULL);
	}
}

/* CUDA calls in other destructors of a thread, after ours has run. */
START_TEST(test_calls_in_thread_destructors)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, late_calls, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 20 * 4);
	ck_assert_uint_le(t.writers, 2);
	trace_free(&t);
}
END_TEST

static void *cancelled(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		calls(1);
	return unused;
}

static void cancellations(void)
{
	pthread_t thread;
	for (unsigned i = 0; i < 200; i++) {
		if (pthread_create(&thread, NULL, cancelled, NULL))
			abort();
		sched_yield();
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	calls(7777);
}

static bool count_last(const struct sw_rec *r, uint32_t writer, void *data)
{
	(void)writer;
	if (r->kind == SW_REC_STREAM_WAIT && ((const struct sw_rec_stream_wait *)r)->stream == 7776)
		*(unsigned *)data += 1;
	return true;
}

/* Threads cancelled anywhere, also inside the recorder: no lock stays taken, nothing is torn. */
START_TEST(test_cancelled_threads)
{
	struct trace t;
	unsigned last = 0;
	ck_assert_int_eq(record_in_child(NO_STACKS, cancellations, exit), 0);
	read_whole(&t, "t.swt");
	trace_each(&t, count_last, &last);
	ck_assert_uint_eq(last, 1);
	trace_free(&t);
}
END_TEST

/* ---- jumps and signals ------------------------------------------------------------------------------------------- */

static jmp_buf back;
static sigjmp_buf signal_back;

static void jump(void)
{
	longjmp(back, 1);
}

static __attribute__((noinline)) void deeper(unsigned depth, void (*then)(void))
{
	char room[256];
	memset(room, 0x55, sizeof room); /* overwrites what calls left there */
	__asm__ volatile("" : : "r"(room) : "memory");
	if (depth)
		deeper(depth - 1, then);
	else
		then();
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void jumping_wait(void)
{
	fake_wait_around(1, jump);
}

static void jumps(void)
{
	for (volatile unsigned i = 0; i < 100; i++) {
		if (!setjmp(back))
			deeper(i % 10, jumping_wait);
		/* from a place further up the stack, and from one further down */
		fake_wait(2, 0);
		if (!setjmp(back))
			deeper(i % 10, jumping_wait);
		deeper(20, twenty);
	}
}

/* Calls that are left by longjmp stay pending; what comes after them is recorded. */
START_TEST(test_longjmp)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, jumps, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.pending, 200);
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 200 + 100 + 2000);
	trace_free(&t);
}
END_TEST

static volatile sig_atomic_t handled;

static void call_in_handler(int signal)
{
	(void)signal;
	handled++;
	fake_wait(99, 0);
}

static void timer(void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	struct itimerval every = {{0, 100}, {0, 100}};
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void interrupted(void)
{
	timer(call_in_handler, SA_RESTART);
	for (unsigned i = 0; handled < 2000 && i < 1u << 24; i++)
		fake_wait(1, 0);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	fake_wait(1, 0);
	fake_wait((uint64_t)handled << 32, 0); /* for the test to read */
}

static char other_stack[1 << 16];

static void interrupted_on_other_stack(void)
{
	sigaltstack(&(stack_t){.ss_sp = other_stack, .ss_size = sizeof other_stack}, NULL);
	timer(call_in_handler, SA_RESTART | SA_ONSTACK);
	interrupted();
}

struct interruptions {
	uint64_t outer, inner, handled;
};

static bool count_interruptions(const struct sw_rec *r, uint32_t writer, void *data)
{
	struct interruptions *n = data;
	(void)writer;
	if (r->kind == SW_REC_STREAM_WAIT) {
		uint64_t stream = ((const struct sw_rec_stream_wait *)r)->stream;
		n->outer += stream == 1;
		n->inner += stream == 99;
		n->handled += stream >> 32;
	}
	return true;
}

/* From the notice at the end of the trace. */
static uint64_t nested_calls_of(const struct trace *t)
{
	const struct sw_rec_notice *n = trace_find(t, SW_REC_NOTICE, 0);
	return n ? strtoull((const char *)(n + 1), NULL, 10) : 0;
}

/* Handlers that call CUDA at any point of the recorder: recorded, or counted as lost; never a torn trace. */
static void check_interrupted(void (*body)(void))
{
	struct trace t;
	struct interruptions n = {0};
	ck_assert_int_eq(record_in_child(NO_STACKS, body, exit), 0);
	read_whole(&t, "t.swt");
	trace_each(&t, count_interruptions, &n);
	ck_assert_uint_gt(n.handled, 0);
	ck_assert_uint_eq(n.inner + t.header->records_lost + nested_calls_of(&t), n.handled);
	ck_assert_uint_eq(t.lost, t.header->records_lost);
	ck_assert_uint_eq(t.pending, 0);
	trace_free(&t);
	unlink("t.swt");
}

START_TEST(test_handlers)
{
	check_interrupted(interrupted);
	check_interrupted(interrupted_on_other_stack);
}
END_TEST

static void jump_in_handler(int signal)
{
	(void)signal;
	handled++;
	siglongjmp(signal_back, 1);
}

static void jumps_from_handlers(void)
{
	sigsetjmp(signal_back, 1);
	if (handled == 0)
		timer(jump_in_handler, 0);
	while (handled < 2000)
		deeper(3, twenty);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	handled = 2000;
	calls(7777);
}

/* Handlers that jump out of the recorder at any point: it continues, and the trace is whole. */
START_TEST(test_jumps_from_handlers)
{
	struct trace t;
	unsigned last = 0;
	ck_assert_int_eq(record_in_child(NULL, jumps_from_handlers, exit), 0);
	read_whole(&t, "t.swt");
	trace_each(&t, count_last, &last);
	ck_assert_uint_eq(last, 1);
	ck_assert(t.header->flags & SW_FILE_CLOSED);
	trace_free(&t);
}
END_TEST

static __attribute__((noinline)) void nested(void)
{
	fake_wait(2, 0);
}

static void nested_calls(void)
{
	fake_wait_around(1, nested);
	fake_sync(nested);
	fake_wait(3, 0);
}

START_TEST(test_nested_calls)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, nested_calls, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 2);
	ck_assert_uint_eq(t.header->records_lost, 0); /* what CUDA calls itself is no loss */
	ck_assert_uint_eq(nested_calls_of(&t), 2);
	trace_free(&t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("threads");
	TCase *c = tcase_create("threads");
	tcase_add_checked_fixture(c, enter_directory, remove_directory);
	tcase_set_timeout(c, 120);
	tcase_add_test(c, test_short_threads);
	tcase_add_test(c, test_calls_in_thread_destructors);
	tcase_add_test(c, test_cancelled_threads);
	tcase_add_test(c, test_longjmp);
	tcase_add_test(c, test_handlers);
	tcase_add_test(c, test_jumps_from_handlers);
	tcase_add_test(c, test_nested_calls);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
