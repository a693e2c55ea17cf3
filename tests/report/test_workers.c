/* SPDX-License-Identifier: Apache-2.0 */
/* However many threads analyse kernels, the report is the same, byte for byte. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "detect/detect.h"
#include "report/report.h"
#include "../run_suite.h"

static const char *const traces[] = {"gpu-torch-side_stream", "gpu-boxes", "gpu-column_tiles", "gpu-scatter"};

/* The one number that is of this very run: how long the analysis took. */
static void drop_time(char *json)
{
	char *time = strstr(json, "\"cpu_ms\": "), *end = time ? strchr(time, '\n') : NULL;
	ck_assert_ptr_nonnull(end);
	memmove(time, end, strlen(end) + 1);
}

static char *report_with(const char *name, uint32_t threads)
{
	const char *top = getenv("top_srcdir");
	char *path = sw_format("%s/tests/golden/traces/%s.swt", top ? top : "..", name), *json = NULL;
	size_t bytes;
	struct sw_reader *reader;
	struct sw_judgement *judgement;
	struct sw_error error;
	struct sw_judge_options options = {.fold_below_ns = 100000, .keep_possible = true, .threads = threads};
	ck_assert_msg(!sw_reader_open(path, &reader, &error), "%s", error.text);
	ck_assert_msg(!sw_judge(reader, &options, &judgement, &error), "%s", error.text);
	ck_assert_uint_gt(judgement->analysed.analysed, 0);
	struct sw_report *report = sw_report_new(reader, judgement, &(struct sw_report_options){.all = true});
	FILE *out = open_memstream(&json, &bytes);
	sw_report_json(report, out);
	fclose(out);
	sw_report_free(report);
	sw_judgement_free(judgement);
	sw_reader_close(reader);
	free(path);
	drop_time(json);
	return json;
}

START_TEST(one_thread_and_sixteen_report_the_same)
{
	char *one = report_with(traces[_i], 1);
	ck_assert_ptr_nonnull(strstr(one, "\"findings\""));
	for (int round = 0; round < 3; round++) {
		char *many = report_with(traces[_i], 16);
		ck_assert_msg(!strcmp(one, many), "%s: another report", traces[_i]);
		free(many);
	}
	free(one);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("workers");
	TCase *c = tcase_create("workers");
	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, one_thread_and_sixteen_report_the_same, 0, sizeof traces / sizeof *traces);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
