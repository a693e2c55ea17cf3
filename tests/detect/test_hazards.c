/* SPDX-License-Identifier: Apache-2.0 */
/* SW101-SW106: each hazard and its fixed twin. */
#include "detect/judge.h"

START_TEST(read_after_write)
{
	struct tb *tb = two_streams();
	h2d(tb, DEV, PIN, 4096, S1);
	if (_i)
		order(tb, S1, S2);
	d2d(tb, DEV2, DEV + 100, 8, S2);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
		ck_assert_uint_eq(j->errors, 0);
	} else {
		const struct sw_finding *f = only(j, 101);
		ck_assert_int_eq(f->severity, SW_ERROR);
		ck_assert_int_eq(f->confidence, SW_CERTAIN);
		ck_assert_int_eq(f->basis, SW_BASIS_DOCUMENTED);
		ck_assert_uint_eq(f->count, 1);
		ck_assert_int_eq(f->fix, SW_FIX_EVENT);
		ck_assert_uint_eq(f->access[0]->bytes, 4096);
		ck_assert_uint_eq(f->access[1]->address, DEV + 100);
		ck_assert_uint_eq(f->access[1]->bytes, 8);
		ck_assert_int_eq(f->access[0]->role, SW_WRITE);
		ck_assert_int_eq(f->access[1]->role, SW_READ);
		ck_assert_uint_eq(j->streams.at[f->access[0]->stream].handle, S1);
		ck_assert_uint_eq(j->streams.at[f->access[1]->stream].handle, S2);
		ck_assert_uint_eq(j->allocations.at[f->access[1]->allocation - 1].address, DEV);
		ck_assert_uint_eq(j->errors, 1);
	}
	sw_judgement_free(j);
}
END_TEST

START_TEST(write_after_read)
{
	struct tb *tb = two_streams();
	d2h(tb, PIN, DEV, 4096, S1);
	if (_i)
		order(tb, S1, S2);
	tb_set(tb, DEV + 4095, 16, S2);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, 102);
		ck_assert_int_eq(f->severity, SW_ERROR);
		ck_assert_int_eq(f->access[0]->role, SW_READ);
		ck_assert_uint_eq(f->access[1]->bytes, 16);
	}
	sw_judgement_free(j);
}
END_TEST

START_TEST(write_after_write)
{
	struct tb *tb = two_streams();
	for (int i = 0; i < 3; i++) {
		tb_set(tb, DEV, 64, S1);
		if (_i == 1)
			order(tb, S1, S2);
		tb_set(tb, _i == 2 ? DEV + 64 : DEV + 63, 64, S2);
		if (_i == 1)
			order(tb, S2, S1);
	}
	struct sw_judgement *j = judged(tb);
	if (_i)
		no_hazards(j);
	else
		ck_assert_uint_eq(only(j, 103)->severity, SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

START_TEST(readers_may_share)
{
	struct tb *tb = two_streams();
	d2h(tb, PIN, DEV, 4096, S1);
	d2h(tb, PIN + 4096, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

/* Kernels by their signature: writers of one base conflict, const readers do not. */
START_TEST(kernels_by_signature)
{
	struct tb *tb = two_streams();
	uint32_t add = tb_function(tb, "_Z3addPfPKf", 2, 8, 8);
	tb_launch(tb, add, S1, 2, DEV, DEV2);
	if (_i == 1)
		order(tb, S1, S2);
	tb_launch(tb, add, S2, 2, _i == 2 ? DEV + 4096 : DEV, DEV2);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, 103);
		ck_assert_int_eq(f->severity, SW_WARNING);
		ck_assert_int_eq(f->confidence, SW_LIKELY);
		ck_assert_int_eq(f->access[1]->evidence, SW_EV_SIGNATURE);
		ck_assert_int_eq(f->access[1]->param, 0);
		ck_assert(!f->access[1]->extent_known);
	}
	sw_judgement_free(j);
}
END_TEST

/* Kernels whose name says nothing: possible, on request. */
START_TEST(kernels_by_assumption)
{
	struct tb *tb = two_streams();
	uint32_t f = tb_function(tb, "plain", 1, 8);
	tb_launch(tb, f, S1, 1, DEV);
	tb_launch(tb, f, S2, 1, DEV);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = _i});
	if (_i) {
		ck_assert_int_eq(only(j, 101)->confidence, SW_POSSIBLE);
		ck_assert(only(j, 101)->hidden);
	} else {
		no_hazards(j);
	}
	ck_assert_uint_eq(j->errors + j->warnings, 0);
	sw_judgement_free(j);
}
END_TEST

/* Column tiles of one matrix do not touch; one column more, and they do. */
START_TEST(tiles_are_boxes)
{
	struct tb *tb = two_streams();
	tb_copy_2d(tb, DEV, SW_SIDE_DEVICE, 1024, PIN, SW_SIDE_HOST, 512, _i ? 512 : 513, 100, S1);
	tb_copy_2d(tb, DEV + 512, SW_SIDE_DEVICE, 1024, PIN, SW_SIDE_HOST, 512, 512, 100, S2);
	struct sw_judgement *j = judged(tb);
	if (_i)
		no_hazards(j);
	else
		ck_assert_int_eq(only(j, 103)->severity, SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

/* One finding per pair of call sites, with its count. */
START_TEST(one_finding_per_pair_of_sites)
{
	struct tb *tb = two_streams();
	for (int i = 0; i < 5; i++) {
		tb_stack(tb, 1, (uint64_t)0x1000);
		tb_set(tb, DEV, 64, S1);
		tb_stack(tb, 1, (uint64_t)(i < 3 ? 0x2000 : 0x3000));
		tb_set(tb, DEV, 64, S2);
		tb_stack(tb, 0);
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
	}
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), 2);
	uint64_t sum = 0;
	for (size_t i = 0; i < j->findings.n; i++)
		if (j->findings.at[i].id == 103)
			sum += j->findings.at[i].count;
	ck_assert_uint_eq(sum, 5);
	ck_assert_uint_eq(j->errors, 2);
	sw_judgement_free(j);
}
END_TEST

/* Memory that a library made, used by its own calls on two streams: a step less sure; handed to it: as sure as ever. */
START_TEST(workspaces_of_libraries)
{
	struct tb *tb = two_streams();
	bool own_memory = _i & 1, own_uses = _i & 2;
	tb_module(tb, 0x10000, 0x20000, "/usr/lib/libcudnn_graph.so.9");
	tb_module(tb, 0x20000, 0x30000, "/usr/lib/libcudnn_ops.so.9");
	tb_module(tb, 0x30000, 0x40000, "/usr/lib/libcudart.so.13");
	tb_module(tb, 0x40000, 0x50000, "/home/me/libcuda_example.so");
	tb_stack(tb, 2, (uint64_t)0x31000, own_memory ? (uint64_t)0x11000 : (uint64_t)0x41000);
	tb_alloc(tb, SW_MEM_DEVICE, DEV + (1ull << 36), 4096);
	tb_stack(tb, 3, (uint64_t)0x31000, (uint64_t)0x11000, (uint64_t)0x41000);
	tb_set(tb, DEV + (1ull << 36), 4096, S1);
	tb_stack(tb, 2, (uint64_t)0x31000, own_uses ? (uint64_t)0x21000 : (uint64_t)0x41000);
	tb_set(tb, DEV + (1ull << 36), 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_int_eq(only(j, 103)->severity, own_memory && own_uses ? SW_WARNING : SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

/* A buffer whose kernels start at many places is a pool: what has no bounds there is possible at most. */
START_TEST(pools_are_only_possible)
{
	struct tb *tb = two_streams();
	uint32_t add = tb_function(tb, "_Z3addPfPKf", 2, 8, 8);
	for (uint64_t i = 1; i <= (_i ? 100 : 10); i++)
		tb_launch(tb, add, S1, 2, DEV + i * 512, DEV2);
	tb_launch(tb, add, S2, 2, DEV + 512, DEV2);
	struct sw_judgement *j = judged(tb);
	if (_i)
		no_hazards(j);
	else
		ck_assert_int_eq(only(j, 103)->severity, SW_WARNING);
	sw_judgement_free(j);
}
END_TEST

/* Work that is captured is not executed: neither accesses nor order. */
START_TEST(captured_work_does_not_run)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	if (_i) {
		tb_capture(tb, SW_CAPTURE_BEGIN, S2, 0);
		tb_event_record(tb, E1, S2);
		tb_stream_wait(tb, S3, E1);
		tb_set(tb, DEV, 64, S3);
		tb_set(tb, DEV, 64, S2);
		tb_capture(tb, SW_CAPTURE_END, S2, 0x99);
		tb_graph_launch(tb, 0x98, S2);
	} else {
		tb_set(tb, DEV, 64, S2);
	}
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
		ck_assert_uint_eq(j->coverage.graph_launches, 1);
		ck_assert_uint_eq(j->coverage.sets, 1);
	} else {
		ck_assert_uint_eq(j->errors, 1);
	}
	sw_judgement_free(j);
}
END_TEST

/* After END the stream works for real again. */
START_TEST(capture_ends)
{
	struct tb *tb = two_streams();
	tb_capture(tb, SW_CAPTURE_BEGIN, S2, 0);
	tb_capture(tb, SW_CAPTURE_END, S2, 0x99);
	tb_set(tb, DEV, 64, S1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_int_eq(only(j, 103)->severity, SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

/* The alias of mapped pinned memory and its host address are one buffer. */
START_TEST(aliases_are_one_buffer)
{
	struct tb *tb = two_streams();
	tb_alloc(tb, SW_MEM_PINNED, PIN + (2 << 20), 4096)->device_alias = DEV + (8 << 20);
	tb_copy(tb, DEV + (8 << 20) + 16, SW_SIDE_DEVICE, DEV, SW_SIDE_DEVICE, 64, S1);
	h2d(tb, DEV2, PIN + (2 << 20) + (_i ? 128 : 16), 64, S2);
	struct sw_judgement *j = judged(tb);
	if (_i)
		no_hazards(j);
	else
		ck_assert_int_eq(only(j, 101)->severity, SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

/* A host function that announces the copy before it (0), and one that was enqueued too early (1); the thread that it
   wakes is faster than its return. */
START_TEST(host_functions)
{
	struct tb *tb = two_streams();
	uint64_t enqueued = 0;
	for (int i = 0; i < 2; i++) {
		if (i == _i)
			h2d(tb, DEV, PIN, 4096, S1);
		if (i != _i) {
			tb_host_func(tb, S1, 0x1234);
			enqueued = tb->seq;
		}
	}
	tb_thread(tb, 2);
	struct sw_rec_host_func *run = tb_add(tb, SW_REC_HOST_FUNC_RUN, sizeof *run, true);
	run->h.flags |= SW_RF_BEGIN;
	run->stream = S1;
	run->enqueued = enqueued;
	uint64_t begin = tb->seq;
	tb_thread(tb, 1);
	d2d(tb, DEV2, DEV, 4096, S2);
	tb_thread(tb, 2);
	tb_end(tb, SW_REC_HOST_FUNC_RUN, begin);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 101), _i);
	sw_judgement_free(j);
}
END_TEST

/* A programmatic event may trigger before the kernel ends: waiting for it orders nothing after the kernel. */
START_TEST(programmatic_events)
{
	struct tb *tb = two_streams();
	uint32_t f = tb_function(tb, "_Z3addPfPKf", 2, 8, 8);
	if (_i == 0)
		tb_event_record(tb, E1, S1)->flags = SW_EVENT_RECORD_EARLY;
	tb_launch(tb, f, S1, 2, DEV, DEV2)->flags |= _i ? 0 : SW_LAUNCH_EVENT;
	if (_i == 1)
		tb_event_record(tb, E1, S1);
	tb_stream_wait(tb, S2, E1);
	d2h(tb, PIN, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 101), !_i);
	sw_judgement_free(j);
}
END_TEST

/* Structures passed by value hold pointers; so do blocks of which no layout is known. */
START_TEST(pointers_inside_structures)
{
	struct tb *tb = two_streams();
	uint64_t words[4] = {7, DEV, 9, DEV2};
	uint32_t f = _i ? tb_function(tb, NULL, 0) : tb_function(tb, "_Z3fun6params", 1, 32);
	tb_launch_block(tb, f, S1, words, sizeof words);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = true});
	const struct sw_finding *found = only(j, 103);
	ck_assert_int_eq(found->access[0]->evidence, SW_EV_ASSUMED);
	ck_assert_int_eq(found->access[0]->role, SW_READ_WRITE);
	ck_assert_int_eq(found->access[0]->param, _i ? -1 : 0);
	ck_assert_uint_eq(found->access[0]->address, DEV);
	ck_assert_uint_eq(j->coverage.kernels_by_evidence[SW_EV_ASSUMED], 1);
	sw_judgement_free(j);
}
END_TEST

/* Destroying a context joins and ends everything in it. */
START_TEST(contexts_end)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	if (_i)
		tb_context_op(tb, SW_CONTEXT_RESET, 0);
	if (_i) {
		tb_context(tb, 2, 0);
		tb->ctx = 2;
		tb_alloc(tb, SW_MEM_DEVICE, DEV, 1 << 20);
		tb_stream_create(tb, S2, NONBLOCKING);
	}
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors, !_i);
	sw_judgement_free(j);
}
END_TEST

/* An event that a graph records stands for the work given out so far: more order than there may be, never less. */
START_TEST(events_recorded_by_graphs)
{
	struct tb *tb = two_streams();
	if (_i) {
		tb_capture(tb, SW_CAPTURE_BEGIN, S1, 0);
		tb_event_record(tb, E1, S1)->flags = SW_EVENT_RECORD_EXTERNAL;
		tb_capture(tb, SW_CAPTURE_END, S1, 0x99);
	}
	tb_set(tb, DEV, 64, S1);
	tb_graph_launch(tb, 0x98, S1);
	tb_stream_wait(tb, S2, E1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), !_i);
	ck_assert_uint_eq(j->coverage.edges_for_safety, _i);
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, read_after_write, 0, 2);
	tcase_add_loop_test(tc, write_after_read, 0, 2);
	tcase_add_loop_test(tc, write_after_write, 0, 3);
	tcase_add_test(tc, readers_may_share);
	tcase_add_loop_test(tc, kernels_by_signature, 0, 3);
	tcase_add_loop_test(tc, kernels_by_assumption, 0, 2);
	tcase_add_loop_test(tc, tiles_are_boxes, 0, 2);
	tcase_add_test(tc, one_finding_per_pair_of_sites);
	tcase_add_loop_test(tc, workspaces_of_libraries, 0, 4);
	tcase_add_loop_test(tc, pools_are_only_possible, 0, 2);
	tcase_add_loop_test(tc, captured_work_does_not_run, 0, 2);
	tcase_add_test(tc, capture_ends);
	tcase_add_loop_test(tc, aliases_are_one_buffer, 0, 2);
	tcase_add_loop_test(tc, host_functions, 0, 2);
	tcase_add_loop_test(tc, programmatic_events, 0, 2);
	tcase_add_loop_test(tc, pointers_inside_structures, 0, 2);
	tcase_add_loop_test(tc, contexts_end, 0, 2);
	tcase_add_loop_test(tc, events_recorded_by_graphs, 0, 2);
}

int main(void)
{
	return run_cases("hazards", add);
}
