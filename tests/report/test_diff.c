/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs compared: which findings belong together, what counts as changed, how it is printed; and reports read back.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "golden_file.h"
#include "report/diff/diff.h"
#include "../run_suite.h"

static struct sw_digest before, after;
static const struct sw_digest *repeat;
static size_t repeats;
static struct sw_diff diff;

static void setup(void)
{
	before = (struct sw_digest){.path = "a.swt", .program = "demo", .span_ns = 100000000, .complete = true};
	after = (struct sw_digest){.path = "b.swt", .program = "demo", .span_ns = 100000000, .complete = true};
}

static void teardown(void)
{
	sw_diff_free(&diff);
	sw_digest_free(&before);
	sw_digest_free(&after);
}

static struct sw_digest_side side(struct sw_digest *digest, const char *what, const char *function, const char *file,
				  int line)
{
	struct sw_digest_frame *frame = sw_arena_alloc(&digest->arena, 2 * sizeof *frame);
	frame[0] = (struct sw_digest_frame){function, file, "demo", line};
	frame[1] = (struct sw_digest_frame){"main", "main.cu", "demo", 10};
	return (struct sw_digest_side){what, frame, 2};
}

static struct sw_digest_finding *wait_at(struct sw_digest *digest, int line, uint64_t calls, uint64_t total_us)
{
	struct sw_digest_side *one = sw_arena_alloc(&digest->arena, sizeof *one);
	*one = side(digest, "cudaMemcpy", "step", "demo.cu", line);
	struct sw_digest_finding *f = sw_vec_push(&digest->findings);
	*f = (struct sw_digest_finding){.id = 301,
					.kind = "sync-copy",
					.message = "cudaMemcpy is synchronous: the host waits until the copy is done",
					.severity = SW_WARNING,
					.confidence = SW_CERTAIN,
					.count = calls,
					.calls = calls,
					.total_ns = total_us * 1000,
					.least_ns = total_us * 800,
					.recoverable_ns = total_us * 900,
					.fingerprint = 0x1234,
					.side = one,
					.sides = 1};
	return f;
}

static struct sw_digest_finding *race_of(struct sw_digest *digest, int id, const char *first, const char *second)
{
	struct sw_digest_side *two = sw_arena_alloc(&digest->arena, 2 * sizeof *two);
	two[0] = side(digest, first, first, "demo.cu", 20);
	two[1] = side(digest, second, second, "demo.cu", 30);
	struct sw_digest_finding *f = sw_vec_push(&digest->findings);
	*f = (struct sw_digest_finding){
		.id = id,
		.kind = "race-read-after-write",
		.message = "Kernel scale on stream 2 may read allocation 1 before kernel fill has written it",
		.severity = SW_ERROR,
		.confidence = SW_CERTAIN,
		.count = 3,
		.side = two,
		.sides = 2};
	return f;
}

static void expect(size_t new, size_t worse, size_t better, size_t gone, size_t same)
{
	sw_diff_free(&diff);
	sw_diff_make(&diff, &before, &after, repeat, repeats);
	ck_assert_uint_eq(diff.count[SW_CHANGE_NEW], new);
	ck_assert_uint_eq(diff.count[SW_CHANGE_WORSE], worse);
	ck_assert_uint_eq(diff.count[SW_CHANGE_BETTER], better);
	ck_assert_uint_eq(diff.count[SW_CHANGE_GONE], gone);
	ck_assert_uint_eq(diff.count[SW_CHANGE_SAME], same);
}

/* ---- which findings belong together ------------------------------------------------------------------------------ */

START_TEST(moved_lines_change_nothing)
{
	wait_at(&before, 40, 10, 5000);
	wait_at(&before, 50, 10, 9000);
	wait_at(&after, 61, 10, 9000);
	wait_at(&after, 51, 10, 5000);
	expect(0, 0, 0, 0, 2);
	for (size_t i = 0; i < diff.entries.n; i++)
		ck_assert_uint_eq(diff.entries.at[i].a->total_ns, diff.entries.at[i].b->total_ns);
}
END_TEST

/* One of two sites in a function disappeared: the other keeps its partner, although its line is the later one. */
START_TEST(equal_lines_come_first)
{
	wait_at(&before, 40, 10, 5000);
	wait_at(&before, 50, 10, 9000);
	wait_at(&after, 50, 10, 9000);
	expect(0, 0, 0, 1, 1);
	ck_assert_int_eq(diff.entries.at[0].a->side[0].frame[0].line, 40);
}
END_TEST

START_TEST(a_function_may_move_to_another_file_and_not_change_its_name)
{
	race_of(&before, 101, "fill", "scale");
	race_of(&after, 101, "fill", "scale")->side = (struct sw_digest_side[]){
		side(&after, "fill", "fill", "other.cu", 7), side(&after, "scale", "scale", "other.cu", 9)};
	expect(0, 0, 0, 0, 1);
	after.findings.n = 0;
	race_of(&after, 101, "fill", "blur");
	expect(1, 0, 0, 1, 0);
}
END_TEST

/* Threads made the two calls in the other order: a read after write became a write after read, it is the same race. */
START_TEST(a_race_is_the_same_from_both_ends)
{
	race_of(&before, 101, "fill", "scale");
	race_of(&after, 102, "scale", "fill");
	expect(0, 0, 0, 0, 1);
	before.findings.at[0].id = 105;
	expect(1, 0, 0, 1, 0);
}
END_TEST

START_TEST(frames_without_a_name_are_known_by_their_module)
{
	race_of(&before, 101, "fill", "scale")->side =
		(struct sw_digest_side[]){side(&before, "fill", "", "", 0), side(&before, "scale", "", "", 0)};
	race_of(&after, 101, "fill", "scale")->side =
		(struct sw_digest_side[]){side(&after, "fill", "", "", 0), side(&after, "scale", "", "", 0)};
	expect(0, 0, 0, 0, 1);
	((struct sw_digest_frame *)(uintptr_t)after.findings.at[0].side[0].frame)->module = "libother.so";
	expect(1, 0, 0, 1, 0);
}
END_TEST

/* ---- what counts as changed -------------------------------------------------------------------------------------- */

START_TEST(waits_change_beyond_noise_alone)
{
	static const struct {
		uint64_t calls, total_us, span_ms;
		enum sw_change change;
	} rows[] = {
		{10, 10000, 100, SW_CHANGE_SAME},  {10, 12000, 100, SW_CHANGE_SAME},  {10, 15000, 100, SW_CHANGE_WORSE},
		{10, 6000, 100, SW_CHANGE_BETTER}, {20, 20000, 100, SW_CHANGE_WORSE}, {5, 5000, 100, SW_CHANGE_BETTER},
		{20, 20000, 200, SW_CHANGE_SAME}, /* twice as long a run */
		{10, 10000, 60, SW_CHANGE_SAME},  /* the rest of the run got faster */
		{10, 10000, 200, SW_CHANGE_SAME}, /* the rest got slower */
		{5, 10000, 50, SW_CHANGE_WORSE},  /* half the run, each call twice as long */
		{20, 40000, 200, SW_CHANGE_WORSE}, {10, 20000, 200, SW_CHANGE_SAME},
	};
	wait_at(&before, 40, 10, 10000);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		after.findings.n = 0;
		after.span_ns = rows[i].span_ms * 1000000;
		wait_at(&after, 40, rows[i].calls, rows[i].total_us);
		sw_diff_free(&diff);
		sw_diff_make(&diff, &before, &after, repeat, repeats);
		ck_assert_msg(diff.entries.n == 1 && diff.entries.at[0].change == rows[i].change, "row %zu is %s", i,
			      sw_name_change(diff.entries.at[0].change));
	}
}
END_TEST

/* A repeat of the first run, 0: is like it; 1: is like the second; 2: lacks the wait; 3: has one that only the second
 * has. */
START_TEST(what_repeats_show_is_no_difference)
{
	struct sw_digest other = {.path = "c", .program = "demo", .span_ns = 100000000};
	wait_at(&before, 40, 10, 10000);
	if (_i != 2)
		wait_at(&after, 40, 10, 30000);
	if (_i == 3)
		wait_at(&after, 50, 10, 10000)->id = 302;
	if (_i != 2)
		wait_at(&other, 40, 10, _i == 1 ? 29000 : 10000);
	if (_i == 3)
		wait_at(&other, 50, 10, 10000)->id = 302;
	repeat = &other;
	repeats = 1;
	if (_i == 2)
		expect(0, 0, 0, 0, 0);
	else
		expect(0, _i != 1, 0, 0, _i == 1);
	ck_assert_uint_eq(diff.measured_once, 0);
	repeats = 0;
	if (_i == 2)
		expect(0, 0, 0, 1, 0);
	else
		expect(_i == 3, 1, 0, 0, 0);
	ck_assert_uint_eq(diff.measured_once, _i == 3 ? 2 : 1);
	free(other.findings.at);
	sw_arena_free(&other.arena);
}
END_TEST

START_TEST(what_could_be_won_back_counts_too)
{
	wait_at(&before, 40, 10, 10000);
	wait_at(&after, 40, 10, 10000)->recoverable_ns = 1000000;
	after.findings.at[0].least_ns = 500000;
	expect(0, 0, 1, 0, 0);
	before.findings.at[0].least_ns = 900000; /* the two intervals meet: they may be of one value */
	expect(0, 0, 0, 0, 1);
}
END_TEST

/* Runs of one program: 0: a call that took long makes no wait worse; 1: all took longer; 2: few calls differ by a
   third, 3: by more than a half. */
START_TEST(repeats_of_a_run_are_the_same)
{
	const bool few = _i >= 2;
	wait_at(&before, 40, few ? 2 : 10, 10000)->worst_ns = few ? 5000000 : 1000000;
	wait_at(&after, 40, few ? 2 : 10, few ? (_i == 2 ? 15000 : 25000) : 16000)->worst_ns = _i ? 1600000 : 7000000;
	before.findings.at[0].least_ns = after.findings.at[0].least_ns = 0;
	expect(0, _i % 2, 0, 0, !(_i % 2));
}
END_TEST

START_TEST(cheap_waits_are_neither_new_nor_gone)
{
	wait_at(&before, 40, 1, 150);
	wait_at(&after, 41, 1, 900)->id = 302;
	expect(1, 0, 0, 0, 0);
	after.findings.at[0].total_ns = 190000;
	expect(0, 0, 0, 0, 0);
	wait_at(&after, 40, 1, 190); /* three times as much of nothing */
	before.findings.at[0].total_ns = 60000;
	expect(0, 0, 0, 0, 1);
}
END_TEST

START_TEST(errors_are_new_when_no_error_was_there)
{
	race_of(&before, 101, "fill", "scale");
	race_of(&after, 101, "fill", "scale");
	expect(0, 0, 0, 0, 1);
	ck_assert_uint_eq(diff.new_errors, 0);
	before.findings.at[0].severity = SW_WARNING;
	before.findings.at[0].confidence = SW_LIKELY;
	expect(0, 1, 0, 0, 0);
	ck_assert_uint_eq(diff.new_errors, 1);
	before.findings.n = 0;
	expect(1, 0, 0, 0, 0);
	ck_assert_uint_eq(diff.new_errors, 1);
	after.findings.at[0].severity = SW_WARNING;
	expect(1, 0, 0, 0, 0);
	ck_assert_uint_eq(diff.new_errors, 0);
}
END_TEST

/* ---- how it is printed ------------------------------------------------------------------------------------------- */

static char *printed(bool json)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	if (json)
		sw_diff_json(&diff, out);
	else
		sw_diff_text(&diff, out, &(struct sw_diff_style){.all = true});
	fclose(out);
	return text;
}

START_TEST(a_comparison_reads_as_agreed)
{
	before.complete = false;
	race_of(&before, 105, "old", "gone");
	wait_at(&before, 40, 10, 10000);
	wait_at(&before, 50, 10, 8000)->id = 302;
	wait_at(&before, 60, 10, 8000)->id = 306;
	race_of(&after, 101, "fill", "scale");
	wait_at(&after, 42, 10, 30000);
	wait_at(&after, 50, 10, 2000)->id = 302;
	wait_at(&after, 60, 10, 8000)->id = 306;
	expect(1, 1, 1, 1, 1);
	check_golden("golden/diff.txt", printed(false));
	check_golden("golden/diff.json", printed(true));
}
END_TEST

/* ---- reports read back ------------------------------------------------------------------------------------------- */

#ifdef HAVE_JANSSON

static int read_text(const char *text, struct sw_error *error)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int rc = sw_digest_read(&before, file, "r.json", error);
	fclose(file);
	return rc;
}

START_TEST(a_report_is_read_back)
{
	struct sw_error error;
	char *path = golden_path("golden/race.json");
	FILE *file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(sw_digest_read(&before, file, path, &error), 0);
	fclose(file);
	free(path);
	ck_assert_uint_eq(before.span_ns, 12345678);
	ck_assert_uint_eq(before.findings.n, 5);
	const struct sw_digest_finding *race = &before.findings.at[0], *wait = &before.findings.at[1];
	ck_assert_int_eq(race->id, 101);
	ck_assert_int_eq(race->severity, SW_ERROR);
	ck_assert_uint_eq(race->count, 3);
	ck_assert_uint_eq(race->sides, 2);
	ck_assert_str_eq(race->side[0].what, "fill(float*)");
	ck_assert_str_eq(race->side[0].frame[0].file, "race.cu");
	ck_assert_int_eq(race->side[0].frame[0].line, 14);
	ck_assert_uint_eq(wait->calls, 40);
	ck_assert_uint_eq(wait->total_ns, 12300000);
	ck_assert_uint_eq(wait->recoverable_ns, 10200000);
}
END_TEST

#define OLD_FINDING                                                                                                    \
	"{\"id\": \"SW101\", \"kind\": \"k\", \"severity\": \"error\", \"confidence\": \"certain\", \"accesses\": []}"

START_TEST(what_an_older_report_lacks_is_not_needed)
{
	struct sw_error error;
	ck_assert_int_eq(read_text("{\"schema\": \"syncwatch-report/1\", \"findings\": [" OLD_FINDING "]}", &error), 0);
	ck_assert_uint_eq(before.findings.n, 1);
	ck_assert(!before.complete);
	sw_digest_free(&before);
	ck_assert_int_eq(read_text("{\"schema\": \"syncwatch-report/1.7\", \"news\": {}, \"findings\": []}", &error),
			 0);
}
END_TEST

START_TEST(what_is_no_report_is_refused_in_one_line)
{
	static const struct {
		const char *text, *part;
	} rows[] = {
		{"{", "r.json:1:"},
		{"{\"a\": 1, \"a\": 2}", "duplicate"},
		{"{}", "no report of syncwatch"},
		{"{\"schema\": 7}", "no report of syncwatch"},
		{"{\"schema\": \"syncwatch-kernels/1\"}", "no report of syncwatch"},
		{"{\"schema\": \"syncwatch-report/2\", \"findings\": []}", "syncwatch-report/2"},
		{"{\"schema\": \"syncwatch-report/10\", \"findings\": []}", "syncwatch-report/10"},
		{"{\"schema\": \"syncwatch-report/1\"}", "'findings' is a list"},
		{"{\"schema\": \"syncwatch-report/1\", \"findings\": [7]}", "'severity'"},
		{"{\"schema\": \"syncwatch-report/1\", \"findings\": [{\"id\": \"SW1x\", \"severity\": \"error\", "
		 "\"confidence\": \"certain\", \"accesses\": []}]}",
		 "'id'"},
		{"{\"schema\": \"syncwatch-report/1\", \"findings\": [{\"id\": \"SW301\", \"severity\": \"error\", "
		 "\"confidence\": \"certain\", \"accesses\": [], \"cost\": {\"calls\": 1, \"total_ms\": -1}}]}",
		 "'total_ms'"},
		{"{\"schema\": \"syncwatch-report/1\", \"findings\": [{\"id\": \"SW301\", \"severity\": \"error\", "
		 "\"confidence\": \"certain\", \"accesses\": [{\"stack\": 1}]}]}",
		 "'stack'"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct sw_error error = {0};
		ck_assert_int_ne(read_text(rows[i].text, &error), 0);
		ck_assert_msg(strstr(error.text, rows[i].part) && !strchr(error.text, '\n'), "row %zu: %s", i,
			      error.text);
		ck_assert_uint_eq(before.findings.n, 0);
	}
}
END_TEST

#endif

int main(void)
{
	Suite *suite = suite_create("diff");
	TCase *tc = tcase_create("diff");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, moved_lines_change_nothing);
	tcase_add_test(tc, equal_lines_come_first);
	tcase_add_test(tc, a_function_may_move_to_another_file_and_not_change_its_name);
	tcase_add_test(tc, a_race_is_the_same_from_both_ends);
	tcase_add_test(tc, frames_without_a_name_are_known_by_their_module);
	tcase_add_test(tc, waits_change_beyond_noise_alone);
	tcase_add_test(tc, what_could_be_won_back_counts_too);
	tcase_add_loop_test(tc, repeats_of_a_run_are_the_same, 0, 4);
	tcase_add_loop_test(tc, what_repeats_show_is_no_difference, 0, 4);
	tcase_add_test(tc, cheap_waits_are_neither_new_nor_gone);
	tcase_add_test(tc, errors_are_new_when_no_error_was_there);
	tcase_add_test(tc, a_comparison_reads_as_agreed);
#ifdef HAVE_JANSSON
	tcase_add_test(tc, a_report_is_read_back);
	tcase_add_test(tc, what_an_older_report_lacks_is_not_needed);
	tcase_add_test(tc, what_is_no_report_is_refused_in_one_line);
#endif
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
