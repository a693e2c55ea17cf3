/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ci/ci.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "base/hash.h"
#include "report/ci/ci_parts.h"
#include "report/symbols/stack.h"

static const struct sw_ci_writer *const writers[SW_CI_FORMATS] = {
#define SW_CI_FORMAT(name, option, golden) [SW_CI_##name] = &sw_ci_##option,
#include "report/ci/formats.def"
};

struct sw_ci *sw_ci_begin(FILE *out, enum sw_ci_format format, const char *version, const char *root)
{
	struct sw_ci *ci = sw_calloc(1, sizeof *ci);
	*ci = (struct sw_ci){.out = out, .format = format, .version = version, .root = root, .json = {.out = out}};
	if (writers[format]->begin)
		writers[format]->begin(ci);
	return ci;
}

/* Writes the findings of a report. */
void sw_ci_add(struct sw_ci *ci, struct sw_report *report)
{
	writers[ci->format]->add(ci, report);
}

/* Writes a finding that is of no single report, such as a race between processes, or a gap. */
void sw_ci_add_extra(struct sw_ci *ci, const struct sw_ci_extra *extra)
{
	writers[ci->format]->extra(ci, extra);
}

struct sw_ci_extra sw_ci_gap(struct sw_report *report, size_t index)
{
	const char *program = sw_ci_program(report);
	const char *text =
		sw_names_format(&report->names, "Not all of %s was judged: %s.", program, report->gaps.at[index]);
	return (struct sw_ci_extra){.id = "",
				    .kind = "incomplete",
				    .text = text,
				    .program = program,
				    .severity = SW_WARNING,
				    .fingerprint = sw_hash_bytes(0, text, strlen(text))};
}

/* Completes the file and frees the state. */
void sw_ci_end(struct sw_ci *ci)
{
	writers[ci->format]->end(ci);
	sw_map_free(&ci->written);
	free(ci);
}

/* ---- paths --------------------------------------------------------------------------------------------------------
 */

/* Takes "." and ".." out of an absolute path, in place: "/a/b/../c/./d" -> "/a/c/d". */
static void normalise_path(char *path)
{
	char *out = path;
	for (const char *at = path; *at;) {
		size_t n = strcspn(at + 1, "/");
		bool dot = n == 1 && at[1] == '.', up = n == 2 && at[1] == '.' && at[2] == '.';
		if (up)
			while (out > path && *--out != '/')
				;
		else if (!dot && n) {
			memmove(out, at, n + 1);
			out += n + 1;
		}
		at += n + 1;
	}
	*out = 0;
}

const char *sw_ci_path(struct sw_ci *ci, struct sw_report *report, const char *file)
{
	const struct sw_trace_process *process = sw_reader_process(report->reader);
	if (file[0] != '/' && (!process || process->cwd[0] != '/'))
		return file;
	char *whole = file[0] == '/' ? sw_strdup(file) : sw_format("%s/%s", process->cwd, file);
	normalise_path(whole);
	size_t root = ci->root ? strlen(ci->root) : 0;
	bool inside = root > 1 && strncmp(whole, ci->root, root) == 0 && whole[root] == '/' && whole[root + 1];
	const char *path = sw_names_format(&report->names, "%s", inside ? whole + root + 1 : whole);
	free(whole);
	return path;
}

const char *sw_ci_program(const struct sw_report *report)
{
	return sw_name_program(&report->names);
}

/* ---- results ------------------------------------------------------------------------------------------------------
 */

/* The text with a capital; a name of the API at its start stays as it is. */
static const char *as_sentence(struct sw_names *names, const char *text)
{
	if (strspn(text, "abcdefghijklmnopqrstuvwxyz") < strcspn(text, " "))
		return text;
	return sw_names_format(names, "%c%s", toupper((unsigned char)*text), text + 1);
}

/* "Kernel scale reads ... Fix: after race.cu:31: ... (and 3 more findings of this cause)": where only text is shown, it
   has to say all. */
static const char *whole_text(struct sw_report *report, const struct sw_ci_result *result)
{
	struct sw_names *names = &report->names;
	const char *text = sw_names_format(names, "%s.", as_sentence(names, result->words.message));
	if (*result->words.cost)
		text = sw_names_format(names, "%s Cost: %s.", text, result->words.cost);
	if (result->group->members.n)
		text = sw_names_format(names, "%s And %zu more finding%s of this cause.", text,
				       result->group->members.n, sw_plural(result->group->members.n, "", "s"));
	if (*result->fix.text)
		text = sw_names_format(names, "%s Fix: %s%s", text, result->fix.text,
				       result->fix.text[strlen(result->fix.text) - 1] == ';' ? "" : ".");
	return *result->fix.note ? sw_names_format(names, "%s (%s)", text, result->fix.note) : text;
}

bool sw_ci_result(struct sw_ci *ci, struct sw_report *report, size_t index, struct sw_ci_result *out)
{
	const struct sw_group *group = &report->groups.at[index];
	const struct sw_shown_finding *leader = &report->shown.at[group->leader];
	if (leader->finding->severity == SW_NOTE && !report->all)
		return false;
	*out = (struct sw_ci_result){.group = group, .leader = leader, .words = sw_report_words(report, leader)};
	out->site = sw_report_site(report, leader->finding);
	out->path = out->site && out->site->file ? sw_ci_path(ci, report, out->site->file) : "";
	out->line = out->site && out->site->file && out->site->line > 0 ? out->site->line : 0;
	sw_group_fix(report, group, &out->fix);
	out->text = whole_text(report, out);
	return true;
}

bool sw_ci_first(struct sw_ci *ci, const struct sw_ci_result *result)
{
	return (*sw_map_put(&ci->written, result->leader->fingerprint))++ == 0;
}
