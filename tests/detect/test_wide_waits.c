/* SPDX-License-Identifier: Apache-2.0 */
/* SW401-SW403: what a wait was needed for, waits for nothing, query loops. */
#include "detect/judge.h"

#define MS 1000000u

/* The end of a program: another place waits for all that is left, and for work of its own. */
static void wait_at_the_end(struct tb *tb, bool work)
{
	if (work)
		d2h(tb, PIN + 65536, DEV + 65536, 64, S2);
	tb_stack(tb, 1, 0xe000ull);
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb_stack(tb, 0);
}

static void export(struct tb *tb)
{
	struct sw_rec_other *other = tb_other(tb, SW_REC_OTHER, "cuIpcGetMemHandle");
	other->args[0] = DEV2;
	other->args[1] = 77;
}

/* 0: the device is waited for, the copy would have been enough.  1: the copy's stream.  2: the memory of the
   other stream's work is freed afterwards.  3: it wrote memory that the host can read.  4: a kernel of which nothing is
   known.  5: it cost nothing.  6, 7: another process knows the other stream's memory, from before the work or after the
   wait. */
START_TEST(wide_waits)
{
	struct tb *tb = two_streams();
	uint32_t unknown = tb_function(tb, "plain", 1, 8);
	if (_i == 6)
		export(tb);
	tb_set(tb, DEV2, 64, S1);
	if (_i == 3)
		d2h(tb, PIN + 8192, DEV2, 64, S1);
	if (_i == 4)
		tb_launch(tb, unknown, S1, 1, (uint64_t)0);
	d2h(tb, PIN, DEV, 4096, S2);
	uint64_t needed = tb->seq;
	tb->dur = _i == 5 ? 100 : 5 * MS;
	tb_sync(tb, _i == 1 ? SW_SYNC_STREAM : SW_SYNC_CONTEXT, _i == 1 ? S2 : 0);
	tb->dur = 100;
	if (_i == 7)
		export(tb);
	if (_i == 2)
		tb_free_sync(tb, SW_MEM_UNKNOWN, DEV2);
	wait_at_the_end(tb, true);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		ck_assert_uint_eq(count_of(j, 401), 0);
	} else {
		const struct sw_finding *f = only(j, 401);
		ck_assert_int_eq(f->severity, SW_NOTE); /* a single call, and its gain is not certain */
		ck_assert_int_eq(f->confidence, SW_LIKELY);
		ck_assert_int_eq(f->fix, SW_FIX_NARROW);
		ck_assert_uint_eq(j->streams.at[f->fix_stream].handle, S2);
		ck_assert_uint_eq(f->fix_call.seq, needed);
		ck_assert_uint_eq(sw_finding_details(f)->needs, 1);
		ck_assert_uint_eq(sw_finding_details(f)->need[0].to, 0);
		ck_assert(sw_finding_details(f)->need[0].whole);
		ck_assert_uint_eq(f->covered, 2);
	}
	sw_judgement_free(j);
}
END_TEST

/* In the middle of a stream: an event after the copy would do. */
START_TEST(wide_waits_on_one_stream)
{
	struct tb *tb = two_streams();
	d2h(tb, PIN, DEV, 4096, S1);
	uint64_t needed = tb->seq;
	if (!_i)
		tb_set(tb, DEV2, 64, S1);
	tb->dur = 5 * MS;
	tb_sync(tb, SW_SYNC_STREAM, S1);
	wait_at_the_end(tb, true);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		ck_assert_uint_eq(count_of(j, 401), 0);
	} else {
		const struct sw_need *need = &sw_finding_details(only(j, 401))->need[0];
		ck_assert(!need->whole);
		ck_assert_uint_eq(need->work.seq, needed);
	}
	sw_judgement_free(j);
}
END_TEST

/* Another stream continues with the work: it could wait by itself. 1: it did not touch it, so nothing needed the
   wait. 2: a wait that comes once, and last. 3: the host asks afterwards whether the work is done. */
START_TEST(waits_for_other_streams)
{
	struct tb *tb = two_streams();
	for (int round = 0; round < 3; round++) {
		tb_set(tb, DEV, 4096, S1);
		tb_event_record(tb, E1, S1);
		tb->dur = 5 * MS;
		if (_i != 2 || round == 2)
			tb_sync(tb, SW_SYNC_CONTEXT, 0);
		tb->dur = 100;
		if (!_i)
			tb->now += 5 * MS;
		if (_i == 3)
			tb_query(tb, SW_SYNC_EVENT, E1, 0);
		if (!_i)
			d2d(tb, DEV2, DEV, 64, S2);
	}
	if (_i != 2)
		wait_at_the_end(tb, true);
	struct sw_judgement *j = judged(tb);
	if (_i >= 2) {
		ck_assert_uint_eq(count_of(j, 401), 0);
	} else {
		const struct sw_finding *f = only(j, 401);
		ck_assert_int_eq(f->severity, _i ? SW_NOTE : SW_WARNING); /* 0: the host works meanwhile */
		ck_assert_uint_eq(sw_finding_details(f)->needs, !_i);
		ck_assert_int_eq(f->fix, _i ? SW_FIX_UNNEEDED : SW_FIX_NARROW);
		ck_assert(_i || sw_finding_details(f)->need[0].to);
	}
	sw_judgement_free(j);
}
END_TEST

/* Ways to order the other stream. 0: the program has an event of its own there, 1: that was recorded too early; 2: the
   other one is the legacy stream, which waits for a blocking one, 3: and does not for a non-blocking one. */
START_TEST(waits_for_streams_that_are_ordered)
{
	enum { BLOCKING_STREAM = 0xa5, LEGACY = 1 };
	struct tb *tb = two_streams();
	tb_stream_create(tb, BLOCKING_STREAM, 0);
	const uint64_t from = _i == 2 ? BLOCKING_STREAM : S1, to = _i < 2 ? S2 : LEGACY;
	for (int round = 0; round < 3; round++) {
		if (_i == 1)
			tb_event_record(tb, E1, from);
		tb_set(tb, DEV, 4096, from);
		if (_i == 0)
			tb_event_record(tb, E1, from);
		tb->dur = 5 * MS;
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
		tb->dur = 100;
		if (_i < 2)
			tb_stream_wait(tb, to, E1);
		d2d(tb, DEV2, DEV, 64, to);
	}
	wait_at_the_end(tb, true);
	struct sw_judgement *j = judged(tb);
	const struct sw_finding *f = only(j, 401);
	ck_assert_uint_eq(sw_finding_details(f)->needs, _i % 2);
	ck_assert_int_eq(f->fix, _i % 2 ? SW_FIX_NARROW : SW_FIX_UNNEEDED);
	sw_judgement_free(j);
}
END_TEST

/* Right after it comes another wait, which would take as long without it. */
START_TEST(waits_are_not_moved)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 4096, S1);
	d2h(tb, PIN, DEV2, 64, S2);
	tb->dur = 5 * MS;
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb->dur = 100;
	wait_at_the_end(tb, _i);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 401), _i);
	sw_judgement_free(j);
}
END_TEST

/* Work that an earlier wait of the loop covered, a later round needs: the place keeps it. */
START_TEST(needs_of_later_rounds)
{
	struct tb *tb = two_streams();
	for (int round = 0; round < 3; round++) {
		if (!round)
			tb_set(tb, DEV, 4096, S1);
		tb_set(tb, DEV2, 4096, S2);
		tb->dur = 5 * MS;
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
		tb->dur = 100;
	}
	if (_i)
		tb_free_sync(tb, SW_MEM_UNKNOWN, DEV);
	tb_free_sync(tb, SW_MEM_UNKNOWN, DEV2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 401), !_i);
	sw_judgement_free(j);
}
END_TEST

/* An unknown kernel takes one place out, another waits for nothing that is used before the next wait of the first: what
   no wait was needed for is not handed on past one that stays, however long the loop.  1: the host reads what the other
   one waits for. */
START_TEST(waits_end_at_one_that_stays)
{
	enum { ROUNDS = 12, RECORDS = 1000 }; /* in all more than work is watched for that nothing needs */
	struct tb *tb = two_streams();
	uint32_t unknown = tb_function(tb, "plain", 1, 8);
	for (int round = 0; round < ROUNDS; round++) {
		tb_set(tb, DEV, 4096, S1);
		tb_stack(tb, 1, 0xe000ull);
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
		if (!round)
			tb_launch(tb, unknown, S1, 1, (uint64_t)0);
		if (!round)
			tb_sync(tb, SW_SYNC_CONTEXT, 0);
		tb_stack(tb, 0);
		if (round && _i)
			d2h(tb, PIN, DEV, 4096, S1);
		else if (round)
			tb_set(tb, DEV, 4096, S1);
		tb->dur = 5 * MS;
		if (round)
			tb_sync(tb, SW_SYNC_CONTEXT, 0);
		tb->dur = 100;
		for (int i = 0; i < RECORDS; i++)
			tb_query(tb, SW_SYNC_STREAM, S2, 0);
		tb_set(tb, DEV, 4096, S1);
	}
	wait_at_the_end(tb, true);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 401), !_i);
	ck_assert(_i || only(j, 401)->fix == SW_FIX_UNNEEDED);
	sw_judgement_free(j);
}
END_TEST

/* A wait that stays is for one stream; what was done on another stream is needed after it.  1: it stays for both. */
START_TEST(waits_that_stay_end_what_they_cover)
{
	struct tb *tb = two_streams();
	uint32_t unknown = tb_function(tb, "plain", 1, 8);
	for (int round = 0; round < 3; round++) {
		if (round) {
			tb_set(tb, DEV2, 4096, S2);
			tb->dur = 5 * MS;
			tb_sync(tb, SW_SYNC_STREAM, S2);
			tb->dur = 100;
		}
		tb_set(tb, DEV, 4096, S1);
		tb_stack(tb, 1, 0xe000ull);
		tb_sync(tb, _i ? SW_SYNC_CONTEXT : SW_SYNC_STREAM, _i ? 0 : S1);
		if (!round) {
			tb_launch(tb, unknown, S1, 1, (uint64_t)0);
			tb_sync(tb, _i ? SW_SYNC_CONTEXT : SW_SYNC_STREAM, _i ? 0 : S1);
		}
		tb_stack(tb, 0);
		d2d(tb, DEV, DEV2, 4096, S1);
	}
	wait_at_the_end(tb, true);
	struct sw_judgement *j = judged(tb);
	ck_assert_int_eq(only(j, 401)->fix, _i ? SW_FIX_UNNEEDED : SW_FIX_NARROW);
	sw_judgement_free(j);
}
END_TEST

/* A wait that never found anything pending may be removed, so it does not stay, whatever is unknown of it: what comes
   after it needs the wait before it or this one.  1: nothing comes after it. */
START_TEST(redundant_waits_do_not_stay)
{
	struct tb *tb = two_streams();
	uint32_t unknown = tb_function(tb, "plain", 1, 8);
	for (int round = 0; round < 3; round++) {
		tb_set(tb, DEV, 4096, S1);
		tb->dur = 5 * MS;
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
		tb->dur = 100;
		tb_stack(tb, 1, 0xc000ull);
		if (round < 2) /* else the wait before it would only move to it */
			tb_sync(tb, SW_SYNC_CONTEXT, 0);
		tb_stack(tb, 0);
		if (!round)
			tb_launch(tb, unknown, S1, 1, (uint64_t)0);
		else
			d2d(tb, DEV2, !_i && round == 1 ? DEV : DEV2 + 4096, 64, S2);
		tb_stack(tb, 1, 0xd000ull);
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
		tb_stack(tb, 0);
	}
	wait_at_the_end(tb, true);
	struct sw_judgement *j = judged(tb);
	ck_assert_int_eq(only(j, 401)->fix, SW_FIX_UNNEEDED);
	ck_assert_uint_eq(count_of(j, 402), _i);
	sw_judgement_free(j);
}
END_TEST

/* A place that once found nothing pending, and once did. */
START_TEST(waits_that_are_redundant_now_and_then)
{
	struct tb *tb = two_streams();
	for (int round = 0; round < 4; round++) {
		if (_i && round == 3)
			d2h(tb, PIN, DEV, 64, S1);
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
	}
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 402), !_i);
	sw_judgement_free(j);
}
END_TEST

START_TEST(redundant_waits)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb_sync(tb, SW_SYNC_STREAM, S1);
	if (_i)
		tb_set(tb, DEV, 64, S1);
	wait_at_the_end(tb, false);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		ck_assert_uint_eq(count_of(j, 402), 0);
	} else {
		ck_assert_int_eq(only(j, 402)->severity, SW_NOTE);
		ck_assert_int_eq(only(j, 402)->fix, SW_FIX_REMOVE);
		ck_assert(only(j, 402)->hidden);
	}
	sw_judgement_free(j);
}
END_TEST

START_TEST(query_loops)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb->dur = 1000;
	tb->step = _i ? 200000 : 4000; /* a poll now and then is no loop */
	for (int i = 0; i < 1000; i++)
		tb_query(tb, SW_SYNC_STREAM, S1, 600);
	tb_query(tb, SW_SYNC_STREAM, S1, 0);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		ck_assert_uint_eq(count_of(j, 403), 0);
	} else {
		ck_assert_int_eq(only(j, 403)->severity, SW_WARNING);
		ck_assert_uint_eq(only(j, 403)->polls, 1001);
		ck_assert_uint_eq(only(j, 403)->cost->core_low_ns, 1001 * 1000);
		ck_assert_uint_eq(only(j, 403)->cost->core_high_ns, only(j, 403)->cost->total_ns);
	}
	sw_judgement_free(j);
}
END_TEST

/*
 * Polls that are counted in records are judged as those that have one each.  Rows: close together; now and then; close
 * together, with a call of the thread between the two halves; of two streams.
 */
static struct sw_judgement *polls(bool counted, int row)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb->dur = 1000;
	tb->step = row == 1 ? 200000 : 4000;
	for (int half = 0; half < 2; half++) {
		const uint64_t stream = row == 3 && half ? S2 : S1;
		if (half && row == 2)
			tb_event_record(tb, E1, S2);
		for (int i = 0; i < (counted ? 1 : 500); i++)
			tb_query(tb, SW_SYNC_STREAM, stream, 600);
		if (counted)
			tb_polls(tb, SW_SYNC_STREAM, stream, 499);
	}
	tb_query(tb, SW_SYNC_STREAM, S1, 0);
	return judged(tb);
}

START_TEST(counted_polls)
{
	struct sw_judgement *one = polls(false, _i), *many = polls(true, _i);
	ck_assert_uint_eq(count_of(one, 403), _i == 1 ? 0 : 1);
	ck_assert_uint_eq(many->findings.n, one->findings.n);
	for (size_t i = 0; i < one->findings.n; i++) {
		const struct sw_finding *a = &one->findings.at[i], *b = &many->findings.at[i];
		ck_assert_int_eq(b->id, a->id);
		if (a->id == 403)
			ck_assert_uint_eq(b->polls, a->polls);
		if (!a->cost)
			continue;
		ck_assert_uint_eq(b->cost->total_ns, a->cost->total_ns);
		ck_assert_uint_eq(b->cost->core_low_ns, a->cost->core_low_ns);
		ck_assert_uint_eq(b->cost->core_high_ns, a->cost->core_high_ns);
		ck_assert_uint_eq(b->cost->recoverable_low_ns, a->cost->recoverable_low_ns);
		ck_assert_uint_eq(b->cost->recoverable_high_ns, a->cost->recoverable_high_ns);
	}
	ck_assert_uint_eq(many->coverage.driver_calls, one->coverage.driver_calls);
	ck_assert_uint_eq(many->coverage.runtime_calls, one->coverage.runtime_calls);
	sw_judgement_free(one);
	sw_judgement_free(many);
}
END_TEST

/* Calls that held the host, by kind; and the same calls with nothing pending. */
START_TEST(waits_by_kind)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	if (_i)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	tb->dur = 5 * MS;
	tb_alloc(tb, SW_MEM_PINNED, PIN + (4 << 20), 4096);
	tb_free_sync(tb, SW_MEM_UNKNOWN, DEV2);
	tb->dur = 1000;
	tb->step = 4000;
	for (int i = 0; i < 1000; i++)
		tb_query(tb, SW_SYNC_STREAM, S1, 600);
	tb_query(tb, SW_SYNC_STREAM, S1, 0);
	struct sw_judgement *j = judged(tb);
	const struct sw_host_wait *held = j->host_waits;
	ck_assert_uint_eq(held[SW_HOST_WAIT_ALLOC].calls, !_i);
	ck_assert_uint_eq(held[SW_HOST_WAIT_ALLOC].ns, _i ? 0 : 5 * MS);
	ck_assert_uint_eq(held[SW_HOST_WAIT_FREE].calls, !_i);
	ck_assert_uint_eq(held[SW_HOST_WAIT_SYNC].calls, _i != 0);
	ck_assert_uint_eq(held[SW_HOST_WAIT_POLL].calls, 1001);
	ck_assert_uint_eq(held[SW_HOST_WAIT_POLL].ns, only(j, 403)->cost->total_ns);
	ck_assert_uint_eq(held[SW_HOST_WAIT_OTHER].calls, 0);
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, wide_waits, 0, 8);
	tcase_add_loop_test(tc, wide_waits_on_one_stream, 0, 2);
	tcase_add_loop_test(tc, waits_for_other_streams, 0, 4);
	tcase_add_loop_test(tc, waits_for_streams_that_are_ordered, 0, 4);
	tcase_add_loop_test(tc, waits_are_not_moved, 0, 2);
	tcase_add_loop_test(tc, needs_of_later_rounds, 0, 2);
	tcase_add_loop_test(tc, waits_end_at_one_that_stays, 0, 2);
	tcase_add_loop_test(tc, waits_that_stay_end_what_they_cover, 0, 2);
	tcase_add_loop_test(tc, redundant_waits_do_not_stay, 0, 2);
	tcase_add_loop_test(tc, waits_that_are_redundant_now_and_then, 0, 2);
	tcase_add_loop_test(tc, redundant_waits, 0, 2);
	tcase_add_loop_test(tc, counted_polls, 0, 4);
	tcase_add_loop_test(tc, query_loops, 0, 2);
	tcase_add_loop_test(tc, waits_by_kind, 0, 2);
}

int main(void)
{
	return run_cases("wide-waits", add);
}
