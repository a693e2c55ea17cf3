/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions, streams, kernels and frames; fingerprints. */
#include <check.h>
#include <stdlib.h>

#include "fake_report.h"
#include "report/symbols/names.h"
#include "report/symbols/stack.h"
#include "../run_suite.h"

START_TEST(functions_are_named_as_the_user_called_them)
{
	make(NULL);
	struct sw_names *names = &report->names;
	/* By the frame of a static cudart, without the ABI's suffix, by the record, by the driver. */
	ck_assert_str_eq(sw_name_api(names, FAKE_API_SYNC, SW_RF_RUNTIME, FAKE_AT_COPY), "cudaMemcpy");
	ck_assert_str_eq(sw_name_api(names, FAKE_API_LAUNCH, 0, 0), "cuLaunchKernel");
	ck_assert_str_eq(sw_name_api(names, FAKE_API_FREE, SW_RF_RUNTIME, FAKE_AT_NOWHERE), "cudaFree");
	ck_assert_str_eq(sw_name_api(names, FAKE_API_FREE, 0, FAKE_AT_NOWHERE), "cuMemFree");
	ck_assert_str_eq(sw_name_api(names, FAKE_API_DRIVER, SW_RF_RUNTIME, 0), "cuLaunchKernelEx");
	ck_assert_str_eq(sw_name_api(names, 999, 0, 0), "a call");
}
END_TEST

START_TEST(streams_are_named_as_users_know_them)
{
	make(NULL);
	struct sw_names *names = &report->names;
	ck_assert_str_eq(sw_name_stream(names, 0), "the host");
	ck_assert_str_eq(sw_name_stream(names, 1), "stream 1");
	ck_assert_str_eq(sw_name_stream(names, 2), "stream 2 'copies'");
	ck_assert_str_eq(sw_name_stream(names, 3), "the legacy default stream");
	ck_assert_str_eq(sw_name_stream(names, 4), "the per-thread default stream of thread 2 of device 1");
	ck_assert_str_eq(sw_name_stream(names, 99), "the host");
	ck_assert_str_eq(sw_name_stream_site(names, 1), "race.cu:12");
}
END_TEST

static const struct {
	const char *name, *base;
} bases[] = {
	{"main", "main"},
	{"scale(float*, int)", "scale"},
	{"void ns::scale<float, 4>(float*, int)", "ns::scale"},
	{"void (anonymous namespace)::fill<int>(int*)", "(anonymous namespace)::fill"},
	{"std::vector<int, std::allocator<int> > make<3>()", "make"},
	{"Foo::operator()(int) const", "Foo::operator()"},
	{"Foo::operator float*() const", "Foo::operator float*"},
	{"my_operator(int)", "my_operator"},
	{"bool operator< <int>(int, int)", "operator< <int>"},
	{"void f<void (*)(int)>(int)", "f"},
	{"void at::elementwise<4, at::sum<float>::operator()(at::Iterator&)::{lambda(float)#1}, 2>(int)",
	 "at::elementwise"},
	{"", ""},
};

START_TEST(base_names_drop_types_and_keep_scopes)
{
	char *base = sw_demangled_base(bases[_i].name);
	ck_assert_str_eq(base, bases[_i].base);
	free(base);
}
END_TEST

START_TEST(frames_of_cuda_are_hidden_unless_there_is_nothing_else)
{
	make(NULL);
	struct sw_stack_view view = sw_stack_view(&report->names, FAKE_AT_SCALE, FAKE_SCALE);
	ck_assert_uint_eq(view.n, 1);
	ck_assert_str_eq(view.at[0].frame->base, "main");
	ck_assert_int_eq(view.at[0].frame->line, 33);
	view = sw_stack_view(&report->names, FAKE_AT_RUNTIME, 0);
	ck_assert_uint_eq(view.n, 1);
	ck_assert_str_eq(view.at[0].frame->base, "cudaStreamCreate");
	ck_assert_uint_eq(sw_stack_view(&report->names, 0, 0).n, 0);
}
END_TEST

START_TEST(fingerprint_ignores_what_changes_from_run_to_run)
{
	add_race(SW_ERROR, FAKE_SCALE);
	make(NULL);
	uint64_t first = report->shown.at[0].fingerprint;
	side_of(&judgement.findings.at[0], 0)->address += 4096;
	side_of(&judgement.findings.at[0], 0)->seq += 100;
	judgement.findings.at[0].count = 99;
	judgement.streams.at[1].handle = 0x77;
	make(NULL);
	ck_assert_uint_eq(report->shown.at[0].fingerprint, first);
	side_of(&judgement.findings.at[0], 0)->stack = FAKE_AT_COPY;
	make(NULL);
	ck_assert_uint_ne(report->shown.at[0].fingerprint, first);
}
END_TEST

static const char *brief(uint32_t function)
{
	struct sw_access access = launch(SW_READ, function, 1, FAKE_AT_SCALE, 1);
	return sw_name_operation_brief(&report->names, &access);
}

START_TEST(kernels_of_one_template_are_distinguished_where_both_are_reported)
{
	add_race(SW_ERROR, FAKE_LONG);
	make(NULL);
	ck_assert_str_eq(brief(FAKE_LONG), "kernel ns::elementwise");
	ck_assert_str_eq(brief(FAKE_SUM), "kernel ns::elementwise"); /* it has no finding */
	add_race(SW_ERROR, FAKE_SUM);
	make(NULL);
	ck_assert_str_eq(brief(FAKE_LONG), "kernel ns::elementwise<...quite_a_long_name_of_a_functor...>");
	ck_assert_str_eq(brief(FAKE_SUM), "kernel ns::elementwise<...sum_functor...>");
	ck_assert_str_eq(brief(FAKE_PLAIN), "kernel triton_add_0d1d");
}
END_TEST

START_TEST(types_are_whole_where_they_are_short)
{
	add_race(SW_ERROR, FAKE_SCALE);
	add_race(SW_ERROR, FAKE_COPY);
	make(NULL);
	ck_assert_str_eq(brief(FAKE_COPY), "kernel scale<int>");
	ck_assert_str_eq(brief(FAKE_SCALE), "kernel scale(...float...)");
	/* The words of suppressions and fingerprints do not depend on other findings. */
	struct sw_access access = launch(SW_READ, FAKE_COPY, 1, FAKE_AT_SCALE, 1);
	ck_assert_str_eq(sw_name_operation(&report->names, &access), "kernel scale");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("names");
	TCase *c = tcase_create("names");
	tcase_add_checked_fixture(c, setup_report, teardown_report);
	tcase_add_test(c, functions_are_named_as_the_user_called_them);
	tcase_add_test(c, streams_are_named_as_users_know_them);
	tcase_add_loop_test(c, base_names_drop_types_and_keep_scopes, 0, sizeof bases / sizeof bases[0]);
	tcase_add_test(c, frames_of_cuda_are_hidden_unless_there_is_nothing_else);
	tcase_add_test(c, fingerprint_ignores_what_changes_from_run_to_run);
	tcase_add_test(c, kernels_of_one_template_are_distinguished_where_both_are_reported);
	tcase_add_test(c, types_are_whole_where_they_are_short);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
