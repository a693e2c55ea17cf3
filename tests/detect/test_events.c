/* SPDX-License-Identifier: Apache-2.0 */
/* SW201-SW203, SW205: events that order nothing. */
#include "detect/judge.h"
#include "detect/model/collect.h"

/* 0: never recorded, 1: recorded too early, 2: on a stream without work, 3: replaced; 4: right. */
START_TEST(events_that_miss)
{
	static const int ids[] = {201, 202, 202, 203};
	static const enum sw_fix fixes[] = {SW_FIX_RECORD_HERE, SW_FIX_MOVE_RECORD, SW_FIX_RECORD_STREAM,
					    SW_FIX_OWN_EVENT};
	struct tb *tb = two_streams();
	uint64_t seq = 0;
	tb_stream_create(tb, S3, NONBLOCKING);
	if (_i == 1) {
		tb_event_record(tb, E1, S1);
		seq = tb->seq;
	}
	h2d(tb, DEV, PIN, 4096, S1);
	if (_i == 2) {
		tb_event_record(tb, E1, S3);
		seq = tb->seq;
	}
	if (_i >= 3)
		tb_event_record(tb, E1, S1);
	if (_i == 3) {
		tb_event_record(tb, E1, S3);
		seq = tb->seq;
	}
	tb_stream_wait(tb, S2, E1);
	if (_i == 0)
		seq = tb->seq;
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	if (_i == 4) {
		no_hazards(j);
		ck_assert_uint_eq(j->findings.n, 0);
	} else {
		const struct sw_finding *hazard = only(j, 101);
		const struct sw_finding *f = NULL;
		for (size_t i = 0; i < j->findings.n; i++)
			if (j->findings.at[i].id == ids[_i] && j->findings.at[i].severity == SW_ERROR)
				f = &j->findings.at[i];
		ck_assert_ptr_nonnull(f);
		ck_assert_int_eq(f->confidence, SW_CERTAIN);
		ck_assert_int_eq(hazard->fix, fixes[_i]);
		ck_assert_int_eq(f->fix, fixes[_i]);
		ck_assert_uint_eq(hazard->fix_call.seq, seq);
		ck_assert_uint_eq(f->fix_call.seq, seq);
	}
	sw_judgement_free(j);
}
END_TEST

/* Without a hazard they are notes: the first round of a ring of events. */
START_TEST(first_rounds_are_notes)
{
	struct tb *tb = two_streams();
	if (_i)
		tb_event_record(tb, E1, S1);
	tb_stream_wait(tb, S2, E1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 201), !_i);
	ck_assert_uint_eq(j->errors + j->warnings, 0);
	sw_judgement_free(j);
}
END_TEST

/* A wait that brought the order of other work is not blamed for a hazard that it was not meant for. */
START_TEST(useful_waits_are_not_blamed)
{
	struct tb *tb = two_streams();
	tb_stream_create(tb, S3, NONBLOCKING);
	h2d(tb, DEV, PIN, 4096, S1);
	tb_set(tb, DEV2, 64, S3);
	order(tb, S3, S2);
	d2d(tb, DEV2, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_int_eq(only(j, 101)->fix, SW_FIX_EVENT);
	ck_assert_uint_eq(count_of(j, 202), 0);
	sw_judgement_free(j);
}
END_TEST

/* An event used for ordering that is recorded again before anyone waited; one that is waited for in between. */
START_TEST(records_replaced)
{
	struct tb *tb = two_streams();
	order(tb, S1, S2);
	tb_event_record(tb, E1, S1);
	if (_i)
		tb_stream_wait(tb, S2, E1);
	tb_event_record(tb, E1, S1);
	struct sw_judgement *j = judged(tb);
	if (_i)
		ck_assert_uint_eq(count_of(j, 203), 0);
	else
		ck_assert_int_eq(only(j, 203)->severity, SW_NOTE);
	sw_judgement_free(j);
}
END_TEST

/* SW205: the wait comes before the work that it is meant for. */
START_TEST(waits_before_the_work_order_nothing)
{
	enum { CHAIN, RIGHT, WORK_AFTERWARDS, FIRST_ROUND, RELAY, HOST_KNEW, RACE, EARLY, HOST_WAITED_AFTERWARDS };
	struct tb *tb = two_streams();
	tb_stream_create(tb, S3, NONBLOCKING);
	if (_i == RIGHT || _i == HOST_KNEW || _i == HOST_WAITED_AFTERWARDS)
		tb_set(tb, DEV, 64, S1);
	if (_i == HOST_KNEW)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	if (_i == RELAY) {
		tb_set(tb, DEV2, 64, S3);
		order(tb, S3, S1);
	}
	tb_event_record(tb, E2, S1);
	if (_i == EARLY)
		tb_set(tb, DEV + 8192, 64, S1);
	if (_i == HOST_WAITED_AFTERWARDS)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	tb_stream_wait(tb, S2, E2);
	if (_i == CHAIN) {
		tb_event_record(tb, E1, S2);
		tb_stream_wait(tb, S3, E1);
	}
	if (_i != WORK_AFTERWARDS)
		tb_set(tb, DEV + 4096, 64, S1);
	tb_set(tb, DEV + (_i == RACE ? 4096 : 8192), 64, S2);
	tb_set(tb, _i == WORK_AFTERWARDS ? DEV + 4096 : DEV2 + 4096, 64, _i == WORK_AFTERWARDS ? S1 : S3);
	if (_i == FIRST_ROUND) {
		tb_event_record(tb, E2, S1);
		tb_stream_wait(tb, S2, E2);
	}
	struct sw_judgement *j = judged(tb);
	if (_i == CHAIN || _i == HOST_KNEW || _i == RACE) {
		const struct sw_finding *f = only(j, 205);
		ck_assert_int_eq(f->severity, SW_NOTE);
		ck_assert_uint_eq(f->count, _i == CHAIN ? 2 : 1);
		ck_assert_uint_eq(j->streams.at[f->fix_stream].handle, S1);
	} else {
		ck_assert_uint_eq(count_of(j, 205), 0);
	}
	/* Recorded before the work and waited for after it: where that made a race, it is reported once, as SW202. */
	ck_assert_uint_eq(count_of(j, 202), _i == EARLY);
	ck_assert_uint_eq(j->errors != 0, _i == RACE || _i == EARLY);
	sw_judgement_free(j);
}
END_TEST

/* The call that orders the streams before the hazard; of one that is long ago its number alone. */
START_TEST(calls_are_named_with_their_stacks)
{
	struct tb *tb = two_streams();
	tb_stream_create(tb, S3, NONBLOCKING);
	tb_event_record(tb, E1, S1);
	const uint32_t stack = tb_stack(tb, 1, 0x401000ull);
	tb_stream_wait(tb, S2, E1);
	const uint64_t wait = tb->seq;
	tb_stack(tb, 0);
	h2d(tb, DEV, PIN, 4096, S1);
	for (uint32_t i = 0; _i && i < SW_RECENT_CALLS; i++)
		tb_event_record(tb, E2, S3);
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	const struct sw_finding *f = only(j, 101);
	ck_assert_uint_eq(f->last_call.seq, wait);
	ck_assert_uint_eq(f->last_call.stack, _i ? 0 : stack);
	sw_judgement_free(j);
}
END_TEST

static void export(struct tb *tb, uint64_t event)
{
	struct sw_rec_other *o = tb_other(tb, SW_REC_OTHER, "cuIpcGetEventHandle");
	o->args[0] = event;
	o->args[1] = 99;
}

/* Calls of another process for an event are not seen: it may pass on what was recorded here by one of its own.  Nobody
   can wait for an event whose handle was not exported. */
START_TEST(events_of_other_processes)
{
	enum {
		PASSED_ON,
		PASSED_ON_TO_HOST,
		NOTHING_PASSED,
		PIPE,
		OWN_EVENT,
		NOT_EXPORTED,
		EXPORTED_LATER,
		ANOTHER_STREAM
	};
	struct tb *tb = two_streams();
	bool covered = _i == PASSED_ON || _i == PASSED_ON_TO_HOST || _i == EXPORTED_LATER;
	tb_event_create(tb, E1)->flags = _i == OWN_EVENT ? 0 : 4;
	tb_stream_create(tb, S3, NONBLOCKING);
	if (_i != OWN_EVENT && _i != NOT_EXPORTED && _i != EXPORTED_LATER)
		export(tb, E1);
	tb_event_create(tb, E2)->shared = 77;
	tb_set(tb, DEV, 64, S1);
	if (_i != NOTHING_PASSED)
		tb_event_record(tb, E1, _i == ANOTHER_STREAM ? S3 : S1);
	if (_i == EXPORTED_LATER)
		export(tb, E1);
	if (_i == PASSED_ON_TO_HOST)
		tb_sync(tb, SW_SYNC_EVENT, E2);
	else if (_i != PIPE)
		tb_stream_wait(tb, S2, E2);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	if (covered) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, 103);
		ck_assert_int_eq(f->severity, _i == PIPE ? SW_WARNING : SW_ERROR);
		ck_assert_int_eq(f->confidence, _i == PIPE ? SW_LIKELY : SW_CERTAIN);
	}
	ck_assert_uint_eq(count_of(j, 201) + count_of(j, 202) + count_of(j, 205), 0);
	sw_judgement_free(j);
}
END_TEST

/* An event made for other processes and recorded here: it orders what its last record covers.  0: the work; 1: the
   event was recorded before it; 2: on another stream; 3: never; 4: the record that covers it was replaced, exported or
   not. */
START_TEST(events_for_other_processes)
{
	struct tb *tb = two_streams();
	tb_event_create(tb, E1)->flags = 4;
	tb_stream_create(tb, S3, NONBLOCKING);
	if (_i == 1)
		tb_event_record(tb, E1, S1);
	tb_set(tb, DEV, 64, S1);
	if (_i == 0 || _i == 4)
		tb_event_record(tb, E1, S1);
	if (_i == 2 || _i == 4)
		tb_event_record(tb, E1, S3);
	tb_stream_wait(tb, S2, E1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	if (_i == 0)
		no_hazards(j);
	else
		ck_assert_int_eq(only(j, 103)->severity, SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

/* A wait for an event of another process is not for nothing, though nothing of this one is pending. */
START_TEST(waits_for_other_processes)
{
	struct tb *tb = two_streams();
	tb_event_create(tb, E1)->shared = _i ? 77 : 0;
	if (!_i)
		tb_event_record(tb, E1, S1);
	tb_sync(tb, SW_SYNC_EVENT, E1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 402), !_i);
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, waits_for_other_processes, 0, 2);
	tcase_add_loop_test(tc, events_of_other_processes, 0, 8);
	tcase_add_loop_test(tc, events_for_other_processes, 0, 5);
	tcase_add_loop_test(tc, events_that_miss, 0, 5);
	tcase_add_loop_test(tc, first_rounds_are_notes, 0, 2);
	tcase_add_test(tc, useful_waits_are_not_blamed);
	tcase_add_loop_test(tc, calls_are_named_with_their_stacks, 0, 2);
	tcase_add_loop_test(tc, records_replaced, 0, 2);
	tcase_add_loop_test(tc, waits_before_the_work_order_nothing, 0, 9);
}

int main(void)
{
	return run_cases("events", add);
}
