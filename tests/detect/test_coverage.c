/* SPDX-License-Identifier: Apache-2.0 */
/* Events that end or weaken a judgement, and counters: errors, losses, calls that are not modelled (SW901-SW903). */
#include "detect/judge.h"

/* Failed calls have no effect; the first sticky error ends judgement of its context. */
START_TEST(errors_of_the_program)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb->status = _i == 0 ? 0 : _i == 1 ? 1 : 719;
	tb_set(tb, DEV, 64, S2);
	tb->status = 0;
	if (_i == 2)
		tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors, _i == 0);
	ck_assert_uint_eq(j->coverage.sticky_error_seq != 0, _i == 2);
	sw_judgement_free(j);
}
END_TEST

/* Across lost records nothing is judged. */
START_TEST(losses_are_barriers)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	if (_i) {
		uint64_t lost = tb->seq + 1;
		tb->seq += 3;
		tb_event_record(tb, E1, S1);
		tb_loss(tb, lost, lost + 2, 3);
	}
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
		ck_assert_int_eq(only(j, 902)->severity, SW_WARNING);
		ck_assert_uint_eq(j->coverage.records_lost, 3);
		ck_assert_uint_ge(j->coverage.straddling_dropped, 1);
	} else {
		ck_assert_uint_eq(j->errors, 1);
	}
	sw_judgement_free(j);
}
END_TEST

/* Two sides without order, in each way in which they are judged; with or without the call between them. */
enum { SETS, FREED, UNBORN, WAYS };
static struct tb *two_sides(int way, bool unknown, bool ordered)
{
	struct tb *tb = two_streams();
	if (way == SETS)
		tb_set(tb, DEV, 64, S1);
	else if (way == FREED && !ordered)
		tb_free(tb, SW_MEM_DEVICE, DEV);
	else if (way == UNBORN)
		tb_alloc(tb, SW_MEM_ASYNC, DEV + (1ull << 32), 4096)->stream = S1;
	if (ordered)
		order(tb, S1, S2);
	if (unknown)
		tb_other(tb, SW_REC_UNCLASSIFIED, "cuSomethingNew");
	tb_set(tb, way == UNBORN ? DEV + (1ull << 32) : DEV, 64, S2);
	return tb;
}

static const struct sw_finding *hazard_of(const struct sw_judgement *j)
{
	for (size_t i = 0; i < j->findings.n; i++)
		if (sw_finding_is(j->findings.at[i].id, SW_FAMILY_HAZARD))
			return &j->findings.at[i];
	return NULL;
}

/* After an ordering call that we do not model nothing is more than possible; what would have been an error is not
   forgotten, and what is ordered was none. */
START_TEST(unclassified_calls)
{
	const int way = _i / 2;
	struct sw_judgement *j = judged(two_sides(way, _i % 2, false));
	const struct sw_finding *f = hazard_of(j);
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(j->errors, !(_i % 2));
	ck_assert_int_eq(f->lowered, _i % 2);
	ck_assert_int_eq(f->hidden, _i % 2);
	ck_assert_int_eq(f->severity, _i % 2 ? SW_NOTE : SW_ERROR);
	ck_assert_int_eq(f->confidence, _i % 2 ? SW_POSSIBLE : SW_CERTAIN);
	ck_assert_uint_eq(j->coverage.unclassified_calls, _i % 2);
	if (_i % 2)
		ck_assert_int_eq(only(j, 903)->severity, SW_WARNING);
	sw_judgement_free(j);
	j = judged(two_sides(way, _i % 2, true));
	no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

/* An occurrence before the call is an error still; one that was only possible without it is no lowered error. */
START_TEST(unclassified_calls_after_a_hazard)
{
	struct tb *tb = two_sides(SETS, false, false);
	tb_other(tb, SW_REC_UNCLASSIFIED, "cuSomethingNew");
	tb_set(tb, DEV, 64, S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_ge(j->errors, 1);
	sw_judgement_free(j);
	tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb_other(tb, SW_REC_UNCLASSIFIED, "cuSomethingNew");
	uint32_t function = tb_function(tb, "", 1, 8);
	tb_launch(tb, function, S2, 1, (uint64_t)DEV);
	j = judged(tb);
	no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

/* Streams that signal through memory: nothing found after that is more than possible. */
START_TEST(stream_memory_operations)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb_mem_op(tb, _i ? SW_MEMOP_WAIT_VALUE : SW_MEMOP_PREFETCH, DEV2, 4, S2);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors, !_i);
	sw_judgement_free(j);
}
END_TEST

/* Which memory other processes have: 0: none; 1, 2: by a handle of its own; 3, 4: by that of a pool; 5: another API's.
 */
START_TEST(memory_of_several_processes)
{
	struct tb *tb = two_streams();
	if (_i == 1 || _i == 3) {
		struct sw_rec_other *r =
			tb_other(tb, SW_REC_OTHER, _i == 1 ? "cuIpcGetMemHandle" : "cuMemPoolExportPointer");
		r->args[0] = DEV;
		r->args[1] = 0x1234;
	} else if (_i) {
		static const char *const by[] = {"cuIpcOpenMemHandle_v2", "", "cuMemPoolImportPointer",
						 "cuExternalMemoryGetMappedBuffer"};
		tb_call(tb, by[_i - 2], "");
		struct sw_rec_alloc *r = tb_alloc(tb, SW_MEM_IPC, DEV + (1ull << 33), 4096);
		r->owner = _i == 2 ? 0 : 7;
		r->extra = _i == 2 ? 0x1234 : 0;
	}
	struct sw_judgement *j = judged(tb);
	ck_assert_int_eq(j->shares_memory, _i == 1 || _i == 2);
	ck_assert_int_eq(j->shares_pools, _i == 3 || _i == 4);
	sw_judgement_free(j);
}
END_TEST

/* A GPU was there and no call came by. */
START_TEST(nothing_intercepted)
{
	struct tb *tb = empty();
	if (_i)
		tb_stream_create(tb, S1, NONBLOCKING);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 901), !_i);
	ck_assert_uint_eq(j->warnings, !_i);
	sw_judgement_free(j);
}
END_TEST

/* Numbers of the coverage line. */
START_TEST(coverage_counts)
{
	struct tb *tb = two_streams();
	uint32_t f = tb_function(tb, "_Z3addPfPKf", 2, 8, 8);
	tb_launch(tb, f, S1, 2, DEV, DEV2)->h.flags &= (uint16_t)~SW_RF_RUNTIME;
	tb_copy_2d(tb, DEV, SW_SIDE_DEVICE, 1024, PIN, SW_SIDE_HOST, 512, 100, 10, S1);
	tb_set(tb, DEV, 64, S1);
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.driver_calls, 7 + 4);
	ck_assert_uint_eq(j->coverage.runtime_calls, 7 + 3);
	ck_assert_uint_eq(j->coverage.launches, 1);
	ck_assert_uint_eq(j->coverage.copies, 1);
	ck_assert_uint_eq(j->coverage.bytes_copied, 1000);
	ck_assert_uint_eq(j->coverage.sets, 1);
	ck_assert_uint_eq(j->coverage.syncs, 1);
	ck_assert_uint_eq(j->coverage.kernels_by_evidence[SW_EV_SIGNATURE], 1);
	ck_assert_uint_eq(j->coverage.unknown_streams, 0);
	ck_assert_uint_gt(j->span_ns, 0);
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, errors_of_the_program, 0, 3);
	tcase_add_loop_test(tc, losses_are_barriers, 0, 2);
	tcase_add_loop_test(tc, unclassified_calls, 0, 2 * WAYS);
	tcase_add_test(tc, unclassified_calls_after_a_hazard);
	tcase_add_loop_test(tc, stream_memory_operations, 0, 2);
	tcase_add_loop_test(tc, memory_of_several_processes, 0, 6);
	tcase_add_loop_test(tc, nothing_intercepted, 0, 2);
	tcase_add_test(tc, coverage_counts);
}

int main(void)
{
	return run_cases("coverage", add);
}
