/* SPDX-License-Identifier: Apache-2.0 */
/* A group of findings with one cause: what it is, where, the lines that fix it, then the evidence. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "report/groups.h"
#include "report/symbols/places.h"
#include "report/symbols/stack.h"
#include "report/text/text.h"
#include "report/words/evidence_text.h"

#define MOST_MEMBERS  4u  /* lines for the other findings of a group */
#define MOST_COMPARED 64u /* members that may share a line */
#define PLACE_COLUMNS 28

enum sw_colour sw_text_colour(enum sw_severity severity)
{
	return severity == SW_ERROR ? SW_RED : severity == SW_WARNING ? SW_YELLOW : SW_BLUE;
}

/* With a capital and a full stop; "cudaMemcpy" at the start stays what it is. */
static const char *sentence(struct sw_text *t, const char *text)
{
	size_t word = strcspn(text, " "), lower = strspn(text, "abcdefghijklmnopqrstuvwxyz");
	if (lower < word)
		return sw_names_format(t->names, "%s.", text);
	return sw_names_format(t->names, "%c%s.", toupper((unsigned char)text[0]), text + 1);
}

/* "/src/race.cu:33: error: SW101 race-read-after-write (certain, 3 launches)": the place first, so that editors find
 * it. */
static void put_title(struct sw_text *t, const struct sw_shown_finding *shown, const struct sw_wording *words)
{
	const struct sw_finding *finding = shown->finding;
	const struct sw_frame *site = sw_report_site(t->report, finding);
	if (site) {
		sw_out_place(&t->out, SW_BOLD, sw_place_full(t->names, site), site->file, site->line);
		sw_out_text(&t->out, ": ");
	}
	sw_out_coloured(&t->out, sw_text_colour(finding->severity),
			sw_names_format(t->names, "%s:", sw_name_severity(finding->severity)));
	sw_out_text(&t->out,
		    sw_names_format(t->names, " SW%03d %s (%s, %s)%s", finding->id, shown->info->kind,
				    sw_name_confidence(finding->confidence), sw_report_count(t->report, finding),
				    shown->suppressed ? " [suppressed]" : ""));
	putc('\n', t->out.file);
	sw_out_paragraph(&t->out, 2, "", 0, sentence(t, words->message));
	putc('\n', t->out.file);
}

/* ---- the fix ------------------------------------------------------------------------------------------------------
 */

/* Code stays on one line: it is there to be copied. */
static void put_fix_lines(struct sw_text *t, const struct sw_fix_lines *lines)
{
	const char *places[SW_FIX_LINES];
	size_t column = PLACE_COLUMNS;
	for (uint32_t i = 0; i < lines->n; i++) {
		places[i] = sw_names_format(t->names, "%s:", sw_group_fix_place(t->report, &lines->line[i]));
		column = sw_out_width(places[i]) < column ? column : sw_out_width(places[i]) + 1;
	}
	for (uint32_t i = 0; i < lines->n; i++) {
		sw_out_text(&t->out, "  ");
		if (!i)
			sw_out_coloured(&t->out, SW_BOLD, "fix:");
		fprintf(t->out.file, "%*s", i ? 15 : 11, "");
		sw_out_text(&t->out, places[i]);
		fprintf(t->out.file, "%*s", (int)(column - sw_out_width(places[i])), "");
		sw_out_coloured(&t->out, SW_GREEN, lines->line[i].code);
		putc('\n', t->out.file);
	}
}

static const char *ids_of(struct sw_text *t, const struct sw_group *group)
{
	const char *text = sw_names_format(t->names, "SW%03d", t->report->shown.at[group->leader].finding->id);
	for (size_t i = 0; i < group->members.n; i++) {
		int id = t->report->shown.at[group->members.at[i]].finding->id;
		const char *one = sw_names_format(t->names, "SW%03d", id);
		if (!strstr(text, one))
			text = sw_names_format(t->names, "%s, %s", text, one);
	}
	return text;
}

static void put_fix(struct sw_text *t, const struct sw_group *group)
{
	struct sw_group_fix fix;
	sw_group_fix(t->report, group, &fix);
	if (fix.lines.n)
		put_fix_lines(t, &fix.lines);
	else
		sw_text_line(t, "fix:", fix.text);
	sw_text_line(t, "", fix.note);
	if (group->members.n == 1)
		sw_text_line(t,
			     "fixes:", sw_names_format(t->names, "both findings of this cause: %s", ids_of(t, group)));
	else if (group->members.n)
		sw_text_line(t, "fixes:",
			     sw_names_format(t->names, "all %zu findings of this cause: %s", group->members.n + 1,
					     ids_of(t, group)));
}

/* ---- the others of the group --------------------------------------------------------------------------------------
 */

/* "SW103 kernel scale (race.cu:33), after kernel fill (race.cu:31)" */
static const char *member(struct sw_text *t, const struct sw_finding *finding)
{
	const char *text = sw_names_format(t->names, "SW%03d", finding->id);
	for (uint32_t i = 0; i < finding->accesses && i < 2; i++) {
		const struct sw_access *access = finding->access[sw_is_hazard(finding) ? !i : i];
		const char *place = sw_place_brief(t->names, sw_place_of(t->names, access, NULL));
		text = sw_names_format(t->names, "%s%s%s%s%s%s", text, i ? ", after " : " ",
				       sw_name_operation_brief(t->names, access), *place ? " (" : "", place,
				       *place ? ")" : "");
		if (!sw_is_hazard(finding))
			break;
	}
	return text;
}

/* ": bytes 0-4095, 3 launches" */
static const char *member_facts(struct sw_text *t, const struct sw_finding *finding)
{
	const char *overlap = sw_is_hazard(finding) ? sw_evidence_overlap(t->names, finding) : "";
	const char *cost = finding->cost->total_ns ? sw_name_time(t->names, finding->cost->total_ns) : "";
	return sw_names_format(t->names, "%s%s%s%s, %s", *overlap ? ": " : "", overlap, *cost ? ": " : "", cost,
			       sw_report_count(t->report, finding));
}

/* Members that read alike share a line: kernels of a library differ in what their short names leave out. */
struct member_line {
	const struct sw_finding *first;
	const char *text;
	size_t n;
};

/* Returns how many lines there are; the members beyond them are counted. */
static size_t member_lines(struct sw_text *t, const struct sw_group *group, struct member_line *line, size_t *left)
{
	size_t lines = 0;
	*left = 0;
	for (size_t i = 0; i < group->members.n; i++) {
		const struct sw_finding *finding = t->report->shown.at[group->members.at[i]].finding;
		const char *text = i < MOST_COMPARED ? member(t, finding) : "";
		size_t k = 0;
		while (k < lines && strcmp(line[k].text, text) != 0)
			k++;
		if (k < lines)
			line[k].n++;
		else if (lines < MOST_MEMBERS)
			line[lines++] = (struct member_line){finding, text, 1};
		else
			(*left)++;
	}
	return lines;
}

static void put_members(struct sw_text *t, const struct sw_group *group)
{
	struct member_line line[MOST_MEMBERS];
	size_t left, lines = member_lines(t, group, line, &left);
	for (size_t k = 0; k < lines; k++) {
		const char *facts = line[k].n == 1 ? member_facts(t, line[k].first)
						   : sw_names_format(t->names, ": %zu findings", line[k].n);
		sw_text_line(t, k ? "" : "also:", sw_names_format(t->names, "%s%s", line[k].text, facts));
	}
	if (left)
		sw_text_line(t, "", sw_names_format(t->names, "and %zu more (--all prints each in full)", left));
}

/* ---- a finding ----------------------------------------------------------------------------------------------------
 */

/* For filters: names and numbers that do not change when a sentence does. */
static void put_facts(struct sw_text *t, const struct sw_shown_finding *shown)
{
	const struct sw_finding *finding = shown->finding;
	fprintf(t->out.file,
		"  [id=SW%03d kind=%s severity=%s confidence=%s basis=%s count=%" PRIu64 " wait_ns=%" PRIu64
		" fingerprint=%016" PRIx64 "]\n",
		finding->id, shown->info->kind, sw_name_severity(finding->severity),
		sw_name_confidence(finding->confidence), sw_name_basis(finding->basis), finding->count,
		finding->cost->total_ns, shown->fingerprint);
}

static void put_accesses(struct sw_text *t, const struct sw_finding *finding)
{
	if (sw_is_hazard(finding)) {
		/* The later access first: that is where the program goes wrong. */
		sw_text_access(t, finding->access[1], "");
		sw_text_access(t, finding->access[0], "Earlier ");
		for (uint32_t i = 2; i < finding->accesses; i++)
			sw_text_access(t, sw_finding_access(finding, i), "Related ");
		if (t->report->all)
			sw_text_allocations(t, finding);
	} else {
		for (uint32_t i = 0; i < finding->accesses; i++)
			sw_text_access(t, sw_finding_access(finding, i), "");
		if (sw_finding_more(finding)->waited_for.seq)
			sw_text_access(t, &sw_finding_more(finding)->waited_for, "The longest call waited for: ");
	}
}

static void put_other_buffers(struct sw_text *t, const struct sw_finding *finding)
{
	const struct sw_other_buffers *others = &sw_finding_more(finding)->others;
	for (uint32_t i = 0; i < others->n; i++)
		sw_text_line(t, i ? "" : "also on:", sw_name_allocation_whole(t->names, others->allocation[i]));
}

static void put_finding(struct sw_text *t, const struct sw_group *group, const struct sw_shown_finding *shown)
{
	const struct sw_finding *finding = shown->finding;
	const struct sw_frame *site = sw_report_site(t->report, finding);
	const struct sw_wording words = sw_report_words(t->report, shown);
	t->names->home = site ? site->file : NULL;
	put_title(t, shown, &words);
	if (group) {
		put_fix(t, group);
		put_members(t, group);
	} else {
		sw_text_line(t, "fix:", words.fix);
	}
	if (shown->confirmation) {
		sw_text_line(t, "confirmed:", sw_confirmation_text(t->names, shown->confirmation));
		sw_text_line(t, "fix tried:", sw_confirmation_fix_text(t->names, shown->confirmation));
	}
	sw_text_line(t, "cost:", words.cost);
	if (shown->saving)
		sw_text_line(t, "saving:", sw_saving_text(t->names, shown->saving));
	sw_text_line(t, "basis:", words.basis);
	putc('\n', t->out.file);
	put_accesses(t, finding);
	if (sw_is_hazard(finding))
		sw_text_line(t, "overlap:", sw_evidence_overlap(t->names, finding));
	put_other_buffers(t, finding);
	sw_text_line(t, "ordered by:", words.ordered_by);
	if (t->report->all)
		sw_text_line(t, "missing edge:", words.missing_edge);
	/* Never wrapped: it is there to be copied. */
	if (!shown->suppressed) {
		sw_out_text(&t->out, sw_names_format(t->names, "  %-*s%s", 15,
						     "suppress:", sw_report_suppression(t->report, shown)));
		putc('\n', t->out.file);
	}
	if (t->report->all)
		put_facts(t, shown);
	putc('\n', t->out.file);
	t->names->home = NULL;
}

static void put_scoped(struct sw_text *t, const struct sw_group *group, size_t index)
{
	struct sw_names_scope scope;
	sw_names_scope_begin(t->names, &scope);
	put_finding(t, group, &t->report->shown.at[index]);
	sw_names_scope_end(t->names, &scope);
}

void sw_text_group(struct sw_text *t, const struct sw_group *group)
{
	put_scoped(t, group, group->leader);
	for (size_t i = 0; i < group->members.n && t->report->all; i++)
		put_scoped(t, NULL, group->members.at[i]);
}

bool sw_text_is_shown(const struct sw_text *t, const struct sw_group *group)
{
	return t->report->shown.at[group->leader].finding->severity != SW_NOTE || t->report->all;
}
