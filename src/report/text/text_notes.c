/* SPDX-License-Identifier: Apache-2.0 */
/* Notes in a line each: they are many, and what is wrong must not drown in them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/groups.h"
#include "report/symbols/places.h"
#include "report/symbols/stack.h"
#include "report/text/text.h"

#define MOST_LINES  3u /* of one id */
#define MOST_PLACES 3u /* of one line */

struct line {
	const struct sw_shown_finding *shown; /* the first of those that share the line */
	const char *what, *where;
	uint32_t places;
	uint64_t count, ns;
};
typedef SW_VEC(struct line) line_vec;

/* Is this finding one of those that sw_text_notes() prints, in a line instead of in full? */
static bool is_note(const struct sw_text *t, const struct sw_shown_finding *shown)
{
	const struct sw_group *group = sw_report_group_of(t->report, shown);
	return t->report->shown.at[group->leader].finding->severity == SW_NOTE && !t->report->all;
}

/* SW3nn and SW4nn say the same of each call but for its name; other messages say what the ids' titles do not. */
static const char *what_of(struct sw_text *t, const struct sw_shown_finding *shown)
{
	const struct sw_finding *finding = shown->finding;
	return sw_finding_is_wait(finding->id) && finding->accesses == 1
		       ? sw_name_operation(t->names, finding->access[0])
		       : sw_report_words(t->report, shown).message;
}

/* "at race.cu:33 in main", "in libcublas.so.13", "". */
static const char *where_of(struct sw_text *t, const struct sw_finding *finding)
{
	const struct sw_frame *site = NULL, *module = NULL;
	for (uint32_t i = finding->accesses; i-- > 0 && !site;) {
		site = sw_stack_site(t->names, sw_finding_access(finding, i)->stack,
				     sw_finding_access(finding, i)->function);
		if (!module)
			module = sw_stack_module(t->names, sw_finding_access(finding, i)->stack,
						 sw_finding_access(finding, i)->function);
	}
	const bool python = site && sw_frame_is_python(site);
	if (site && (python || site->role == SW_FRAME_USER) && site->file)
		return sw_names_format(t->names, "at %s in %s", sw_place_brief(t->names, site), site->base);
	if (site && site->role == SW_FRAME_USER)
		return sw_names_format(t->names, "in %s (%s)", site->base, site->module);
	return module ? sw_names_format(t->names, "in %s", module->module) : "";
}

/* SW305 is always shown, so there are many: a line for each function, wherever it is called. */
static bool shares(const struct line *line, const struct line *other)
{
	return line->shown->finding->id == other->shown->finding->id && strcmp(line->what, other->what) == 0 &&
	       (line->shown->finding->id == SW_FINDING_DEVICE_ALLOC || strcmp(line->where, other->where) == 0);
}

static void add_place(struct sw_text *t, struct line *line, const char *where)
{
	if (strncmp(line->where, "in ", 3) == 0 && strncmp(where, "in ", 3) == 0)
		where += 3;
	if (!*where || strstr(line->where, where) || line->places > MOST_PLACES)
		return;
	line->places++;
	line->where = sw_names_format(t->names, "%s%s%s", line->where, *line->where ? ", " : "",
				      line->places > MOST_PLACES ? "..." : where);
}

static void add_line(struct sw_text *t, line_vec *lines, const struct sw_shown_finding *shown)
{
	const struct sw_finding *finding = shown->finding;
	struct line line = {shown, what_of(t, shown), where_of(t, finding), 1, finding->count, finding->cost->total_ns};
	for (size_t i = 0; i < lines->n; i++) {
		struct line *known = &lines->at[i];
		if (!shares(known, &line))
			continue;
		known->count += line.count;
		known->ns += line.ns;
		add_place(t, known, line.where);
		return;
	}
	*sw_vec_push(lines) = line;
}

static void put_line(struct sw_text *t, const struct line *line)
{
	const char *text = line->what;
	text = line->count == 1 ? sw_names_format(t->names, "%s, once", text)
				: sw_names_format(t->names, "%s, %" PRIu64 " times", text, line->count);
	if (line->ns)
		text = sw_names_format(t->names, "%s, %s", text, sw_name_time(t->names, line->ns));
	if (*line->where)
		text = sw_names_format(t->names, "%s, %s", text, line->where);
	sw_out_paragraph(&t->out, 4, "", 0, text);
}

/* All lines of the id that lines->at[first] has. */
static void put_group(struct sw_text *t, const line_vec *lines, size_t first)
{
	const struct sw_shown_finding *shown = lines->at[first].shown;
	uint64_t printed = 0, more = 0, ns = 0;
	sw_out_text(&t->out, "  ");
	sw_out_coloured(&t->out, SW_BLUE,
			sw_names_format(t->names, "SW%03d %s", shown->finding->id, shown->info->kind));
	sw_out_text(&t->out, sw_names_format(t->names, ": %s", shown->info->title));
	putc('\n', t->out.file);
	for (size_t i = first; i < lines->n; i++) {
		if (lines->at[i].shown->finding->id != shown->finding->id)
			continue;
		if (printed < MOST_LINES) {
			put_line(t, &lines->at[i]);
			printed++;
		} else {
			more += lines->at[i].count;
			ns += lines->at[i].ns;
		}
	}
	if (more)
		sw_out_paragraph(&t->out, 4, "", 0,
				 sw_names_format(t->names, "and %" PRIu64 " more%s%s", more, ns ? ", " : "",
						 ns ? sw_name_time(t->names, ns) : ""));
}

static bool first_of_its_id(const line_vec *lines, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (lines->at[i].shown->finding->id == lines->at[index].shown->finding->id)
			return false;
	return true;
}

void sw_text_notes(struct sw_text *t)
{
	line_vec lines = {0};
	for (size_t i = 0; i < t->report->shown.n; i++)
		if (is_note(t, &t->report->shown.at[i]))
			add_line(t, &lines, &t->report->shown.at[i]);
	if (lines.n)
		sw_out_headline(
			&t->out, SW_PLAIN,
			"Notes, shortened (--all prints each in full, \"syncwatch explain SWnnn\" says what to do):");
	for (size_t i = 0; i < lines.n; i++)
		if (first_of_its_id(&lines, i))
			put_group(t, &lines, i);
	if (lines.n)
		putc('\n', t->out.file);
	free(lines.at);
}
