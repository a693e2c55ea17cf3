/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses of the recorder: findings inside of a window are those of the whole run, and none comes of what was left out.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "detect/judge.h"
#include "detect/model/collect.h"

static void pause_here(struct tb *tb)
{
	tb_pause(tb);
	tb_go_on(tb, 100);
}

/* ---- hazards ----------------------------------------------------------------------------------------------------- */

/* 0: a pause lies between the two accesses; 1: both are in the window behind it; 2: both are in the window before it.
 */
START_TEST(accesses_meet_in_their_own_window_only)
{
	struct tb *tb = two_streams();
	if (_i == 1)
		pause_here(tb);
	tb_set(tb, DEV, 4096, S1);
	if (_i == 0)
		pause_here(tb);
	tb_set(tb, DEV, 4096, S2);
	if (_i == 2)
		pause_here(tb);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), _i != 0);
	ck_assert_uint_eq(j->coverage.records_lost + j->coverage.straddling_dropped, 0);
	ck_assert_uint_eq(j->coverage.edges_for_safety, 0);
	ck_assert_uint_eq(j->coverage.left_out, 100);
	sw_judgement_free(j);
}
END_TEST

/* An event that is waited for in a window may have been recorded in the pause, but not behind the window's work. */
START_TEST(an_event_of_before_orders_nothing_inside)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV2, 64, S1);
	tb_event_record(tb, E1, S1);
	pause_here(tb);
	tb_set(tb, DEV, 4096, S1);
	if (_i)
		tb_event_record(tb, E1, S1);
	tb_stream_wait(tb, S2, E1);
	tb_set(tb, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), !_i);
	sw_judgement_free(j);
}
END_TEST

/* The calls that ordered these were left out.  2: the same inside of a window, where nothing was. */
START_TEST(lifecycle_calls_in_a_pause_are_ordered)
{
	struct tb *tb = two_streams();
	tb_alloc(tb, SW_MEM_ASYNC, 0x7f2000000000, 4096)->stream = S1;
	tb_set(tb, 0x7f2000000000, 4096, S1);
	if (_i < 2)
		tb_pause(tb);
	tb_free(tb, SW_MEM_ASYNC, 0x7f2000000000)->stream = S2;
	if (_i == 1) {
		tb_alloc(tb, SW_MEM_ASYNC, 0x7f2000000000, 4096)->stream = S1;
		tb_free(tb, SW_MEM_ASYNC, 0x7f2000000000)->stream = S2;
	}
	if (_i < 2)
		tb_go_on(tb, 3);
	struct sw_judgement *j = judged(tb);
	if (_i < 2)
		no_hazards(j);
	else
		ck_assert_uint_eq(count_of(j, 105), 1);
	sw_judgement_free(j);
}
END_TEST

/* Allocations of a pause are known, and use after a free in it is an error: the free is recorded. */
START_TEST(memory_of_a_pause_is_known)
{
	struct tb *tb = two_streams();
	tb_pause(tb);
	tb_alloc(tb, SW_MEM_DEVICE, 0x7f2000000000, 4096);
	if (_i)
		tb_free(tb, SW_MEM_DEVICE, DEV);
	tb_go_on(tb, 3);
	tb_set(tb, 0x7f2000000000, 4096, S1);
	tb_set(tb, 0x7f2000000000, 4096, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(only(j, 103)->access[0]->allocation, only(j, 103)->access[1]->allocation);
	sw_judgement_free(j);
}
END_TEST

/* A graph that was made before the pause, or in it, is launched behind it. */
START_TEST(graphs_outlast_a_pause)
{
	struct tb *tb = two_streams();
	if (_i)
		tb_pause(tb);
	tb_graph(tb, SW_GRAPH_INSTANTIATE, 0x61, 0x62);
	tb_node_head(tb, 0x62, 1);
	tb_node(tb, 0x62, 0x63, NULL, 0, SW_REC_SET, &(struct sw_rec_set){.dst = DEV, .width = 4096, .height = 1},
		sizeof(struct sw_rec_set));
	if (!_i)
		tb_pause(tb);
	tb_go_on(tb, 9);
	tb_graph_launch(tb, 0x62, S1);
	tb_set(tb, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), 1);
	ck_assert_uint_eq(j->coverage.unknown_graph_launches, 0);
	sw_judgement_free(j);
}
END_TEST

/* ---- claims ------------------------------------------------------------------------------------------------------ */

/* Each is claimed of a run that was recorded as a whole (0), and not where a pause may hide the contrary (1). */
START_TEST(an_event_may_have_been_recorded_in_a_pause)
{
	struct tb *tb = two_streams();
	if (_i)
		pause_here(tb);
	tb_stream_wait(tb, S2, E1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 201), !_i);
	sw_judgement_free(j);
}
END_TEST

START_TEST(an_event_of_this_window_is_known)
{
	struct tb *tb = two_streams();
	pause_here(tb);
	tb_event_create(tb, 0xe30);
	tb_stream_wait(tb, S2, 0xe30);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 201), 1);
	sw_judgement_free(j);
}
END_TEST

START_TEST(work_may_be_pending_from_a_pause)
{
	static const enum sw_sync_what what[] = {SW_SYNC_STREAM, SW_SYNC_CONTEXT, SW_SYNC_EVENT};
	const uint64_t handle[] = {S1, 0, E1};
	struct tb *tb = two_streams();
	if (_i % 2)
		pause_here(tb);
	if (_i / 2 == 2)
		tb_event_record(tb, E1, S1);
	tb_sync(tb, what[_i / 2], handle[_i / 2]);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 402), !(_i % 2));
	sw_judgement_free(j);
}
END_TEST

/* The first wait of a window has seen to it: of the second one it is known. */
START_TEST(a_wait_in_the_window_ends_the_doubt)
{
	struct tb *tb = two_streams();
	pause_here(tb);
	tb_stack(tb, 1, 0x401000ull);
	tb_sync(tb, _i ? SW_SYNC_CONTEXT : SW_SYNC_STREAM, _i ? 0 : S1);
	tb_stack(tb, 1, 0x402000ull);
	tb_sync(tb, SW_SYNC_STREAM, S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 402), 1);
	sw_judgement_free(j);
}
END_TEST

START_TEST(an_event_may_have_been_waited_for_in_a_pause)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb_event_record(tb, E1, S1);
	if (_i)
		pause_here(tb);
	tb_set(tb, DEV, 64, S1);
	tb_event_record(tb, E1, S1);
	tb_stream_wait(tb, S2, E1);
	tb_set(tb, DEV, 64, S2);
	tb_set(tb, DEV2, 64, S1);
	tb_event_record(tb, E1, S1);
	struct sw_judgement *j = judged(tb);
	if (_i)
		ck_assert_uint_eq(count_of(j, 203), 0);
	sw_judgement_free(j);
}
END_TEST

/* ---- what a trace says ------------------------------------------------------------------------------------------- */

START_TEST(the_run_counts_its_time_in_windows)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb_pause(tb);
	for (int i = 0; i < 1000; i++) {
		tb_event_create(tb, 0xe30);
		tb_event_destroy(tb, 0xe30);
	}
	tb_go_on(tb, 7);
	tb_set(tb, DEV, 64, S1);
	tb->header.windows = SW_FILE_WINDOWS_WHOLE + 2;
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.windows, 2);
	ck_assert_uint_eq(j->coverage.left_out, 7);
	ck_assert_uint_lt(j->span_ns, 1000 * 100);
	sw_judgement_free(j);
}
END_TEST

START_TEST(ranges_of_a_pause_are_not_open_in_a_window)
{
	struct tb *tb = two_streams();
	tb_range(tb, SW_RANGE_PUSH, 0, 0, "outer", "");
	pause_here(tb);
	tb_range(tb, SW_RANGE_PUSH, 0, 0, "step", "");
	tb_set(tb, DEV, 64, S1);
	tb_range(tb, SW_RANGE_POP, 0, 0, "", "");
	tb_range(tb, SW_RANGE_POP, 0, 0, "", "");
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	const struct sw_finding *f = only(j, 103);
	ck_assert_str_eq(j->nvtx.at[f->access[0]->nvtx - 1].name, "step");
	ck_assert_uint_eq(j->nvtx.at[f->access[0]->nvtx - 1].within, 0);
	ck_assert_uint_eq(f->access[1]->nvtx, 0);
	sw_judgement_free(j);
}
END_TEST

/* ---- random programs: whole, and in windows ---------------------------------------------------------------------- */

#define OPS	 60u
#define PROGRAMS 1500u /* WINDOW_PROGRAMS: another number */

enum op { SET, COPY, RECORD, WAIT, SYNC_EVENT, SYNC_STREAM, SYNC_CONTEXT, QUERY, EVENT_AGAIN, ALLOC, FREE, OP_KINDS };

struct step {
	enum op op;
	uint32_t a, b, c;
};

static const uint64_t streams[] = {S1, S2, S3, 0}, events[] = {E1, E2, 0xe30};

static bool is_hot(enum op op)
{
	return op < EVENT_AGAIN;
}

static void add_step(struct tb *tb, const struct step *s)
{
	const uint64_t at = DEV + s->a * 256, from = DEV2 + s->c * 256, stream = streams[s->b % 4],
		       event = events[s->a % 3];
	switch (s->op) {
	case SET:
		tb_set(tb, at, 512, stream);
		break;
	case COPY:
		d2d(tb, at, from, 512, stream);
		break;
	case RECORD:
		tb_event_record(tb, event, stream);
		break;
	case WAIT:
		tb_stream_wait(tb, stream, event);
		break;
	case SYNC_EVENT:
		tb_sync(tb, SW_SYNC_EVENT, event);
		break;
	case SYNC_STREAM:
		tb_sync(tb, SW_SYNC_STREAM, stream);
		break;
	case SYNC_CONTEXT:
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
		break;
	case QUERY:
		tb_query(tb, SW_SYNC_EVENT, event, s->c % 2 ? 600 : 0);
		break;
	case EVENT_AGAIN:
		tb_event_destroy(tb, event);
		tb_event_create(tb, event);
		break;
	case ALLOC:
		tb_alloc(tb, SW_MEM_DEVICE, 0x7f3000000000 + s->a * 0x10000ull, 4096);
		break;
	default:
		tb_free(tb, SW_MEM_DEVICE, 0x7f3000000000 + s->a * 0x10000ull);
		break;
	}
}

/* The trace of the program, and which step each record is of.  in_window: NULL, all of it. */
static struct sw_judgement *judge_program(const struct step *program, const bool *in_window, uint32_t *step_of)
{
	struct tb *tb = two_streams();
	bool open = true;
	uint64_t left_out = 0;
	tb_stream_create(tb, S3, 0);
	tb_event_create(tb, 0xe30);
	for (uint32_t i = 0; i < OPS; i++) {
		if (in_window && open != in_window[i]) {
			if (open)
				tb_pause(tb);
			else
				tb_go_on(tb, left_out);
			open = in_window[i];
			left_out = 0;
		}
		tb_stack(tb, 1, 0x401000ull + i * 16);
		const uint64_t first = tb->seq + 1;
		if (open || !is_hot(program[i].op))
			add_step(tb, &program[i]);
		else
			left_out++;
		for (uint64_t seq = first; seq <= tb->seq && seq < 4 * OPS; seq++)
			step_of[seq] = i + 1;
	}
	if (!open)
		tb_go_on(tb, left_out)->flags = SW_CUT_AT_END;
	return judged(tb);
}

/* Steps of the sides of a finding; 0: has none. */
static uint64_t key_of(const struct sw_finding *f, const uint32_t *step_of)
{
	const uint64_t a = f->accesses > 0 ? step_of[f->access[0]->seq % (4 * OPS)] : 0,
		       b = f->accesses > 1 ? step_of[f->access[1]->seq % (4 * OPS)] : 0;
	return (uint64_t)f->id << 32 | a << 16 | b;
}

static bool has(const struct sw_judgement *j, const uint32_t *step_of, uint64_t key)
{
	for (size_t i = 0; i < j->findings.n; i++)
		if (key_of(&j->findings.at[i], step_of) == key)
			return true;
	return false;
}

/* A wait that misses is told together with the hazard that it misses, which may lie outside of the window. */
static bool missed_there(const struct sw_judgement *j, const uint32_t *step_of, uint64_t key)
{
	const uint64_t step = key >> 16 & 0xffff;
	for (size_t i = 0; key >> 32 >= 201 && key >> 32 <= 205 && i < j->findings.n; i++) {
		const uint64_t other = key_of(&j->findings.at[i], step_of);
		if (other >> 32 >= 201 && other >> 32 <= 203 &&
		    ((other >> 16 & 0xffff) == step || (other & 0xffff) == step))
			return true;
	}
	return false;
}

static void random_program(struct step *program, bool *in_window)
{
	bool open = random_below(2);
	for (uint32_t i = 0; i < OPS; i++) {
		const uint64_t kind = random_below(16);
		program[i] =
			(struct step){.op = kind < 5	? (enum op)(kind % 2)
					    : kind < 8	? RECORD
					    : kind < 11 ? WAIT
							: (enum op)(SYNC_EVENT + random_below(OP_KINDS - SYNC_EVENT)),
				      .a = (uint32_t)random_below(6),
				      .b = (uint32_t)random_below(4),
				      .c = (uint32_t)random_below(6)};
		if (random_below(12) == 0)
			open = !open;
		in_window[i] = open;
	}
}

/* Findings that a pause may take away, or make of what it left out. */
static bool is_claim(int id)
{
	return (id >= 201 && id <= 205) || id == 402;
}

static uint32_t window_of(const bool *in_window, uint32_t step)
{
	uint32_t window = 0;
	for (uint32_t i = 1; i < step; i++)
		window += in_window[i] != in_window[i - 1];
	return window;
}

START_TEST(findings_in_a_window_are_those_of_the_whole_run)
{
	const char *wanted = getenv("WINDOW_PROGRAMS");
	const uint32_t programs = wanted ? (uint32_t)atoi(wanted) : PROGRAMS;
	uint32_t hazards = 0, claims = 0;
	for (uint32_t n = 0; n < programs; n++) {
		struct step program[OPS];
		bool in_window[OPS];
		uint32_t whole_steps[4 * OPS] = {0}, steps[4 * OPS] = {0};
		random_program(program, in_window);
		struct sw_judgement *whole = judge_program(program, NULL, whole_steps);
		struct sw_judgement *windows = judge_program(program, in_window, steps);
		for (size_t i = 0; i < whole->findings.n; i++) {
			const struct sw_finding *f = &whole->findings.at[i];
			const uint64_t key = key_of(f, whole_steps);
			const uint32_t a = key >> 16 & 0xffff, b = key & 0xffff;
			if (!sw_finding_is(f->id, SW_FAMILY_HAZARD) || !a || !b || !in_window[a - 1] ||
			    !in_window[b - 1] || window_of(in_window, a) != window_of(in_window, b))
				continue;
			ck_assert_msg(has(windows, steps, key), "program %u: SW%d of steps %u and %u is missing", n,
				      f->id, a, b);
			hazards++;
		}
		for (size_t i = 0; i < windows->findings.n; i++) {
			const struct sw_finding *f = &windows->findings.at[i];
			const uint64_t key = key_of(f, steps);
			/* Which of several waits is blamed for a hazard may differ. */
			if (!sw_finding_is(f->id, SW_FAMILY_HAZARD) && !(is_claim(f->id) && f->severity == SW_NOTE))
				continue;
			ck_assert_msg(has(whole, whole_steps, key) || missed_there(whole, whole_steps, key),
				      "program %u: SW%d of steps %u and %u is false", n, f->id,
				      (unsigned)(key >> 16 & 0xffff), (unsigned)(key & 0xffff));
			claims += is_claim(f->id);
		}
		sw_judgement_free(whole);
		sw_judgement_free(windows);
	}
	ck_assert_uint_gt(hazards, programs / 2);
	ck_assert_uint_gt(claims, 0);
}
END_TEST

static void add(TCase *tc)
{
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, accesses_meet_in_their_own_window_only, 0, 3);
	tcase_add_loop_test(tc, an_event_of_before_orders_nothing_inside, 0, 2);
	tcase_add_loop_test(tc, lifecycle_calls_in_a_pause_are_ordered, 0, 3);
	tcase_add_loop_test(tc, memory_of_a_pause_is_known, 0, 2);
	tcase_add_loop_test(tc, graphs_outlast_a_pause, 0, 2);
	tcase_add_loop_test(tc, an_event_may_have_been_recorded_in_a_pause, 0, 2);
	tcase_add_test(tc, an_event_of_this_window_is_known);
	tcase_add_loop_test(tc, work_may_be_pending_from_a_pause, 0, 6);
	tcase_add_loop_test(tc, a_wait_in_the_window_ends_the_doubt, 0, 2);
	tcase_add_loop_test(tc, an_event_may_have_been_waited_for_in_a_pause, 0, 2);
	tcase_add_test(tc, the_run_counts_its_time_in_windows);
	tcase_add_test(tc, ranges_of_a_pause_are_not_open_in_a_window);
	tcase_add_test(tc, findings_in_a_window_are_those_of_the_whole_run);
}

int main(void)
{
	return run_cases("windows", add);
}
