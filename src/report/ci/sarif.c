/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SARIF 2.1.0 (OASIS): both sides of a hazard as thread flows and related locations.
 *
 * All traces are one run: GitHub refuses a file with several runs of one tool.  A process is an invocation, and a
 * result that several processes share comes once.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/ci/ci_parts.h"
#include "report/report.h"
#include "report/symbols/stack.h"

/* A URI reference for a path: what stands for itself is kept, the rest escaped byte by byte; malloc'ed. */
static char *uri_of(const char *path)
{
	char *text = sw_alloc(3 * strlen(path) + 8), *out = text;
	if (*path == '/')
		out += sprintf(out, "file://");
	for (const char *p = path; *p; p++)
		if (isalnum((unsigned char)*p) || strchr("/._-+~", *p))
			*out++ = *p;
		else
			out += sprintf(out, "%%%02X", (unsigned)(unsigned char)*p);
	*out = 0;
	return text;
}

/* Writes a message object. */
static void put_message(struct sw_json *json, const char *key, const char *text)
{
	sw_json_open(json, key, '{');
	sw_json_text(json, "text", text);
	sw_json_close(json, '}');
}

/* Writes where a file is: relative to the source root where it lies in it. */
static void put_artifact(struct sw_ci *ci, struct sw_report *report, const char *file)
{
	const char *path = sw_ci_path(ci, report, file);
	char *uri = uri_of(path);
	sw_json_open(&ci->json, "artifactLocation", '{');
	sw_json_text(&ci->json, "uri", uri);
	free(uri);
	if (ci->root && *path != '/')
		sw_json_text(&ci->json, "uriBaseId", "SRCROOT");
	sw_json_close(&ci->json, '}');
}

/* Writes the members of a location, file and line or the program, with a text; the caller opens and closes it. */
static void put_location(struct sw_ci *ci, struct sw_report *report, const struct sw_frame *frame, const char *text)
{
	struct sw_json *json = &ci->json;
	if (frame && frame->file) {
		sw_json_open(json, "physicalLocation", '{');
		put_artifact(ci, report, frame->file);
		if (frame->line > 0) {
			sw_json_open(json, "region", '{');
			sw_json_number(json, "startLine", (uint64_t)frame->line);
			sw_json_close(json, '}');
		}
		sw_json_close(json, '}');
	}
	if (frame && frame->function) {
		sw_json_open(json, "logicalLocations", '[');
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "fullyQualifiedName", frame->function);
		sw_json_text(json, "kind", "function");
		sw_json_close(json, '}');
		sw_json_close(json, ']');
	}
	if (text)
		put_message(json, "message", text);
}

/* ---- the tool -----------------------------------------------------------------------------------------------------
 */

/* The tag of a family of findings, by which viewers filter. */
static const char *family_tag(enum sw_finding_family family)
{
	static const char *const tags[] = {
		[SW_FAMILY_HAZARD] = "race",	    [SW_FAMILY_MISUSE] = "misuse",
		[SW_FAMILY_WAIT] = "performance",   [SW_FAMILY_NEEDLESS] = "performance",
		[SW_FAMILY_RECORDING] = "coverage", [SW_FAMILY_GATE] = "policy",
	};
	return tags[family];
}

/*
 * An explanation as Markdown.  Its lines that begin with four spaces are code already, if a blank line precedes them;
 * in the prose what Markdown would take for a tag or for emphasis is escaped.  malloc'ed.
 */
static char *markdown_of(const char *text)
{
	char *markdown = sw_alloc(2 * strlen(text) + 1), *out = markdown;
	bool blank = true, code = false; /* of the line before; of the line */
	for (const char *line = text; *line;) {
		const size_t length = strcspn(line, "\n");
		const bool before = code;
		code = strncmp(line, "    ", 4) == 0;
		if (code && !before && !blank)
			*out++ = '\n';
		for (size_t i = 0; i < length; i++) {
			if (!code && strchr("<_*", line[i]))
				*out++ = '\\';
			*out++ = line[i];
		}
		blank = length == 0;
		line += length;
		if (*line)
			*out++ = *line++;
	}
	*out = 0;
	return markdown;
}

/* Writes the explanation of a finding, as text and as Markdown, and where it stands.  There is no page on the web to
   name as helpUri. */
static void put_help(struct sw_json *json, const struct sw_finding_info *info)
{
	static const char more[] =
		"From the command line: \"syncwatch explain SW%03d\". All findings: doc/findings.md.";
	char *markdown = markdown_of(info->text), *source = sw_format(more, info->number);
	char *plain = sw_format("%s\n%s", info->text, source);
	char *marked =
		sw_format("**SW%03d %s**: %s\n\n%s\n%s", info->number, info->kind, info->title, markdown, source);
	sw_json_open(json, "help", '{');
	sw_json_text(json, "text", plain);
	sw_json_text(json, "markdown", marked);
	sw_json_close(json, '}');
	free(marked);
	free(plain);
	free(source);
	free(markdown);
}

/* Writes the rules that occur: the kinds of findings that results refer to. */
static void put_rules(struct sw_ci *ci)
{
	char id[16];
	struct sw_json *json = &ci->json;
	sw_json_open(json, "rules", '[');
	for (size_t i = 0; i < ci->rules; i++) {
		const struct sw_finding_info *info = ci->rule[i];
		sw_json_open(json, NULL, '{');
		snprintf(id, sizeof id, "SW%03d", info->number);
		sw_json_text(json, "id", id);
		sw_json_text(json, "name", info->kind);
		put_message(json, "shortDescription", info->title);
		put_message(json, "fullDescription", info->text);
		put_help(json, info);
		sw_json_open(json, "properties", '{');
		sw_json_open(json, "tags", '[');
		sw_json_text(json, NULL, "cuda");
		sw_json_text(json, NULL, family_tag(info->family));
		sw_json_close(json, ']');
		sw_json_close(json, '}');
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

/* Writes which rule a result is of, and lists the rule if it is the first one. */
static void put_rule_of(struct sw_ci *ci, int number)
{
	const struct sw_finding_info *info = sw_finding_info(number);
	char id[16];
	size_t i = 0;
	snprintf(id, sizeof id, "SW%03d", number);
	sw_json_text(&ci->json, "ruleId", id);
	while (i < ci->rules && ci->rule[i] != info)
		i++;
	if (!info || i == SW_CI_RULES)
		return;
	if (i == ci->rules)
		ci->rule[ci->rules++] = info;
	sw_json_number(&ci->json, "ruleIndex", i);
}

/* Writes the tool with the rules that occur. */
static void put_tool(struct sw_ci *ci)
{
	struct sw_json *json = &ci->json;
	sw_json_open(json, "tool", '{');
	sw_json_open(json, "driver", '{');
	sw_json_text(json, "name", "syncwatch");
	sw_json_text(json, "version", ci->version);
	put_rules(ci);
	sw_json_close(json, '}');
	sw_json_close(json, '}');
}

/* Writes a message about the run of the tool. */
static void put_notification(struct sw_json *json, const char *level, const char *text)
{
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "level", level);
	put_message(json, "message", text);
	sw_json_close(json, '}');
}

/* Writes the run as an invocation, with what was not seen as its warnings: a report without results that did not see
   all of the run must not read as a clean one. */
static void put_invocation(struct sw_ci *ci, struct sw_report *report)
{
	struct sw_names *names = &report->names;
	struct sw_json *json = &ci->aside;
	struct sw_coverage_count count;
	const char *text;
	sw_json_open(json, NULL, '{');
	sw_json_bool(json, "executionSuccessful", true);
	sw_json_text(json, "commandLine", sw_ci_program(report));
	sw_json_open(json, "toolExecutionNotifications", '[');
	for (size_t i = 0; sw_coverage_count_at(&report->judgement->coverage, i, &count); i++)
		if (count.place && count.n)
			put_notification(json, "note", sw_names_format(names, "not looked at: %s", count.text));
	for (size_t i = 0; i < report->gaps.n; i++)
		put_notification(json, "warning", sw_names_format(names, "not all was judged: %s", report->gaps.at[i]));
	for (size_t i = 0; (text = sw_reader_damage(report->reader, i)); i++)
		put_notification(json, "warning", sw_names_format(names, "damaged trace: %s", text));
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* ---- results ------------------------------------------------------------------------------------------------------
 */

/* "Earlier write by kernel fill on stream 1". */
static const char *access_text(struct sw_report *report, const struct sw_finding *finding, uint32_t index)
{
	const struct sw_access *access = sw_finding_access(finding, index);
	const char *heading = sw_wording_heading(access->role);
	const bool earlier = sw_is_hazard(finding) && index == 0;
	return sw_names_format(&report->names, "%s%c%s %s on %s", earlier ? "Earlier " : "",
			       earlier ? tolower((unsigned char)*heading) : *heading, heading + 1,
			       sw_name_operation(&report->names, access),
			       sw_name_stream(&report->names, access->stream));
}

/* Writes the call stack of an access. */
static void put_frames(struct sw_ci *ci, struct sw_report *report, const struct sw_access *access)
{
	struct sw_json *json = &ci->json;
	struct sw_stack_view view = sw_stack_view(&report->names, access->stack, access->function);
	sw_json_open(json, "stack", '{');
	sw_json_open(json, "frames", '[');
	for (size_t i = 0; i < view.n; i++) {
		sw_json_open(json, NULL, '{');
		sw_json_open(json, "location", '{');
		put_location(ci, report, view.at[i].frame, NULL);
		sw_json_close(json, '}');
		if (view.at[i].frame->module[0])
			sw_json_text(json, "module", view.at[i].frame->module);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* Writes a thread flow for each side of a finding: what the stream does, with the stack of the call. */
static void put_code_flow(struct sw_ci *ci, struct sw_report *report, const struct sw_finding *finding)
{
	struct sw_json *json = &ci->json;
	if (!finding->accesses)
		return; /* a flow must not be empty */
	sw_json_open(json, "codeFlows", '[');
	sw_json_open(json, NULL, '{');
	sw_json_open(json, "threadFlows", '[');
	for (uint32_t i = 0; i < finding->accesses; i++) {
		const struct sw_access *access = sw_finding_access(finding, i);
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "id",
			     sw_names_format(&report->names, "%u: %s", i + 1,
					     sw_name_stream(&report->names, access->stream)));
		sw_json_open(json, "locations", '[');
		sw_json_open(json, NULL, '{');
		sw_json_open(json, "location", '{');
		put_location(ci, report, sw_place_of(&report->names, access, NULL), access_text(report, finding, i));
		sw_json_close(json, '}');
		put_frames(ci, report, access);
		sw_json_number(json, "executionOrder", i + 1);
		sw_json_close(json, '}');
		sw_json_close(json, ']');
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_close(json, '}');
	sw_json_close(json, ']');
}

/* Writes the sides of a finding, and the other findings of its group, as related locations. */
static void put_related(struct sw_ci *ci, struct sw_report *report, const struct sw_ci_result *result)
{
	const struct sw_finding *finding = result->leader->finding;
	struct sw_json *json = &ci->json;
	uint64_t id = 1;
	sw_json_open(json, "relatedLocations", '[');
	for (uint32_t i = 0; i < finding->accesses; i++) {
		sw_json_open(json, NULL, '{');
		sw_json_number(json, "id", id++);
		put_location(ci, report, sw_place_of(&report->names, sw_finding_access(finding, i), NULL),
			     access_text(report, finding, i));
		sw_json_close(json, '}');
	}
	for (size_t i = 0; i < result->group->members.n; i++) {
		const struct sw_shown_finding *member = &report->shown.at[result->group->members.at[i]];
		struct sw_names_scope scope;
		sw_names_scope_begin(&report->names, &scope);
		sw_json_open(json, NULL, '{');
		sw_json_number(json, "id", id++);
		put_location(ci, report, sw_report_site(report, member->finding),
			     sw_names_format(&report->names, "SW%03d: %s", member->finding->id,
					     sw_report_words(report, member).message));
		sw_json_close(json, '}');
		sw_names_scope_end(&report->names, &scope);
	}
	sw_json_close(json, ']');
}

/* Writes a fix as text to insert, if it is complete: one that needs a declaration as well is in the message. */
static void put_fixes(struct sw_ci *ci, struct sw_report *report, const struct sw_group_fix *fix)
{
	struct sw_json *json = &ci->json;
	if (fix->lines.n != 1 || fix->lines.line[0].where != SW_FIX_BEFORE || fix->lines.line[0].bare)
		return;
	const struct sw_fix_line *line = &fix->lines.line[0];
	sw_json_open(json, "fixes", '[');
	sw_json_open(json, NULL, '{');
	put_message(json, "description", fix->text);
	sw_json_open(json, "artifactChanges", '[');
	sw_json_open(json, NULL, '{');
	put_artifact(ci, report, line->frame->file);
	sw_json_open(json, "replacements", '[');
	sw_json_open(json, NULL, '{');
	sw_json_open(json, "deletedRegion", '{');
	sw_json_number(json, "startLine", (uint64_t)line->frame->line);
	sw_json_number(json, "startColumn", 1);
	sw_json_number(json, "endLine", (uint64_t)line->frame->line);
	sw_json_number(json, "endColumn", 1);
	sw_json_close(json, '}');
	put_message(json, "insertedContent", sw_names_format(&report->names, "%s\n", line->code));
	sw_json_close(json, '}');
	sw_json_close(json, ']');
	sw_json_close(json, '}');
	sw_json_close(json, ']');
	sw_json_close(json, '}');
	sw_json_close(json, ']');
}

/* Writes confidence, confirmation and savings of a result. */
static void put_properties(struct sw_ci *ci, struct sw_report *report, const struct sw_ci_result *result)
{
	const struct sw_finding *finding = result->leader->finding;
	struct sw_json *json = &ci->json;
	sw_json_open(json, "properties", '{');
	sw_json_text(json, "confidence", sw_name_confidence(finding->confidence));
	if (result->leader->confirmation) {
		sw_json_text(json, "confirmed", sw_confirmation_key(result->leader->confirmation->verdict));
		sw_json_text(json, "outcome", sw_confirmation_outcome(result->leader->confirmation->verdict));
		sw_json_text(json, "fix", sw_confirmation_fix_key(result->leader->confirmation->fix));
		if (result->leader->confirmation->fix_timed)
			sw_json_number(json, "edges_waited_ns", result->leader->confirmation->fix_waited_ns);
	}
	const struct sw_saving *saving = result->leader->saving;
	if (saving)
		sw_json_text(json, "saving", sw_saving_key(saving->verdict));
	if (saving && saving->verdict == SW_SAVING_MEASURED)
		sw_json_signed(json, "saved_ns", saving->saved_ns);
	sw_json_text(json, "suppression", sw_report_suppression(report, result->leader));
	sw_json_open(json, "members", '[');
	for (size_t i = 0; i < result->group->members.n; i++)
		sw_json_text(json, NULL,
			     sw_names_format(&report->names, "%016" PRIx64,
					     report->shown.at[result->group->members.at[i]].fingerprint));
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* Writes the program's file as the place of a result whose line is unknown: code scanning refuses one without a
   file. */
static void put_program(struct sw_ci *ci, struct sw_report *report)
{
	const struct sw_trace_process *process = sw_reader_process(report->reader);
	struct sw_json *json = &ci->json;
	sw_json_open(json, "physicalLocation", '{');
	put_artifact(ci, report, process && *process->exe ? process->exe : "program");
	sw_json_open(json, "region", '{');
	sw_json_number(json, "startLine", 1);
	sw_json_close(json, '}');
	sw_json_close(json, '}');
}

/* Writes a result: the cause of a group of findings. */
static void put_result(struct sw_ci *ci, struct sw_report *report, const struct sw_ci_result *result)
{
	const struct sw_finding *finding = result->leader->finding;
	const uint64_t count = finding->operations ? finding->operations : finding->count;
	struct sw_json *json = &ci->json;
	sw_json_open(json, NULL, '{');
	put_rule_of(ci, finding->id);
	sw_json_text(json, "level", sw_name_severity(finding->severity));
	put_message(json, "message", result->text);
	sw_json_open(json, "locations", '[');
	sw_json_open(json, NULL, '{');
	if (*result->path)
		put_location(ci, report, result->site, NULL);
	else
		put_program(ci, report);
	sw_json_close(json, '}');
	sw_json_close(json, ']');
	put_related(ci, report, result);
	put_code_flow(ci, report, finding);
	sw_json_open(json, "partialFingerprints", '{');
	sw_json_text(json, "syncwatch/v1", sw_names_format(&report->names, "%016" PRIx64, result->leader->fingerprint));
	sw_json_close(json, '}');
	sw_json_number(json, "occurrenceCount", count ? count : 1);
	if (result->leader->suppressed) {
		sw_json_open(json, "suppressions", '[');
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "kind", "external");
		sw_json_close(json, '}');
		sw_json_close(json, ']');
	}
	put_fixes(ci, report, &result->fix);
	put_properties(ci, report, result);
	sw_json_close(json, '}');
}

/* Begins the file and its only run. */
static void begin_sarif(struct sw_ci *ci)
{
	struct sw_json *json = &ci->json;
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	sw_json_text(json, "version", "2.1.0");
	sw_json_open(json, "runs", '[');
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "columnKind", "utf16CodeUnits");
	if (ci->root) {
		char *uri = uri_of(ci->root), *folder = sw_format("%s/", uri);
		sw_json_open(json, "originalUriBaseIds", '{');
		sw_json_open(json, "SRCROOT", '{');
		sw_json_text(json, "uri", folder);
		sw_json_close(json, '}');
		sw_json_close(json, '}');
		free(uri);
		free(folder);
	}
	sw_json_open(json, "results", '[');
	ci->aside =
		(struct sw_json){.out = sw_memory_stream(&ci->aside_text, &ci->aside_bytes), .depth = 4, .first = true};
}

/* Writes the causes of a report, each once. */
static void add_sarif(struct sw_ci *ci, struct sw_report *report)
{
	struct sw_names_scope scope;
	struct sw_ci_result result;
	put_invocation(ci, report);
	for (size_t i = 0; i < report->groups.n; i++) {
		sw_names_scope_begin(&report->names, &scope);
		if (sw_ci_result(ci, report, i, &result) && sw_ci_first(ci, &result))
			put_result(ci, report, &result);
		sw_names_scope_end(&report->names, &scope);
	}
}

/* Writes an invocation for a part that was not judged: it is no result that a reviewer could close.  It counts as
   successful, since syncwatch itself ran to its end (SARIF 2.1.0, 3.20.14: false where the process failed); that not
   all was judged is its warning. */
static void put_gap(struct sw_ci *ci, const struct sw_ci_extra *extra)
{
	struct sw_json *json = &ci->aside;
	sw_json_open(json, NULL, '{');
	sw_json_bool(json, "executionSuccessful", true);
	sw_json_text(json, "commandLine", extra->program);
	sw_json_open(json, "toolExecutionNotifications", '[');
	put_notification(json, "warning", extra->text);
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* Writes a finding of no single report as a result, or a gap as an invocation. */
static void extra_sarif(struct sw_ci *ci, const struct sw_ci_extra *extra)
{
	static const char *const levels[] = {[SW_NOTE] = "note", [SW_WARNING] = "warning", [SW_ERROR] = "error"};
	struct sw_json *json = &ci->json;
	char fingerprint[17], *uri;
	if (!*extra->id) {
		put_gap(ci, extra);
		return;
	}
	snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, extra->fingerprint);
	uri = uri_of(extra->program);
	sw_json_open(json, NULL, '{');
	put_rule_of(ci, atoi(extra->id + 2));
	sw_json_text(json, "level", levels[extra->severity]);
	put_message(json, "message", extra->text);
	sw_json_open(json, "locations", '[');
	sw_json_open(json, NULL, '{');
	sw_json_open(json, "physicalLocation", '{');
	sw_json_open(json, "artifactLocation", '{');
	sw_json_text(json, "uri", uri);
	sw_json_close(json, '}');
	sw_json_open(json, "region", '{');
	sw_json_number(json, "startLine", 1);
	sw_json_close(json, '}');
	sw_json_close(json, '}');
	sw_json_close(json, '}');
	sw_json_close(json, ']');
	sw_json_open(json, "partialFingerprints", '{');
	sw_json_text(json, "syncwatch/v1", fingerprint);
	sw_json_close(json, '}');
	sw_json_close(json, '}');
	free(uri);
}

/* Ends the file: the invocations were kept aside until here, and which rules occur is known now. */
static void end_sarif(struct sw_ci *ci)
{
	struct sw_json *json = &ci->json;
	sw_json_close(json, ']');
	sw_json_open(json, "invocations", '[');
	fclose(ci->aside.out);
	fputs(ci->aside_text, json->out);
	json->first = !ci->aside_bytes;
	free(ci->aside_text);
	sw_json_close(json, ']');
	put_tool(ci); /* the last one: which rules occur is known now */
	sw_json_close(json, '}');
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

const struct sw_ci_writer sw_ci_sarif = {
	.begin = begin_sarif, .add = add_sarif, .extra = extra_sarif, .end = end_sarif};
