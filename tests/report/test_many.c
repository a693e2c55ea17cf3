/* SPDX-License-Identifier: Apache-2.0 */
/* A run that is nothing but hazards: a report needs room for the findings, not for what is said of each. */
#include <check.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "detect/detect.h"
#include "reader/trace_builder.h"
#include "report/report.h"
#include "run_suite.h"

#define SIDE	 100u /* call sites of each of two streams */
#define FINDINGS (2 * SIDE * SIDE - 1)
#define BUFFER	 0x7f0000000000ull

/* Each pair of call sites comes together once, in either order. */
static void record(const char *path)
{
	struct tb *tb = tb_new(path, NULL);
	tb_stream_create(tb, 0x1000, 1);
	tb_stream_create(tb, 0x1010, 1);
	tb_alloc(tb, SW_MEM_DEVICE, BUFFER, 1 << 20);
	for (unsigned i = 0; i < SIDE * SIDE; i++) {
		tb_stack(tb, 1, UINT64_C(0x10000) + i % SIDE);
		tb_set(tb, BUFFER, 4096, 0x1000);
		tb_stack(tb, 1, UINT64_C(0x20000) + i / SIDE);
		tb_set(tb, BUFFER, 4096, 0x1010);
	}
	tb_close(tb, true);
}

static size_t in_use(void)
{
	struct mallinfo2 info = mallinfo2(); /* nothing with sanitizers */
	return info.uordblks + info.hblkhd;
}

START_TEST(memory_follows_the_findings_not_their_words)
{
	char path[64];
	struct sw_reader *reader;
	struct sw_judgement *judgement;
	struct sw_error error = {0};
	const size_t before = in_use();
	snprintf(path, sizeof path, "test-many-%d.swt", (int)getpid());
	record(path);
	ck_assert_msg(!sw_reader_open(path, &reader, &error), "%s", error.text);
	ck_assert_msg(!sw_judge(reader, NULL, &judgement, &error), "%s", error.text);
	ck_assert_uint_eq(judgement->findings.n, FINDINGS);
	struct sw_report *report = sw_report_new(reader, judgement, &(struct sw_report_options){0});
	FILE *out = fopen("/dev/null", "w");
	ck_assert_ptr_nonnull(out);
	sw_report_text(report, out, &(struct sw_text_style){.limit = SW_REPORT_LIMIT});
	sw_report_json(report, out);
	fclose(out);
	/* Vectors grow to twice their size.  Each call meets the one before and the one after, and is stored once. */
	ck_assert_uint_lt(in_use() - before,
			  FINDINGS * (2 * (sizeof(struct sw_finding) + 60) + sizeof(struct sw_access)));
	ck_assert_uint_le(sizeof(struct sw_finding), 144);
	ck_assert_uint_le(sizeof(struct sw_access), 168);
	ck_assert_uint_lt(report->names.arena.bytes, FINDINGS * 50);
	sw_report_free(report);
	sw_judgement_free(judgement);
	sw_reader_close(reader);
	unlink(path);
}
END_TEST

static void add(TCase *tc)
{
	tcase_set_timeout(tc, 0);
	tcase_add_test(tc, memory_follows_the_findings_not_their_words);
}

int main(void)
{
	Suite *suite = suite_create("many");
	TCase *tc = tcase_create("many");
	add(tc);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
