/* SPDX-License-Identifier: Apache-2.0 */
/* Gains from a fix: what is not known must widen the interval, and what is needed is no gain. */
#include "detect/judge.h"
#include "detect/kernels.h"

#define MS 1000000u

enum { ROUNDS = 10 };

/* The host works on its own. */
static void host_works(struct tb *tb, uint64_t ns)
{
	tb->now += ns;
}

static void last_wait(struct tb *tb)
{
	tb_stack(tb, 1, 0xe000ull);
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb_stack(tb, 0);
}

static const struct sw_together *all_advice(const struct sw_judgement *j)
{
	ck_assert_uint_gt(j->togethers, 0);
	ck_assert_int_eq(j->together[j->togethers - 1].id, 0);
	return &j->together[j->togethers - 1];
}

/* ---- needed waits ------------------------------------------------------------------------------------------------ */

/* In each round a kernel's result is copied by a synchronous copy, and the host works for as long as the kernel.
   0: to the host, which may read it right away.  1: from the host to the device. */
START_TEST(a_wait_that_the_host_may_need_is_no_sure_gain)
{
	struct tb *tb = two_streams();
	tb_stream_create(tb, S3, 0);
	for (int i = 0; i < ROUNDS; i++) {
		tb_set(tb, DEV2, 64, S3);
		tb->flags = SW_RF_SYNCHRONOUS;
		tb->dur = 3 * MS;
		if (_i)
			tb_copy_sync(tb, DEV, SW_SIDE_DEVICE, PIN, SW_SIDE_HOST, 4096);
		else
			tb_copy_sync(tb, PIN, SW_SIDE_HOST, DEV, SW_SIDE_DEVICE, 4096);
		tb->flags = 0;
		tb->dur = 100;
		host_works(tb, 3 * MS);
	}
	last_wait(tb);
	struct sw_judgement *j = judged(tb);
	const struct sw_cost *cost = only(j, 301)->cost;
	ck_assert(cost->replayed);
	ck_assert_uint_ge(cost->recoverable_high_ns, 20 * MS);
	if (_i) {
		ck_assert_uint_ge(cost->recoverable_sure_ns, 20 * MS);
		ck_assert_uint_ge(all_advice(j)->high_ns, 20 * MS);
	} else {
		ck_assert_uint_le(cost->recoverable_low_ns, MS / 2);
		ck_assert_uint_le(cost->recoverable_sure_ns, MS / 2);
		ck_assert_uint_le(all_advice(j)->high_ns, MS / 2);
	}
	sw_judgement_free(j);
}
END_TEST

/* A value is copied and waited for, in each round: whoever reads it needs the wait. */
START_TEST(values_that_are_read_back_are_no_sure_gain)
{
	struct tb *tb = two_streams();
	for (int i = 0; i < ROUNDS; i++) {
		tb_set(tb, DEV2, 64, S1);
		d2h(tb, PIN, DEV, 8, S1);
		tb->dur = 3 * MS;
		tb_sync(tb, SW_SYNC_STREAM, S1);
		tb->dur = 100;
		host_works(tb, 3 * MS);
	}
	last_wait(tb);
	struct sw_judgement *j = judged(tb);
	const struct sw_cost *cost = only(j, 301)->cost;
	ck_assert_uint_ge(cost->recoverable_high_ns, 20 * MS);
	ck_assert_uint_le(cost->recoverable_low_ns, MS / 2);
	ck_assert_uint_le(all_advice(j)->high_ns, MS / 2);
	sw_judgement_free(j);
}
END_TEST

/* ---- times that are not known -------------------------------------------------------------------------------------
 */

/*
 * In each round a kernel of 1 ms and a wait for it, then one of 0.2 ms during 1 ms of work of the host.  Without the
 * wait a round takes 1.2 ms, not 2.  The first kernel was seen alone once.  The second one never was: that it is the
 * same kernel, with other numbers (0), launched elsewhere (1), or by both the same (2: what it does depends on its
 * data), does not say that it takes as long.
 */
START_TEST(what_was_never_seen_alone_is_not_known)
{
	struct tb *tb = with_code(two_streams());
	const uint32_t fill = test_function(tb, "fill");
	for (int i = 0; i < ROUNDS; i++) {
		tb_stack(tb, 1, 0x1000ull);
		tb_launch(tb, fill, S1, 2, DEV, 256ull << 32);
		tb_stack(tb, 1, 0x2000ull);
		tb->dur = MS;
		tb_sync(tb, SW_SYNC_STREAM, S1);
		tb->dur = 100;
		tb_stack(tb, 1, _i == 1 ? 0x3000ull : 0x1000ull);
		tb_launch(tb, fill, S1, 2, DEV, (_i == 0 ? 64ull : 256ull) << 32);
		tb_stack(tb, 0);
		host_works(tb, MS);
	}
	last_wait(tb);
	struct sw_judgement *j = judged(tb);
	const struct sw_cost *cost = only(j, 401)->cost;
	const uint64_t saved = ROUNDS * (MS - MS / 5);
	ck_assert(cost->replayed);
	ck_assert_uint_le(cost->recoverable_low_ns, saved);
	ck_assert_uint_ge(cost->recoverable_high_ns, saved);
	ck_assert(cost->vague);
	ck_assert_uint_ge(all_advice(j)->high_ns, saved);
	sw_judgement_free(j);
}
END_TEST

/* The twin: both were seen alone in each round, so both are known, and the interval is narrow. */
START_TEST(what_was_seen_alone_is_known)
{
	struct tb *tb = with_code(two_streams());
	const uint32_t fill = test_function(tb, "fill");
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < 2; k++) {
			tb_stack(tb, 1, 0x1000ull);
			tb_launch(tb, fill, S1, 2, DEV, (k ? 64ull : 256ull) << 32);
			tb_stack(tb, 1, 0x2000ull);
			tb->dur = k ? MS / 5 : MS;
			tb_sync(tb, SW_SYNC_STREAM, S1);
			tb->dur = 100;
		}
		tb_stack(tb, 0);
		host_works(tb, MS);
	}
	last_wait(tb);
	struct sw_judgement *j = judged(tb);
	const struct sw_cost *cost = only(j, 401)->cost;
	/* A round takes 1.2 ms, not 2.2. */
	ck_assert(!cost->vague);
	ck_assert_uint_ge(cost->recoverable_high_ns, ROUNDS * MS * 9 / 10);
	ck_assert_uint_le(cost->recoverable_high_ns, ROUNDS * MS * 12 / 10);
	sw_judgement_free(j);
}
END_TEST

/* ---- sentences that agree ---------------------------------------------------------------------------------------- */

/* Memory is pinned and released in each round: one advice, for which the two count together.  1: pinned memory that is
   released by a place that never released what the other one pinned. */
START_TEST(pinning_and_releasing_is_one_advice)
{
	struct tb *tb = two_streams();
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t host = HOST + ((uint64_t)i << 24);
		tb_set(tb, DEV2, 64, S1);
		tb->dur = 2 * MS;
		tb_stack(tb, 1, 0x1000ull);
		tb_alloc(tb, SW_MEM_REGISTERED, host, 65536);
		host_works(tb, 2 * MS);
		tb->dur = 4 * MS;
		tb_stack(tb, 1, 0x2000ull);
		if (!_i)
			tb_free_sync(tb, SW_MEM_REGISTERED, host);
		tb_stack(tb, 0);
		tb->dur = 100;
		host_works(tb, MS);
	}
	last_wait(tb);
	struct sw_judgement *j = judged(tb);
	const struct sw_finding *pin = NULL, *release = NULL;
	for (size_t i = 0; i < j->findings.n; i++)
		if (j->findings.at[i].id == 307)
			*(sw_finding_details(&j->findings.at[i])->maker.seq ? &release : &pin) = &j->findings.at[i];
	ck_assert_ptr_nonnull(pin);
	ck_assert((release != NULL) == !_i);
	if (release) {
		ck_assert_uint_eq(pin->cost->recoverable_high_ns, release->cost->recoverable_high_ns);
		ck_assert_uint_ge(pin->cost->recoverable_high_ns + 2 * MS, all_advice(j)->high_ns);
	} else {
		ck_assert_uint_le(pin->cost->recoverable_high_ns, pin->cost->total_ns);
	}
	sw_judgement_free(j);
}
END_TEST

/* A cost that goes away once is paid for once: memory pinned at the start of a run is pinned by the fixed program as
   well. */
START_TEST(the_change_itself_is_paid_for)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV2, 64, S1);
	for (int i = 0; i < (_i ? ROUNDS : 1); i++) {
		tb->dur = 5 * MS;
		tb_alloc(tb, SW_MEM_PINNED, PIN + ((uint64_t)(i + 4) << 20), 4096);
		tb->dur = 100;
		host_works(tb, 5 * MS);
	}
	last_wait(tb);
	struct sw_judgement *j = judged(tb);
	const struct sw_cost *cost = only(j, 307)->cost;
	if (_i)
		ck_assert_uint_ge(cost->recoverable_high_ns, 5 * MS);
	ck_assert_uint_le(cost->recoverable_high_ns, cost->total_ns - 5 * MS + 1000);
	sw_judgement_free(j);
}
END_TEST

static void ran(struct tb *tb, uint64_t call, uint32_t correlation, uint64_t start, uint64_t end)
{
	tb_activity(tb, SW_ACTIVITY_CALL, correlation, call + 10, call + 90)->on = 1000;
	tb_activity(tb, SW_ACTIVITY_SET, correlation, start, end);
}

/* A result is copied to the host, which waits for it.  The copy begins so many nanoseconds late. */
static void copied_late(struct tb *tb, uint64_t late, uint32_t correlation)
{
	tb->dur = 100;
	d2h(tb, PIN + 65536, DEV + 65536, 64, S2);
	uint64_t call = tb->now - tb->step;
	tb->dur = late + 4000;
	if (late)
		tb_sync(tb, SW_SYNC_STREAM, S2);
	else
		last_wait(tb);
	tb_activity(tb, SW_ACTIVITY_CALL, correlation, call + 10, call + 90)->on = 1000;
	tb_activity(tb, SW_ACTIVITY_COPY, correlation, call + late + 1000, call + late + 3000);
	tb->dur = 100;
}

/* Where the device is done just before the next wait, a wait less wins nothing: no warning.  1: nor where work began
   20 ms late for no reason that was recorded (another process had the device), so that the replay is not reliable. */
START_TEST(advice_that_wins_nothing_is_no_warning)
{
	struct tb *tb = two_streams();
	tb_gpu_clock(tb, tb->now, 0);
	uint64_t late = _i ? 20 * MS : 0;
	if (late)
		copied_late(tb, late, 1);
	for (uint32_t round = 0; round < 2; round++) {
		tb_set(tb, DEV2, 64, S1);
		uint64_t call = tb->now - tb->step;
		tb->dur = 5 * MS;
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
		ran(tb, call, 2 * round + 2, call + 2000, call + 5 * MS);
		copied_late(tb, 0, 2 * round + 3);
	}
	tb_gpu_clock(tb, tb->now, 0);
	struct sw_judgement *j = judged(tb);
	ck_assert_int_eq(j->schedule.reliable, !_i);
	ck_assert_int_eq(only(j, 401)->severity, SW_NOTE);
	sw_judgement_free(j);
}
END_TEST

/* Work on two streams, the first of which is done last.  0: the device tells.  1: nobody does.  2: there is only one.
 */
START_TEST(the_work_that_was_done_last_is_named)
{
	struct tb *tb = two_streams();
	if (!_i)
		tb_gpu_clock(tb, tb->now, 0);
	tb_set(tb, DEV, 64, S1);
	uint64_t first = tb->seq, at = tb->now - tb->step;
	if (_i != 2)
		tb_set(tb, DEV2, 64, S2);
	tb->dur = 5 * MS;
	tb_alloc(tb, SW_MEM_PINNED, PIN + (4 << 20), 4096);
	uint64_t call = tb->now;
	tb_free_sync(tb, SW_MEM_PINNED, PIN + (4 << 20));
	if (!_i) {
		ran(tb, at, 1, at + 1000, call + 4 * MS);
		ran(tb, at + tb->step, 2, at + 2000, at + 3000);
		tb_gpu_clock(tb, tb->now, 0);
	}
	struct sw_judgement *j = judged(tb);
	const struct sw_finding *release = NULL;
	for (size_t i = 0; i < j->findings.n; i++)
		if (j->findings.at[i].id == 307 && j->findings.at[i].access[0]->kind == SW_REC_FREE)
			release = &j->findings.at[i];
	ck_assert_ptr_nonnull(release);
	ck_assert_uint_eq(sw_finding_details(release)->waited_for.seq, _i == 1 ? 0 : first);
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, a_wait_that_the_host_may_need_is_no_sure_gain, 0, 2);
	tcase_add_loop_test(tc, what_was_never_seen_alone_is_not_known, 0, 3);
	tcase_add_test(tc, what_was_seen_alone_is_known);
	tcase_add_test(tc, values_that_are_read_back_are_no_sure_gain);
	tcase_add_loop_test(tc, pinning_and_releasing_is_one_advice, 0, 2);
	tcase_add_loop_test(tc, the_change_itself_is_paid_for, 0, 2);
	tcase_add_loop_test(tc, advice_that_wins_nothing_is_no_warning, 0, 2);
	tcase_add_loop_test(tc, the_work_that_was_done_last_is_named, 0, 3);
}

int main(void)
{
	return run_cases("gains", add);
}
