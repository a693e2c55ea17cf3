/* SPDX-License-Identifier: Apache-2.0 */
/* The first screen: all groups in a line each. */
#include <string.h>

#include "report/groups.h"
#include "report/symbols/places.h"
#include "report/symbols/stack.h"
#include "report/text/text.h"

#define MOST_ROWS     40u
#define LEAST_COLUMNS 60u /* on a terminal that is narrower a row takes several lines */
#define LEAST_WHAT    16u

enum { SEVERITY, ID, WHERE, WHAT, COUNT, COST, CELLS };
struct row {
	const char *cell[CELLS];
	enum sw_severity severity;
	const struct sw_frame *site;
};

/* "in libcublasLt.so.13", "-": of a stack without names. */
static const char *module_of(struct sw_text *t, const struct sw_finding *finding)
{
	const struct sw_frame *frame = NULL;
	for (uint32_t i = finding->accesses; i-- > 0 && !frame;)
		frame = sw_stack_module(t->names, sw_finding_access(finding, i)->stack,
					sw_finding_access(finding, i)->function);
	return frame ? sw_names_format(t->names, "in %s", frame->module) : "-";
}

static struct row row_of(struct sw_text *t, const struct sw_group *group)
{
	const struct sw_shown_finding *shown = &t->report->shown.at[group->leader];
	const struct sw_frame *site = sw_report_site(t->report, shown->finding);
	uint64_t ns = sw_group_cost(t->report, group);
	struct row row = {.severity = shown->finding->severity, .site = site};
	row.cell[SEVERITY] = sw_name_severity(shown->finding->severity);
	row.cell[ID] = sw_names_format(t->names, "SW%03d", shown->finding->id);
	const bool own = site && sw_stack_is_own(t->names, site), named = site && (site->base || site->file);
	row.cell[WHERE] = named ? sw_place_brief(t->names, site)
			  : own ? sw_place_full(t->names, site)
				: module_of(t, shown->finding);
	if (site && site->file && site->base)
		row.cell[WHERE] = sw_names_format(t->names, "%s in %s", row.cell[WHERE], site->base);
	row.cell[WHAT] = shown->info->title;
	if (group->members.n)
		row.cell[WHAT] = sw_names_format(t->names, "%s, and %zu more", row.cell[WHAT], group->members.n);
	row.cell[COUNT] = sw_report_count(t->report, shown->finding);
	row.cell[COST] = ns ? sw_name_time(t->names, ns) : "-";
	return row;
}

/* On a narrow terminal. */
static void put_list(struct sw_text *t, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sw_out_paragraph(&t->out, 0, "", 0,
				 sw_names_format(t->names, "%s %s %s", rows[i].cell[SEVERITY], rows[i].cell[ID],
						 rows[i].cell[WHERE]));
		sw_out_paragraph(&t->out, 2, "", 0,
				 sw_names_format(t->names, "%s, %s%s%s", rows[i].cell[WHAT], rows[i].cell[COUNT],
						 *rows[i].cell[COST] == '-' ? "" : ", ",
						 *rows[i].cell[COST] == '-' ? "" : rows[i].cell[COST]));
	}
}

static void put_row(struct sw_text *t, const struct row *row, const size_t *widths)
{
	for (int i = 0; i < CELLS; i++) {
		fputs("  ", t->out.file);
		if (i == SEVERITY && *row->cell[i]) {
			sw_out_coloured(&t->out, sw_text_colour(row->severity), row->cell[i]);
			fprintf(t->out.file, "%*s", (int)(widths[i] - sw_out_width(row->cell[i])), "");
		} else {
			sw_out_cell(&t->out, row->cell[i], widths[i], i + 1 < CELLS);
		}
	}
	putc('\n', t->out.file);
}

/* What was left of the line goes to the two columns that may be cut. */
static void fit(size_t *widths, size_t columns)
{
	size_t fixed = 2 * CELLS, where = widths[WHERE];
	for (int i = 0; i < CELLS; i++)
		if (i != WHERE && i != WHAT)
			fixed += widths[i];
	size_t rest = columns > fixed + 2 * LEAST_WHAT ? columns - fixed : 2 * LEAST_WHAT;
	if (where + widths[WHAT] <= rest)
		return;
	if (where > rest - LEAST_WHAT && widths[WHAT] > LEAST_WHAT)
		where = rest / 2 > where ? where : rest / 2;
	widths[WHERE] = where;
	widths[WHAT] = rest - where;
}

static void put_table(struct sw_text *t, const struct row *rows, size_t n)
{
	static const struct row head = {.cell = {"", "id", "where", "what", "count", "cost"}};
	size_t widths[CELLS] = {0};
	for (int i = 0; i < CELLS; i++) {
		widths[i] = sw_out_width(head.cell[i]);
		for (size_t k = 0; k < n; k++)
			if (sw_out_width(rows[k].cell[i]) > widths[i])
				widths[i] = sw_out_width(rows[k].cell[i]);
	}
	fit(widths, sw_out_columns(&t->out));
	put_row(t, &head, widths);
	for (size_t i = 0; i < n; i++)
		put_row(t, &rows[i], widths);
}

void sw_text_table(struct sw_text *t)
{
	struct row rows[MOST_ROWS];
	size_t n = 0, all = 0;
	for (size_t i = 0; i < t->report->groups.n; i++) {
		const struct sw_group *group = &t->report->groups.at[i];
		if (!sw_text_is_shown(t, group))
			continue;
		all++;
		if (n < MOST_ROWS)
			rows[n++] = row_of(t, group);
	}
	if (all < 2)
		return;
	if (sw_out_columns(&t->out) < LEAST_COLUMNS)
		put_list(t, rows, n);
	else
		put_table(t, rows, n);
	if (all > n)
		fprintf(t->out.file, "  and %zu more\n", all - n);
	putc('\n', t->out.file);
}
