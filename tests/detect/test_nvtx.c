/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of NVTX: which ones a call was in, and what is reported when they end. */
#include "judge.h"

#include <stdio.h>

/* "inner<outer": domains after a colon. */
static void ranges_of(const struct sw_judgement *j, const struct sw_access *access, char *out, size_t room)
{
	size_t n = 0;
	out[0] = 0;
	for (uint32_t at = access->nvtx; at; at = j->nvtx.at[at - 1].within) {
		const struct sw_nvtx *range = &j->nvtx.at[at - 1];
		n += (size_t)snprintf(out + n, room - n, "%s%s%s%s", n ? "<" : "", range->name,
				      range->domain[0] ? ":" : "", range->domain);
	}
}

static void push(struct tb *tb, uint64_t domain, const char *name)
{
	tb_range(tb, SW_RANGE_PUSH, domain, 0, name, domain ? "lib" : "");
}

static void pop(struct tb *tb, uint64_t domain)
{
	tb_range(tb, SW_RANGE_POP, domain, 0, "", "");
}

/* A race whose later side is made by thread 1, wherever the ranges left it. */
static void expect_later(struct tb *tb, const char *wanted)
{
	char got[256];
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	ranges_of(j, only(j, 101)->access[1], got, sizeof got);
	ck_assert_str_eq(got, wanted);
	ck_assert_uint_eq(only(j, 101)->access[0]->nvtx, 0);
	sw_judgement_free(j);
}

static struct tb *race_begun(void)
{
	struct tb *tb = two_streams();
	h2d(tb, DEV, PIN, 4096, S1);
	return tb;
}

START_TEST(nested)
{
	struct tb *tb = race_begun();
	push(tb, 0, "epoch");
	push(tb, 0, "over");
	pop(tb, 0);
	push(tb, 7, "step");
	expect_later(tb, "step:lib<epoch");
}
END_TEST

/* As PyTorch names them: the call in AddBackward0 belongs to the last one in a range with the same number. */
static struct tb *forward_pass(void)
{
	struct tb *tb = race_begun();
	tb_python_code(tb, 1, "/src/train.py", "forward");
	tb_stack(tb, 0);
	push(tb, 0, "aten::randn, seq = 12, op_id = 1");
	tb_python_stack(tb, &(struct sw_python_frame){1, SW_PYTHON_ENTRY | 20}, 1);
	h2d(tb, DEV + 8192, PIN + 8192, 64, S1);
	pop(tb, 0);
	push(tb, 0, "aten::add, seq = 12, op_id = 2");
	tb_stack(tb, 0);
	tb_python_stack(tb, &(struct sw_python_frame){1, SW_PYTHON_ENTRY | 22}, 1);
	h2d(tb, DEV + 8192, PIN + 8192, 64, S1);
	pop(tb, 0);
	push(tb, 0, "aten::mul, seq = 13, op_id = 3");
	tb_stack(tb, 0);
	tb_python_stack(tb, &(struct sw_python_frame){1, SW_PYTHON_ENTRY | 23}, 1);
	h2d(tb, DEV + 8192, PIN + 8192, 64, S1);
	pop(tb, 0);
	tb_thread(tb, 2);
	return tb;
}

/* Which of the stacks, counted from 1, is the forward call of the race's later side; 0: none. */
static uint32_t forward_call(struct tb *tb)
{
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	const uint32_t stack = only(j, 101)->access[1]->forward;
	ck_assert_uint_eq(only(j, 101)->access[0]->forward, 0);
	sw_judgement_free(j);
	return stack;
}

START_TEST(backward_passes_belong_to_a_forward_call)
{
	struct tb *tb = forward_pass();
	push(tb, 0, "autograd::engine::evaluate_function: AddBackward0");
	push(tb, 0, "AddBackward0, seq = 12, op_id = 9");
	push(tb, 0, "aten::sum, seq = 77"); /* with create_graph=True operators count there as well */
	ck_assert_uint_eq(forward_call(tb), 2);
}
END_TEST

START_TEST(numbers_that_say_nothing_are_no_forward_call)
{
	struct tb *tb = forward_pass();
	push(tb, 0, "AddBackward0, seq = 14"); /* nothing was launched in the forward pass */
	ck_assert_uint_eq(forward_call(tb), 0);
	tb = forward_pass();
	push(tb, 0, "aten::add, seq = 12"); /* no backward pass */
	ck_assert_uint_eq(forward_call(tb), 0);
	tb = forward_pass();
	push(tb, 0, "AddBackward0, seq = -1");
	ck_assert_uint_eq(forward_call(tb), 0);
	for (int again = 0; again < 2; again++) {
		tb = forward_pass();
		tb_thread(tb, 3); /* a second thread with a forward pass has numbers of its own */
		tb_python_code(tb, 1, "/src/train.py", "other");
		push(tb, 0, "aten::add, seq = 12");
		tb_python_stack(tb, &(struct sw_python_frame){1, SW_PYTHON_ENTRY | 40}, 1);
		h2d(tb, DEV + 8192, PIN + 8192, 64, S1);
		pop(tb, 0);
		if (again) { /* and the first one calls again in its range */
			tb_thread(tb, 1);
			push(tb, 0, "aten::add, seq = 12, op_id = 2");
			h2d(tb, DEV + 8192, PIN + 8192, 64, S1);
			pop(tb, 0);
		}
		tb_thread(tb, 2);
		push(tb, 0, "AddBackward0, seq = 12");
		ck_assert_uint_eq(forward_call(tb), 0);
	}
}
END_TEST

START_TEST(popped)
{
	struct tb *tb = race_begun();
	push(tb, 0, "epoch");
	pop(tb, 0);
	pop(tb, 0); /* began before recording did */
	expect_later(tb, "");
}
END_TEST

/* A pop is for its own domain: what another one pushed later continues, around less. */
START_TEST(domains_cross)
{
	struct tb *tb = race_begun();
	push(tb, 0, "ours");
	push(tb, 7, "theirs");
	pop(tb, 0);
	expect_later(tb, "theirs:lib");
}
END_TEST

START_TEST(other_threads)
{
	struct tb *tb = race_begun();
	tb_thread(tb, 2);
	push(tb, 0, "elsewhere");
	tb_thread(tb, 1);
	expect_later(tb, "");
}
END_TEST

/* Ended by another thread (0), or never (1). */
START_TEST(started)
{
	struct tb *tb = race_begun();
	tb_range(tb, SW_RANGE_START, 0, 5, "A", "");
	tb_range(tb, SW_RANGE_START, 0, 6, "B", "");
	tb_thread(tb, 2);
	if (_i == 0)
		tb_range(tb, SW_RANGE_END, 0, 5, "", "");
	tb_range(tb, SW_RANGE_END, 0, 77, "", ""); /* it was never begun */
	tb_thread(tb, 1);
	expect_later(tb, _i == 0 ? "B" : "B<A");
}
END_TEST

/* Recorded on the thread of the first call, for a thread that makes its first call later. */
START_TEST(open_when_recording_began)
{
	char got[64];
	struct tb *tb = two_streams();
	h2d(tb, DEV, PIN, 4096, S1);
	tb_range(tb, SW_RANGE_PUSH, 0, 0, "early", "")->tid = 999 + 2; /* as the builder numbers threads */
	tb_thread(tb, 2);
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	ranges_of(j, only(j, 101)->access[1], got, sizeof got);
	ck_assert_str_eq(got, "early");
	ck_assert_uint_eq(only(j, 101)->access[0]->nvtx, 0);
	sw_judgement_free(j);
}
END_TEST

struct told {
	unsigned n, open;
	bool disordered;
};

static void on_nvtx(void *arg, const struct sw_nvtx_span *span)
{
	struct told *told = arg;
	told->n++;
	told->open += span->open;
	told->disordered |= span->end_ns < span->start_ns;
}

/* More than are kept: those that are find their ends, and each is reported once. */
START_TEST(too_deep)
{
	struct told told = {0};
	struct sw_observer observer = {.arg = &told, .nvtx = on_nvtx};
	struct tb *tb = two_streams();
	for (unsigned i = 0; i < 5000; i++)
		push(tb, 0, "deeper");
	for (unsigned i = 0; i < 4999; i++)
		pop(tb, 0);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.observer = &observer});
	ck_assert_uint_eq(told.n, 4096);
	ck_assert_uint_eq(told.open, 1);
	ck_assert(!told.disordered);
	ck_assert_uint_le(j->nvtx.n, 4096);
	sw_judgement_free(j);
}
END_TEST

/* Each range has a name of its own: what is kept of them is bounded, and those around them are still reported. */
START_TEST(numbered)
{
	char name[32], got[64];
	struct tb *tb = race_begun();
	push(tb, 0, "training");
	for (unsigned i = 0; i < 70000; i++) {
		snprintf(name, sizeof name, "step %u", i);
		push(tb, 0, name);
		if (i < 69999)
			pop(tb, 0);
	}
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->nvtx.n, 65536);
	ranges_of(j, only(j, 101)->access[1], got, sizeof got);
	ck_assert_str_eq(got, "training");
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, nested);
	tcase_add_test(tc, popped);
	tcase_add_test(tc, backward_passes_belong_to_a_forward_call);
	tcase_add_test(tc, numbers_that_say_nothing_are_no_forward_call);
	tcase_add_test(tc, domains_cross);
	tcase_add_test(tc, other_threads);
	tcase_add_loop_test(tc, started, 0, 2);
	tcase_add_test(tc, open_when_recording_began);
	tcase_add_test(tc, too_deep);
	tcase_add_test(tc, numbered);
}

int main(void)
{
	return run_cases("nvtx", add);
}
