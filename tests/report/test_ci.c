/* SPDX-License-Identifier: Apache-2.0 */
/* Reports for builds: SARIF, JUnit's XML, GitLab's code quality, GitHub's commands, and suppressions to keep, against
   golden files; test_schema.sh validates those. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "fake_trace.h"
#include "report/ci/ci.h"
#include "report/suppress_file.h"

static struct sw_judgement judgement;
static struct sw_report *report;

static void setup(void)
{
	fake_trace = (struct fake_trace){0};
	judgement = (struct sw_judgement){.span_ns = 12345678};
	for (uint32_t i = 0; i < 3; i++)
		*sw_vec_push(&judgement.streams) =
			(struct sw_stream_info){.handle = 0x55d0 + i, .kind = SW_LANE_BLOCKING, .number = i};
	*sw_vec_push(&judgement.allocations) = (struct sw_allocation){.address = 0x7f0000000000,
								      .bytes = 16384,
								      .memory = SW_MEM_DEVICE,
								      .number = 1,
								      .api = FAKE_API_ALLOC,
								      .flags = SW_RF_RUNTIME,
								      .stack = FAKE_AT_COPY,
								      .thread = 1,
								      .seq = 7};
	judgement.coverage = (struct sw_coverage){.driver_calls = 120, .launches = 40, .codeless_kernels = 2};
}

static void teardown(void)
{
	sw_report_free(report);
	report = NULL;
	free(judgement.streams.at);
	free(judgement.allocations.at);
	free(judgement.findings.at);
}

static void make(struct sw_suppressions *suppressions, bool all)
{
	sw_report_free(report);
	report = sw_report_new((struct sw_reader *)&judgement, &judgement,
			       &(struct sw_report_options){.suppressions = suppressions, .all = all});
}

static struct sw_access launch(enum sw_role role, uint32_t function, uint32_t stream, uint32_t stack, uint64_t seq)
{
	return (struct sw_access){.role = role,
				  .kind = SW_REC_LAUNCH,
				  .api = FAKE_API_LAUNCH,
				  .flags = SW_RF_RUNTIME,
				  .seq = seq,
				  .t_ns = seq * 1000,
				  .thread = 1,
				  .stack = stack,
				  .stream = stream,
				  .function = function,
				  .ranged = true,
				  .address = 0x7f0000001000,
				  .bytes = 4096,
				  .extent_known = true,
				  .allocation = 1,
				  .evidence = SW_EV_SIGNATURE};
}

static struct sw_finding *add_race(enum sw_severity severity, uint32_t function)
{
	struct sw_finding *race = sw_vec_push(&judgement.findings);
	*race = (struct sw_finding){.id = 101, .severity = severity, .count = 3, .operations = 3, .accesses = 2};
	race->confidence = severity == SW_ERROR ? SW_CERTAIN : SW_LIKELY;
	race->access[0] = launch(SW_WRITE, FAKE_FILL, 1, FAKE_AT_FILL, 20);
	race->access[1] = launch(SW_READ, function, 2, FAKE_AT_SCALE, 21);
	race->fix = SW_FIX_EVENT;
	return race;
}

/* A wait whose caller is unknown. */
static void add_wait(void)
{
	struct sw_finding *wait = sw_vec_push(&judgement.findings);
	*wait = (struct sw_finding){
		.id = 301, .severity = SW_WARNING, .confidence = SW_CERTAIN, .count = 4, .accesses = 1};
	wait->access[0] = launch(SW_CALL, 0, 0, FAKE_AT_NOWHERE, 40);
	wait->access[0].kind = SW_REC_COPY;
	wait->access[0].api = FAKE_API_COPY;
	wait->access[0].ranged = false;
	wait->cost = (struct sw_cost){.calls = 4, .total_ns = 12300000, .worst_ns = 8000000, .waited_calls = 4};
	wait->fix = SW_FIX_ASYNC;
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

/* Compares and frees.  UPDATE_GOLDEN=1 writes the file instead: look at the difference before committing it. */
static void check_golden(const char *name, char *text)
{
	const char *source = getenv("top_srcdir");
	char *path = sw_format("%s/tests/report/formats/%s", source ? source : ".", name), *golden = NULL;
	FILE *file = fopen(path, getenv("UPDATE_GOLDEN") ? "w+" : "r");
	size_t room = 0;
	ck_assert_msg(file != NULL, "%s", path);
	if (getenv("UPDATE_GOLDEN"))
		fputs(text, file);
	rewind(file);
	ck_assert_str_eq(text, getdelim(&golden, &room, 0, file) < 0 ? "" : golden);
	fclose(file);
	free(golden);
	free(path);
	free(text);
}

static const char *const files[SW_CI_FORMATS] = {"sarif", "junit.xml", "gitlab.json", "github.txt"};

static void check_all(const char *stem, size_t times)
{
	for (int i = 0; i < SW_CI_FORMATS; i++) {
		char *name = sw_format("%s.%s", stem, files[i]);
		check_golden(name, written((enum sw_ci_format)i, times, "/src"));
		free(name);
	}
}

START_TEST(a_race_and_a_wait_without_a_line)
{
	add_race(SW_ERROR, FAKE_SCALE);
	add_wait();
	make(NULL, false);
	check_all("race", 1);
}
END_TEST

START_TEST(a_clean_run_says_what_was_not_looked_at)
{
	make(NULL, false);
	check_all("clean", 1);
}
END_TEST

START_TEST(hostile_names_stay_text)
{
	add_race(SW_ERROR, FAKE_HOSTILE);
	make(NULL, false);
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

/* What several processes share: once, except in JUnit's XML, where each has a suite. */
START_TEST(processes_share_results)
{
	static const char *const parts[SW_CI_FORMATS] = {"\"ruleId\"", "<failure", "\"check_name\"", "::error"};
	add_race(SW_ERROR, FAKE_SCALE);
	make(NULL, false);
	for (int i = 0; i < SW_CI_FORMATS; i++) {
		char *text = written((enum sw_ci_format)i, 2, NULL);
		ck_assert_uint_eq(count(text, parts[i]), i == SW_CI_JUNIT ? 2 : 1);
		if (i == SW_CI_SARIF)
			ck_assert_uint_eq(count(text, "\"executionSuccessful\""), 2);
		free(text);
	}
}
END_TEST

START_TEST(paths_below_the_root_are_relative)
{
	static const char *const roots[] = {"/src", "/sr", "/", NULL, "/src/race.cu"};
	add_race(SW_ERROR, FAKE_SCALE);
	make(NULL, false);
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
	struct sw_suppress_file *file = sw_suppress_file_begin(out);
	sw_suppress_file_add(file, report);
	sw_suppress_file_add(file, report);
	sw_suppress_file_end(file);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

START_TEST(what_is_written_suppresses_what_was_shown)
{
	add_race(SW_ERROR, FAKE_HOSTILE);
	add_race(SW_WARNING, FAKE_SCALE);
	add_wait();
	make(NULL, false);
	char *text = suppressions_of_report();
	struct sw_suppressions *s = load(text, SW_SUPPRESS_FILE);
	check_golden("written.supp", text);
	make(s, false);
	/* The wait has no place: its line would hide every other wait of its kind. */
	ck_assert_uint_eq(report->shown.n, 1);
	ck_assert_int_eq(report->shown.at[0].finding->id, 301);
	ck_assert_uint_eq(report->totals.suppressed, 2);
	ck_assert_ptr_null(sw_suppress_unused(s, 0));
	make(s, true);
	text = suppressions_of_report();
	ck_assert_ptr_null(strstr(text, "\nSW"));
	free(text);
	sw_suppress_free(s);
}
END_TEST

/* Of a library's own memory: suppressed, and counted as known.  Of the program's, or an error: reported. */
START_TEST(known_findings_are_counted)
{
	static const char *const lines[] = {"SW101 kernel=scale allocated=race\n",
					    "SW101 kernel=scale allocated=libcudnn*\n",
					    "SW101 kernel=scale allocated=race\n"};
	add_race(_i == 2 ? SW_ERROR : SW_WARNING, FAKE_SCALE);
	struct sw_suppressions *s = load(lines[_i], SW_SUPPRESS_KNOWN);
	make(s, false);
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
	add_race(SW_WARNING, FAKE_SCALE);
	make(s, false);
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
	/* Each line names who allocated: a hazard on the program's own memory is never hidden by it. */
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
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_race_and_a_wait_without_a_line);
	tcase_add_test(c, a_clean_run_says_what_was_not_looked_at);
	tcase_add_test(c, hostile_names_stay_text);
	tcase_add_test(c, processes_share_results);
	tcase_add_loop_test(c, paths_below_the_root_are_relative, 0, 5);
	tcase_add_test(c, what_is_written_suppresses_what_was_shown);
	tcase_add_loop_test(c, known_findings_are_counted, 0, 3);
	tcase_add_test(c, a_line_of_the_user_comes_first);
	tcase_add_test(c, the_file_that_ships_is_well_formed);
	suite_add_tcase(suite, c);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
