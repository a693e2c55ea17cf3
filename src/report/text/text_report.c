/* SPDX-License-Identifier: Apache-2.0 */
/* The report as text, put together: the table, the groups, the notes, the run. */
#include "base/counted.h"
#include "report/groups.h"
#include "report/report.h"
#include "report/text/text.h"

/* Prepares a part of the text: the report, where to print it, and in which style. */
static struct sw_text text_of(struct sw_report *report, FILE *out, const struct sw_text_style *style)
{
	return (struct sw_text){.report = report,
				.names = &report->names,
				.out = {out, style->colour, style->links, style->columns},
				.stat = style->stat || report->all,
				.trace = style->trace};
}

void sw_report_text_files(struct sw_report *report, FILE *out, const struct sw_text_style *style)
{
	if (style->quiet)
		return;
	struct sw_text t = text_of(report, out, style);
	sw_text_files(&t);
	sw_text_limits_hit(&t);
}

void sw_report_text_table(struct sw_report *report, FILE *out, const struct sw_text_style *style)
{
	if (style->quiet)
		return;
	struct sw_text t = text_of(report, out, style);
	sw_text_table(&t);
}

bool sw_report_text_finding(struct sw_report *report, size_t index, FILE *out, const struct sw_text_style *style)
{
	if (style->quiet)
		return false;
	struct sw_text t = text_of(report, out, style);
	const struct sw_group *group = sw_report_group_of(report, &report->shown.at[index]);
	if (group->leader != index || !sw_text_is_shown(&t, group))
		return false;
	sw_text_group(&t, group);
	return true;
}

void sw_report_text_notes(struct sw_report *report, FILE *out, const struct sw_text_style *style)
{
	if (style->quiet)
		return;
	struct sw_text t = text_of(report, out, style);
	sw_text_notes(&t);
	sw_text_in_flight(&t);
}

void sw_report_text_headline(struct sw_report *report, FILE *out, const struct sw_text_style *style,
			     enum sw_headline headline)
{
	struct sw_text t = text_of(report, out, style);
	sw_text_headline(&t, headline);
}

void sw_report_text_rest(struct sw_report *report, FILE *out, const struct sw_text_style *style)
{
	if (style->quiet)
		return;
	struct sw_text t = text_of(report, out, style);
	sw_text_run(&t);
}

/* Does --finding mean a finding of the group? */
static bool group_is_meant(struct sw_report *report, const struct sw_group *group, const char *which)
{
	bool meant = sw_report_means(report, &report->shown.at[group->leader], which);
	for (size_t i = 0; i < group->members.n && !meant; i++)
		meant = sw_report_means(report, &report->shown.at[group->members.at[i]], which);
	return meant;
}

/* Prints the causes that were asked for (--finding), notes too, and how many others there are. */
static void text_only(struct sw_report *report, FILE *out, const struct sw_text_style *style)
{
	struct sw_text t = text_of(report, out, style);
	size_t printed = 0;
	for (size_t i = 0; i < report->groups.n; i++)
		if (group_is_meant(report, &report->groups.at[i], style->only)) {
			sw_text_group(&t, &report->groups.at[i]);
			printed++;
		}
	if (report->groups.n > printed)
		fprintf(out, "%zu other cause%s not printed (--finding)\n\n", report->groups.n - printed,
			sw_plural(report->groups.n - printed, " is", "s are"));
}

/* Prints all causes, up to --limit of them in full, and the notes. */
static void text_causes(struct sw_report *report, FILE *out, const struct sw_text_style *style)
{
	struct sw_text t = text_of(report, out, style);
	size_t limit = report->all ? 0 : style->limit, printed = 0, left = 0;
	sw_text_table(&t);
	for (size_t i = 0; i < report->groups.n; i++) {
		if (!sw_text_is_shown(&t, &report->groups.at[i]))
			continue;
		if (limit && printed >= limit) {
			left++;
			continue;
		}
		sw_text_group(&t, &report->groups.at[i]);
		printed++;
	}
	if (left)
		fprintf(out, "%zu more %s not printed in full: --limit %zu prints %s\n\n", left,
			sw_plural(left, "cause is", "causes are"), printed + left, sw_plural(left, "it", "them"));
	sw_report_text_notes(report, out, style);
}

void sw_report_text(struct sw_report *report, FILE *out, const struct sw_text_style *style)
{
	sw_report_text_files(report, out, style);
	if (style->only && !style->quiet)
		text_only(report, out, style);
	else if (!style->quiet)
		text_causes(report, out, style);
	sw_report_text_headline(report, out, style, report->gaps.n ? SW_HEADLINE_INCOMPLETE : SW_HEADLINE_COMPLETE);
	sw_report_text_rest(report, out, style);
}
