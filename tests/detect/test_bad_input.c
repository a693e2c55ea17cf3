/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs do wrong, or seem to: a finding, or silently right.
 *
 *     a capture is spoilt midway            SW204 at the call that was refused; what comes later runs, and is judged
 *     an update of a graph is refused       the executable graph is as it was
 *     a graph is destroyed while it runs    its work continues: later work on other streams is not ordered by it
 *     a graph is destroyed, then launched   (refused) nothing
 *     an event is destroyed while recorded  waits that were made before keep what they cover
 *     an address is freed twice             (refused) nothing: the memory is free
 *     foreign pointers are freed            nothing, refused or not
 *     a graph comes back at an old address  it is another: nothing of the old one is left
 *     an event comes back at an old address it has no record: SW201
 *     a stream comes back at an old address it is another: no order with the work of the old one
 */
#include "detect/judge.h"

#define GRAPH	      0x100ull
#define EXEC	      0x200ull
#define A	      0x1010ull
#define DEV3	      0x7f3000000000ull
#define INVALID	      1	  /* CUDA_ERROR_INVALID_VALUE */
#define UNSUPPORTED   900 /* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED */
#define INVALIDATED   901 /* CUDA_ERROR_STREAM_CAPTURE_INVALIDATED */
#define UPDATE_FAILED 910 /* CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE */

static void describe(struct tb *tb, uint64_t dst)
{
	struct sw_rec_set work = {.dst = dst, .width = 64, .height = 1};
	tb_graph(tb, SW_GRAPH_INSTANTIATE, GRAPH, EXEC);
	tb_node_head(tb, EXEC, 1);
	tb_node(tb, EXEC, A, NULL, 0, SW_REC_SET, &work, sizeof work);
}

START_TEST(capture_is_spoilt)
{
	struct tb *tb = two_streams();
	tb_capture(tb, SW_CAPTURE_BEGIN, S1, 0);
	tb_set(tb, DEV, 64, S1);
	tb->status = UNSUPPORTED;
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb->status = INVALIDATED;
	tb_set(tb, DEV, 64, S1);
	tb_capture(tb, SW_CAPTURE_END, S1, 0);
	tb->status = 0;
	tb_set(tb, DEV, 64, S1);
	if (_i)
		order(tb, S1, S2);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_ge(count_of(j, 204), 1);
	ck_assert_uint_eq(j->coverage.sets, 2);
	ck_assert_uint_eq(count_of(j, 103), _i ? 0 : 1);
	sw_judgement_free(j);
}
END_TEST

/* The driver refuses; even if a description followed, it would be of what did not happen. */
START_TEST(update_is_refused)
{
	struct tb *tb = two_streams();
	describe(tb, DEV);
	tb->status = UPDATE_FAILED;
	tb_graph(tb, SW_GRAPH_EXEC_UPDATE, GRAPH, EXEC);
	tb->status = 0;
	tb_graph_launch(tb, EXEC, S1);
	if (_i)
		order(tb, S1, S2);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), _i ? 0 : 1);
	ck_assert_uint_eq(j->coverage.unknown_graph_launches, 0);
	sw_judgement_free(j);
}
END_TEST

START_TEST(graph_is_destroyed_while_it_runs)
{
	struct tb *tb = two_streams();
	describe(tb, DEV);
	tb_graph_launch(tb, EXEC, S1);
	tb_graph(tb, SW_GRAPH_EXEC_DESTROY, 0, EXEC);
	tb_graph(tb, SW_GRAPH_DESTROY, GRAPH, 0);
	if (_i)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), _i ? 0 : 1);
	sw_judgement_free(j);
}
END_TEST

START_TEST(graph_is_launched_when_destroyed)
{
	struct tb *tb = two_streams();
	describe(tb, DEV);
	tb_graph(tb, SW_GRAPH_EXEC_DESTROY, 0, EXEC);
	tb->status = INVALID;
	tb_graph_launch(tb, EXEC, S1);
	tb_graph(tb, SW_GRAPH_EXEC_DESTROY, 0, EXEC);
	tb->status = 0;
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	ck_assert_uint_eq(j->coverage.graph_launches, 0);
	sw_judgement_free(j);
}
END_TEST

START_TEST(event_is_destroyed_while_recorded)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb_event_record(tb, E1, S1);
	if (_i)
		tb_stream_wait(tb, S2, E1);
	tb_event_destroy(tb, E1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), _i ? 0 : 1);
	sw_judgement_free(j);
}
END_TEST

/* 0: cudaFree, 1: cudaFreeAsync; the second is refused. */
START_TEST(freed_twice)
{
	struct tb *tb = two_streams();
	tb_alloc(tb, _i ? SW_MEM_ASYNC : SW_MEM_DEVICE, DEV3, 4096)->stream = S1;
	for (unsigned i = 0; i < 2; i++) {
		tb->status = i ? INVALID : 0;
		if (_i)
			tb_free(tb, SW_MEM_ASYNC, DEV3)->stream = S1;
		else
			tb_free_sync(tb, SW_MEM_UNKNOWN, DEV3);
	}
	tb->status = 0;
	tb_alloc(tb, SW_MEM_DEVICE, DEV3, 4096);
	tb_set(tb, DEV3, 64, S1);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

/* Pointers of the host, of the middle of an allocation, of no allocation; refused or, by a driver that lets it pass,
   not. */
START_TEST(foreign_pointers_are_freed)
{
	static const uint64_t pointers[] = {HOST, DEV + 64, 0x123456789000, 0, UINT64_MAX};
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 4096, S1);
	for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
		tb->status = _i ? INVALID : 0;
		tb_free_sync(tb, SW_MEM_UNKNOWN, pointers[i]);
		tb_free(tb, SW_MEM_ASYNC, pointers[i])->stream = S1;
		tb_free_sync(tb, SW_MEM_PINNED, pointers[i]);
	}
	tb->status = 0;
	tb_set(tb, DEV, 4096, S1);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

/* The new one touches other memory, and is ordered with no launch of the old one. */
START_TEST(graph_at_an_old_address)
{
	struct tb *tb = two_streams();
	describe(tb, DEV);
	tb_graph_launch(tb, EXEC, S1);
	if (_i)
		tb_graph(tb, SW_GRAPH_EXEC_DESTROY, 0, EXEC);
	describe(tb, DEV2);
	tb_graph_launch(tb, EXEC, S1);
	tb_set(tb, DEV2, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(only(j, 103)->access[0]->address, DEV2);
	sw_judgement_free(j);
}
END_TEST

START_TEST(event_at_an_old_address)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb_event_record(tb, E1, S1);
	if (_i) {
		tb_event_destroy(tb, E1);
		tb_event_create(tb, E1);
	}
	tb_stream_wait(tb, S2, E1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert(_i ? count_of(j, 201) : !count_of(j, 201));
	ck_assert_uint_eq(count_of(j, 103), _i ? 1 : 0);
	sw_judgement_free(j);
}
END_TEST

START_TEST(stream_at_an_old_address)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	if (_i) {
		tb_stream_destroy(tb, S1);
		tb_stream_create(tb, S1, NONBLOCKING);
	}
	tb_set(tb, DEV, 64, S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), _i ? 1 : 0);
	if (_i)
		ck_assert_uint_ne(only(j, 103)->access[0]->stream, only(j, 103)->access[1]->stream);
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, capture_is_spoilt, 0, 2);
	tcase_add_loop_test(tc, update_is_refused, 0, 2);
	tcase_add_loop_test(tc, graph_is_destroyed_while_it_runs, 0, 2);
	tcase_add_test(tc, graph_is_launched_when_destroyed);
	tcase_add_loop_test(tc, event_is_destroyed_while_recorded, 0, 2);
	tcase_add_loop_test(tc, freed_twice, 0, 2);
	tcase_add_loop_test(tc, foreign_pointers_are_freed, 0, 2);
	tcase_add_loop_test(tc, graph_at_an_old_address, 0, 2);
	tcase_add_loop_test(tc, event_at_an_old_address, 0, 2);
	tcase_add_loop_test(tc, stream_at_an_old_address, 0, 2);
}

int main(void)
{
	return run_cases("bad input", add);
}
