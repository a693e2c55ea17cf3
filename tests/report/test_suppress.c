/* SPDX-License-Identifier: Apache-2.0 */
/* Suppressions: what a line names, what is wrong with one, what is printed suppresses what it was printed for. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "fake_report.h"
#include "../run_suite.h"

static char suppression_path[64];

static int load(const char *lines, struct sw_suppressions **out, struct sw_error *error)
{
	*out = NULL;
	strcpy(suppression_path, "/tmp/sw-suppress-XXXXXX");
	int fd = mkstemp(suppression_path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, lines, strlen(lines)), (ssize_t)strlen(lines));
	close(fd);
	int rc = sw_suppress_load(suppression_path, SW_SUPPRESS_FILE, out, error);
	unlink(suppression_path);
	return rc;
}

static const struct {
	const char *line;
	bool fits;
} lines[] = {
	{"SW101\n", true},
	{"SW102\n", false},
	{"SW1??  # all races\n", true},
	{"SW*\n", true},
	{"SW3*\n", false},
	{"SW101 kernel=scale\n", true},
	{"SW101 kernel=sca*\n", true},
	{"SW101 kernel=\"scale(float*, int)\"\n", true},
	{"SW101 kernel=fill function=main file=race.cu\n", true},
	{"SW101 kernel=nope\n", false},
	{"SW101 kernel=scale function=nope\n", false},
	{"SW101 file=/src/*.cu\n", true},
	{"SW101 file=other.cu\n", false},
	{"SW101 module=rac?\n", true},
	{"SW101 module=/home/*\n", false},
	{"SW101 function=main module=libcublas.so*\n", false},
	{"SW101 function=cudaMemcpy\n", false},
	{"SW101 allocated=race\n", true},
	{"SW101 allocated=main+0x1031\n", true},
	{"SW101 allocated=main+0x1032\n", false},
	{"SW101 kernel=scale against kernel=fill\n", true},
	{"SW101 kernel=fill against kernel=scale\n", true},
	{"SW101 kernel=scale against kernel=scale\n", false},
	{"SW101 kernel=* against kernel=*\n", true},
	{"SW101 kernel=scale against operation=cudaMemcpy*\n", false},
	{"SW101 kernel=scale at=main+* against kernel=fill\n", true},
	{"SW101 kernel=scale at=run+* against kernel=fill\n", false},
	{"SW101 kernel=scale at=main+*\n", true},
	{"SW101 severity=error\n", true},
	{"SW101 severity=warning\n", false},
	{"SW101 allocated=libcudnn*\n", false},
	{"# nothing\n\n   \t\r\n", false},
};

START_TEST(suppression_lines_fit_what_they_name)
{
	struct sw_suppressions *s;
	struct sw_error error;
	add_race(SW_ERROR, FAKE_SCALE);
	ck_assert_int_eq(load(lines[_i].line, &s, &error), 0);
	struct sw_report_options options = {.suppressions = s};
	make(&options);
	ck_assert_uint_eq(report->shown.n, lines[_i].fits ? 0 : 1);
	ck_assert_uint_eq(report->totals.suppressed, lines[_i].fits);
	ck_assert_uint_eq(report->totals.errors, !lines[_i].fits);
	options.all = true;
	make(&options);
	ck_assert_uint_eq(report->shown.n, 1);
	sw_suppress_free(s);
}
END_TEST

static const struct {
	const char *line, *place;
} bad_lines[] = {
	{"SW101\nraces\n", ":2: a line starts with an id such as SW101, not 'races'"},
	{"SW1\n", ":1: a line starts with an id"},
	{"SW101 colour=red\n", ":1: 'colour=red' is none of"},
	{"\n\nSW101 kernel=\n", ":3: 'kernel=' is empty"},
	{"SW101 kernel=a kernel=b\n", ":1: 'kernel=b' is given twice"},
	{"SW101 kernel=\"a\n", ":1: a quote is not closed"},
	{"SW101 severity=bad\n", ":1: 'bad' is none of note, warning, error"},
	{"SW101 against kernel=a\n", ":1: 'against' stands between"},
	{"SW101 kernel=a against\n", ":1: 'against' stands between"},
	{"SW101 kernel=a against kernel=b against kernel=c\n", ":1: 'against' stands between"},
};

START_TEST(bad_suppression_lines_are_refused_with_their_place)
{
	struct sw_suppressions *s = NULL;
	struct sw_error error;
	ck_assert_int_eq(load(bad_lines[_i].line, &s, &error), SW_E_FORMAT);
	ck_assert_ptr_null(s);
	ck_assert_msg(strncmp(error.text, suppression_path, strlen(suppression_path)) == 0, "%s", error.text);
	ck_assert_msg(strstr(error.text, bad_lines[_i].place) != NULL, "%s", error.text);
}
END_TEST

START_TEST(missing_suppression_file_is_an_error)
{
	struct sw_suppressions *s = NULL;
	struct sw_error error;
	ck_assert_int_lt(sw_suppress_load("/nonexistent/s", SW_SUPPRESS_FILE, &s, &error), 0);
	ck_assert_ptr_nonnull(strstr(error.text, "/nonexistent/s"));
}
END_TEST

START_TEST(printed_suppression_line_suppresses_its_finding_alone)
{
	struct sw_suppressions *s;
	struct sw_error error;
	add_race(SW_ERROR, FAKE_SCALE);
	add_wait(call(SW_CALL, SW_REC_COPY, FAKE_API_COPY, 3, FAKE_AT_COPY));
	/* A name with everything that could be taken for a glob, a quote or a comment. */
	side_of(&judgement.findings.at[0], 1)->function = FAKE_HOSTILE;
	make(NULL);
	ck_assert_uint_eq(report->shown.n, 2);
	int other = report->shown.at[!_i].finding->id;
	char *lines_file = sw_format("%s\n", sw_report_suppression(report, &report->shown.at[_i]));
	ck_assert_int_eq(load(lines_file, &s, &error), 0);
	struct sw_report_options options = {.suppressions = s};
	make(&options);
	ck_assert_uint_eq(report->shown.n, 1);
	ck_assert_int_eq(report->shown.at[0].finding->id, other);
	free(lines_file);
	sw_suppress_free(s);
}
END_TEST

/* Written for one buffer, the line does not hide the race on another one, at the same calls or seen with it. */
START_TEST(a_written_line_is_for_one_buffer)
{
	struct sw_suppressions *s;
	struct sw_error error;
	struct sw_allocation other = fake_allocation();
	add_race(SW_ERROR, FAKE_SCALE);
	make(NULL);
	char *first = sw_format("%s\n", sw_report_suppression(report, &report->shown.at[0]));
	other.stack = FAKE_AT_CREATE;
	*sw_vec_push(&judgement.allocations) = other;
	const uint32_t index = (uint32_t)judgement.allocations.n;
	struct sw_finding_details more = {.others = {1, {index}}};
	judgement.findings.at[0].more = &more;
	make(NULL);
	char *second = sw_format("%s\n", sw_suppress_line(&report->names, &judgement.findings.at[0], 1));
	char *both = sw_format("%s%s", first, second), *const files[] = {first, second, both};
	for (int seen = 0; seen < 3; seen++) /* for the first buffer, the second, both */
		for (int written = 0; written < 3; written++) {
			judgement.findings.at[0].more = seen == 2 ? &more : NULL;
			for (int side = 0; side < 2; side++)
				side_of(&judgement.findings.at[0], side)->allocation = seen == 1 ? index : 1;
			ck_assert_int_eq(load(files[written], &s, &error), 0);
			make(&(struct sw_report_options){.suppressions = s});
			ck_assert_uint_eq(report->totals.suppressed, written == 2 || written == seen);
			sw_suppress_free(s);
		}
	free(first);
	free(second);
	free(both);
}
END_TEST

START_TEST(each_line_says_what_it_hid)
{
	struct sw_suppressions *s;
	struct sw_suppress_use use;
	struct sw_error error;
	add_race(SW_ERROR, FAKE_SCALE);
	add_wait(call(SW_CALL, SW_REC_COPY, FAKE_API_COPY, 3, FAKE_AT_COPY));
	ck_assert_int_eq(load("SW101\nSW305\nSW*\n", &s, &error), 0);
	make(&(struct sw_report_options){.suppressions = s});
	ck_assert(sw_suppress_used(s, 0, &use));
	ck_assert_str_eq(use.text, "SW101");
	ck_assert_uint_eq(use.findings, 1);
	ck_assert_uint_eq(use.errors, 1);
	ck_assert(sw_suppress_used(s, 1, &use));
	ck_assert_str_eq(use.text, "SW*");
	ck_assert_uint_eq(use.findings, 2);
	ck_assert(!sw_suppress_used(s, 2, &use));
	char *text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, ":3: 2 findings, 1 error\n"));
	free(text);
	sw_suppress_free(s);
}
END_TEST

START_TEST(unused_lines_are_reported)
{
	struct sw_suppressions *s;
	struct sw_error error;
	add_race(SW_ERROR, FAKE_SCALE);
	ck_assert_int_eq(load("SW101\nSW305 # not here\nSW4* kernel=x\n", &s, &error), 0);
	struct sw_report_options options = {.suppressions = s};
	make(&options);
	ck_assert_ptr_nonnull(strstr(sw_suppress_unused(s, 0), ":2: SW305 # not here"));
	ck_assert_ptr_nonnull(strstr(sw_suppress_unused(s, 1), ":3: SW4* kernel=x"));
	ck_assert_ptr_null(sw_suppress_unused(s, 2));
	char *text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, "SW305 # not here"));
	free(text);
	sw_suppress_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("suppress");
	TCase *c = tcase_create("suppress");
	tcase_add_checked_fixture(c, setup_report, teardown_report);
	tcase_add_loop_test(c, suppression_lines_fit_what_they_name, 0, sizeof lines / sizeof lines[0]);
	tcase_add_loop_test(c, bad_suppression_lines_are_refused_with_their_place, 0,
			    sizeof bad_lines / sizeof bad_lines[0]);
	tcase_add_test(c, missing_suppression_file_is_an_error);
	tcase_add_loop_test(c, printed_suppression_line_suppresses_its_finding_alone, 0, 2);
	tcase_add_test(c, a_written_line_is_for_one_buffer);
	tcase_add_test(c, each_line_says_what_it_hid);
	tcase_add_test(c, unused_lines_are_reported);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
