/* SPDX-License-Identifier: Apache-2.0 */
/* SW601 to SW608: calls that rules forbid, in and out of each scope; rules that say nothing, or nonsense. */
#include "detect/judge.h"

#include <stdlib.h>
#include <string.h>

#define MS 1000000u

/* Judged with rules: "--forbid", "--max-wait" or "--max-calls" by their first letter ('f', 'w', 'c'), then the text. */
static struct sw_judgement *with(struct tb *tb, struct sw_gate *gate, const char *const *rules)
{
	static const char letters[] = "fwc";
	struct sw_error error;
	*gate = (struct sw_gate){0};
	for (; *rules; rules++)
		ck_assert_msg(
			!sw_gate_add(gate, (enum sw_gate_op)(strchr(letters, **rules) - letters), *rules + 1, &error),
			"%s", error.text);
	return judged_with(tb, &(struct sw_judge_options){.gate = gate});
}
#define WITH(tb, gate, ...) with(tb, gate, (const char *const[]){__VA_ARGS__, NULL})

static size_t forbidden(const struct sw_judgement *j)
{
	size_t n = 0;
	for (int id = 601; id <= 608; id++)
		n += count_of(j, id);
	return n;
}

static void push(struct tb *tb, const char *name)
{
	tb_range(tb, SW_RANGE_PUSH, 0, 0, name, "");
}

static void pop(struct tb *tb)
{
	tb_range(tb, SW_RANGE_POP, 0, 0, "", "");
}

static void calls_from(struct tb *tb, uint64_t place)
{
	tb_stack(tb, 1, 0x1000 + place);
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

enum what {
	SYNC_STREAM,
	SYNC_PENDING,
	COPY_VALUE,
	COPY_PAGEABLE,
	COPY_SYNC_WITHIN,
	COPY_PINNED,
	SET_DEVICE,
	QUERY,
	ELAPSED,
	ALLOC_DEVICE,
	ALLOC_ASYNC,
	ALLOC_PINNED,
	FREE_DEVICE,
	FREE_ASYNC,
	FREE_PINNED,
	LOAD,
	LEGACY,
	WHATS
};

static void legacy_between_two(struct tb *tb)
{
	tb_stream_create(tb, S3, 0);
	tb_stream_create(tb, 0xd0, 0);
	tb_set(tb, DEV, 64, S3);
	tb_set(tb, DEV2, 64, 0);
	tb_set(tb, PIN, 64, 0xd0);
}

static void do_it(struct tb *tb, enum what what)
{
	switch (what) {
	case SYNC_STREAM:
		tb_sync(tb, SW_SYNC_STREAM, S1);
		break;
	case SYNC_PENDING:
		tb_set(tb, DEV, 64, S1);
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
		break;
	case COPY_VALUE:
		tb->flags = SW_RF_SYNCHRONOUS;
		tb_copy_sync(tb, PIN, SW_SIDE_HOST, DEV, SW_SIDE_DEVICE, 4);
		tb->flags = 0;
		break;
	case COPY_PAGEABLE:
		h2d(tb, DEV, HOST, 4096, S1);
		break;
	case COPY_SYNC_WITHIN:
		tb->flags = SW_RF_SYNCHRONOUS;
		tb_copy_sync(tb, DEV2, SW_SIDE_DEVICE, DEV, SW_SIDE_DEVICE, 4096);
		tb->flags = 0;
		break;
	case COPY_PINNED:
		h2d(tb, DEV, PIN, 4096, S1);
		break;
	case SET_DEVICE:
		tb_set(tb, DEV, 64, S1);
		break;
	case QUERY:
		tb_query(tb, SW_SYNC_STREAM, S1, 0);
		break;
	case ELAPSED:
		tb_event_record(tb, E1, S1);
		tb_sync(tb, SW_SYNC_ELAPSED, E1);
		break;
	case ALLOC_DEVICE:
		tb_alloc(tb, SW_MEM_DEVICE, DEV + (8u << 20), 4096);
		break;
	case ALLOC_ASYNC:
		tb_alloc(tb, SW_MEM_ASYNC, DEV + (8u << 20), 4096)->stream = S1;
		break;
	case ALLOC_PINNED:
		tb_alloc(tb, SW_MEM_PINNED, PIN + (8u << 20), 4096);
		break;
	case FREE_DEVICE:
		tb_free_sync(tb, SW_MEM_UNKNOWN, DEV2);
		break;
	case FREE_ASYNC:
		tb_alloc(tb, SW_MEM_ASYNC, DEV + (8u << 20), 4096)->stream = S1;
		tb_free(tb, SW_MEM_ASYNC, DEV + (8u << 20))->stream = S1;
		break;
	case FREE_PINNED:
		tb_free_sync(tb, SW_MEM_UNKNOWN, PIN);
		break;
	case LOAD:
		tb_code(tb, SW_REC_CODE_LOAD, 0x7001, tb_image(tb, SW_IMAGE_FATBIN, "", "abcd", 4));
		break;
	case LEGACY:
		legacy_between_two(tb);
		break;
	case WHATS:
		break;
	}
}

/* The kinds of each call: one finding a kind that is asked for, by its id; what no kind covers is never found. */
static const struct {
	int ids[3];
} kinds_of[WHATS] = {
	[SYNC_STREAM] = {{601}},   [SYNC_PENDING] = {{601}},	      [COPY_VALUE] = {{601}},
	[COPY_PAGEABLE] = {{607}}, [ALLOC_DEVICE] = {{603}},	      [ALLOC_PINNED] = {{605}},
	[LOAD] = {{606}},	   [FREE_DEVICE] = {{604, 601, 602}}, [FREE_PINNED] = {{605, 601, 602}},
	[LEGACY] = {{602}},
};

START_TEST(kinds)
{
	static const char *const rules[] = {"fwait@program",	"fdevice-wait@program", "falloc@program",
					    "ffree@program",	"fpin@program",		"fload@program",
					    "fpageable@program"};
	const enum what what = (enum what)(_i / 7);
	const int id = 601 + _i % 7;
	struct sw_gate gate;
	struct tb *tb = two_streams();
	do_it(tb, what);
	struct sw_judgement *j = WITH(tb, &gate, rules[_i % 7]);
	/* The buffers of two_streams() are allocated in the program, too. */
	const size_t before = id == 603 ? 2 : id == 605 ? 1 : 0;
	bool wanted = false;
	for (int k = 0; k < 3; k++)
		wanted |= kinds_of[what].ids[k] == id;
	size_t n = 0;
	for (size_t i = 0; i < j->findings.n; i++)
		n += j->findings.at[i].id == id ? j->findings.at[i].count : 0;
	ck_assert_msg(n == before + wanted, "call %d: SW%d %zu times", what, id, n);
	ck_assert_uint_eq(j->gate.at[0].found, n);
	sw_judgement_free(j);
	sw_gate_free(&gate);
}
END_TEST

/* A call of several kinds is one finding, of the most telling one. */
START_TEST(any_is_one_finding)
{
	struct sw_gate gate;
	struct tb *tb = two_streams();
	push(tb, "step");
	do_it(tb, FREE_DEVICE);
	pop(tb);
	struct sw_judgement *j = WITH(tb, &gate, "fany@nvtx:step");
	ck_assert_uint_eq(forbidden(j), 1);
	ck_assert_int_eq(only(j, 604)->severity, SW_ERROR);
	ck_assert_int_eq(only(j, 604)->confidence, SW_CERTAIN);
	ck_assert_uint_eq(j->errors, 1);
	sw_judgement_free(j);
	sw_gate_free(&gate);
}
END_TEST

/* ---- scopes ------------------------------------------------------------------------------------------------------ */

/* 0: inside.  1: before.  2: after.  3: on another thread.  4: inside an inner range of another name.  5: the first
   entry is skipped.  6: the second one is not.  7: a range within one of the same name is no entry.  8: of another
   domain.  9: a started range, which belongs to its thread. */
START_TEST(in_a_range)
{
	static const char *const rules[] = {"fwait@nvtx:step",	 "fwait@nvtx:step",   "fwait@nvtx:step",
					    "fwait@nvtx:step",	 "fwait@nvtx:st?p",   "fwait@nvtx:step:1",
					    "fwait@nvtx:step:1", "fwait@nvtx:step:1", "fwait@nvtx:step@lib",
					    "fwait@nvtx:step"};
	static const bool caught[] = {true, false, false, false, true, false, true, false, false, true};
	struct sw_gate gate;
	struct tb *tb = two_streams();
	if (_i == 1)
		do_it(tb, SYNC_STREAM);
	if (_i == 9)
		tb_range(tb, SW_RANGE_START, 0, 77, "step", "");
	else
		push(tb, "step");
	if (_i == 3)
		tb_thread(tb, 2);
	if (_i == 4)
		push(tb, "layer");
	if (_i == 6) {
		pop(tb);
		push(tb, "step");
	}
	if (_i == 7)
		push(tb, "step");
	if (_i != 1 && _i != 2)
		do_it(tb, SYNC_STREAM);
	if (_i == 3)
		tb_thread(tb, 1);
	if (_i == 4 || _i == 7)
		pop(tb);
	if (_i == 9)
		tb_range(tb, SW_RANGE_END, 0, 77, "", "");
	else
		pop(tb);
	if (_i == 2)
		do_it(tb, SYNC_STREAM);
	struct sw_judgement *j = WITH(tb, &gate, rules[_i]);
	ck_assert_uint_eq(count_of(j, 601), caught[_i]);
	ck_assert_uint_eq(forbidden(j), caught[_i]);
	if (_i == 6) {
		ck_assert_uint_eq(j->gate.at[0].entered, 1);
		ck_assert_uint_eq(j->gate.at[0].skipped, 1);
	}
	if (_i >= 1 && _i <= 3) /* nothing was checked: the command says so */
		ck_assert_uint_eq(j->gate.at[0].calls, 0);
	sw_judgement_free(j);
	sw_gate_free(&gate);
}
END_TEST

/* A function of the call's Python stack, by module and name; the other rules name another module or function. */
START_TEST(in_a_python_function)
{
	static const struct {
		const char *rule;
		bool caught;
	} rules[] = {{"fwait@python:engine.decode.step", true},
		     {"fwait@python:decode.step", true},
		     {"fwait@python:step", true},
		     {"fwait@python:decode.Engine.step", true},
		     {"fwait@python:ode.step", false},
		     {"fwait@python:encode.step", false},
		     {"fwait@python:decode.prefill", false},
		     {"fwait@python:engine.main", true}};
	const struct sw_python_frame frames[] = {{1, 12}, {2, 7}};
	struct sw_gate gate;
	struct tb *tb = two_streams();
	tb_python_code(tb, 1, "/srv/engine/decode.py", _i % 2 ? "Engine.step" : "step");
	tb_python_code(tb, 2, "/srv/engine/__init__.py", "main");
	calls_from(tb, 0);
	tb_python_stack(tb, frames, 2);
	do_it(tb, SYNC_STREAM);
	struct sw_judgement *j = WITH(tb, &gate, rules[_i / 2].rule);
	ck_assert_uint_eq(count_of(j, 601), rules[_i / 2].caught);
	sw_judgement_free(j);
	sw_gate_free(&gate);
}
END_TEST

/* 0: the calls of all threads count, where the scope is no range.  1: up to the bound. */
START_TEST(calls_of_all_threads)
{
	struct sw_gate gate;
	struct tb *tb = two_streams();
	do_it(tb, SYNC_STREAM);
	tb_thread(tb, 2);
	do_it(tb, SYNC_STREAM);
	struct sw_judgement *j = WITH(tb, &gate, _i ? "cwait=2@program" : "cwait=1@program");
	ck_assert_uint_eq(count_of(j, 608), !_i);
	sw_judgement_free(j);
	sw_gate_free(&gate);
}
END_TEST

/* A thread that is given its name after its first call. */
START_TEST(on_a_thread_that_is_named_late)
{
	struct sw_gate gate;
	struct tb *tb = two_streams();
	do_it(tb, SET_DEVICE);
	if (!_i)
		tb_name(tb, SW_NAME_THREAD, 1, 0, "decoder");
	do_it(tb, SYNC_STREAM);
	struct sw_judgement *j = WITH(tb, &gate, "fwait@thread:decoder");
	ck_assert_uint_eq(count_of(j, 601), !_i);
	sw_judgement_free(j);
	sw_gate_free(&gate);
}
END_TEST

START_TEST(on_a_thread)
{
	struct sw_gate gate;
	struct tb *tb = two_streams();
	tb_thread(tb, 2);
	do_it(tb, SYNC_STREAM);
	struct sw_judgement *j = WITH(tb, &gate, _i ? "fwait@thread:thread 1" : "fwait@thread:thread 2");
	ck_assert_uint_eq(count_of(j, 601), !_i);
	sw_judgement_free(j);
	sw_gate_free(&gate);
}
END_TEST

/* 0: between begin and end of the thread's own capture.  1: after it.  2: while another thread captures.  3: after
   another thread ended it. */
START_TEST(in_a_capture)
{
	struct sw_gate gate;
	struct tb *tb = two_streams();
	tb_capture(tb, SW_CAPTURE_BEGIN, S1, 0);
	if (_i == 2)
		tb_thread(tb, 2);
	if (_i == 0 || _i == 2)
		do_it(tb, ALLOC_DEVICE);
	tb_thread(tb, _i == 3 ? 2 : 1);
	tb_capture(tb, SW_CAPTURE_END, S1, 0x99);
	tb_thread(tb, 1);
	if (_i == 1 || _i == 3)
		do_it(tb, ALLOC_DEVICE);
	struct sw_judgement *j = WITH(tb, &gate, "falloc@capture");
	ck_assert_uint_eq(count_of(j, 603), !_i);
	sw_judgement_free(j);
	sw_gate_free(&gate);
}
END_TEST

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

START_TEST(waits_up_to_a_time)
{
	struct sw_gate gate;
	struct tb *tb = two_streams();
	push(tb, "step");
	tb->dur = _i ? 40000 : 300000;
	tb_sync(tb, SW_SYNC_STREAM, S1);
	tb->dur = 100;
	pop(tb);
	struct sw_judgement *j = WITH(tb, &gate, "w100us@nvtx:step");
	ck_assert_uint_eq(count_of(j, 608), !_i);
	ck_assert_uint_eq(forbidden(j), !_i);
	sw_judgement_free(j);
	sw_gate_free(&gate);
}
END_TEST

/* Two calls an entry are allowed.  0: three in one entry.  1: two in each of two.  2: two on each of two threads. */
START_TEST(calls_up_to_a_number)
{
	struct sw_gate gate;
	struct tb *tb = two_streams();
	push(tb, "step");
	do_it(tb, SYNC_STREAM);
	do_it(tb, SYNC_STREAM);
	if (_i == 1) {
		pop(tb);
		push(tb, "step");
	}
	if (_i == 2) {
		tb_thread(tb, 2);
		push(tb, "step");
	}
	do_it(tb, SYNC_STREAM);
	if (_i)
		do_it(tb, SYNC_STREAM);
	struct sw_judgement *j = WITH(tb, &gate, "cwait=2@nvtx:step");
	ck_assert_uint_eq(count_of(j, 608), !_i);
	ck_assert_uint_eq(j->gate.at[0].calls, _i ? 4 : 3);
	sw_judgement_free(j);
	sw_gate_free(&gate);
}
END_TEST

/* Without rules nothing is found, and with them the other findings are as they were. */
START_TEST(other_findings_stay)
{
	struct sw_gate gate;
	struct sw_judgement *j[2];
	for (int i = 0; i < 2; i++) {
		struct tb *tb = two_streams();
		h2d(tb, DEV, PIN, 4096, S1);
		d2d(tb, DEV2, DEV, 4096, S2);
		do_it(tb, COPY_VALUE);
		j[i] = i ? WITH(tb, &gate, "fany@program") : judged(tb);
	}
	ck_assert_uint_eq(forbidden(j[0]), 0);
	ck_assert_uint_gt(forbidden(j[1]), 0);
	ck_assert_uint_eq(j[1]->findings.n - forbidden(j[1]), j[0]->findings.n);
	ck_assert_uint_eq(count_of(j[1], 101), count_of(j[0], 101));
	sw_judgement_free(j[0]);
	sw_judgement_free(j[1]);
	sw_gate_free(&gate);
}
END_TEST

/* ---- text -------------------------------------------------------------------------------------------------------- */

START_TEST(bad_rules)
{
	static const char *const rules[] = {"fwait",
					    "f@program",
					    "fwaits@program",
					    "fwait,@program",
					    "fwait@",
					    "fwait@here",
					    "fwait@nvtx:",
					    "fwait@nvtx::3",
					    "fwait@programs",
					    "fwait@program:2",
					    "fwait@capture:1",
					    "w100@program",
					    "wus@program",
					    "w-1us@program",
					    "w1h@program",
					    "calloc@program",
					    "calloc=@program",
					    "calloc=-1@program",
					    "calloc=1x@program",
					    "cnone=1@program",
					    "w1us1@program",
					    "calloc=99999999999999999999@program",
					    "fwait@python:",
					    "fwait@thread:"};
	static const char letters[] = "fwc";
	struct sw_gate gate = {0};
	struct sw_error error = {0};
	const int rc =
		sw_gate_add(&gate, (enum sw_gate_op)(strchr(letters, rules[_i][0]) - letters), rules[_i] + 1, &error);
	ck_assert_int_eq(rc, SW_E_USAGE);
	ck_assert_ptr_nonnull(strstr(error.text, rules[_i] + 1));
	ck_assert_uint_eq(gate.n, 0);
}
END_TEST

START_TEST(good_rules)
{
	struct sw_gate gate = {0};
	struct sw_error error;
	ck_assert_int_eq(sw_gate_add(&gate, SW_GATE_FORBID, "wait,pin@nvtx:a:b@lib:3", &error), 0);
	ck_assert_int_eq(sw_gate_add(&gate, SW_GATE_FORBID, "any@nvtx:a:b", &error), 0);
	ck_assert_int_eq(sw_gate_add(&gate, SW_GATE_MAX_WAIT, "1.5ms@program", &error), 0);
	ck_assert_int_eq(sw_gate_add(&gate, SW_GATE_MAX_CALLS, "alloc,free=0@capture", &error), 0);
	ck_assert_str_eq(gate.rule[0].name, "a:b");
	ck_assert_str_eq(gate.rule[0].domain, "lib");
	ck_assert_uint_eq(gate.rule[0].skip, 3);
	ck_assert_uint_eq(gate.rule[0].kinds, 1u << SW_GATE_WAIT | 1u << SW_GATE_PIN);
	ck_assert_str_eq(gate.rule[1].name, "a:b");
	ck_assert_ptr_null(gate.rule[1].domain);
	ck_assert_uint_eq(gate.rule[1].kinds, (1u << SW_GATE_KINDS_N) - 1);
	ck_assert_uint_eq(gate.rule[2].bound, 1500000);
	ck_assert_uint_eq(gate.rule[3].bound, 0);
	while (gate.n < SW_GATE_RULES)
		ck_assert_int_eq(sw_gate_add(&gate, SW_GATE_FORBID, "any@program", &error), 0);
	ck_assert_int_eq(sw_gate_add(&gate, SW_GATE_FORBID, "any@program", &error), SW_E_USAGE);
	sw_gate_free(&gate);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, kinds, 0, 7 * WHATS);
	tcase_add_test(tc, any_is_one_finding);
	tcase_add_loop_test(tc, in_a_range, 0, 10);
	tcase_add_loop_test(tc, in_a_python_function, 0, 16);
	tcase_add_loop_test(tc, on_a_thread, 0, 2);
	tcase_add_loop_test(tc, on_a_thread_that_is_named_late, 0, 2);
	tcase_add_loop_test(tc, calls_of_all_threads, 0, 2);
	tcase_add_loop_test(tc, in_a_capture, 0, 4);
	tcase_add_loop_test(tc, waits_up_to_a_time, 0, 2);
	tcase_add_loop_test(tc, calls_up_to_a_number, 0, 3);
	tcase_add_test(tc, other_findings_stay);
	tcase_add_loop_test(tc, bad_rules, 0, 24);
	tcase_add_test(tc, good_rules);
}

int main(void)
{
	return run_cases("gate", add);
}
