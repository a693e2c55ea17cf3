/* SPDX-License-Identifier: Apache-2.0 */
/* Properties that the oracle cannot see: reported edges, slots, memory, explanations; and the rules once more as
 * readable pairs. */
#include <check.h>
#include <stdlib.h>

#include "hb/hb.h"
#include "../run_suite.h"

static struct sw_hb *hb;
static uint64_t seq;
static struct sw_hb_edge edges[64];
static size_t edge_count;

static void on_edge(void *arg, const struct sw_hb_edge *edge)
{
	(void)arg;
	ck_assert_uint_lt(edge_count, sizeof edges / sizeof *edges);
	edges[edge_count++] = *edge;
}

static void start(void)
{
	struct sw_hb_options options = {.on_edge = on_edge};
	hb = sw_hb_new(&options);
	seq = 0;
	edge_count = 0;
	sw_hb_context_create(hb, 1, 0);
	for (uint64_t s = 0x10; s < 0x14; s++)
		sw_hb_stream_create(hb, 1, s, s >= 0x12); /* 0x10, 0x11 blocking; 0x12, 0x13 non-blocking */
}

static void stop(void)
{
	sw_hb_free(hb);
}

static struct sw_hb_at at(uint64_t stream)
{
	return (struct sw_hb_at){.stream = stream, .seq = ++seq, .thread = 1, .ctx = 1};
}

static struct sw_point enqueue(uint64_t stream)
{
	struct sw_hb_at a = at(stream);
	return sw_hb_enqueue(hb, &a);
}

static void record(uint64_t event, uint64_t stream)
{
	struct sw_hb_at a = at(stream);
	sw_hb_event_record(hb, event, &a, 0, NULL);
}

static void wait_for(uint64_t stream, uint64_t event)
{
	struct sw_hb_at a = at(stream);
	struct sw_hb_event_state state;
	sw_hb_stream_wait(hb, &a, event, 0, &state);
}

static struct sw_hb_waited sync_stream(uint64_t stream, enum sw_order basis)
{
	struct sw_hb_at a = at(stream);
	struct sw_hb_waited waited;
	sw_hb_wait_end(hb, sw_hb_wait_stream(hb, &a), 1, ++seq, basis, &waited);
	return waited;
}

static enum sw_order then(struct sw_point earlier, struct sw_point later)
{
	return sw_hb_ordered(hb, earlier, later.lane);
}

/* ---- rules, each with the twin that breaks it ---- */

START_TEST(an_event_orders_what_was_before_its_record_and_nothing_after)
{
	struct sw_point before = enqueue(0x12);
	record(0xe, 0x12);
	struct sw_point after = enqueue(0x12);
	wait_for(0x13, 0xe);
	struct sw_point consumer = enqueue(0x13);
	ck_assert_int_eq(then(before, consumer), SW_ORDER_DOCUMENTED);
	ck_assert_int_eq(then(after, consumer), SW_ORDER_NONE);
}
END_TEST

START_TEST(a_wait_takes_the_record_of_its_time)
{
	struct sw_point first = enqueue(0x12);
	record(0xe, 0x12);
	wait_for(0x13, 0xe);
	struct sw_point second = enqueue(0x12);
	record(0xe, 0x12);
	struct sw_point early = enqueue(0x13);
	ck_assert_int_eq(then(first, early), SW_ORDER_DOCUMENTED);
	ck_assert_int_eq(then(second, early), SW_ORDER_NONE);
	wait_for(0x13, 0xe);
	ck_assert_int_eq(then(second, enqueue(0x13)), SW_ORDER_DOCUMENTED);
}
END_TEST

START_TEST(a_recreated_event_has_forgotten_its_record)
{
	struct sw_hb_event_state state;
	record(0xe, 0x12);
	sw_hb_event_state(hb, 0xe, &state);
	ck_assert(state.recorded);
	ck_assert_uint_eq(state.record_seq, seq);
	sw_hb_event_destroy(hb, 0xe);
	sw_hb_event_create(hb, 0xe);
	sw_hb_event_state(hb, 0xe, &state);
	ck_assert(!state.recorded);
	ck_assert_uint_eq(sw_hb_wait_event(hb, 0xe, &state), 0);
}
END_TEST

START_TEST(the_legacy_stream_orders_blocking_streams_only)
{
	struct sw_point blocking = enqueue(0x10), nonblocking = enqueue(0x12);
	struct sw_point legacy = enqueue(0);
	ck_assert_int_eq(then(blocking, legacy), SW_ORDER_DOCUMENTED);
	ck_assert_int_eq(then(nonblocking, legacy), SW_ORDER_NONE);
	ck_assert_int_eq(then(legacy, enqueue(0x11)), SW_ORDER_DOCUMENTED);
	ck_assert_int_eq(then(legacy, enqueue(0x13)), SW_ORDER_NONE);
	ck_assert_int_eq(then(blocking, enqueue(2)), SW_ORDER_DOCUMENTED); /* the per-thread stream is a blocking one */
}
END_TEST

START_TEST(a_destroyed_stream_goes_on_and_the_legacy_stream_covers_it)
{
	struct sw_point work = enqueue(0x10);
	sw_hb_stream_destroy(hb, 0x10);
	ck_assert_int_eq(then(work, enqueue(0)), SW_ORDER_DOCUMENTED);
	struct sw_point lost = enqueue(0x12);
	sw_hb_stream_destroy(hb, 0x12);
	sw_hb_stream_create(hb, 1, 0x12, true);
	ck_assert_int_eq(then(lost, enqueue(0x12)), SW_ORDER_NONE); /* the same handle, not the same stream */
	struct sw_hb_waited waited;
	sw_hb_wait_end(hb, sw_hb_wait_context(hb, 1), 1, ++seq, SW_ORDER_DOCUMENTED, &waited);
	ck_assert_int_eq(then(lost, enqueue(0x13)), SW_ORDER_DOCUMENTED);
}
END_TEST

START_TEST(a_measured_wait_orders_as_measured_only)
{
	struct sw_point work = enqueue(0x12);
	struct sw_hb_waited waited = sync_stream(0x12, SW_ORDER_MEASURED);
	ck_assert(waited.pending);
	ck_assert_int_eq(then(work, enqueue(0x13)), SW_ORDER_MEASURED);
	ck_assert(!sw_hb_passed(hb, work));
	waited = sync_stream(0x12, SW_ORDER_DOCUMENTED);
	ck_assert(waited.pending);
	ck_assert_int_eq(then(work, enqueue(0x13)), SW_ORDER_DOCUMENTED);
	ck_assert(sw_hb_passed(hb, work));
}
END_TEST

START_TEST(a_second_wait_covers_nothing)
{
	enqueue(0x12);
	ck_assert(sync_stream(0x12, SW_ORDER_DOCUMENTED).pending);
	ck_assert(!sync_stream(0x12, SW_ORDER_DOCUMENTED).pending);
	record(0xe, 0x12); /* a step, but no work */
	ck_assert(!sync_stream(0x12, SW_ORDER_DOCUMENTED).pending);
	struct sw_point work = enqueue(0x12);
	record(0xe, 0x12);
	struct sw_hb_waited waited = sync_stream(0x12, SW_ORDER_DOCUMENTED);
	ck_assert_uint_eq(waited.lanes, 1);
	ck_assert_uint_eq(waited.last.tick, work.tick);
}
END_TEST

START_TEST(what_a_wait_covers_is_fixed_when_it_begins)
{
	struct sw_point covered = enqueue(0x12);
	struct sw_hb_at a = at(0x12);
	sw_hb_token token = sw_hb_wait_stream(hb, &a);
	struct sw_point late = enqueue(0x12);
	sw_hb_wait_end(hb, token, 1, ++seq, SW_ORDER_DOCUMENTED, NULL);
	struct sw_point consumer = enqueue(0x13);
	ck_assert_int_eq(then(covered, consumer), SW_ORDER_DOCUMENTED);
	ck_assert_int_eq(then(late, consumer), SW_ORDER_NONE);
}
END_TEST

START_TEST(a_host_function_that_returned_releases_the_host)
{
	struct sw_point work = enqueue(0x12);
	struct sw_hb_at a = at(0x12);
	sw_hb_token token;
	struct sw_point function = sw_hb_host_func(hb, &a, &token);
	ck_assert_int_eq(then(work, enqueue(0x13)), SW_ORDER_NONE);
	sw_hb_host_func_end(hb, token, 2, ++seq);
	struct sw_point consumer = enqueue(0x13);
	ck_assert_int_eq(then(work, consumer), SW_ORDER_DOCUMENTED);
	ck_assert_int_eq(then(function, consumer), SW_ORDER_DOCUMENTED);
}
END_TEST

START_TEST(handles_that_nobody_created_are_blocking_streams)
{
	struct sw_point stranger = enqueue(0xabc);
	ck_assert_int_eq(sw_hb_lane_kind(hb, stranger.lane), SW_LANE_BLOCKING);
	ck_assert_uint_eq(sw_hb_stats(hb).unknown_streams, 1);
	ck_assert_int_eq(then(stranger, enqueue(0)), SW_ORDER_DOCUMENTED);
	sw_hb_stream_destroy(hb, 0xdef);
	sw_hb_event_destroy(hb, 0xdef);
	sw_hb_context_destroy(hb, 200, 1, ++seq);
	sw_hb_wait_drop(hb, 12345);
	sw_hb_wait_end(hb, 12345, 1, ++seq, SW_ORDER_DOCUMENTED, NULL);
	ck_assert_int_eq(sw_hb_ordered(hb, stranger, 9999), SW_ORDER_NONE);
}
END_TEST

/* ---- explanations ---- */

START_TEST(edges_are_told_once_and_only_when_they_add_order)
{
	enqueue(0x12);
	uint64_t from = seq;
	record(0xe, 0x12);
	size_t before = edge_count;
	wait_for(0x13, 0xe);
	ck_assert_uint_eq(edge_count, before + 1);
	ck_assert_int_eq(edges[before].kind, SW_EDGE_EVENT);
	ck_assert_uint_eq(edges[before].from_seq, from + 1); /* the record's own call */
	ck_assert_uint_eq(edges[before].to_seq, seq);
	wait_for(0x13, 0xe);
	ck_assert_uint_eq(edge_count, before + 1);
}
END_TEST

START_TEST(a_context_wide_wait_tells_an_edge_for_each_stream)
{
	enqueue(0x10);
	enqueue(0x12);
	uint64_t last = seq;
	size_t before = edge_count;
	struct sw_hb_waited waited;
	sw_hb_wait_end(hb, sw_hb_wait_context(hb, 1), 1, ++seq, SW_ORDER_DOCUMENTED, &waited);
	ck_assert_uint_eq(waited.lanes, 2);
	ck_assert_uint_eq(edge_count, before + 2);
	ck_assert_uint_eq(edges[before].from_seq + edges[before + 1].from_seq, last - 1 + last);
}
END_TEST

START_TEST(the_last_order_that_exists_is_remembered)
{
	struct sw_point producer = enqueue(0x12);
	sync_stream(0x12, SW_ORDER_DOCUMENTED);
	uint64_t sync_seq = seq;
	struct sw_point consumer = enqueue(0x13);
	struct sw_hb_last last = sw_hb_last_join(hb, consumer.lane, producer.lane);
	ck_assert_uint_eq(last.tick, producer.tick);
	ck_assert_uint_eq(last.seq, sync_seq); /* the host's wait, not the enqueue that carried it on */
	ck_assert_int_eq(last.kind, SW_EDGE_HOST_WAIT);
	ck_assert_uint_eq(sw_hb_last_join(hb, producer.lane, consumer.lane).tick, 0);
}
END_TEST

/* ---- slots and memory ---- */

START_TEST(a_slot_that_is_given_out_again_says_so)
{
	struct sw_point old = enqueue(0x12);
	uint32_t serial = sw_hb_lane_serial(hb, old.lane);
	sync_stream(0x12, SW_ORDER_DOCUMENTED);
	sw_hb_stream_destroy(hb, 0x12);
	sw_hb_stream_create(hb, 1, 0x99, true);
	struct sw_point young = enqueue(0x99);
	ck_assert_uint_eq(young.lane, old.lane);
	ck_assert_uint_gt(young.tick, old.tick);
	ck_assert_uint_ne(sw_hb_lane_serial(hb, young.lane), serial);
	ck_assert_uint_eq(sw_hb_last_join(hb, enqueue(0x13).lane, young.lane).tick, 0);
}
END_TEST

/* Rounds of create, use, wait and destroy must not grow: what was held after a tenth is what is held at the end. */
static void churn(unsigned rounds, bool sync, uint32_t threads)
{
	size_t early = 0;
	hb = sw_hb_new(NULL);
	for (unsigned i = 0; i < rounds; i++) {
		uint64_t s = 0x1000 + i, e = 0x9000000 + i;
		struct sw_hb_at a = {.stream = s, .seq = i, .thread = 1 + i % threads, .ctx = 1};
		struct sw_hb_at own = {.stream = 2, .seq = i, .thread = a.thread, .ctx = 1};
		sw_hb_stream_create(hb, 1, s, i % 2);
		sw_hb_event_create(hb, e);
		sw_hb_enqueue(hb, &a);
		sw_hb_enqueue(hb, &own);
		sw_hb_event_record(hb, e, &a, 0, NULL);
		sw_hb_token token = sw_hb_wait_event(hb, e, NULL);
		if (sync)
			sw_hb_wait_end(hb, token, 1, i, SW_ORDER_DOCUMENTED, NULL);
		else
			sw_hb_wait_drop(hb, token);
		sw_hb_event_destroy(hb, e);
		sw_hb_stream_destroy(hb, s);
		if (i == rounds / 10)
			early = sw_hb_stats(hb).bytes;
	}
	ck_assert_uint_le(sw_hb_stats(hb).bytes, early + early / 8);
	ck_assert_uint_lt(sw_hb_stats(hb).lanes_peak, 1024);
	ck_assert_uint_eq(sw_hb_stats(hb).events, 0);
	if (sync && threads == 1)
		ck_assert_uint_eq(sw_hb_stats(hb).edges_for_safety, 0);
	sw_hb_free(hb);
}

START_TEST(memory_does_not_grow_with_time)
{
	churn(1000000, true, 1);
}
END_TEST

START_TEST(memory_does_not_grow_when_nobody_ever_waits)
{
	churn(20000, false, 1);
}
END_TEST

START_TEST(memory_does_not_grow_with_threads_that_come_and_go)
{
	churn(20000, false, 20000);
}
END_TEST

/* Threads with a lane each that come, take a lock of their own and go, joined or not. */
START_TEST(memory_does_not_grow_with_strict_threads)
{
	struct sw_hb_options options = {.strict_host = true};
	struct sw_hb_at at = {.stream = 0x10, .ctx = 1};
	size_t early = 0;
	hb = sw_hb_new(&options);
	sw_hb_stream_create(hb, 1, 0x10, true);
	for (uint32_t i = 1; i < 40000; i++) {
		uint32_t young = i + 1;
		at.seq = i;
		at.thread = 1;
		sw_hb_enqueue(hb, &at);
		sw_hb_thread_create(hb, i, 1, i);
		sw_hb_thread_start(hb, i, young);
		at.thread = young;
		sw_hb_wait_end(hb, sw_hb_wait_stream(hb, &at), young, i, SW_ORDER_DOCUMENTED, NULL);
		sw_hb_release(hb, 0x1000 + i, young, i);
		sw_hb_thread_end(hb, 0x7000 + i % 64, young);
		if (i % 2)
			sw_hb_thread_join(hb, 0x7000 + i % 64, 1, i);
		if (i == 20000)
			early = sw_hb_stats(hb).bytes;
	}
	ck_assert_uint_le(sw_hb_stats(hb).bytes, early + early / 8);
	ck_assert_uint_lt(sw_hb_stats(hb).lanes_peak, 1024);
	sw_hb_free(hb);
}
END_TEST

START_TEST(many_idle_blocking_streams_cost_the_legacy_stream_nothing)
{
	for (uint64_t s = 0; s < 5000; s++) {
		sw_hb_stream_create(hb, 1, 0x1000 + s, false);
		if (s < 50)
			enqueue(0x1000 + s);
	}
	edge_count = 0;
	enqueue(0);
	ck_assert_uint_eq(edge_count, 50);
	edge_count = 0;
	uint64_t told = sw_hb_stats(hb).edges;
	for (int i = 0; i < 1000000; i++)
		enqueue(0);
	ck_assert_uint_eq(sw_hb_stats(hb).edges, told);
}
END_TEST

START_TEST(a_loss_is_a_barrier_for_all)
{
	struct sw_point a = enqueue(0x12), b = enqueue(0x10);
	sw_hb_barrier(hb, ++seq);
	ck_assert(sw_hb_passed(hb, a));
	ck_assert(sw_hb_passed(hb, b));
	struct sw_point after = enqueue(0x12);
	ck_assert(!sw_hb_passed(hb, after));
	ck_assert_int_eq(then(b, after), SW_ORDER_DOCUMENTED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hb");
	TCase *rules = tcase_create("rules"), *memory = tcase_create("memory");
	tcase_add_checked_fixture(rules, start, stop);
	tcase_add_test(rules, an_event_orders_what_was_before_its_record_and_nothing_after);
	tcase_add_test(rules, a_wait_takes_the_record_of_its_time);
	tcase_add_test(rules, a_recreated_event_has_forgotten_its_record);
	tcase_add_test(rules, the_legacy_stream_orders_blocking_streams_only);
	tcase_add_test(rules, a_destroyed_stream_goes_on_and_the_legacy_stream_covers_it);
	tcase_add_test(rules, a_measured_wait_orders_as_measured_only);
	tcase_add_test(rules, a_second_wait_covers_nothing);
	tcase_add_test(rules, what_a_wait_covers_is_fixed_when_it_begins);
	tcase_add_test(rules, a_host_function_that_returned_releases_the_host);
	tcase_add_test(rules, handles_that_nobody_created_are_blocking_streams);
	tcase_add_test(rules, edges_are_told_once_and_only_when_they_add_order);
	tcase_add_test(rules, a_context_wide_wait_tells_an_edge_for_each_stream);
	tcase_add_test(rules, the_last_order_that_exists_is_remembered);
	tcase_add_test(rules, a_slot_that_is_given_out_again_says_so);
	tcase_add_test(rules, many_idle_blocking_streams_cost_the_legacy_stream_nothing);
	tcase_add_test(rules, a_loss_is_a_barrier_for_all);
	tcase_set_timeout(memory, 120);
	tcase_add_test(memory, memory_does_not_grow_with_time);
	tcase_add_test(memory, memory_does_not_grow_when_nobody_ever_waits);
	tcase_add_test(memory, memory_does_not_grow_with_threads_that_come_and_go);
	tcase_add_test(memory, memory_does_not_grow_with_strict_threads);
	suite_add_tcase(suite, rules);
	suite_add_tcase(suite, memory);
	return run_suite(suite);
}
