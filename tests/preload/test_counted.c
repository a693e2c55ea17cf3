/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are counted: polls in a row, and questions about a kernel that were asked before. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/platform/clock.h"
#include "preload/recorder/counted.h"
#include "preload/recorder/trace.h"
#include "preload/recorder/writer.h"
#include "recording.h"
#include "../run_suite.h"

#define API_QUERY 10
#define API_ASK	  11
#define NOT_READY 600

/* As the wrappers do it (src/preload/calls/wrappers.c: FORM_POLL, words). */
static __attribute__((noinline)) void fake_query(uint64_t handle, int status)
{
	struct sw_call call;
	if (!sw_call_enter(&call, API_QUERY, 0, __builtin_frame_address(0)))
		return;
	if (status == NOT_READY && sw_counted_poll(&call, SW_SYNC_EVENT, handle))
		return;
	struct sw_rec_sync *r = sw_call_record_after(&call, SW_REC_QUERY, sizeof *r, status);
	if (r) {
		r->what = SW_SYNC_EVENT;
		r->handle = handle;
	}
	sw_call_publish(&call);
	if (status == NOT_READY)
		sw_counted_poll_recorded(&call, SW_SYNC_EVENT, handle);
	sw_call_leave(&call, status);
}

static void wait_ticks(uint64_t ns)
{
	const uint64_t until = sw_clock_ticks() + sw_trace.header->ticks_per_second / 1000000 * ns / 1000;
	while (sw_clock_ticks() < until)
		;
}

static __attribute__((noinline)) void fake_ask(uint64_t kernel, uint16_t api, uint64_t ns)
{
	struct sw_call call;
	if (!sw_call_enter(&call, api, 0, __builtin_frame_address(0)))
		return;
	const bool known = sw_counted_knows(&call, kernel);
	if (ns)
		wait_ticks(ns);
	if (known && sw_counted_question(&call, kernel))
		return;
	struct sw_rec_code *r = sw_call_record_after(&call, SW_REC_CODE_TOUCH, sizeof *r, 0);
	if (r)
		r->handle = kernel;
	sw_call_publish(&call);
	sw_call_leave(&call, 0);
}

struct sums {
	uint64_t records, counted, calls, successes, longest, handle;
	uint32_t kind;
	uint16_t api;
	uint64_t last_seq;
	bool wrong;
};

static bool add_up(const struct sw_rec *r, uint32_t writer, void *data)
{
	struct sums *s = data;
	const size_t fixed = s->kind == SW_REC_QUERY ? sizeof(struct sw_rec_sync) : sizeof(struct sw_rec_code);
	const struct sw_rec_calls *counted = (const void *)((const char *)r + fixed);
	const uint64_t handle = ((const struct sw_rec_sync *)(const void *)r)->handle;
	(void)writer;
	if (r->kind != s->kind || (s->handle && handle != s->handle) || (s->api && r->api != s->api))
		return true;
	const bool counts = r->words * 8u > fixed;
	s->records++;
	s->counted += counts;
	s->calls += counts ? counted->calls : 1;
	s->successes += !r->status && !counts;
	s->wrong |= counts && (!counted->calls || (r->kind == SW_REC_QUERY && counted->inside > r->dur));
	s->longest = r->dur > s->longest ? r->dur : s->longest;
	return true;
}

static struct sums sums_of(const char *path, struct sums wanted)
{
	struct trace t;
	read_whole(&t, path); /* numbers have no holes */
	ck_assert_uint_eq(t.header->records_lost, 0);
	trace_each(&t, add_up, &wanted);
	ck_assert(!wanted.wrong);
	trace_free(&t);
	return wanted;
}

/* ---- polls ------------------------------------------------------------------------------------------------------- */

#define POLLS 100000

static void poll_in_a_loop(void)
{
	for (unsigned i = 0; i < POLLS; i++)
		fake_query(1, NOT_READY);
	fake_query(1, 0);
	fake_query(1, 0);
}

/* Records: the first, one a tenth of a second and one at the end, each success. */
START_TEST(polls_are_counted)
{
	ck_assert_int_eq(record_in_child("stacks=0", poll_in_a_loop, exit), 0);
	const struct sums s = sums_of("t.swt", (struct sums){.kind = SW_REC_QUERY});
	ck_assert_uint_eq(s.calls, POLLS + 2);
	ck_assert_uint_eq(s.successes, 2);
	ck_assert_uint_lt(s.records, POLLS / 100);
	ck_assert_uint_ge(s.counted, 1);
}
END_TEST

static int way;

/* No repetition: another handle, another place, a call in between, a success in between. */
static void poll_otherwise(void)
{
	for (unsigned i = 0; i < 100; i++) {
		fake_query(way == 0 ? 1 + i % 2 : 1, NOT_READY);
		if (way == 1)
			fake_query(1, NOT_READY);
		if (way == 2)
			fake_wait(1, 0);
		if (way == 3)
			fake_query(1, 0);
	}
}

START_TEST(other_polls_are_recorded)
{
	way = _i;
	ck_assert_int_eq(record_in_child(NULL, poll_otherwise, exit), 0);
	const struct sums s = sums_of("t.swt", (struct sums){.kind = SW_REC_QUERY});
	ck_assert_uint_eq(s.records, _i == 1 || _i == 3 ? 200 : 100);
	ck_assert_uint_eq(s.counted, 0);
	ck_assert_uint_eq(s.calls, s.records);
}
END_TEST

/* A reader may take what is committed at any time, and it never changes: no byte of it, as no call is in progress. */
static void poll_while_read(void)
{
	static uint8_t seen[SW_CHUNK_BYTES];
	uint32_t had = 0;
	const uint8_t *chunk = NULL;
	for (unsigned i = 0; i < 20000; i++) {
		fake_query(i / 50 % 3, i % 50 == 49 ? 0 : NOT_READY);
		const struct sw_chunk_header *h = (const void *)sw_thread.writer->base;
		if ((const uint8_t *)h != chunk)
			had = 0;
		chunk = (const uint8_t *)h;
		if (memcmp(seen, h + 1, had))
			_exit(9);
		had = h->committed;
		memcpy(seen, h + 1, had);
	}
}

START_TEST(committed_bytes_stay)
{
	ck_assert_int_eq(record_in_child("stacks=0", poll_while_read, exit), 0);
	const struct sums s = sums_of("t.swt", (struct sums){.kind = SW_REC_QUERY});
	ck_assert_uint_eq(s.calls, 20000);
	ck_assert_uint_eq(s.successes, 400);
}
END_TEST

static void poll_and_die(void)
{
	for (unsigned i = 0; i < 1000; i++)
		fake_query(1, NOT_READY);
	raise(SIGKILL);
}

/* The poll itself is there; what is counted may not be. */
START_TEST(polls_before_a_kill)
{
	const int status = record_in_child("stacks=0", poll_and_die, exit);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	const struct sums s = sums_of("t.swt", (struct sums){.kind = SW_REC_QUERY});
	ck_assert_uint_ge(s.records, 1);
	ck_assert_uint_le(s.calls, 1000);
}
END_TEST

/* ---- questions --------------------------------------------------------------------------------------------------- */

#define ROUNDS 20000

/* As PyTorch does: questions before each launch, of a few kernels. */
static void ask_between_calls(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		fake_ask(0x1000 + i % 7 * 16, API_ASK, 0);
		fake_ask(0x1000 + i % 7 * 16, API_ASK + 1, 0);
		fake_ask(0x1000 + i % 7 * 16, API_ASK, 0);
		fake_wait(i, 0);
	}
}

/* The first of each kernel and entry point has a record; each entry point has its own count. */
START_TEST(questions_are_counted)
{
	ck_assert_int_eq(record_in_child("stacks=0", ask_between_calls, exit), 0);
	const struct sums a = sums_of("t.swt", (struct sums){.kind = SW_REC_CODE_TOUCH, .api = API_ASK}),
			  b = sums_of("t.swt", (struct sums){.kind = SW_REC_CODE_TOUCH, .api = API_ASK + 1});
	ck_assert_uint_eq(a.calls, 2 * ROUNDS);
	ck_assert_uint_eq(b.calls, ROUNDS);
	ck_assert_uint_eq(a.records - a.counted, 7);
	ck_assert_uint_eq(b.records - b.counted, 7);
	ck_assert_uint_lt(a.records + b.records, ROUNDS / 10);
}
END_TEST

static void ask_and_unload(void)
{
	for (unsigned i = 0; i < 4; i++) {
		fake_ask(0x1000, API_ASK, 0);
		fake_ask(0x1000, API_ASK, 0);
		if (i == 1)
			sw_counted_unloaded();
	}
}

/* The handle may be another kernel's. */
START_TEST(questions_after_an_unload)
{
	ck_assert_int_eq(record_in_child("stacks=0", ask_and_unload, exit), 0);
	const struct sums s = sums_of("t.swt", (struct sums){.kind = SW_REC_CODE_TOUCH});
	ck_assert_uint_eq(s.calls, 8);
	ck_assert_uint_eq(s.records - s.counted, 2);
}
END_TEST

static void ask_slowly(void)
{
	fake_ask(0x1000, API_ASK, 0);
	fake_ask(0x1000, API_ASK, 0);
	fake_ask(0x1000, API_ASK, 300000);
	fake_ask(0x1000, API_ASK, 0);
	fake_wait(1, 0);
}

/* A slow one has a record that is as long as it was, 300 us; a short run knows the clock's rate only roughly. */
START_TEST(slow_questions_are_recorded)
{
	ck_assert_int_eq(record_in_child("stacks=0", ask_slowly, exit), 0);
	const struct sums s = sums_of("t.swt", (struct sums){.kind = SW_REC_CODE_TOUCH});
	struct trace t;
	read_whole(&t, "t.swt");
	ck_assert_uint_ge(s.longest, t.header->ticks_per_second / 1000000 * 250);
	ck_assert_uint_eq(s.calls, 4);
	trace_free(&t);
}
END_TEST

/* 0: only questions for a while; 1: questions, and then a pause. */
static void ask_and_be_silent(void)
{
	fake_wait(1, 0);
	fake_ask(0x1000, API_ASK, 0);
	fake_wait(1, 0);
	const uint64_t from = sw_clock_ticks(), while_ = sw_trace.header->ticks_per_second / 1000;
	do
		fake_ask(0x1000, API_ASK, 0);
	while (way == 0 && sw_clock_ticks() - from < while_);
	if (way == 1)
		wait_ticks(200000);
	fake_wait(2, 0);
}

/* The trace shows that the thread did not wait: a record of questions stands where it would seem to. */
START_TEST(silence_is_filled)
{
	way = _i;
	ck_assert_int_eq(record_in_child("stacks=0", ask_and_be_silent, exit), 0);
	const struct sums s = sums_of("t.swt", (struct sums){.kind = SW_REC_CODE_TOUCH});
	ck_assert_uint_ge(s.counted, 1);
	ck_assert_uint_gt(s.calls, 1);
	struct trace t;
	read_whole(&t, "t.swt");
	const struct sw_rec *first = trace_find(&t, SW_REC_CODE_TOUCH, 1),
			    *after = trace_find(&t, SW_REC_STREAM_WAIT, 2);
	ck_assert_uint_lt(sw_rec_seq(first), sw_rec_seq(after)); /* not at the end, which writes all */
	trace_free(&t);
}
END_TEST

static void *ask_on_a_thread(void *unused)
{
	for (unsigned i = 0; i < 10; i++)
		fake_ask(0x1000, API_ASK, 0);
	fake_query(1, NOT_READY);
	fake_query(1, NOT_READY);
	fake_query(1, NOT_READY);
	return unused;
}

static void ask_on_threads(void)
{
	for (unsigned i = 0; i < 10; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, ask_on_a_thread, NULL))
			_exit(9);
		pthread_join(thread, NULL);
	}
}

/* An ending thread writes what it has counted. */
START_TEST(threads_end)
{
	ck_assert_int_eq(record_in_child("stacks=0", ask_on_threads, exit), 0);
	ck_assert_uint_eq(sums_of("t.swt", (struct sums){.kind = SW_REC_CODE_TOUCH}).calls, 100);
	ck_assert_uint_eq(sums_of("t.swt", (struct sums){.kind = SW_REC_QUERY}).calls, 30);
}
END_TEST

static void ask_until_full(void)
{
	for (unsigned i = 0; i < 60000; i++) {
		fake_query(1, NOT_READY);
		fake_query(1, NOT_READY);
		fake_ask(0x1000, API_ASK, 0);
		fake_wait(i, 0);
	}
}

/* Nothing is counted that will never be written: what is not there is lost, and said to be. */
START_TEST(full_trace)
{
	struct trace t;
	ck_assert_int_eq(record_in_child("stacks=0:max-size=2M", ask_until_full, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_gt(t.header->records_lost, 0);
	trace_free(&t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("counted");
	TCase *tc = tcase_create("counted");
	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, enter_directory, remove_directory);
	tcase_add_test(tc, polls_are_counted);
	tcase_add_loop_test(tc, other_polls_are_recorded, 0, 4);
	tcase_add_test(tc, committed_bytes_stay);
	tcase_add_test(tc, polls_before_a_kill);
	tcase_add_test(tc, questions_are_counted);
	tcase_add_test(tc, questions_after_an_unload);
	tcase_add_test(tc, slow_questions_are_recorded);
	tcase_add_loop_test(tc, silence_is_filled, 0, 2);
	tcase_add_test(tc, threads_end);
	tcase_add_test(tc, full_trace);
	return run_suite(suite);
}
