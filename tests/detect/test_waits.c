/* SPDX-License-Identifier: Apache-2.0 */
/* SW201-SW203 and SW301-SW403: events that order nothing, calls that wait. */
#include "detect/judge.h"

#define MS 1000000u

static void sync_copy(struct tb *tb, uint64_t dst, enum sw_side ds, uint64_t src, enum sw_side ss, uint64_t ns)
{
	tb->flags = SW_RF_SYNCHRONOUS;
	tb->dur = ns;
	tb_copy_sync(tb, dst, ds, src, ss, 4096);
	tb->flags = 0;
	tb->dur = 100;
}

/* ---- events that order nothing ------------------------------------------------------------------------------------
 */

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
		ck_assert_uint_eq(hazard->fix_seq, seq);
		ck_assert_uint_eq(f->fix_seq, seq);
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

/* ---- calls that wait ------------------------------------------------------------------------------------------------
 */

/* 0: waits 5 ms for a blocking stream's kernel.  1: the same copy, nothing pending.  2: non-blocking, so it does not
   wait: documented, but not here. */
START_TEST(synchronous_copies)
{
	struct tb *tb = two_streams();
	tb_stream_create(tb, S3, 0);
	if (_i != 1)
		tb_set(tb, DEV2, 64, S3);
	uint64_t tb_step = tb->step;
	sync_copy(tb, PIN, SW_SIDE_HOST, DEV, SW_SIDE_DEVICE, _i ? 20000 : 5 * MS);
	struct sw_judgement *j = judged(tb);
	const struct sw_finding *f = only(j, 301);
	ck_assert_int_eq(f->severity, _i ? SW_NOTE : SW_WARNING);
	ck_assert_int_eq(f->basis, SW_BASIS_DOCUMENTED);
	ck_assert_int_eq(f->confidence, SW_CERTAIN);
	ck_assert_uint_eq(f->cost.calls, 1);
	ck_assert_uint_eq(f->cost.waited_calls, !_i);
	uint64_t ns = (_i ? 20000 : 5 * MS) + tb_step; /* END comes a step after the call */
	ck_assert_uint_eq(f->cost.total_ns, ns);
	ck_assert_uint_eq(f->cost.worst_ns, ns);
	ck_assert(f->not_waited == (_i == 2));
	ck_assert(f->hidden == (_i != 0));
	ck_assert_uint_eq(j->folded_waits, _i != 0);
	ck_assert_uint_eq(j->host_wait_ns, ns);
	sw_judgement_free(j);
}
END_TEST

/* 0: a value is copied to pinned memory and waited for.  1: more than a value.  2: another stream is waited for.  3:
 * later. */
START_TEST(values_read_back)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV2, 64, S2);
	d2h(tb, PIN, DEV, _i == 1 ? 4096 : 8, S1);
	if (_i == 3)
		tb->now += MS;
	tb_sync(tb, SW_SYNC_STREAM, _i == 2 ? S2 : S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 301), !_i);
	if (!_i) {
		ck_assert_int_eq(only(j, 301)->fix, SW_FIX_VALUE);
		ck_assert_uint_eq(only(j, 301)->accesses, 2);
		ck_assert_int_eq(only(j, 301)->access[0].kind, SW_REC_SYNC);
		ck_assert_int_eq(only(j, 301)->access[1].kind, SW_REC_COPY);
	}
	sw_judgement_free(j);
}
END_TEST

/* Copies inside the device wait for nothing and are no finding. */
START_TEST(copies_inside_the_device_do_not_wait)
{
	struct tb *tb = two_streams();
	sync_copy(tb, DEV, SW_SIDE_DEVICE, DEV2, SW_SIDE_DEVICE, 5 * MS);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->findings.n, 0);
	sw_judgement_free(j);
}
END_TEST

START_TEST(pageable_asynchronous_copies)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb->dur = 5 * MS;
	d2h(tb, _i ? PIN : HOST, DEV, 4096, S1);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		ck_assert_uint_eq(count_of(j, 302), 0);
	} else {
		const struct sw_finding *f = only(j, 302);
		ck_assert_int_eq(f->severity, SW_WARNING);
		ck_assert_int_eq(f->basis, SW_BASIS_MEASURED);
		ck_assert_int_eq(f->fix, SW_FIX_PIN);
	}
	sw_judgement_free(j);
}
END_TEST

/* A few bytes for the host are a value that it asks for: pinned memory would not help.  1: as many bytes to the device.
 */
START_TEST(values_for_the_host)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb->dur = 5 * MS;
	if (_i)
		h2d(tb, DEV, HOST, 8, S1);
	else
		d2h(tb, HOST, DEV, 8, S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_int_eq(only(j, 302)->fix, _i ? SW_FIX_PIN : SW_FIX_VALUE);
	sw_judgement_free(j);
}
END_TEST

START_TEST(sets_of_host_memory)
{
	struct tb *tb = two_streams();
	tb->dur = 5 * MS;
	tb_set(tb, _i ? DEV : PIN, 64, 0)->h.flags |= SW_RF_SYNCHRONOUS;
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 303), !_i);
	sw_judgement_free(j);
}
END_TEST

/* 0: a legacy set between two blocking streams.  1: on a non-blocking stream.  2: the same stream on both sides.  3:
   the host had waited in between. */
START_TEST(legacy_serialisation)
{
	struct tb *tb = two_streams();
	tb_stream_create(tb, S3, 0);
	tb_stream_create(tb, 0xd0, 0);
	tb_set(tb, DEV, 64, S3);
	tb_set(tb, DEV2, 64, _i == 1 ? S1 : 0);
	if (_i == 3)
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb_set(tb, PIN, 64, _i == 2 ? S3 : 0xd0);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		ck_assert_uint_eq(count_of(j, 304), 0);
	} else {
		const struct sw_finding *f = only(j, 304);
		ck_assert_int_eq(f->severity, SW_NOTE);
		ck_assert_int_eq(f->basis, SW_BASIS_DOCUMENTED);
		ck_assert_int_eq(f->fix, SW_FIX_NONBLOCKING);
		ck_assert_int_eq(j->streams.at[f->access[0].stream].kind, SW_LANE_LEGACY);
		ck_assert_uint_eq(j->streams.at[f->access[1].stream].handle, 0xd0);
		ck_assert_uint_eq(j->streams.at[f->blocker.stream].handle, S3);
	}
	sw_judgement_free(j);
}
END_TEST

static void ran(struct tb *tb, uint64_t call, uint32_t correlation, uint64_t start, uint64_t end)
{
	tb_activity(tb, SW_ACTIVITY_CALL, correlation, call + 10, call + 90)->on = 1000;
	tb_activity(tb, SW_ACTIVITY_SET, correlation, start, end);
}

/* 0: a set is given out to an idle stream and begins when the legacy stream is done.  1: its own stream was busy until
   then.  2: what its own stream did has no times.  3: no times at all. */
START_TEST(work_that_is_held_back)
{
	struct tb *tb = two_streams();
	uint64_t at[4];
	tb_stream_create(tb, S3, 0);
	tb_stream_create(tb, 0xd0, 0);
	if (_i < 3)
		tb_gpu_clock(tb, tb->now, 0);
	tb->dur = 100;
	tb_set(tb, DEV, 64, S3);
	at[0] = tb->now - tb->step;
	if (_i == 1 || _i == 2)
		tb_set(tb, DEV + 4096, 64, 0xd0);
	at[1] = tb->now - tb->step;
	tb_set(tb, DEV2, 64, 0);
	at[2] = tb->now - tb->step;
	tb_set(tb, PIN, 64, 0xd0);
	at[3] = tb->now - tb->step;
	if (_i < 3) {
		ran(tb, at[0], 1, at[3] + 1000, at[3] + MS);
		if (_i == 1)
			ran(tb, at[1], 2, at[3] + 1000, at[3] + 3 * MS);
		ran(tb, at[2], 3, at[3] + MS, at[3] + 2 * MS);
		ran(tb, at[3], 4, at[3] + 3 * MS, at[3] + 4 * MS);
		tb_gpu_clock(tb, tb->now, 0);
	}
	struct sw_judgement *j = judged(tb);
	const struct sw_held *held = &only(j, 304)->held;
	ck_assert_uint_eq(held->timed, _i < 2);
	ck_assert_uint_eq(held->untimed, _i >= 2);
	ck_assert_uint_eq(held->ns, _i ? 0 : 2 * MS);
	sw_judgement_free(j);
}
END_TEST

/* Memory allocated or released while work is pending, and when none is. */
START_TEST(memory_management)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	if (_i)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	tb->dur = 5 * MS;
	tb_alloc(tb, SW_MEM_DEVICE, DEV + (4 << 20), 4096);
	tb_alloc(tb, SW_MEM_PINNED, PIN + (4 << 20), 4096);
	tb_free_sync(tb, SW_MEM_UNKNOWN, DEV2);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		ck_assert_uint_eq(count_of(j, 305) + count_of(j, 306) + count_of(j, 307), 0);
	} else {
		ck_assert_int_eq(only(j, 305)->severity, SW_NOTE);
		ck_assert_int_eq(only(j, 305)->basis, SW_BASIS_MAY);
		ck_assert(!only(j, 305)->hidden);
		ck_assert_int_eq(only(j, 306)->severity, SW_WARNING);
		ck_assert_int_eq(only(j, 306)->basis, SW_BASIS_MEASURED);
		ck_assert_int_eq(only(j, 307)->severity, SW_WARNING);
		ck_assert_uint_eq(only(j, 307)->pinned, 4096);
	}
	sw_judgement_free(j);
}
END_TEST

/* Beyond ten places the cheaper ones are folded. */
START_TEST(allocations_from_many_places)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	for (uint64_t i = 0; i < 30; i++) {
		tb_stack(tb, 1, 0x1000 + i);
		tb->dur = 1000 + i;
		tb_alloc(tb, SW_MEM_DEVICE, DEV + ((8 + i) << 20), 4096);
	}
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 305), 30);
	ck_assert_uint_eq(j->notes, 10);
	ck_assert_uint_eq(j->folded_waits, 20);
	for (size_t i = 0; i < j->findings.n; i++)
		ck_assert(j->findings.at[i].hidden == (j->findings.at[i].cost.total_ns < 1020));
	sw_judgement_free(j);
}
END_TEST

/* The first launch of a kernel during work of another stream; the same with the code loaded before, with nothing
   pending, and too short to have loaded anything. */
START_TEST(lazy_loading)
{
	struct tb *tb = two_streams();
	uint32_t f = tb_function(tb, "_Z3addPfPKf", 2, 8, 8);
	if (_i == 1) {
		tb_launch(tb, f, S2, 2, DEV2, DEV2);
		tb_sync(tb, SW_SYNC_STREAM, S2);
	}
	if (_i != 2)
		tb_set(tb, DEV, 64, S1);
	tb->dur = _i == 3 ? 8000 : 50000;
	tb_launch(tb, f, S2, 2, DEV2, DEV2);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		ck_assert_uint_eq(count_of(j, 308), 0);
	} else {
		ck_assert_int_eq(only(j, 308)->severity, SW_NOTE);
		ck_assert_int_eq(only(j, 308)->basis, SW_BASIS_MAY);
		ck_assert_int_eq(only(j, 308)->fix, SW_FIX_PRELOAD);
	}
	sw_judgement_free(j);
}
END_TEST

/* A call that needs the code of a kernel and took its time; one that only hands out the handle. */
START_TEST(code_is_loaded_by_those_who_need_it)
{
	static const char *const calls[] = {"cuKernelGetFunction", "cuFuncGetAttribute",
					    "cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuLibraryGetKernel",
					    "cuModuleGetFunction"};
	struct tb *tb = two_streams();
	uint16_t api = tb_api(tb, calls[_i], "");
	tb_set(tb, DEV, 64, S1);
	tb->dur = 200000;
	tb_code(tb, SW_REC_CODE_TOUCH, 0x7002, 0)->h.api = api;
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 308), _i < 3);
	sw_judgement_free(j);
}
END_TEST

START_TEST(reconfiguration)
{
	struct tb *tb = two_streams();
	if (_i != 1)
		tb_set(tb, DEV, 64, S1);
	tb->dur = _i == 2 ? 3000 : 9 * MS;
	tb_config(tb, 0, 4096);
	struct sw_judgement *j = judged(tb);
	if (_i)
		ck_assert_uint_eq(count_of(j, 309), 0);
	else
		ck_assert_int_eq(only(j, 309)->severity, SW_WARNING);
	sw_judgement_free(j);
}
END_TEST

/* ---- what the time went into ----------------------------------------------------------------------------------------
 */

static void adds_up(const struct sw_finding *f)
{
	const struct sw_cost_parts *parts = &f->cost.parts;
	ck_assert_uint_eq(parts->work_ns + parts->transfer_ns + parts->driver_ns + parts->lock_ns, f->cost.total_ns);
}

/* 0: a copy that waits for the last work of a blocking stream.  1: one for which nothing was pending: its own work. */
START_TEST(waits_tell_what_for)
{
	struct tb *tb = two_streams();
	tb_stream_create(tb, S3, 0);
	tb_set(tb, DEV, 64, S3);
	tb_set(tb, DEV2, 64, S3);
	uint64_t last = tb->seq;
	if (_i)
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
	sync_copy(tb, PIN, SW_SIDE_HOST, DEV, SW_SIDE_DEVICE, 5 * MS);
	struct sw_judgement *j = judged(tb);
	const struct sw_finding *f = only(j, 301);
	ck_assert_uint_eq(f->waited_for.seq, _i ? 0 : last);
	ck_assert(_i ? !f->cost.parts.work_ns : f->cost.parts.work_ns > 4 * MS);
	ck_assert(!_i || f->cost.parts.transfer_ns > 4 * MS);
	ck_assert_uint_le(f->cost.p50_ns, f->cost.worst_ns);
	ck_assert_uint_ge(f->cost.p50_ns, f->cost.worst_ns - f->cost.worst_ns / 16);
	adds_up(f);
	sw_judgement_free(j);
}
END_TEST

static void in_thread(struct tb *tb, uint32_t thread, uint64_t now, uint64_t dur)
{
	tb_thread(tb, thread);
	tb->now = now;
	tb->dur = dur;
}

/* Thread 1 hands over a copy and is held up by thread 2, whose call is in the way all the time.  1: that call began too
   late.  2: it was over too early.  3: it does nothing of the kind.  4: one thread.  5, 6: the records the other way
   round, held up and not. */
START_TEST(other_threads_hold_the_driver)
{
	struct tb *tb = two_streams();
	uint64_t t = tb->now + MS;
	uint64_t from = _i == 1 || _i == 6 ? t + 2 * MS : t - MS / 10, until = _i == 2 ? t + 3 * MS : t + 6 * MS;
	if (_i < 5) {
		in_thread(tb, 1, t, 5 * MS);
		h2d(tb, DEV, PIN, 4096, S1);
	}
	in_thread(tb, _i == 4 ? 1 : 2, from, until - from);
	if (_i == 3)
		h2d(tb, DEV2, PIN, 4096, S2);
	else
		tb_alloc(tb, SW_MEM_PINNED, PIN + (4 << 20), 1 << 20);
	if (_i >= 5) {
		in_thread(tb, 1, t, 5 * MS);
		h2d(tb, DEV, PIN, 4096, S1);
	}
	struct sw_judgement *j = judged(tb);
	if (_i == 0 || _i == 5) {
		const struct sw_finding *f = only(j, 310);
		ck_assert_int_eq(f->severity, SW_WARNING);
		ck_assert_int_eq(f->access[0].kind, SW_REC_COPY);
		ck_assert_uint_eq(f->access[0].thread, 1);
		ck_assert_int_eq(f->access[1].kind, SW_REC_ALLOC);
		ck_assert_uint_eq(f->cost.parts.lock_ns, 5 * MS);
		adds_up(f);
	} else {
		ck_assert_uint_eq(count_of(j, 310), 0);
	}
	sw_judgement_free(j);
}
END_TEST

/* Launches that take long after 1100 others.  1: after 900.  2: the host has waited in between.  3: they are quick.
 */
START_TEST(full_queues)
{
	struct tb *tb = two_streams();
	uint32_t f = tb_function(tb, "_Z3addPfPKf", 2, 8, 8);
	for (int i = 0; i < (_i == 1 ? 900 : 1100); i++) {
		tb_launch(tb, f, S1, 2, DEV2, DEV2);
		if (_i == 2 && i == 500)
			tb_sync(tb, SW_SYNC_STREAM, S1);
	}
	tb->dur = _i == 3 ? 8000 : 50000;
	for (int i = 0; i < 50; i++)
		tb_launch(tb, f, S1, 2, DEV2, DEV2);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		ck_assert_uint_eq(count_of(j, 311), 0);
	} else {
		ck_assert_uint_eq(only(j, 311)->count, 50);
		ck_assert_uint_ge(only(j, 311)->queued, 1000);
		adds_up(only(j, 311));
	}
	sw_judgement_free(j);
}
END_TEST

/* ---- what a wait was needed for ------------------------------------------------------------------------------------
 */

/* The end of a program: another place waits for all that is left, and for work of its own. */
static void wait_at_the_end(struct tb *tb, bool work)
{
	if (work)
		d2h(tb, PIN + 65536, DEV + 65536, 64, S2);
	tb_stack(tb, 1, 0xe000ull);
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb_stack(tb, 0);
}

/* 0: the device is waited for, the copy would have been enough.  1: the copy's stream.  2: the memory of the
   other stream's work is freed afterwards.  3: it wrote memory that the host can read.  4: a kernel of which nothing is
   known.  5: it cost nothing. */
START_TEST(wide_waits)
{
	struct tb *tb = two_streams();
	uint32_t unknown = tb_function(tb, "plain", 1, 8);
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
	if (_i == 2)
		tb_free_sync(tb, SW_MEM_UNKNOWN, DEV2);
	wait_at_the_end(tb, true);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		ck_assert_uint_eq(count_of(j, 401), 0);
	} else {
		const struct sw_finding *f = only(j, 401);
		ck_assert_int_eq(f->severity, SW_WARNING);
		ck_assert_int_eq(f->confidence, SW_LIKELY);
		ck_assert_int_eq(f->fix, SW_FIX_NARROW);
		ck_assert_uint_eq(j->streams.at[f->fix_stream].handle, S2);
		ck_assert_uint_eq(f->fix_seq, needed);
		ck_assert_uint_eq(f->needs, 1);
		ck_assert_uint_eq(f->need[0].to, 0);
		ck_assert_uint_eq(f->need[0].seq, 0);
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
	if (_i)
		ck_assert_uint_eq(count_of(j, 401), 0);
	else
		ck_assert_uint_eq(only(j, 401)->need[0].seq, needed);
	sw_judgement_free(j);
}
END_TEST

/* Another stream goes on with the work: it could wait by itself.  1: it did not touch it, so nobody needed the wait. 2:
   a wait that comes once, and last.  3: the host asks afterwards whether the work is done. */
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
		ck_assert_uint_eq(f->needs, !_i);
		ck_assert_int_eq(f->fix, _i ? SW_FIX_UNNEEDED : SW_FIX_NARROW);
		ck_assert(_i || f->need[0].to);
	}
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

/* What an earlier wait of the loop covered, a later round needs: the place keeps it. */
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
		ck_assert_uint_eq(only(j, 403)->cost.core_low_ns, 1001 * 1000);
		ck_assert_uint_eq(only(j, 403)->cost.core_high_ns, only(j, 403)->cost.total_ns);
	}
	sw_judgement_free(j);
}
END_TEST

/* What held the host, by kind; and the same calls with nothing pending. */
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
	ck_assert_uint_eq(held[SW_HOST_WAIT_POLL].ns, only(j, 403)->cost.total_ns);
	ck_assert_uint_eq(held[SW_HOST_WAIT_OTHER].calls, 0);
	sw_judgement_free(j);
}
END_TEST

/* ---- the observer ---------------------------------------------------------------------------------------------------
 */

struct seen {
	unsigned operations, completed, hazards, edges, begun, order_errors;
	uint64_t last_completed;
};

static void on_operation(void *arg, const struct sw_operation *op)
{
	struct seen *seen = arg;
	seen->operations++;
	seen->order_errors += op->record->rec->kind != op->what.kind;
}

static void on_completed(void *arg, uint64_t seq, uint32_t stream, uint64_t t_ns)
{
	struct seen *seen = arg;
	seen->completed++;
	seen->order_errors += seq <= seen->last_completed || !stream || !t_ns;
	seen->last_completed = seq;
}

static void on_edge(void *arg, const struct sw_hb_edge *edge, uint32_t from, uint32_t to)
{
	(void)edge, (void)from, (void)to;
	((struct seen *)arg)->edges++;
}

static void on_hazard(void *arg, const struct sw_finding *f, const struct sw_access *a, const struct sw_access *b)
{
	struct seen *seen = arg;
	seen->hazards++;
	seen->order_errors += f->id != 103 || a->seq >= b->seq;
}

static void on_begin(void *arg, const struct sw_judgement *j)
{
	((struct seen *)arg)->begun += j->findings.n == 0;
}

START_TEST(observers_see_the_run)
{
	struct seen seen = {0};
	struct sw_observer observer = {.arg = &seen,
				       .operation = on_operation,
				       .completed = on_completed,
				       .edge = on_edge,
				       .hazard = on_hazard,
				       .begin = on_begin};
	struct tb *tb = two_streams();
	for (int i = 0; i < 3; i++) {
		tb_set(tb, DEV, 64, S1);
		tb_set(tb, DEV, 64, S2);
	}
	tb_sync(tb, SW_SYNC_STREAM, S1);
	tb_sync_begin(tb, SW_SYNC_CONTEXT, 0);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.observer = &observer});
	ck_assert_uint_eq(seen.operations, 7 + 6 + 2);
	ck_assert_uint_eq(seen.completed, 3);
	ck_assert_uint_eq(seen.begun, 1);
	ck_assert_uint_eq(seen.hazards, 5);
	ck_assert_uint_eq(seen.order_errors, 0);
	ck_assert_uint_ge(seen.edges, 1);
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

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, waits_before_the_work_order_nothing, 0, 9);
	tcase_add_loop_test(tc, events_that_miss, 0, 5);
	tcase_add_loop_test(tc, first_rounds_are_notes, 0, 2);
	tcase_add_test(tc, useful_waits_are_not_blamed);
	tcase_add_loop_test(tc, records_replaced, 0, 2);
	tcase_add_loop_test(tc, synchronous_copies, 0, 3);
	tcase_add_loop_test(tc, values_read_back, 0, 4);
	tcase_add_test(tc, copies_inside_the_device_do_not_wait);
	tcase_add_loop_test(tc, pageable_asynchronous_copies, 0, 2);
	tcase_add_loop_test(tc, values_for_the_host, 0, 2);
	tcase_add_loop_test(tc, sets_of_host_memory, 0, 2);
	tcase_add_loop_test(tc, legacy_serialisation, 0, 4);
	tcase_add_loop_test(tc, memory_management, 0, 2);
	tcase_add_test(tc, allocations_from_many_places);
	tcase_add_loop_test(tc, lazy_loading, 0, 4);
	tcase_add_loop_test(tc, waits_tell_what_for, 0, 2);
	tcase_add_loop_test(tc, other_threads_hold_the_driver, 0, 7);
	tcase_add_loop_test(tc, full_queues, 0, 4);
	tcase_add_loop_test(tc, code_is_loaded_by_those_who_need_it, 0, 5);
	tcase_add_loop_test(tc, reconfiguration, 0, 3);
	tcase_add_loop_test(tc, wide_waits, 0, 6);
	tcase_add_loop_test(tc, waits_for_other_streams, 0, 4);
	tcase_add_loop_test(tc, waits_are_not_moved, 0, 2);
	tcase_add_loop_test(tc, needs_of_later_rounds, 0, 2);
	tcase_add_loop_test(tc, waits_that_are_redundant_now_and_then, 0, 2);
	tcase_add_loop_test(tc, wide_waits_on_one_stream, 0, 2);
	tcase_add_loop_test(tc, redundant_waits, 0, 2);
	tcase_add_loop_test(tc, query_loops, 0, 2);
	tcase_add_loop_test(tc, waits_by_kind, 0, 2);
	tcase_add_loop_test(tc, work_that_is_held_back, 0, 4);
	tcase_add_test(tc, observers_see_the_run);
}

int main(void)
{
	return run_cases("waits", add);
}
