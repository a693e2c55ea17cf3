/* SPDX-License-Identifier: Apache-2.0 */
/* JUnit's XML: a test suite for each trace; errors are failures, warnings pass and say what they are. */
#include <inttypes.h>
#include <string.h>

#include "report/ci/ci_parts.h"
#include "report/excerpts.h"

/* Writes text as XML 1.0 allows: markup escaped, control characters and what is no UTF-8 replaced. */
static void put_escaped(FILE *out, const char *text)
{
	static const struct {
		char c;
		const char *entity;
	} entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\n', "&#10;"}, {'\t', "&#9;"}};
	while (*text) {
		size_t n = sw_utf8_length(text);
		const char *entity = NULL;
		for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
			if (n == 1 && *text == entities[i].c)
				entity = entities[i].entity;
		if (entity)
			fputs(entity, out);
		/* U+FFFE and U+FFFF are no characters of XML. */
		else if (n == 0 || (n == 1 && (unsigned char)*text < 0x20) ||
			 (n == 3 && memcmp(text, "\xef\xbf\xbe", 2) == 0 && (unsigned char)text[2] >= 0xbe))
			putc('?', out);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
}

/* Writes an attribute of XML, escaped. */
static void put_attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	put_escaped(out, value);
	putc('"', out);
}

/* Writes a result as a test: failed for an error, passed for anything else. */
static void put_case(struct sw_ci *ci, struct sw_report *report, const struct sw_ci_result *result)
{
	struct sw_names *names = &report->names;
	const bool failed = result->leader->finding->severity == SW_ERROR;
	const char *place = "";
	if (result->line)
		place = sw_names_format(names, " at %s:%d", result->path, result->line);
	else if (*result->path)
		place = sw_names_format(names, " in %s", result->path);
	fputs("    <testcase", ci->out);
	put_attribute(ci->out, "classname", sw_names_format(names, "syncwatch.SW%03d", result->leader->finding->id));
	put_attribute(ci->out, "name", sw_names_format(names, "%s%s", result->leader->info->kind, place));
	if (*result->path)
		put_attribute(ci->out, "file", result->path);
	if (*result->path && result->line)
		put_attribute(ci->out, "line", sw_names_format(names, "%d", result->line));
	fputs(">\n", ci->out);
	if (failed) {
		fputs("      <failure", ci->out);
		put_attribute(ci->out, "type", result->leader->info->kind);
		put_attribute(ci->out, "message", result->words.message);
		putc('>', ci->out);
		put_escaped(ci->out, result->text);
		fputs("</failure>\n", ci->out);
	} else {
		fputs("      <system-out>", ci->out);
		put_escaped(ci->out, result->text);
		fputs("</system-out>\n", ci->out);
	}
	fputs("    </testcase>\n", ci->out);
}

/* Begins the file. */
static void begin_junit(struct sw_ci *ci)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"syncwatch\">\n", ci->out);
}

/* Writes an error of its own for what was not recorded or judged: a test that could not be carried out to its end. */
static void put_incomplete(struct sw_ci *ci, struct sw_report *report)
{
	fputs("    <testcase classname=\"syncwatch\" name=\"all was recorded and judged\">\n      <error "
	      "type=\"incomplete\"",
	      ci->out);
	put_attribute(ci->out, "message", report->gaps.at[0]);
	putc('>', ci->out);
	for (size_t i = 0; i < report->gaps.n; i++) {
		put_escaped(ci->out, report->gaps.at[i]);
		putc('\n', ci->out);
	}
	fputs("</error>\n    </testcase>\n", ci->out);
}

/* Rules that forbid calls and that every call in their scopes kept are tests that pass; `out` NULL: how many. */
static uint64_t put_kept_rules(FILE *out, const struct sw_judgement *judgement)
{
	uint64_t n = 0;
	for (size_t i = 0; i < judgement->gate.n; i++) {
		const struct sw_gate_result *rule = &judgement->gate.at[i];
		if (rule->found || !rule->calls)
			continue;
		n++;
		if (!out)
			continue;
		fputs("    <testcase classname=\"syncwatch.rule\" name=\"", out);
		put_escaped(out, rule->option);
		putc(' ', out);
		put_escaped(out, rule->text);
		fputs("\"/>\n", out);
	}
	return n;
}

/* Writes the test suite of a report.  Its head has the numbers of tests and failures, so they are counted first. */
static void add_junit(struct sw_ci *ci, struct sw_report *report)
{
	struct sw_names_scope scope;
	struct sw_ci_result result;
	uint64_t tests = 0, failures = 0;
	const bool incomplete = report->gaps.n;
	tests += put_kept_rules(NULL, report->judgement);
	for (size_t i = 0; i < report->groups.n; i++) {
		sw_names_scope_begin(&report->names, &scope);
		if (sw_ci_result(ci, report, i, &result) && !result.leader->suppressed) {
			tests++;
			failures += result.leader->finding->severity == SW_ERROR;
		}
		sw_names_scope_end(&report->names, &scope);
	}
	fputs("  <testsuite", ci->out);
	put_attribute(ci->out, "name", sw_ci_program(report));
	fprintf(ci->out, " tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"%d\" skipped=\"0\" time=\"%.3f\">\n",
		tests + (!failures || incomplete), failures, incomplete, (double)report->judgement->span_ns / 1e9);
	/* Something passes where nothing fails: an empty suite reads like a test that did not run. */
	if (incomplete)
		put_incomplete(ci, report);
	else if (!failures)
		fputs("    <testcase classname=\"syncwatch\" name=\"no errors\"/>\n", ci->out);
	put_kept_rules(ci->out, report->judgement);
	for (size_t i = 0; i < report->groups.n; i++) {
		sw_names_scope_begin(&report->names, &scope);
		if (sw_ci_result(ci, report, i, &result) && !result.leader->suppressed)
			put_case(ci, report, &result);
		sw_names_scope_end(&report->names, &scope);
	}
	fputs("  </testsuite>\n", ci->out);
}

/* Writes a finding of no single report, or a gap, as a suite of one test. */
static void extra_junit(struct sw_ci *ci, const struct sw_ci_extra *extra)
{
	const bool gap = !*extra->id, failed = !gap && extra->severity == SW_ERROR;
	const char *how = gap ? "error" : failed ? "failure" : "system-out";
	fputs("  <testsuite", ci->out);
	put_attribute(ci->out, "name", gap ? "the run" : "between processes");
	fprintf(ci->out, " tests=\"1\" failures=\"%d\" errors=\"%d\" skipped=\"0\" time=\"0\">\n    <testcase", failed,
		gap);
	put_attribute(ci->out, "classname", gap ? "syncwatch" : "syncwatch.between");
	put_attribute(ci->out, "name", gap ? "all was recorded and judged" : extra->kind);
	fprintf(ci->out, ">\n      <%s", how);
	if (gap || failed) {
		put_attribute(ci->out, "type", extra->kind);
		put_attribute(ci->out, "message", extra->text);
	}
	putc('>', ci->out);
	put_escaped(ci->out, extra->text);
	fprintf(ci->out, "</%s>\n    </testcase>\n  </testsuite>\n", how);
}

/* Ends the file. */
static void end_junit(struct sw_ci *ci)
{
	fputs("</testsuites>\n", ci->out);
}

const struct sw_ci_writer sw_ci_junit = {
	.begin = begin_junit, .add = add_junit, .extra = extra_junit, .end = end_junit};
