/* SPDX-License-Identifier: Apache-2.0 */
/* Findings by their cause: what one fix removes is one group, what it does not remove is not. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fake_report.h"
#include "report/groups.h"
#include "../run_suite.h"

static void setup(void)
{
	setup_empty();
	add_streams(SW_LANE_NONBLOCKING, 3);
	for (uint32_t i = 1; i <= 2; i++) {
		struct sw_allocation one = fake_allocation();
		one.address = 0x10000u * i;
		one.number = i;
		one.stack = FAKE_AT_LINE + i;
		one.seq = i;
		*sw_vec_push(&judgement.allocations) = one;
	}
	judgement.coverage = (struct sw_coverage){.driver_calls = 120, .launches = 40};
}

/* A launch at line `seq` of many.cu. */
static struct sw_access launch_at(enum sw_role role, uint32_t stream, uint64_t seq, uint32_t allocation)
{
	struct sw_access access = launch(role, FAKE_SCALE, stream, FAKE_AT_LINE + (uint32_t)seq, seq);
	access.address = 0x10000u * allocation;
	access.allocation = allocation;
	access.evidence = SW_EV_EXACT;
	return access;
}

/* Write at `from` on one stream, read at `to` on another. */
static void race(uint32_t stream, uint64_t from, uint32_t other, uint64_t to, uint32_t allocation)
{
	add_hazard(101, SW_ERROR, launch_at(SW_WRITE, stream, from, allocation),
		   launch_at(SW_READ, other, to, allocation));
}

static size_t lines_of(const char *text)
{
	size_t n = 0;
	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

/* One write, then three reads: an event between the write and the first of them orders all. */
START_TEST(what_one_edge_orders_is_one_group)
{
	race(1, 10, 2, 20, 1);
	race(1, 10, 2, 21, 1);
	race(1, 12, 2, 22, 2);
	make(NULL);
	ck_assert_uint_eq(report->groups.n, 1);
	ck_assert_uint_eq(report->groups.at[0].leader, 0);
	ck_assert_uint_eq(report->groups.at[0].members.n, 2);
	/* After the last write, before the first read. */
	ck_assert_uint_eq(report->groups.at[0].after->seq, 12);
	ck_assert_uint_eq(report->groups.at[0].before->seq, 20);
	ck_assert_uint_eq(report->groups.at[0].edges, 1);
	for (size_t i = 0; i < report->shown.n; i++)
		ck_assert_ptr_eq(sw_report_group_of(report, &report->shown.at[i]), &report->groups.at[0]);
}
END_TEST

START_TEST(what_needs_two_edges_is_two_groups)
{
	static const struct {
		uint32_t stream, other;
		uint64_t from, to;
	} second[] = {
		{1, 2, 20, 30}, /* begins where the first one ends */
		{1, 2, 25, 30}, /* after it */
		{2, 1, 12, 18}, /* the other way */
		{1, 3, 12, 18}, /* to another stream */
	};
	race(1, 10, 2, 20, 1);
	race(second[_i].stream, second[_i].from, second[_i].other, second[_i].to, 2);
	make(NULL);
	ck_assert_uint_eq(report->groups.n, 2);
	ck_assert_uint_eq(report->groups.at[0].leader, 0);
	ck_assert_uint_eq(report->groups.at[1].leader, 1);
}
END_TEST

/* A loop, whose iterations the host orders: each finding is of another one, between the same two lines. */
START_TEST(what_the_same_two_lines_miss_is_one_group)
{
	for (uint64_t i = 0; i < 3; i++) {
		race(1, 10 + 20 * i, i == 2 ? 3 : 2, 20 + 20 * i, 1);
		struct sw_finding *finding = &judgement.findings.at[i];
		side_of(finding, 0)->stack = FAKE_AT_LINE + 5;
		side_of(finding, 1)->stack = FAKE_AT_LINE + (_i ? 6 + (uint32_t)i : 6);
	}
	make(NULL);
	/* Other lines, or another stream: another edge. */
	ck_assert_uint_eq(report->groups.n, _i ? 3 : 2);
	ck_assert_uint_eq(report->groups.at[0].members.n, _i ? 0 : 1);
	ck_assert_uint_eq(report->groups.at[0].edges, 1);
}
END_TEST

/* A warning within the span of an error joins it and does not lead; one outside stays alone. */
START_TEST(the_strongest_leads)
{
	race(1, 10, 2, 20, 1);
	add_hazard(103, SW_WARNING, launch_at(SW_WRITE, 1, 5, 1), launch_at(SW_WRITE, 2, 25, 1));
	add_hazard(103, SW_WARNING, launch_at(SW_WRITE, 1, 40, 1), launch_at(SW_WRITE, 2, 45, 1));
	make(NULL);
	ck_assert_uint_eq(report->groups.n, 2);
	ck_assert_uint_eq(report->groups.at[0].leader, 0);
	ck_assert_uint_eq(report->groups.at[0].members.n, 1);
	ck_assert_uint_eq(report->groups.at[1].leader, 2);
}
END_TEST

static void wait_at(int id, enum sw_severity severity, uint32_t line)
{
	struct sw_finding *finding = add(id, severity, SW_CERTAIN);
	finding->count = 3;
	finding->accesses = 1;
	*side_of(finding, 0) = launch_at(SW_CALL, 1, line, 1);
	side_of(finding, 0)->kind = SW_REC_SYNC;
	side_of(finding, 0)->function = 0;
	side_of(finding, 0)->ranged = false;
	static const struct sw_cost cost = {.calls = 3, .total_ns = 2000000};
	finding->cost = &cost;
}

START_TEST(waits_of_one_line_are_one_group)
{
	wait_at(301, SW_WARNING, 7);
	wait_at(302, SW_WARNING, 7);
	wait_at(301, SW_WARNING, 8);
	make(NULL);
	ck_assert_uint_eq(report->groups.n, 2);
	ck_assert_uint_eq(report->groups.at[0].members.n, 1);
	ck_assert_uint_eq(sw_group_cost(report, &report->groups.at[0]), 4000000);
	ck_assert_uint_eq(report->groups.at[1].leader, 2);
}
END_TEST

/* 40 launches that take turns on two streams, each reading and writing what the one before it wrote: 78 errors. */
static void forty_launches(void)
{
	for (uint64_t i = 1; i < 40; i++) {
		const uint32_t stream = 1 + i % 2, other = 1 + (i + 1) % 2;
		add_hazard(103, SW_ERROR, launch_at(SW_WRITE, other, 99 + i, 1),
			   launch_at(SW_WRITE, stream, 100 + i, 1));
		add_hazard(101, SW_ERROR, launch_at(SW_WRITE, other, 99 + i, 1),
			   launch_at(SW_READ, stream, 100 + i, 1));
	}
}

START_TEST(forty_racing_launches_fit_a_screen)
{
	forty_launches();
	make(NULL);
	ck_assert_uint_eq(judgement.findings.n, 78);
	ck_assert_uint_eq(report->groups.n, 1);
	ck_assert_uint_eq(report->groups.at[0].edges, 39);
	ck_assert_uint_eq(report->groups.at[0].members.n, 77);
	char *text = styled_text(&(struct sw_text_style){.columns = 0, .limit = SW_REPORT_LIMIT});
	ck_assert_msg(lines_of(text) <= 40, "%zu lines:\n%s", lines_of(text), text);
	ck_assert_ptr_nonnull(strstr(text, "/src/many.cu:101: error: SW103"));
	ck_assert_ptr_nonnull(strstr(text, "after many.cu:100:"));
	ck_assert_ptr_nonnull(strstr(text, "78 errors"));
	free(text);
}
END_TEST

/* One mistake on 39 buffers: 39 causes, of which ten are printed in full, and all are counted. */
START_TEST(ten_causes_are_printed_in_full)
{
	forty_launches();
	const struct sw_allocation one = judgement.allocations.at[0];
	while (judgement.allocations.n < 78)
		*sw_vec_push(&judgement.allocations) = one;
	for (size_t i = 0; i < judgement.findings.n; i++)
		for (int k = 0; k < 2; k++)
			side_of(&judgement.findings.at[i], k)->allocation = 1 + (uint32_t)i / 2;
	make(NULL);
	ck_assert_uint_eq(report->groups.n, 39);
	char *text = styled_text(&(struct sw_text_style){.columns = 0, .limit = SW_REPORT_LIMIT}),
	     *whole = styled_text(&(struct sw_text_style){.columns = 0, .limit = 0});
	unsigned errors = 0, all = 0;
	for (const char *at = text; (at = strstr(at, ": error: SW")); at++)
		errors++;
	for (const char *at = whole; (at = strstr(at, ": error: SW")); at++)
		all++;
	ck_assert_uint_eq(errors, 10);
	ck_assert_uint_eq(all, 39);
	ck_assert_ptr_nonnull(strstr(text, "29 more causes are not printed in full: --limit 39 prints them"));
	ck_assert_ptr_null(strstr(whole, "more causes"));
	free(text);
	free(whole);
}
END_TEST

/* On 20 columns no line is longer than its longest word makes it, but for lines that are there to be copied. */
START_TEST(narrow_terminals_get_narrow_lines)
{
	race(1, 10, 2, 20, 1);
	wait_at(301, SW_WARNING, 7);
	make(NULL);
	char *text = styled_text(&(struct sw_text_style){.columns = 20, .limit = SW_REPORT_LIMIT}), *line = text;
	for (char *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		if (strstr(line, "cudaEvent") || strstr(line, "cudaStream") || strstr(line, "suppress:") ||
		    line[2] == '[' || strstr(line, "#0") || strstr(line, ": error:") || strstr(line, ": warning:"))
			continue;
		const char *word = line + strspn(line, " ");
		ck_assert_msg(strlen(line) <= 20 || !strchr(word, ' '), "%s", line);
	}
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("groups");
	TCase *c = tcase_create("groups");
	tcase_add_checked_fixture(c, setup, teardown_report);
	tcase_add_test(c, what_one_edge_orders_is_one_group);
	tcase_add_loop_test(c, what_needs_two_edges_is_two_groups, 0, 4);
	tcase_add_loop_test(c, what_the_same_two_lines_miss_is_one_group, 0, 2);
	tcase_add_test(c, the_strongest_leads);
	tcase_add_test(c, waits_of_one_line_are_one_group);
	tcase_add_test(c, forty_racing_launches_fit_a_screen);
	tcase_add_test(c, ten_causes_are_printed_in_full);
	tcase_add_test(c, narrow_terminals_get_narrow_lines);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
