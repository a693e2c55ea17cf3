/* SPDX-License-Identifier: Apache-2.0 */
/* The report as text: the table, the groups, the notes, the run. */
#include "report/groups.h"
#include "report/text/text.h"

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
	struct sw_text t = text_of(report, out, style);
	sw_text_files(&t);
	sw_text_limits_hit(&t);
}

void sw_report_text_table(struct sw_report *report, FILE *out, const struct sw_text_style *style)
{
	struct sw_text t = text_of(report, out, style);
	sw_text_table(&t);
}

bool sw_report_text_finding(struct sw_report *report, size_t index, FILE *out, const struct sw_text_style *style)
{
	struct sw_text t = text_of(report, out, style);
	const struct sw_group *group = sw_report_group_of(report, &report->shown.at[index]);
	if (group->leader != index || !sw_text_is_shown(&t, group))
		return false;
	sw_text_group(&t, group);
	return true;
}

void sw_report_text_notes(struct sw_report *report, FILE *out, const struct sw_text_style *style)
{
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
	struct sw_text t = text_of(report, out, style);
	sw_text_run(&t);
}

void sw_report_text(struct sw_report *report, FILE *out, const struct sw_text_style *style)
{
	struct sw_text t = text_of(report, out, style);
	size_t limit = report->all ? 0 : style->limit, printed = 0, left = 0;
	sw_text_files(&t);
	sw_text_limits_hit(&t);
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
		fprintf(out, "%zu more causes are not printed in full: --limit %zu prints them\n\n", left,
			printed + left);
	sw_report_text_notes(report, out, style);
	sw_report_text_headline(report, out, style, report->gaps.n ? SW_HEADLINE_INCOMPLETE : SW_HEADLINE_COMPLETE);
	sw_report_text_rest(report, out, style);
}
