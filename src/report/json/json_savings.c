/* SPDX-License-Identifier: Apache-2.0 */
/* What following the advice on waits saved: of one finding, and of several together. */
#include <inttypes.h>

#include "report/json/report_parts.h"

void sw_report_json_saving(struct sw_json *json, struct sw_names *names, const char *key, const struct sw_saving *s)
{
	sw_json_open(json, key, '{');
	sw_json_text(json, "verdict", sw_saving_key(s->verdict));
	sw_json_text(json, "reason", s->reason ? sw_saving_reason_key(s->reason) : NULL);
	sw_json_text(json, "text", sw_saving_text(names, s));
	sw_json_text(json, "change", s->change);
	sw_json_number(json, "calls", s->calls);
	sw_json_number(json, "passed", s->passed);
	if (s->verdict == SW_SAVING_MEASURED) {
		sw_json_signed(json, "saved_ns", s->saved_ns);
		sw_json_signed(json, "low_ns", s->low_ns);
		sw_json_signed(json, "high_ns", s->high_ns);
		sw_json_number(json, "base_ns", s->base_ns);
		sw_json_signed(json, "before_ns", s->before_ns);
		sw_json_signed(json, "once_ns", s->once_ns);
		sw_json_number(json, "parts", s->parts);
		sw_json_number(json, "left_out", s->left_out);
		sw_json_signed(json, "left_out_ns", s->left_out_ns);
		sw_json_signed(json, "whole_ns", s->whole_ns);
		sw_json_signed(json, "whole_low_ns", s->whole_low_ns);
		sw_json_signed(json, "whole_high_ns", s->whole_high_ns);
		sw_json_number(json, "whole_base_ns", s->whole_base_ns);
		sw_json_number(json, "pairs", s->pairs);
		sw_json_number(json, "copies", s->copies);
		sw_json_bool(json, "printed", s->printed);
	}
	sw_json_number(json, "runs", s->runs);
	sw_json_close(json, '}');
}

void sw_report_json_savings(struct sw_json *json, struct sw_report *report)
{
	const struct sw_savings_total *total = report->savings;
	if (!total)
		return;
	sw_json_open(json, "savings", '{');
	sw_report_json_saving(json, &report->names, "together", &total->all);
	sw_json_open(json, "order", '[');
	for (size_t i = 0; i < total->steps.n; i++) {
		const struct sw_saving_step *step = &total->steps.at[i];
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "id", sw_names_format(&report->names, "SW%03d", step->shown->finding->id));
		sw_json_text(json, "fingerprint",
			     sw_names_format(&report->names, "%016" PRIx64, step->shown->fingerprint));
		sw_json_bool(json, "left_out", step->left_out);
		sw_json_signed(json, "alone_ns", total->only ? 0 : step->alone_ns);
		sw_json_signed(json, "total_ns", step->total_ns);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}
