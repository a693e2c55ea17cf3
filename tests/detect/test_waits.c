/* SPDX-License-Identifier: Apache-2.0 */
/* SW301-SW311: calls that wait, and what the time went into. */
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
	ck_assert_uint_eq(f->cost->calls, 1);
	ck_assert_uint_eq(f->cost->waited_calls, !_i);
	uint64_t ns = (_i ? 20000 : 5 * MS) + tb_step; /* END comes a step after the call */
	ck_assert_uint_eq(f->cost->total_ns, ns);
	ck_assert_uint_eq(f->cost->worst_ns, ns);
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
		ck_assert_int_eq(only(j, 301)->access[0]->kind, SW_REC_SYNC);
		ck_assert_int_eq(only(j, 301)->access[1]->kind, SW_REC_COPY);
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
		ck_assert_int_eq(j->streams.at[f->access[0]->stream].kind, SW_LANE_LEGACY);
		ck_assert_uint_eq(j->streams.at[f->access[1]->stream].handle, 0xd0);
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

/* A clock that is steered puts a call of 1 us somewhat late (0) or early (1): more than half of it is in the call of
   ours.  2, 3: less than half is. */
START_TEST(times_of_a_steered_clock)
{
	static const int64_t by[] = {+300, -300, +600, -600};
	struct tb *tb = two_streams();
	tb_gpu_clock(tb, tb->now, 0);
	tb->now += 10000;
	tb->dur = 1000;
	tb_set(tb, DEV, 64, S1);
	const uint64_t call = tb->now - tb->step + (uint64_t)by[_i];
	tb_activity(tb, SW_ACTIVITY_CALL, 1, call, call + 1000)->on = 1000;
	tb_activity(tb, SW_ACTIVITY_SET, 1, call + 5000, call + 6000);
	tb_gpu_clock(tb, tb->now, 0);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->gpu.records, 1);
	ck_assert_uint_eq(j->gpu.joined, _i < 2);
	sw_judgement_free(j);
}
END_TEST

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
	const struct sw_held *held = &sw_finding_details(only(j, 304))->held;
	ck_assert_uint_eq(held->timed, _i < 2);
	ck_assert_uint_eq(held->untimed, _i >= 2);
	ck_assert_uint_eq(held->ns, _i ? 0 : 2 * MS);
	sw_judgement_free(j);
}
END_TEST

/* Memory allocated or released while work is pending; when none is; and again, which the run then pays each time. */
START_TEST(memory_management)
{
	const uint64_t rounds = _i == 2 ? 2 : 1;
	struct tb *tb = two_streams();
	for (uint64_t i = 0; i < rounds; i++) {
		tb->dur = 100;
		tb_set(tb, DEV, 64, S1);
		if (_i == 1)
			tb_sync(tb, SW_SYNC_STREAM, S1);
		tb->dur = 5 * MS;
		tb_alloc(tb, SW_MEM_DEVICE, DEV + ((4 + i) << 20), 4096);
		tb_alloc(tb, SW_MEM_PINNED, PIN + ((4 + i) << 20), 4096);
		tb_free_sync(tb, SW_MEM_UNKNOWN, i ? DEV + (4 << 20) : DEV2);
	}
	struct sw_judgement *j = judged(tb);
	if (_i == 1) {
		ck_assert_uint_eq(count_of(j, 305) + count_of(j, 306) + count_of(j, 307), 0);
	} else {
		const enum sw_severity severity = rounds > 1 ? SW_WARNING : SW_NOTE;
		ck_assert_int_eq(only(j, 305)->severity, SW_NOTE);
		ck_assert_int_eq(only(j, 305)->basis, SW_BASIS_MAY);
		ck_assert(!only(j, 305)->hidden);
		ck_assert_int_eq(only(j, 306)->severity, severity);
		ck_assert_int_eq(only(j, 306)->basis, SW_BASIS_MEASURED);
		ck_assert_int_eq(only(j, 307)->severity, severity);
		ck_assert_uint_eq(sw_finding_details(only(j, 307))->pinned, 4096 * rounds);
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
		ck_assert(j->findings.at[i].hidden == (j->findings.at[i].cost->total_ns < 1020));
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

/* First launches of 20 us, others of 6 us: the loads are known by comparison.  1: other first launches are as short as
   those, as with eager loading; 2: all launches are as long. */
START_TEST(short_loads)
{
	struct tb *tb = two_streams();
	for (uint32_t i = 0; i <= 8; i++) {
		char name[32];
		snprintf(name, sizeof name, "_Z4load%uPfPKf", i % 10);
		uint32_t f = tb_function(tb, name, 2, 8, 8);
		tb->dur = 6000;
		tb_set(tb, DEV, 64, S1);
		tb->dur = _i == 1 && i < 8 ? 6000 : 20000;
		tb_launch(tb, f, S2, 2, DEV2, DEV2);
		tb->dur = _i == 2 ? 20000 : 6000;
		tb_launch(tb, f, S2, 2, DEV2, DEV2);
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
	}
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 308), _i ? 0u : 6u);
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

/* 0: twice while work is pending.  1: nothing is pending.  2: too short to have waited.  3: once. */
START_TEST(reconfiguration)
{
	struct tb *tb = two_streams();
	for (int i = _i == 0 ? 0 : 1; i < 2; i++) {
		tb->dur = 100;
		if (_i != 1)
			tb_set(tb, DEV, 64, S1);
		tb->dur = _i == 2 ? 3000 : 9 * MS;
		tb_config(tb, 0, 4096);
	}
	struct sw_judgement *j = judged(tb);
	if (_i == 1 || _i == 2)
		ck_assert_uint_eq(count_of(j, 309), 0);
	else
		ck_assert_int_eq(only(j, 309)->severity, _i ? SW_NOTE : SW_WARNING);
	sw_judgement_free(j);
}
END_TEST

static void adds_up(const struct sw_finding *f)
{
	const struct sw_cost_parts *parts = &f->cost->parts;
	ck_assert_uint_eq(parts->work_ns + parts->transfer_ns + parts->driver_ns + parts->lock_ns, f->cost->total_ns);
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
	ck_assert_uint_eq(sw_finding_details(f)->waited_for.seq, _i ? 0 : last);
	ck_assert(_i ? !f->cost->parts.work_ns : f->cost->parts.work_ns > 4 * MS);
	ck_assert(!_i || f->cost->parts.transfer_ns > 4 * MS);
	ck_assert_uint_le(f->cost->p50_ns, f->cost->worst_ns);
	ck_assert_uint_ge(f->cost->p50_ns, f->cost->worst_ns - f->cost->worst_ns / 16);
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
   round, held up and not.  7: twice. */
static void hold_the_driver(struct tb *tb, int how, uint64_t nth)
{
	uint64_t t = tb->now + MS;
	uint64_t from = how == 1 || how == 6 ? t + 2 * MS : t - MS / 10, until = how == 2 ? t + 3 * MS : t + 6 * MS;
	bool first = how < 5 || how == 7;
	if (first) {
		in_thread(tb, 1, t, 5 * MS);
		h2d(tb, DEV, PIN, 4096, S1);
	}
	in_thread(tb, how == 4 ? 1 : 2, from, until - from);
	if (how == 3)
		h2d(tb, DEV2, PIN, 4096, S2);
	else
		tb_alloc(tb, SW_MEM_PINNED, PIN + ((4 + nth) << 20), 1 << 20);
	if (!first) {
		in_thread(tb, 1, t, 5 * MS);
		h2d(tb, DEV, PIN, 4096, S1);
	}
}

START_TEST(other_threads_hold_the_driver)
{
	struct tb *tb = two_streams();
	const uint64_t times = _i == 7 ? 2 : 1;
	for (uint64_t i = 0; i < times; i++) {
		hold_the_driver(tb, _i, i);
		tb->now += 20 * MS;
	}
	struct sw_judgement *j = judged(tb);
	if (_i == 0 || _i == 5 || _i == 7) {
		const struct sw_finding *f = only(j, 310);
		ck_assert_int_eq(f->severity, SW_NOTE);
		ck_assert_int_eq(f->access[0]->kind, SW_REC_COPY);
		ck_assert_uint_eq(f->access[0]->thread, 1);
		ck_assert_int_eq(f->access[1]->kind, SW_REC_ALLOC);
		ck_assert_uint_eq(f->cost->parts.lock_ns, 5 * MS * times);
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
		ck_assert_int_eq(only(j, 311)->severity, SW_NOTE); /* 2.5 ms, most of the run */
		ck_assert_uint_ge(only(j, 311)->queued, 1000);
		adds_up(only(j, 311));
	}
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, synchronous_copies, 0, 3);
	tcase_add_loop_test(tc, values_read_back, 0, 4);
	tcase_add_test(tc, copies_inside_the_device_do_not_wait);
	tcase_add_loop_test(tc, pageable_asynchronous_copies, 0, 2);
	tcase_add_loop_test(tc, values_for_the_host, 0, 2);
	tcase_add_loop_test(tc, sets_of_host_memory, 0, 2);
	tcase_add_loop_test(tc, legacy_serialisation, 0, 4);
	tcase_add_loop_test(tc, work_that_is_held_back, 0, 4);
	tcase_add_loop_test(tc, times_of_a_steered_clock, 0, 4);
	tcase_add_loop_test(tc, memory_management, 0, 3);
	tcase_add_test(tc, allocations_from_many_places);
	tcase_add_loop_test(tc, lazy_loading, 0, 4);
	tcase_add_loop_test(tc, short_loads, 0, 3);
	tcase_add_loop_test(tc, code_is_loaded_by_those_who_need_it, 0, 5);
	tcase_add_loop_test(tc, reconfiguration, 0, 4);
	tcase_add_loop_test(tc, waits_tell_what_for, 0, 2);
	tcase_add_loop_test(tc, other_threads_hold_the_driver, 0, 8);
	tcase_add_loop_test(tc, full_queues, 0, 4);
}

int main(void)
{
	return run_cases("waits", add);
}
