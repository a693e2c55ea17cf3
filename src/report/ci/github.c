/* SPDX-License-Identifier: Apache-2.0 */
/* Workflow commands of GitHub Actions: "::error file=a.cu,line=3,title=SW101::text" becomes an annotation. */
#include <inttypes.h>
#include <string.h>

#include "base/counted.h"
#include "report/ci/ci_parts.h"
#include "report/excerpts.h"

/* GitHub shows ten annotations of a kind for each step ("Workflow commands"); the rest are lines in its log. */
#define MOST_ANNOTATIONS 100u

/* Escapes what would end the command or start another; `also`: what ends a property. */
static void put_escaped(FILE *out, const char *text, const char *also)
{
	while (*text) {
		size_t n = sw_utf8_length(text);
		unsigned char c = (unsigned char)*text;
		if (n == 0)
			putc('?', out);
		else if (n == 1 && (c == '%' || c == '\r' || c == '\n' || strchr(also, c)))
			fprintf(out, "%%%02X", (unsigned)c);
		else if (n == 1 && (c < 0x20 || c == 0x7f))
			putc('?', out);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
}

/* Writes a result as an annotation, unless there are as many as GitHub shows. */
static void put_annotation(struct sw_ci *ci, const struct sw_ci_result *result)
{
	static const char *const commands[] = {[SW_NOTE] = "notice", [SW_WARNING] = "warning", [SW_ERROR] = "error"};
	if (ci->annotated[result->leader->finding->severity]++ >= MOST_ANNOTATIONS)
		return;
	fprintf(ci->out, "::%s ", commands[result->leader->finding->severity]);
	if (*result->path) {
		fputs("file=", ci->out);
		put_escaped(ci->out, result->path, ":,");
		if (result->line)
			fprintf(ci->out, ",line=%d", result->line);
		putc(',', ci->out);
	}
	fprintf(ci->out, "title=SW%03d ", result->leader->finding->id);
	put_escaped(ci->out, result->leader->info->kind, ":,");
	fputs("::", ci->out);
	put_escaped(ci->out, result->text, "");
	putc('\n', ci->out);
}

/* Writes a finding of no single report, or a gap. */
static void extra_github(struct sw_ci *ci, const struct sw_ci_extra *extra)
{
	static const char *const commands[] = {[SW_NOTE] = "notice", [SW_WARNING] = "warning", [SW_ERROR] = "error"};
	fprintf(ci->out, "::%s title=%s%s", commands[extra->severity], extra->id, *extra->id ? " " : "syncwatch ");
	put_escaped(ci->out, extra->kind, ":,");
	fputs("::", ci->out);
	put_escaped(ci->out, extra->text, "");
	putc('\n', ci->out);
}

/* Writes the causes of a report, and what it does not know. */
static void add_github(struct sw_ci *ci, struct sw_report *report)
{
	struct sw_names_scope scope;
	struct sw_ci_result result;
	for (size_t i = 0; i < report->groups.n; i++) {
		sw_names_scope_begin(&report->names, &scope);
		if (sw_ci_result(ci, report, i, &result) && !result.leader->suppressed && sw_ci_first(ci, &result))
			put_annotation(ci, &result);
		sw_names_scope_end(&report->names, &scope);
	}
	for (size_t i = 0; i < report->gaps.n; i++) {
		const struct sw_ci_extra gap = sw_ci_gap(report, i);
		extra_github(ci, &gap);
	}
}

/* Says how many causes have no annotation. */
static void end_github(struct sw_ci *ci)
{
	uint64_t left = 0;
	for (int i = 0; i <= SW_ERROR; i++)
		left += ci->annotated[i] > MOST_ANNOTATIONS ? ci->annotated[i] - MOST_ANNOTATIONS : 0;
	if (left)
		fprintf(ci->out, "::notice title=syncwatch::%" PRIu64 " more %s no annotation: see the report\n", left,
			sw_plural(left, "cause has", "causes have"));
}

const struct sw_ci_writer sw_ci_github = {.add = add_github, .extra = extra_github, .end = end_github};
