/* SPDX-License-Identifier: Apache-2.0 */
/* Reports for builds: SARIF, JUnit's XML, GitLab's code quality, GitHub's commands, and suppressions to keep, against
   golden files; test_schema.sh validates those. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "fake_report.h"
#include "golden_file.h"
#include "report/ci/ci.h"
#include "report/suppress.h"
#include "../run_suite.h"

static void setup(void)
{
	setup_empty();
	add_streams(SW_LANE_BLOCKING, 2);
	*sw_vec_push(&judgement.allocations) = fake_allocation();
	judgement.coverage = (struct sw_coverage){.driver_calls = 120, .launches = 40, .codeless_kernels = 2};
}

static void add_races(enum sw_severity severity, uint32_t function)
{
	struct sw_finding *race = add_race(severity, function);
	race->count = race->operations = 3;
}

/* A wait whose caller is unknown. */
static void add_nameless_wait(void)
{
	add_wait(call(SW_CALL, SW_REC_COPY, FAKE_API_COPY, 0, FAKE_AT_NOWHERE));
}
static char *written(enum sw_ci_format format, size_t times, const char *root)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = sw_memory_stream(&text, &bytes);
	struct sw_ci *ci = sw_ci_begin(out, format, "1.2.3", root);
	for (size_t i = 0; i < times; i++)
		sw_ci_add(ci, report);
	sw_ci_end(ci);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

static const char *const files[SW_CI_FORMATS] = {
#define SW_CI_FORMAT(name, option, golden) golden,
#include "report/ci/formats.def"
};

/* Rules hold the explanations of findings, whose words the golden files should not pin; check_formats.py looks at them
   in what the command writes. */
static char *without_rules(char *text)
{
	static const char begin[] = "\"rules\": [", end[] = "\n          ]";
	char *from = strstr(text, begin);
	const char *to = from ? strstr(from, end) : NULL;
	ck_assert_ptr_nonnull(from);
	if (to)
		memmove(from + strlen(begin), to + strlen(end) - 1, strlen(to + strlen(end) - 1) + 1);
	return text;
}

static void check_all(const char *stem, size_t times)
{
	for (int i = 0; i < SW_CI_FORMATS; i++) {
		char *name = sw_format("formats/%s.%s", stem, files[i]);
		char *text = written((enum sw_ci_format)i, times, "/src");
		check_golden(name, i == SW_CI_SARIF ? without_rules(text) : text);
		free(name);
	}
}

START_TEST(a_race_and_a_wait_without_a_line)
{
	add_races(SW_ERROR, FAKE_SCALE);
	add_nameless_wait();
	make(NULL);
	check_all("race", 1);
}
END_TEST

START_TEST(a_clean_run_says_what_was_not_looked_at)
{
	make(NULL);
	check_all("clean", 1);
}
END_TEST

START_TEST(hostile_names_stay_text)
{
	add_races(SW_ERROR, FAKE_HOSTILE);
	make(NULL);
	check_all("hostile", 1);
	for (int i = 0; i < SW_CI_FORMATS; i++) {
		char *text = written((enum sw_ci_format)i, 1, NULL);
		for (const char *p = text; *p; p++)
			ck_assert_msg(*p == '\n' || (unsigned char)*p >= 0x20, "%s: byte %d", files[i], *p);
		free(text);
	}
}
END_TEST

static size_t count(const char *text, const char *part)
{
	size_t n = 0;
	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}

/* Findings that several processes share: once, except in JUnit's XML, where each has a suite. */
START_TEST(processes_share_results)
{
	static const char *const parts[SW_CI_FORMATS] = {"\"ruleId\"", "<failure", "\"check_name\"", "::error"};
	add_races(SW_ERROR, FAKE_SCALE);
	make(NULL);
	for (int i = 0; i < SW_CI_FORMATS; i++) {
		char *text = written((enum sw_ci_format)i, 2, NULL);
		ck_assert_uint_eq(count(text, parts[i]), i == SW_CI_JUNIT ? 2 : 1);
		if (i == SW_CI_SARIF)
			ck_assert_uint_eq(count(text, "\"executionSuccessful\""), 2);
		free(text);
	}
}
END_TEST

/* GitHub shows ten of a kind: more than a hundred are counted. */
START_TEST(annotations_are_bounded)
{
	const uint64_t waits = _i ? 130 : 100;
	for (uint32_t i = 0; i < waits; i++)
		add_wait(call(SW_CALL, SW_REC_COPY, FAKE_API_COPY, 0, FAKE_AT_LINE + i))->severity = SW_WARNING;
	add_races(SW_ERROR, FAKE_SCALE);
	make(NULL);
	for (size_t i = 0; i < report->shown.n; i++)
		report->shown.at[i].fingerprint = i + 1;
	char *text = written(SW_CI_GITHUB, 1, NULL);
	ck_assert_uint_eq(count(text, "::warning "), 100);
	ck_assert_uint_eq(count(text, "::error "), 1);
	ck_assert_uint_eq(count(text, "::notice title=syncwatch::30 more causes have no annotation"), _i ? 1 : 0);
	ck_assert_uint_eq(count(text, "::notice"), _i ? 1 : 0);
	free(text);
}
END_TEST

START_TEST(paths_below_the_root_are_relative)
{
	static const char *const roots[] = {"/src", "/sr", "/", NULL, "/src/race.cu"};
	add_races(SW_ERROR, FAKE_SCALE);
	make(NULL);
	char *text = written(SW_CI_GITHUB, 1, roots[_i]);
	ck_assert_msg(strncmp(text, _i == 0 ? "::error file=race.cu,line=" : "::error file=/src/race.cu,line=",
			      strlen("::error file=race.cu")) == 0,
		      "%s", text);
	free(text);
}
END_TEST

/* ---- suppressions ------------------------------------------------------------------------------------------------ */

static struct sw_suppressions *load(const char *lines, enum sw_suppress_source source)
{
	char path[] = "/tmp/sw-suppress-XXXXXX";
	struct sw_suppressions *s = NULL;
	struct sw_error error;
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, lines, strlen(lines)), (ssize_t)strlen(lines));
	close(fd);
	ck_assert_msg(sw_suppress_load(path, source, &s, &error) == 0, "%s", error.text);
	unlink(path);
	return s;
}

static char *suppressions_of_report(void)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = sw_memory_stream(&text, &bytes);
	struct sw_suppress_file *file = sw_suppress_file_begin(out, false);
	sw_suppress_file_add(file, report);
	sw_suppress_file_add(file, report);
	sw_suppress_file_end(file);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

START_TEST(what_is_written_suppresses_what_was_shown)
{
	add_races(SW_ERROR, FAKE_HOSTILE);
	add_races(SW_WARNING, FAKE_SCALE);
	add_nameless_wait();
	make(NULL);
	char *text = suppressions_of_report();
	struct sw_suppressions *s = load(text, SW_SUPPRESS_FILE);
	check_golden("formats/written.supp", text);
	make(&(struct sw_report_options){.suppressions = s});
	/* The wait has no place: its line would hide every other wait of its kind. */
	ck_assert_uint_eq(report->shown.n, 1);
	ck_assert_int_eq(report->shown.at[0].finding->id, 301);
	ck_assert_uint_eq(report->totals.suppressed, 2);
	ck_assert_ptr_null(sw_suppress_unused(s, 0));
	make(&(struct sw_report_options){.suppressions = s, .all = true});
	text = suppressions_of_report();
	ck_assert_ptr_null(strstr(text, "\nSW"));
	free(text);
	sw_suppress_free(s);
}
END_TEST

/* A library's own memory: suppressed, and counted as known.  The program's, or an error: reported. */
START_TEST(known_findings_are_counted)
{
	static const char *const lines[] = {"SW101 kernel=scale allocated=race\n",
					    "SW101 kernel=scale allocated=libcudnn*\n",
					    "SW101 kernel=scale allocated=race\n"};
	add_races(_i == 2 ? SW_ERROR : SW_WARNING, FAKE_SCALE);
	struct sw_suppressions *s = load(lines[_i], SW_SUPPRESS_KNOWN);
	make(&(struct sw_report_options){.suppressions = s});
	ck_assert_uint_eq(report->shown.n, _i != 0);
	ck_assert_uint_eq(report->totals.known, !_i);
	ck_assert_uint_eq(report->totals.suppressed, !_i);
	ck_assert_ptr_null(sw_suppress_unused(s, 0));
	sw_suppress_free(s);
}
END_TEST

/* A line of the user's that says the same is the reason: it must not be called unused. */
START_TEST(a_line_of_the_user_comes_first)
{
	struct sw_suppressions *s = load("SW101\n", SW_SUPPRESS_KNOWN);
	char path[] = "/tmp/sw-suppress-XXXXXX";
	struct sw_error error;
	int fd = mkstemp(path);
	ck_assert_int_eq(write(fd, "SW101\n", 6), 6);
	close(fd);
	ck_assert_int_eq(sw_suppress_load(path, SW_SUPPRESS_FILE, &s, &error), 0);
	unlink(path);
	add_races(SW_WARNING, FAKE_SCALE);
	make(&(struct sw_report_options){.suppressions = s});
	ck_assert_uint_eq(report->totals.suppressed, 1);
	ck_assert_uint_eq(report->totals.known, 0);
	ck_assert_ptr_null(sw_suppress_unused(s, 0));
	sw_suppress_free(s);
}
END_TEST

START_TEST(the_file_that_ships_is_well_formed)
{
	const char *source = getenv("top_srcdir");
	char *path = sw_format("%s/share/syncwatch/known.supp", source ? source : ".");
	struct sw_suppressions *s = NULL;
	struct sw_error error;
	ck_assert_msg(sw_suppress_load(path, SW_SUPPRESS_KNOWN, &s, &error) == 0, "%s", error.text);
	sw_suppress_free(s);
	/* Each line names the allocating code: a hazard on the program's own memory is never hidden by it. */
	FILE *file = fopen(path, "r");
	char line[512];
	while (fgets(line, sizeof line, file))
		if (strncmp(line, "SW", 2) == 0)
			ck_assert_msg(strstr(line, " allocated=lib") != NULL, "%s", line);
	fclose(file);
	free(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report/ci");
	TCase *c = tcase_create("formats");
	tcase_add_checked_fixture(c, setup, teardown_report);
	tcase_add_test(c, a_race_and_a_wait_without_a_line);
	tcase_add_test(c, a_clean_run_says_what_was_not_looked_at);
	tcase_add_test(c, hostile_names_stay_text);
	tcase_add_test(c, processes_share_results);
	tcase_add_loop_test(c, annotations_are_bounded, 0, 2);
	tcase_add_loop_test(c, paths_below_the_root_are_relative, 0, 5);
	tcase_add_test(c, what_is_written_suppresses_what_was_shown);
	tcase_add_loop_test(c, known_findings_are_counted, 0, 3);
	tcase_add_test(c, a_line_of_the_user_comes_first);
	tcase_add_test(c, the_file_that_ships_is_well_formed);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
