/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules by hand, whose replays have exact answers, and random ones. */
#include <check.h>
#include <stdlib.h>

#include "schedule/schedule.h"
#include "../run_suite.h"

#define US 1000u
#define MS 1000000u

static struct sw_schedule *s;
static uint64_t seq, now;

static void setup(void)
{
	s = sw_schedule_new(NULL);
	seq = 0;
	now = 1 * MS;
}

static void teardown(void)
{
	sw_schedule_free(s);
}

/* ---- a program on one thread ------------------------------------------------------------------------------------- */

static uint64_t begin(uint64_t site)
{
	sw_schedule_enter(
		s, &(struct sw_schedule_call){.seq = ++seq, .t_ns = now, .site = site, .own_ns = 10 * US, .thread = 1});
	return seq;
}

static void end(uint64_t call, uint64_t dur_ns)
{
	sw_schedule_leave(s, call, dur_ns);
	now += dur_ns;
}

static uint64_t work(uint64_t site, uint32_t queue, enum sw_work_kind kind, uint32_t quarters)
{
	uint64_t call = begin(site);
	sw_schedule_work(s, &(struct sw_schedule_work){.seq = call,
						       .queue = queue,
						       .kind = kind,
						       .quarters = quarters,
						       .like = queue + 1,
						       .bytes = 1 << 20});
	end(call, 10 * US);
	return call;
}

static uint64_t kernel(uint64_t site, uint32_t queue, uint32_t quarters)
{
	return work(site, queue, SW_DOES_KERNEL, quarters);
}

/* The host waits until the moment `until` for `what`. */
static void wait_until(uint64_t site, enum sw_until what, uint64_t which, uint64_t until)
{
	uint64_t call = begin(site);
	sw_schedule_until(s, call, what, which);
	end(call, until > now ? until - now : 5 * US);
}

/* The gain of a wait of which the host's wait for `queue` stays. */
static struct sw_gain gain_of(enum sw_what_if_kind kind, uint64_t site, uint32_t queue)
{
	struct sw_keep keep = {.queue = queue, .to = SW_KEEP_HOST};
	struct sw_what_if what_if = {.kind = kind,
				     .site = site,
				     .keep = &keep,
				     .keeps = 1,
				     .needed = kind == SW_IF_LESS ? SW_NEEDED_MAYBE : 0};
	struct sw_what_ifs set = {&what_if, 1};
	struct sw_gain gain;
	sw_schedule_try(s, &set, &gain, 1);
	return gain;
}

/* To a microsecond: latencies that were not seen are assumed. */
static void check_gain(struct sw_gain gain, uint64_t low_us, uint64_t high_us, uint64_t slack_us)
{
	ck_assert(gain.known);
	ck_assert_uint_le(gain.low_ns, gain.high_ns);
	ck_assert_msg(gain.low_ns / US + slack_us >= low_us && gain.low_ns / US <= low_us + slack_us,
		      "low %lu us, not %lu", (unsigned long)(gain.low_ns / US), (unsigned long)low_us);
	ck_assert_msg(gain.high_ns / US + slack_us >= high_us && gain.high_ns / US <= high_us + slack_us,
		      "high %lu us, not %lu", (unsigned long)(gain.high_ns / US), (unsigned long)high_us);
}

/* Ten rounds: a kernel of 1 ms, a wait, host work of 1 ms. */
static void alternate(bool timed)
{
	for (int i = 0; i < 10; i++) {
		uint64_t start = now + 5 * US, call = kernel(1, 0, 4);
		if (timed)
			sw_schedule_times(s, call, start, start + MS);
		wait_until(2, SW_UNTIL_QUEUE, 0, start + MS + 5 * US);
		now += MS;
	}
	wait_until(3, SW_UNTIL_QUEUE, 0, 0);
	sw_schedule_finish(s);
}

START_TEST(removed_wait_lets_host_and_device_overlap)
{
	alternate(_i);
	struct sw_schedule_facts facts = sw_schedule_facts(s);
	ck_assert_uint_eq(facts.timed, _i ? 10 : 0);
	ck_assert_uint_eq(facts.bracketed, _i ? 0 : 10);
	ck_assert_uint_le(facts.residual_permille, 1);
	ck_assert(facts.reliable);
	/* 10 of 20 ms remain: the last kernel runs concurrently with the last host work. */
	check_gain(gain_of(SW_IF_NO_WAIT, 2, 0), 9900, 9900, 20);
}
END_TEST

START_TEST(a_wait_of_a_busy_device_gains_nothing)
{
	/* No host work between: the device is never idle, whatever waits. */
	for (int i = 0; i < 10; i++) {
		uint64_t start = now + 5 * US, call = kernel(1, 0, 4);
		sw_schedule_times(s, call, start, start + MS);
		wait_until(2, SW_UNTIL_QUEUE, 0, start + MS + 5 * US);
	}
	wait_until(3, SW_UNTIL_QUEUE, 0, 0);
	sw_schedule_finish(s);
	check_gain(gain_of(SW_IF_NO_WAIT, 2, 0), 100, 100, 100);
}
END_TEST

/* Calls that enqueue nothing and wait for nothing, some of them 0.5 ms long: without them their time is saved, unless
   the device is the one that is late. */
START_TEST(calls_that_only_take_time)
{
	static const uint64_t kernel_us[] = {100, 2000};
	for (int i = 0; i < 10; i++) {
		uint64_t start = now + 5 * US, call = kernel(1, 0, 4);
		if (i)
			start += kernel_us[_i] > 1000 ? (uint64_t)i * (kernel_us[_i] - 1000) * US : 0;
		sw_schedule_times(s, call, start, start + kernel_us[_i] * US);
		for (uint64_t site = 10; site < 14; site++) {
			now += 100 * US;
			end(begin(site), site == 12 ? 500 * US : 5 * US);
		}
		now += 75 * US;
	}
	wait_until(3, SW_UNTIL_QUEUE, 0, _i ? now + 10 * MS : 0);
	sw_schedule_finish(s);
	check_gain(gain_of(SW_IF_NO_CALL, 12, 0), _i ? 0 : 5000, _i ? 0 : 5000, 20);
	check_gain(gain_of(SW_IF_NO_CALL, 13, 0), _i ? 0 : 50, _i ? 0 : 50, 20);
}
END_TEST

START_TEST(second_wait_takes_over)
{
	for (int i = 0; i < 4; i++) {
		uint64_t start = now + 5 * US, call = kernel(1, 0, 4);
		sw_schedule_times(s, call, start, start + MS);
		wait_until(2, SW_UNTIL_QUEUE, 0, start + MS + 5 * US);
		wait_until(3, SW_UNTIL_CONTEXT, 0, 0);
		now += MS;
	}
	sw_schedule_finish(s);
	check_gain(gain_of(SW_IF_NO_WAIT, 2, 0), 0, 0, 40);
}
END_TEST

START_TEST(a_last_wait_takes_over_behind_many)
{
	for (int i = 0; i < 4; i++) {
		uint64_t start = now + 5 * US, call = kernel(1, 0, 4);
		sw_schedule_times(s, call, start, start + MS);
		wait_until(2, SW_UNTIL_QUEUE, 0, start + MS + 5 * US);
		for (int k = 0; k < 20; k++)
			wait_until(2, SW_UNTIL_DEVICE, 0, 0);
	}
	wait_until(3, SW_UNTIL_CONTEXT, 0, 0);
	/* Work after it, as long as all kernels, must not run concurrently with them. */
	now += 4 * MS;
	wait_until(4, SW_UNTIL_CONTEXT, 0, 0);
	sw_schedule_finish(s);
	/* 20 calls of 5 us in each round. */
	check_gain(gain_of(SW_IF_NO_WAIT, 2, 0), 400, 400, 100);
}
END_TEST

/* A long kernel on one queue, a short copy on the other, a wait for both, host work as long as the kernel. */
static void wide(void)
{
	for (int i = 0; i < 10; i++) {
		uint64_t start = now + 5 * US, call = kernel(1, 0, 4);
		sw_schedule_times(s, call, start, start + MS);
		uint64_t copy_start = now + 5 * US, copy = work(2, 1, SW_DOES_DOWNLOAD, 4);
		sw_schedule_times(s, copy, copy_start, copy_start + 20 * US);
		wait_until(3, SW_UNTIL_CONTEXT, 0, start + MS + 5 * US);
		now += MS;
	}
	wait_until(4, SW_UNTIL_CONTEXT, 0, 0);
	sw_schedule_finish(s);
}

START_TEST(narrowed_wait_keeps_the_queue_that_is_needed)
{
	wide();
	check_gain(gain_of(SW_IF_LESS, 3, 1), 9700, 9800, 50);
	/* High: the host does not need it after all.  Sure: it does. */
	struct sw_gain gain = gain_of(SW_IF_LESS, 3, 0);
	check_gain(gain, 0, 9800, 50);
	ck_assert_uint_le(gain.sure_ns, 50 * US);
}
END_TEST

/* Upload, compute, download, with a wait for all of it before each download. */
static void pipeline(void)
{
	uint64_t idle = now;
	for (int i = 0; i < 10; i++) {
		uint64_t start = now + 5 * US, up = work(1, 0, SW_DOES_UPLOAD, 4);
		sw_schedule_times(s, up, start, start + MS);
		sw_schedule_record(s, 0, 100);
		uint64_t run = begin(2);
		sw_schedule_wait(s, 1, 100);
		sw_schedule_work(s, &(struct sw_schedule_work){.seq = run, .queue = 1, .kind = SW_DOES_KERNEL});
		end(run, 10 * US);
		sw_schedule_times(s, run, start + MS + US, start + 2 * MS);
		wait_until(3, SW_UNTIL_CONTEXT, 0, (start + 2 * MS > idle ? start + 2 * MS : idle) + 5 * US);
		uint64_t down_start = now + 5 * US, down = work(4, 2, SW_DOES_DOWNLOAD, 4);
		sw_schedule_times(s, down, down_start, down_start + MS);
		idle = down_start + MS;
	}
	wait_until(5, SW_UNTIL_CONTEXT, 0, idle + 5 * US);
	sw_schedule_finish(s);
}

START_TEST(a_stream_may_wait_instead_of_the_host)
{
	/* Beginning with 10 x 2 + 1 ms: copies and kernels of different rounds overlap, 10 + 2 ms. */
	struct sw_keep keep = {.queue = 1, .to = 2};
	struct sw_what_if what_if = {.kind = SW_IF_LESS, .site = 3, .keep = &keep, .keeps = 1};
	struct sw_what_ifs set = {&what_if, 1};
	struct sw_gain gain;
	pipeline();
	sw_schedule_try(s, &set, &gain, 1);
	check_gain(gain, 9200, 9200, 50);
	/* The download's stream still waits: nothing more is won by less than that, but a millisecond in the end. */
	keep.to = 3;
	sw_schedule_try(s, &set, &gain, 1);
	check_gain(gain, 10000, 10000, 1200);
}
END_TEST

/* Two blocking queues, and between their kernels a set on the legacy one. */
static void serialised(uint32_t quarters)
{
	sw_schedule_queue(s, 0, SW_QUEUE_BLOCKING, 1, 0);
	sw_schedule_queue(s, 1, SW_QUEUE_BLOCKING, 1, 0);
	sw_schedule_queue(s, 2, SW_QUEUE_LEGACY, 1, 0);
	uint64_t at = now + 5 * US;
	for (int i = 0; i < 8; i++) {
		uint64_t call = kernel(1, i % 2, quarters);
		sw_schedule_times(s, call, at, at + MS);
		uint64_t set = work(2, 2, SW_DOES_SET, 4);
		sw_schedule_times(s, set, at + MS + US, at + MS + 3 * US);
		at += MS + 4 * US;
	}
	wait_until(3, SW_UNTIL_CONTEXT, 1, at + 5 * US);
	sw_schedule_finish(s);
}

START_TEST(legacy_order_without_which_both_run)
{
	serialised(2);
	check_gain(gain_of(SW_IF_NO_LEGACY, 2, 0), 4000, 4000, 60);
}
END_TEST

START_TEST(kernels_that_fill_the_device_may_not_overlap)
{
	serialised(4);
	check_gain(gain_of(SW_IF_NO_LEGACY, 2, 0), 0, 4000, 60);
}
END_TEST

START_TEST(copies_of_one_direction_share_an_engine)
{
	for (int i = 0; i < 4; i++) {
		uint64_t start = now + 5 * US, call = work(1, (uint32_t)i, SW_DOES_UPLOAD, 4);
		sw_schedule_times(s, call, start, start + MS);
		wait_until(2, SW_UNTIL_OWN, 0, 0);
		wait_until(2, SW_UNTIL_QUEUE, (uint64_t)i, start + MS + 5 * US);
	}
	wait_until(3, SW_UNTIL_CONTEXT, 0, 0);
	sw_schedule_finish(s);
	/* Four queues, but the four copies still take 4 ms. */
	check_gain(gain_of(SW_IF_NO_WAIT, 2, 0), 45, 45, 45);
}
END_TEST

START_TEST(nothing_is_known_of_work_that_nobody_saw_done)
{
	for (int i = 0; i < 4; i++) {
		kernel(1, 0, 4);
		now += MS;
	}
	sw_schedule_finish(s);
	ck_assert_uint_eq(sw_schedule_facts(s).bracketed, 0);
	ck_assert(!gain_of(SW_IF_NO_CALL, 1, 0).known);
	ck_assert(!gain_of(SW_IF_NO_CALL, 99, 0).known);
}
END_TEST

START_TEST(threads_take_turns)
{
	/* Thread 2 works when thread 1 is silent, and the other way round: removing a wait of one shortens the run. */
	for (int i = 0; i < 5; i++) {
		uint64_t start = now + 5 * US, call = kernel(1, 0, 4);
		sw_schedule_times(s, call, start, start + MS);
		wait_until(2, SW_UNTIL_QUEUE, 0, start + MS + 5 * US);
		now += 200 * US;
		sw_schedule_enter(
			s, &(struct sw_schedule_call){.seq = ++seq, .t_ns = now, .site = 5, .own_ns = US, .thread = 2});
		sw_schedule_leave(s, seq, 500 * US);
		now += 700 * US;
	}
	wait_until(3, SW_UNTIL_QUEUE, 0, 0);
	sw_schedule_finish(s);
	check_gain(gain_of(SW_IF_NO_WAIT, 2, 0), 4800, 4800, 300);
}
END_TEST

START_TEST(a_load_holds_all_queues)
{
	for (int i = 0; i < 4; i++) {
		uint64_t start = now + 5 * US, call = kernel(1, 0, 1);
		sw_schedule_times(s, call, start, start + MS);
		uint64_t load = begin(2);
		sw_schedule_barrier(s, 1);
		sw_schedule_work(
			s, &(struct sw_schedule_work){.seq = load, .queue = 1, .kind = SW_DOES_KERNEL, .quarters = 1});
		end(load, 10 * US);
		sw_schedule_times(s, load, start + MS + US, start + 2 * MS);
		wait_until(3, SW_UNTIL_CONTEXT, 0, start + 2 * MS + 5 * US);
	}
	sw_schedule_finish(s);
	check_gain(gain_of(SW_IF_NO_CALL, 2, 0), 4000, 4000, 60);
}
END_TEST

/* ---- path, sums -------------------------------------------------------------------------------------------------- */

struct walked {
	uint64_t at, ns;
	bool gap;
};

static void walk(void *arg, const struct sw_stretch *stretch)
{
	struct walked *w = arg;
	w->gap |= w->at && stretch->start_ns != w->at;
	w->at = stretch->end_ns;
	w->ns += stretch->end_ns - stretch->start_ns;
}

struct drawn {
	uint64_t copy_ns, room_ns, end_ns, pieces, least;
};

static void note_drawn(void *arg, const struct sw_stretch *stretch)
{
	struct drawn *d = arg;
	d->pieces++;
	d->least += stretch->end_ns == stretch->start_ns;
	if (stretch->work != SW_DOES_UPLOAD)
		return;
	d->copy_ns = stretch->end_ns - stretch->start_ns;
	d->room_ns = stretch->room_ns;
	d->end_ns = stretch->end_ns;
}

/* The host waits 20 ms for a copy of 1 MiB.  0: nothing else is known; 1: the device's clock says that it took all of
 * it.
 */
START_TEST(copies_are_drawn_as_long_as_the_bus_needs_at_most)
{
	struct drawn d = {0};
	const uint64_t start = now, copy = work(1, 1, SW_DOES_UPLOAD, 0);
	if (_i)
		sw_schedule_times(s, copy, start + US, start + 20 * MS);
	wait_until(2, SW_UNTIL_QUEUE, 1, start + 20 * MS);
	sw_schedule_finish(s);
	sw_schedule_each_work(s, note_drawn, &d);
	ck_assert_uint_eq(d.pieces, 1);
	if (_i) {
		ck_assert_uint_ge(d.copy_ns, 19 * MS);
		ck_assert_uint_eq(d.room_ns, 0);
	} else {
		ck_assert_uint_le(d.copy_ns, MS);
		ck_assert_uint_ge(d.room_ns, 18 * MS);
	}
	ck_assert_uint_ge(d.end_ns, start + 19 * MS); /* at the end of its time */
}
END_TEST

/* Without times of the device the path is an interval, with them it is a number. */
START_TEST(the_path_is_an_interval_where_times_are_estimated)
{
	const uint64_t start = now, a = kernel(1, 1, 4), b = kernel(2, 2, 4);
	if (_i) {
		sw_schedule_times(s, a, start + US, start + 2 * MS);
		sw_schedule_times(s, b, start + US, start + 9 * MS);
	}
	wait_until(3, SW_UNTIL_CONTEXT, 0, start + 9 * MS + 5 * US);
	work(4, 3, SW_DOES_DOWNLOAD, 0);
	sw_schedule_finish(s);
	const struct sw_schedule_sums sums = sw_schedule_sums(s);
	for (int i = 0; i <= SW_DOES_OTHER; i++) {
		ck_assert_uint_le(sums.path_work_low_ns[i], sums.path_work_ns[i]);
		ck_assert_uint_ge(sums.path_work_high_ns[i], sums.path_work_ns[i]);
	}
	if (_i)
		ck_assert_uint_ge(sums.path_work_low_ns[SW_DOES_KERNEL], 8 * MS);
}
END_TEST

START_TEST(the_critical_path_is_as_long_as_the_run)
{
	struct walked w = {0};
	alternate(_i);
	sw_schedule_path(s, walk, &w);
	ck_assert(!w.gap);
	ck_assert_uint_eq(w.ns, sw_schedule_facts(s).kept_ns);
	struct sw_schedule_sums sums = sw_schedule_sums(s);
	ck_assert_uint_ge(sums.path_work_ns[SW_DOES_KERNEL], 9900 * US);
	ck_assert_uint_ge(sums.path_ns[SW_STRETCH_HOST], 9900 * US);
	ck_assert_uint_ge(sums.blocked_ns, 9800 * US);
	ck_assert_uint_le(sums.idle_blocked_ns, 200 * US);
}
END_TEST

START_TEST(overlap_is_counted_once)
{
	uint64_t at = now + 20 * US, up = work(1, 0, SW_DOES_UPLOAD, 4), run = kernel(2, 1, 4);
	sw_schedule_times(s, up, at, at + MS);
	sw_schedule_times(s, run, at + MS / 2, at + 3 * MS);
	wait_until(3, SW_UNTIL_CONTEXT, 0, at + 3 * MS + 5 * US);
	sw_schedule_finish(s);
	struct sw_schedule_sums sums = sw_schedule_sums(s);
	ck_assert_uint_eq(sums.overlap_ns, MS / 2);
	ck_assert_uint_eq(sums.overlap_possible_ns, MS);
	ck_assert_uint_eq(sums.busy_ns, 3 * MS);
	ck_assert_uint_eq(sums.copy_ns, MS);
	ck_assert_uint_eq(sums.kernel_ns, 5 * MS / 2);
}
END_TEST

/* ---- random ------------------------------------------------------------------------------------------------------ */

static uint32_t state;

static uint32_t draw(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % below;
}

static void random_call(void)
{
	static const enum sw_until untils[] = {SW_UNTIL_QUEUE, SW_UNTIL_EVENT, SW_UNTIL_CONTEXT, SW_UNTIL_DEVICE};
	uint32_t queue = draw(4), what = draw(10);
	uint64_t call = begin(what * 4 + draw(2));
	if (what < 5) {
		sw_schedule_work(s, &(struct sw_schedule_work){.seq = call,
							       .queue = queue,
							       .kind = (enum sw_work_kind)draw(SW_DOES_OTHER + 1),
							       .quarters = 1 + draw(4),
							       .like = draw(5),
							       .bytes = draw(1 << 22),
							       .staged = !draw(4)});
		if (!draw(3))
			sw_schedule_until(s, call, SW_UNTIL_OWN, 0);
	} else if (what == 5) {
		sw_schedule_record(s, queue, 100 + draw(3));
	} else if (what == 6) {
		sw_schedule_wait(s, queue, 100 + draw(3));
	} else if (what == 7 && !draw(8)) {
		sw_schedule_barrier(s, queue);
	} else {
		enum sw_until until = untils[draw(4)];
		sw_schedule_until(s, call, until,
				  until == SW_UNTIL_EVENT   ? 100 + draw(3)
				  : until == SW_UNTIL_QUEUE ? queue
							    : 0);
	}
	if (what < 5 && draw(2))
		sw_schedule_times(s, call, now + draw(900 * US), now + MS + draw(900 * US));
	end(call, 5 * US + draw(4) * draw(MS));
	now += draw(50 * US);
}

/* Without further edges no replay is longer, and without any change it gives the run back, whatever the times are. */
START_TEST(random_schedules_never_grow)
{
	state = (uint32_t)_i * 7919 + 1;
	sw_schedule_free(s);
	s = sw_schedule_new(&(struct sw_schedule_options){.window = _i % 3 ? 100 + draw(400) : 0});
	sw_schedule_queue(s, 0, SW_QUEUE_LEGACY, 0, 0);
	sw_schedule_queue(s, 1, SW_QUEUE_BLOCKING, 0, 0);
	sw_schedule_queue(s, 2, SW_QUEUE_BLOCKING, 0, 0);
	for (int i = 0; i < 600; i++)
		random_call();
	sw_schedule_finish(s);
	struct sw_schedule_facts facts = sw_schedule_facts(s);
	ck_assert_uint_le(facts.windows, 4);
	ck_assert_uint_ge(facts.replayed_ns + MS / 10, facts.kept_ns);
	ck_assert_uint_le(facts.replayed_ns, facts.kept_ns + MS / 10);
	for (uint32_t kind = SW_IF_NO_WAIT; kind <= SW_IF_NO_LEGACY; kind++)
		for (uint64_t site = 0; site < 40; site += 3) {
			struct sw_keep keep[2] = {{.queue = draw(4), .to = SW_KEEP_HOST},
						  {.queue = draw(4), .to = draw(4)}};
			struct sw_what_if both[2] = {
				{.kind = (enum sw_what_if_kind)kind, .site = site, .keep = keep, .keeps = 2},
				{.kind = SW_IF_NO_WAIT, .site = draw(40)}};
			struct sw_what_ifs sets[2] = {{both, 1}, {both, 2}};
			struct sw_gain gain[2];
			sw_schedule_try(s, sets, gain, 2);
			ck_assert_uint_le(gain[0].low_ns, gain[0].high_ns);
			ck_assert_uint_le(gain[1].high_ns, facts.run_ns);
			ck_assert_uint_ge(gain[1].low_ns, gain[0].low_ns);
			ck_assert_uint_ge(gain[1].high_ns, gain[0].high_ns);
		}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("schedule");
	TCase *cases = tcase_create("schedule");
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_loop_test(cases, removed_wait_lets_host_and_device_overlap, 0, 2);
	tcase_add_test(cases, a_wait_of_a_busy_device_gains_nothing);
	tcase_add_loop_test(cases, calls_that_only_take_time, 0, 2);
	tcase_add_test(cases, second_wait_takes_over);
	tcase_add_test(cases, a_last_wait_takes_over_behind_many);
	tcase_add_test(cases, narrowed_wait_keeps_the_queue_that_is_needed);
	tcase_add_test(cases, a_stream_may_wait_instead_of_the_host);
	tcase_add_test(cases, legacy_order_without_which_both_run);
	tcase_add_test(cases, kernels_that_fill_the_device_may_not_overlap);
	tcase_add_test(cases, copies_of_one_direction_share_an_engine);
	tcase_add_test(cases, nothing_is_known_of_work_that_nobody_saw_done);
	tcase_add_test(cases, threads_take_turns);
	tcase_add_test(cases, a_load_holds_all_queues);
	tcase_add_loop_test(cases, the_critical_path_is_as_long_as_the_run, 0, 2);
	tcase_add_loop_test(cases, copies_are_drawn_as_long_as_the_bus_needs_at_most, 0, 2);
	tcase_add_loop_test(cases, the_path_is_an_interval_where_times_are_estimated, 0, 2);
	tcase_add_test(cases, overlap_is_counted_once);
	tcase_add_loop_test(cases, random_schedules_never_grow, 0, 60);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
