/* SPDX-License-Identifier: Apache-2.0 */
/* What following the advice on waits saved: a line for each, those together, and the order in which to fix. */
#include <inttypes.h>

#include "report/symbols/places.h"
#include "report/text/text.h"

static const char *place(struct sw_text *t, const struct sw_shown_finding *shown)
{
	const char *at = sw_place_brief(t->names, sw_place_of(t->names, shown->finding->access[0], NULL));
	return sw_names_format(t->names, "SW%03d%s%s", shown->finding->id, *at ? " " : "", at);
}

static const char *signed_time(struct sw_text *t, int64_t ns)
{
	const char *time = sw_name_time(t->names, (uint64_t)(ns < 0 ? -ns : ns));
	return ns < 0 ? sw_names_format(t->names, "-%s", time) : time;
}

/* The text of those that were measured is with their costs, where they are printed in full. */
static void put_each(struct sw_text *t)
{
	const char *label = "savings:";
	const struct sw_savings_total *total = t->report->savings;
	for (size_t i = 0; i < t->report->shown.n; i++) {
		const struct sw_shown_finding *shown = &t->report->shown.at[i];
		const struct sw_saving *s = shown->saving;
		if (!s || (total && total->only && s->verdict == SW_SAVING_UNTRIED))
			continue;
		const char *what = s->verdict == SW_SAVING_MEASURED
					   ? sw_names_format(t->names, "%s (%s to %s)", signed_time(t, s->saved_ns),
							     signed_time(t, s->low_ns), signed_time(t, s->high_ns))
				   : s->reason ? sw_names_format(t->names, "%s (%s)", sw_saving_key(s->verdict),
								 sw_saving_reason_key(s->reason))
					       : sw_saving_key(s->verdict);
		sw_text_line(t, label, sw_names_format(t->names, "%s: %s", place(t, shown), what));
		label = "";
	}
}

static void put_order(struct sw_text *t, const struct sw_savings_total *total)
{
	const char *label = "fix first:";
	uint32_t number = 0;
	for (size_t i = 0; i < total->steps.n; i++) {
		const struct sw_saving_step *step = &total->steps.at[i];
		const char *alone = sw_names_format(t->names, "%s%s", total->only ? "at most " : "",
						    signed_time(t, step->alone_ns));
		if (step->left_out)
			sw_text_line(
				t, label,
				sw_names_format(t->names,
						"-. %s: %s alone; not tried with the others, whose safety stands on it",
						place(t, step->shown), alone));
		else
			sw_text_line(t, label,
				     sw_names_format(t->names, "%u. %s: %s %s%s", ++number, place(t, step->shown),
						     alone, total->only ? "predicted" : "alone",
						     step->total_ns
							     ? sw_names_format(t->names, ", %s with those before it",
									       signed_time(t, step->total_ns))
							     : ""));
		label = "";
	}
}

void sw_text_savings(struct sw_text *t)
{
	const struct sw_savings_total *total = t->report->savings;
	put_each(t);
	if (!total || !total->steps.n)
		return;
	sw_text_line(t, "together:", sw_saving_text(t->names, &total->all));
	put_order(t, total);
}
