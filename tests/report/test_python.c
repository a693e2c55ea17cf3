/* SPDX-License-Identifier: Apache-2.0 */
/* Python frames among native ones: their places, which of them is shown, which leads. */
#include <check.h>
#include <string.h>

#include "fake_trace.h"
#include "report/symbols/stack.h"
#include "report/words/fix_lines.h"
#include "../run_suite.h"

static struct sw_judgement judgement;
static struct sw_names names;

static void start(void)
{
	fake_trace = (struct fake_trace){.torch = true, .python = true};
	sw_names_init(&names, NULL, &judgement);
}

static void stop(void)
{
	sw_names_free(&names);
}

/* The functions of a view, in a line. */
static const char *shown(uint32_t stack)
{
	struct sw_stack_view view = sw_stack_view(&names, stack, 0);
	const char *text = "";
	for (size_t i = 0; i < view.n; i++)
		text = sw_names_format(&names, "%s%s%s", text, i ? ", " : "",
				       view.at[i].frame->base ? view.at[i].frame->base : "?");
	return text;
}

static const char *place(uint32_t stack, uint32_t other)
{
	const struct sw_access access = {.stack = stack}, against = {.stack = other};
	return sw_place_brief(&names, sw_place_of(&names, &access, other ? &against : NULL));
}

START_TEST(python_frames_stand_where_the_interpreter_ran_them)
{
	/* The inner of two loops ran _tensor.py and step(), the outer one the module. */
	ck_assert_str_eq(shown(FAKE_AT_PY_COPY), "at::_ops::copy_::call, Tensor.copy, step, <module>");
	/* Without its names the interpreter is still known by its file. */
	ck_assert_str_eq(shown(FAKE_AT_PY_PLAIN), "at::_ops::copy_::call, Tensor.copy, step, <module>");
	ck_assert_str_eq(shown(FAKE_AT_PY_NONE), "Tensor.copy, step, <module>");
	ck_assert_uint_eq(sw_stack_view(&names, FAKE_AT_PY_NONE, 0).skipped, UINT32_MAX);
	ck_assert_uint_eq(sw_stack_view(&names, FAKE_AT_PY_COPY, 0).skipped, 0);
}
END_TEST

START_TEST(the_line_of_the_user_leads)
{
	ck_assert_str_eq(place(FAKE_AT_PY_COPY, 0), "train.py:20");
	ck_assert_str_eq(place(FAKE_AT_PY_COPY, FAKE_AT_PY_FILL), "train.py:20");
	ck_assert_str_eq(place(FAKE_AT_PY_FILL, FAKE_AT_PY_COPY), "train.py:17");
	/* A package alone: its line is better than none. */
	ck_assert_str_eq(place(FAKE_AT_PY_LOST, 0), "_tensor.py:90");
	ck_assert_str_eq(sw_stack_site(&names, FAKE_AT_PY_COPY, 0)->function, "step");
	ck_assert_str_eq(sw_stack_site(&names, FAKE_AT_PY_LOST, 0)->function, "Tensor.copy");
	/* An extension of the user's own: Python's line leads, unless it is the same for both sides. */
	ck_assert_str_eq(place(FAKE_AT_PY_OWN, 0), "train.py:20");
	ck_assert_str_eq(place(FAKE_AT_PY_OWN, FAKE_AT_PY_COPY), "race.cu:40");
}
END_TEST

START_TEST(what_is_made_by_one_line_differs_from_what_another_makes)
{
	const uint32_t stacks[] = {FAKE_AT_PY_COPY, FAKE_AT_PY_FILL};
	ck_assert_str_eq(sw_place_brief(&names, sw_place_made(&names, stacks[0], stacks, 2)), "train.py:20");
	ck_assert_str_eq(sw_place_brief(&names, sw_place_made(&names, stacks[1], stacks, 2)), "train.py:17");
	ck_assert_str_eq(sw_place_brief(&names, sw_place_made(&names, stacks[0], stacks, 1)), "train.py:20");
}
END_TEST

START_TEST(one_line_is_one_place)
{
	const struct sw_access one = {.stack = FAKE_AT_PY_COPY}, same = {.stack = FAKE_AT_PY_PLAIN},
			       other = {.stack = FAKE_AT_PY_FILL};
	ck_assert_uint_eq(sw_place_hash(&names, &one), sw_place_hash(&names, &same));
	ck_assert_uint_ne(sw_place_hash(&names, &one), sw_place_hash(&names, &other));
}
END_TEST

START_TEST(threads_of_backward_passes_are_named)
{
	ck_assert_str_eq(shown(FAKE_AT_AUTOGRAD), "at::_ops::copy_::call, autograd thread");
	ck_assert_str_eq(sw_stack_site(&names, FAKE_AT_AUTOGRAD, 0)->function, "autograd thread");
}
END_TEST

START_TEST(backward_passes_lead_to_the_line_that_waits_for_them)
{
	ck_assert_str_eq(shown(FAKE_AT_PY_WAITING),
			 "at::_ops::copy_::call, autograd thread, Tensor.copy, step, <module>");
	ck_assert_str_eq(place(FAKE_AT_PY_WAITING, 0), "train.py:20");
	/* Calls of another thread have no frames of the first one. */
	ck_assert_str_eq(shown(FAKE_AT_PY_OTHER), "?");
}
END_TEST

START_TEST(the_line_of_the_forward_pass_leads_where_it_is_known)
{
	struct sw_access access = {.stack = FAKE_AT_PY_WAITING, .forward = FAKE_AT_PY_FILL};
	ck_assert_str_eq(sw_place_brief(&names, sw_place_of(&names, &access, NULL)), "train.py:17");
	access.stack = FAKE_AT_AUTOGRAD;
	ck_assert_str_eq(sw_place_brief(&names, sw_place_of(&names, &access, NULL)), "train.py:17");
	/* A hook of the user's own says more. */
	access.stack = FAKE_AT_PY_COPY;
	ck_assert_str_eq(sw_place_brief(&names, sw_place_of(&names, &access, NULL)), "train.py:20");
	ck_assert_ptr_null(sw_place_forward(&names, &access));
}
END_TEST

START_TEST(a_collective_is_waited_for_by_its_work)
{
	struct sw_fix_lines fix;
	const struct sw_access copy = {.stack = FAKE_AT_PY_FILL, .seq = 2};
	struct sw_access reduce = {.stack = FAKE_AT_PY_REDUCE, .seq = 1, .stream = 1};
	ck_assert_str_eq(sw_place_collective(&names, &reduce)->function, "all_reduce");
	ck_assert_ptr_null(sw_place_collective(&names, &copy));
	sw_fix_lines(&names, &(struct sw_finding){.fix = SW_FIX_EVENT}, &reduce, &copy, &fix);
	ck_assert_uint_eq(fix.n, 1);
	ck_assert_str_eq(fix.line[0].code, "work.wait()");
	ck_assert_str_eq(fix.streams, "work is what all_reduce(..., async_op=True) returned at train.py:20");
	/* Calls before the collective have no Work. */
	reduce.seq = 3;
	sw_fix_lines(&names, &(struct sw_finding){.fix = SW_FIX_EVENT}, &copy, &reduce, &fix);
	ck_assert(!fix.streams && (!fix.n || !strstr(fix.line[0].code, "work")));
}
END_TEST

/* python3 -u -X dev train.py is called by its script. */
START_TEST(programs_of_python_have_the_name_of_their_script)
{
	static const struct {
		const char *exe, *argument[5], *name;
	} runs[] = {
		{"/home/u/race", {"./race", "train.py"}, "race"},
		{"/usr/bin/python3.12", {"python3", "-u", "-X", "dev", "/home/u/train.py"}, "train.py"},
		{"/usr/bin/python3.12",
		 {"python3", "-m", "torch.distributed.run", "train.py"},
		 "torch.distributed.run"},
		{"/usr/bin/python3.12", {"python3", "-c", "import torch"}, "python3.12"},
		{"/usr/bin/python3.12", {"python3"}, "python3.12"},
		{"/usr/bin/python3.12", {"python3", "-W"}, "python3.12"},
		{"/usr/bin/python3.12", {"python3", "-m"}, "python3.12"},
		{"/usr/bin/python3.12", {"python3", "folder/"}, "folder/"},
	};
	struct sw_trace_process process = {.exe = runs[_i].exe, .arg = runs[_i].argument};
	while (process.args < 5 && runs[_i].argument[process.args])
		process.args++;
	fake_trace.process = &process;
	ck_assert_str_eq(sw_name_program(&names), runs[_i].name);
	fake_trace.process = NULL;
}
END_TEST

/* Traces without Python lines look as they always did. */
START_TEST(without_python_lines_nothing_changes)
{
	fake_trace.python = false;
	ck_assert_str_eq(shown(FAKE_AT_AUTOGRAD), "at::_ops::copy_::call");
	ck_assert_str_eq(shown(FAKE_AT_PYTHON), "at::_ops::copy_::call, _PyEval_EvalFrameDefault");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("python");
	TCase *tc = tcase_create("python");
	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, python_frames_stand_where_the_interpreter_ran_them);
	tcase_add_test(tc, the_line_of_the_user_leads);
	tcase_add_test(tc, what_is_made_by_one_line_differs_from_what_another_makes);
	tcase_add_test(tc, one_line_is_one_place);
	tcase_add_test(tc, threads_of_backward_passes_are_named);
	tcase_add_test(tc, backward_passes_lead_to_the_line_that_waits_for_them);
	tcase_add_test(tc, the_line_of_the_forward_pass_leads_where_it_is_known);
	tcase_add_test(tc, a_collective_is_waited_for_by_its_work);
	tcase_add_test(tc, without_python_lines_nothing_changes);
	tcase_add_loop_test(tc, programs_of_python_have_the_name_of_their_script, 0, 8);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
