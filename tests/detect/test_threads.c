/* SPDX-License-Identifier: Apache-2.0 */
/* Host threads with a lane each: what orders them, and the twin in which nothing does. */
#include "judge.h"

static const struct sw_judge_options strict = {.fold_below_ns = 100000, .strict_host = true};

enum { LOCK = 0x7e000100, OTHER_LOCK = 0x7e000200 };

/* Thread 2 has waited for S1's copy; thread 1 reads what it wrote, on S2. */
static void produced(struct tb *tb)
{
	h2d(tb, DEV, PIN, 4096, S1);
	tb_thread(tb, 2);
}

static void waited(struct tb *tb)
{
	tb_end(tb, SW_REC_SYNC, tb_sync_begin(tb, SW_SYNC_STREAM, S1));
}

static const struct sw_finding *consumed(struct tb *tb, struct sw_judgement **j)
{
	tb_thread(tb, 1);
	d2d(tb, DEV2, DEV, 4096, S2);
	*j = judged_with(tb, &strict);
	return count_of(*j, 101) ? only(*j, 101) : NULL;
}

static void expect(const struct sw_finding *race, bool wanted, struct sw_judgement *j)
{
	ck_assert_int_eq(race != NULL, wanted);
	if (race) {
		ck_assert(race->host_order);
		ck_assert_int_eq(race->severity, SW_WARNING);
		ck_assert_int_eq(race->confidence, SW_LIKELY);
	}
	sw_judgement_free(j);
}

/* Ways of telling, and what of them is too little. */
static const struct {
	enum sw_through release, acquire;
	uint64_t released, acquired;
	bool early; /* released before the wait ended */
	bool race;
} ways[] = {
	{SW_THROUGH_MUTEX, SW_THROUGH_MUTEX, LOCK, LOCK, false, false},
	{SW_THROUGH_MUTEX, SW_THROUGH_MUTEX, LOCK, OTHER_LOCK, false, true},
	{SW_THROUGH_MUTEX, SW_THROUGH_MUTEX, LOCK, LOCK, true, true},
	{SW_THROUGH_MUTEX, SW_THROUGH_COND, LOCK, LOCK, false, true},
	{SW_THROUGH_WRITERS, SW_THROUGH_WRITERS, LOCK, LOCK, false, false},
	{SW_THROUGH_READERS, SW_THROUGH_WRITERS, LOCK, LOCK, false, true}, /* two readers */
	{SW_THROUGH_COND, SW_THROUGH_COND, LOCK, LOCK, false, false},
	{SW_THROUGH_SEMAPHORE, SW_THROUGH_SEMAPHORE, LOCK, LOCK, false, false},
	{SW_THROUGH_BARRIER, SW_THROUGH_BARRIER, LOCK, LOCK, false, false},
	{SW_THROUGH_ONCE, SW_THROUGH_ONCE, LOCK, LOCK, false, false},
};

START_TEST(objects)
{
	struct tb *tb = two_streams();
	struct sw_judgement *j;
	produced(tb);
	if (ways[_i].early)
		tb_host_sync(tb, SW_THREAD_RELEASE, ways[_i].release, ways[_i].released);
	waited(tb);
	if (!ways[_i].early)
		tb_host_sync(tb, SW_THREAD_RELEASE, ways[_i].release, ways[_i].released);
	tb_thread(tb, 1);
	tb_host_sync(tb, SW_THREAD_ACQUIRE, ways[_i].acquire, ways[_i].acquired);
	const struct sw_finding *race = consumed(tb, &j);
	ck_assert_uint_eq(j->coverage.host_syncs, 2);
	expect(race, ways[_i].race, j);
}
END_TEST

/* Joined (0), or only ended (1). */
START_TEST(join)
{
	struct tb *tb = two_streams();
	struct sw_judgement *j;
	produced(tb);
	waited(tb);
	tb_host_sync(tb, SW_THREAD_END, SW_THROUGH_THREAD, 0x7e00aa00);
	tb_thread(tb, 1);
	if (_i == 0)
		tb_host_sync(tb, SW_THREAD_JOIN, SW_THROUGH_THREAD, 0x7e00aa00);
	const struct sw_finding *race = consumed(tb, &j);
	expect(race, _i, j);
}
END_TEST

/* A thread knows what its creator knew when it created it (0), and no more (1). */
START_TEST(creation)
{
	struct tb *tb = two_streams();
	h2d(tb, DEV, PIN, 4096, S1);
	if (_i == 0)
		waited(tb);
	tb_host_sync(tb, SW_THREAD_CREATE, SW_THROUGH_THREAD, 7);
	if (_i == 1)
		waited(tb);
	tb_thread(tb, 2);
	tb_host_sync(tb, SW_THREAD_START, SW_THROUGH_THREAD, 7);
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged_with(tb, &strict);
	expect(count_of(j, 101) ? only(j, 101) : NULL, _i, j);
}
END_TEST

/* A hazard that one lane for all threads would report too is as certain as ever. */
START_TEST(nobody_waited)
{
	struct tb *tb = two_streams();
	produced(tb);
	tb_host_sync(tb, SW_THREAD_RELEASE, SW_THROUGH_MUTEX, LOCK);
	tb_thread(tb, 1);
	tb_host_sync(tb, SW_THREAD_ACQUIRE, SW_THROUGH_MUTEX, LOCK);
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged_with(tb, &strict);
	const struct sw_finding *race = only(j, 101);
	ck_assert(!race->host_order);
	ck_assert_int_eq(race->severity, SW_ERROR);
	ck_assert_int_eq(race->confidence, SW_CERTAIN);
	sw_judgement_free(j);
}
END_TEST

/* The records are in the trace; judged with one lane they say nothing. */
START_TEST(one_lane)
{
	struct tb *tb = two_streams();
	produced(tb);
	waited(tb);
	tb_host_sync(tb, SW_THREAD_END, SW_THROUGH_THREAD, 0x7e00aa00);
	tb_thread(tb, 1);
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	ck_assert(!j->strict_host);
	sw_judgement_free(j);
}
END_TEST

/* A host function that learnt from another thread passes that on to its stream (0), or learnt nothing (1). */
START_TEST(host_function)
{
	struct tb *tb = two_streams();
	produced(tb);
	waited(tb);
	tb_host_sync(tb, SW_THREAD_RELEASE, SW_THROUGH_MUTEX, LOCK);
	tb_thread(tb, 1);
	tb_host_func(tb, S2, 0x1234);
	uint64_t enqueued = tb->seq;
	tb_thread(tb, 3);
	struct sw_rec_host_func *run = tb_add(tb, SW_REC_HOST_FUNC_RUN, sizeof *run, true);
	run->h.flags |= SW_RF_BEGIN;
	run->stream = S2;
	run->enqueued = enqueued;
	uint64_t begin = tb->seq;
	if (_i == 0)
		tb_host_sync(tb, SW_THREAD_ACQUIRE, SW_THROUGH_MUTEX, LOCK);
	tb_end(tb, SW_REC_HOST_FUNC_RUN, begin);
	struct sw_judgement *j;
	const struct sw_finding *race = consumed(tb, &j);
	expect(race, _i, j);
}
END_TEST

/* The program says what it orders by an atomic variable: to the other thread (0), to its stream (1); with another tag
 * (2). */
START_TEST(annotated)
{
	struct tb *tb = two_streams();
	produced(tb);
	waited(tb);
	tb_annotation(tb, SW_NOTE_BEFORE, 0x601000, 0, 0)->flags = SW_NOTE_ON_HOST;
	tb_thread(tb, 1);
	struct sw_rec_annotation *after = tb_annotation(tb, SW_NOTE_AFTER, _i == 2 ? 0x601040 : 0x601000, 0, S2);
	after->flags = _i == 1 ? 0 : SW_NOTE_ON_HOST;
	struct sw_judgement *j;
	const struct sw_finding *race = consumed(tb, &j);
	expect(race, _i == 2, j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, objects, 0, sizeof ways / sizeof *ways);
	tcase_add_loop_test(tc, join, 0, 2);
	tcase_add_loop_test(tc, creation, 0, 2);
	tcase_add_test(tc, nobody_waited);
	tcase_add_test(tc, one_lane);
	tcase_add_loop_test(tc, host_function, 0, 2);
	tcase_add_loop_test(tc, annotated, 0, 3);
}

int main(void)
{
	return run_cases("threads", add);
}
