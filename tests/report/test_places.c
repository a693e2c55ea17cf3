/* SPDX-License-Identifier: Apache-2.0 */
/* Which frame a finding leads to, and that no two findings have one name, with and without symbols. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "fake_report.h"
#include "report/groups.h"
#include "report/symbols/source_text.h"
#include "../run_suite.h"

static void setup(void)
{
	setup_empty();
	add_streams(SW_LANE_NONBLOCKING, 2);
}

static struct sw_finding *add_calls(int id, uint32_t accesses, uint32_t first)
{
	static const enum sw_rec_kind kinds[] = {SW_REC_STREAM_WAIT, SW_REC_COPY, SW_REC_COPY};
	struct sw_finding *finding = add(id, SW_WARNING, SW_CERTAIN);
	static struct sw_access third[4];
	static unsigned n;
	struct sw_access *last = &third[n++ % 4];
	finding->accesses = (uint8_t)accesses;
	finding->third = accesses > 2 ? last : NULL;
	for (uint32_t i = 0; i < accesses; i++) {
		struct sw_access *access = i < 2 ? side_of(finding, (int)i) : last;
		*access = call(SW_CALL, kinds[i], i ? FAKE_API_COPY : FAKE_API_WAIT, 1, first + i);
		access->seq = 10 * first + i;
	}
	return finding;
}

/* The call that the author must change leads: not the work that it was meant for, or that it holds back. */
static const struct {
	int id;
	uint32_t accesses, leads;
} findings[] = {{201, 2, 0}, {202, 3, 0}, {203, 3, 1}, {204, 2, 0}, {304, 2, 0}, {310, 2, 1}, {301, 1, 0}};

START_TEST(the_frame_to_change_leads)
{
	add_calls(findings[_i].id, findings[_i].accesses, FAKE_AT_LINE + 20);
	make(NULL);
	const struct sw_frame *site = sw_report_site(report, &judgement.findings.at[0]);
	ck_assert_ptr_nonnull(site);
	ck_assert_int_eq(site->line, 20 + (int)findings[_i].leads);
}
END_TEST

/* Without names: the program's own frame, with the offset that addr2line asks for; of a library its name alone. */
START_TEST(nameless_programs_have_places)
{
	fake_trace.changed = true;
	add_calls(302, 1, FAKE_AT_COPY);
	make(NULL);
	const struct sw_frame *site = sw_report_site(report, &judgement.findings.at[0]);
	ck_assert_ptr_nonnull(site);
	ck_assert_ptr_null(site->function);
	ck_assert_str_eq(site->module, "race");
	ck_assert_uint_gt(site->offset, 0);
	char *text = styled_text(&(struct sw_text_style){.columns = 100, .limit = 10});
	ck_assert_ptr_nonnull(strstr(text, "(race+0x"));
	/* The module's file is another one than ran: -g would change nothing. */
	ck_assert_ptr_null(strstr(text, "no lines:"));
	free(text);
}
END_TEST

static uint64_t fingerprint_of(size_t index)
{
	for (size_t i = 0; i < report->shown.n; i++)
		if (report->shown.at[i].finding == &judgement.findings.at[index])
			return report->shown.at[i].fingerprint;
	return 0;
}

/* Findings that look alike have numbers; the first keeps the name that it would have alone. */
START_TEST(no_two_findings_share_a_fingerprint)
{
	add_calls(302, 1, FAKE_AT_LINE + 1);
	make(NULL);
	uint64_t alone = fingerprint_of(0);
	for (int i = 0; i < 3; i++)
		add_calls(302, 1, FAKE_AT_LINE + 1);
	make(NULL);
	uint64_t before[4];
	for (size_t i = 0; i < 4; i++) {
		before[i] = fingerprint_of(i);
		for (size_t k = 0; k < i; k++)
			ck_assert_uint_ne(before[i], before[k]);
	}
	ck_assert_uint_eq(before[0], alone);
	/* A finding that only --all shows takes no number from the others. */
	judgement.findings.at[0].hidden = true;
	make(NULL);
	ck_assert_uint_eq(fingerprint_of(1), alone);
}
END_TEST

/* The first letter: the line is the body of a loop (l), of a condition (c), of one two lines up (L, C), of none (.). */
static const char program[] = "  for (int i = 0; i < n; i++)\n"
			      "l \tsum += host[i];\n"
			      "  for (;;) {\n"
			      ". \tsum++;\n"
			      "  }\n"
			      "  if (a) // why\n"
			      "c \tlaunch();\n"
			      "  else\n"
			      "c \tother();\n"
			      "  } else if (f(')') &&\n"
			      "             (a || b))\n"
			      "C \tlaunch();\n"
			      "  call(a, b);\n"
			      ". \tnext();\n"
			      "  while (more())\n"
			      "\n"
			      "L \tlaunch();\n"
			      "  format(b)\n"
			      ". \t+ 2;\n"
			      "  if (a) b();\n"
			      ". c();\n";

START_TEST(bodies_without_braces_are_seen)
{
	char path[] = "/tmp/sw-bodies-XXXXXX", text[sizeof program];
	static const struct timespec old[2];
	int line = 1, fd = mkstemp(path);
	bool loop;
	ck_assert_int_ge(fd, 0);
	strcpy(text, program);
	for (char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (*at && *at != '\n')
			*at = ' ';
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(futimens(fd, old), 0);
	close(fd);
	make(NULL);
	for (const char *at = program; *at; at = strchr(at, '\n') + 1, line++) {
		const int up = *at == 'C' || *at == 'L' ? 2 : *at == 'c' || *at == 'l' ? 1 : 0;
		if (!strchr(".clCL", *at))
			continue;
		const int head = sw_source_bare_head(&report->names, path, line, "wait(event, 0)", &loop);
		ck_assert_msg(head == (up ? line - up : 0), "line %d: %d", line, head);
		ck_assert_msg(!up || loop == (*at == 'L' || *at == 'l'), "line %d: a loop", line);
		/* The code has a word of the first loop's head. */
		sw_source_bare_head(&report->names, path, line, "wait(events[i])", &loop);
		ck_assert_msg(!up || loop == (*at == 'L'), "line %d: a loop's variable", line);
	}
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("places");
	TCase *cases = tcase_create("places");
	tcase_add_checked_fixture(cases, setup, teardown_report);
	tcase_add_loop_test(cases, the_frame_to_change_leads, 0, (int)(sizeof findings / sizeof *findings));
	tcase_add_test(cases, nameless_programs_have_places);
	tcase_add_test(cases, bodies_without_braces_are_seen);
	tcase_add_test(cases, no_two_findings_share_a_fingerprint);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
