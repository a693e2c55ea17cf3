/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as JSON: doc/diff.schema.json says what each member means. Members are only ever added. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/diff/diff.h"
#include "report/json/json_out.h"

static void put_run(struct sw_json *json, const char *key, const struct sw_digest *digest)
{
	sw_json_open(json, key, '{');
	sw_json_text(json, "path", digest->path);
	sw_json_text(json, "program", digest->program);
	sw_json_ms(json, "span_ms", digest->span_ns);
	sw_json_bool(json, "complete", digest->complete);
	sw_json_bool(json, "whole", digest->whole);
	sw_json_bool(json, "simulated", digest->simulated);
	sw_json_number(json, "findings", digest->findings.n);
	sw_json_close(json, '}');
}

static void put_cost(struct sw_json *json, const struct sw_digest *digest, const struct sw_digest_finding *f)
{
	if (!f->calls) {
		sw_json_text(json, "cost", NULL);
		return;
	}
	sw_json_open(json, "cost", '{');
	sw_json_number(json, "calls", f->calls);
	sw_json_ms(json, "total_ms", f->total_ns);
	sw_json_ms(json, "per_call_ms", f->total_ns / f->calls);
	sw_json_ms(json, "per_second_ms",
		   digest->span_ns ? (uint64_t)((double)f->total_ns * 1e9 / (double)digest->span_ns) : 0);
	sw_json_ms(json, "win_high_ms", f->win_ns);
	sw_json_close(json, '}');
}

static void put_side(struct sw_json *json, const struct sw_digest_side *side)
{
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "operation", side->what);
	sw_json_open(json, "stack", '[');
	for (size_t i = 0; i < side->frames; i++) {
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "function", side->frame[i].function);
		sw_json_text(json, "file", side->frame[i].file);
		sw_json_number(json, "line", side->frame[i].line > 0 ? (uint64_t)side->frame[i].line : 0);
		sw_json_text(json, "module", side->frame[i].module);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

static void put_finding(struct sw_json *json, const char *key, const struct sw_digest *digest,
			const struct sw_digest_finding *f)
{
	char fingerprint[17];
	if (!f) {
		sw_json_text(json, key, NULL);
		return;
	}
	snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, f->fingerprint);
	sw_json_open(json, key, '{');
	sw_json_text(json, "severity", sw_name_severity(f->severity));
	sw_json_text(json, "confidence", sw_name_confidence(f->confidence));
	sw_json_number(json, "count", f->count);
	sw_json_text(json, "message", f->message);
	sw_json_open(json, "operations", '[');
	for (size_t i = 0; i < f->sides; i++)
		put_side(json, &f->side[i]);
	sw_json_close(json, ']');
	put_cost(json, digest, f);
	sw_json_text(json, "fingerprint", fingerprint);
	sw_json_close(json, '}');
}

static void put_entry(struct sw_json *json, const struct sw_diff *diff, const struct sw_diff_entry *entry)
{
	const struct sw_digest_finding *f = entry->b ? entry->b : entry->a;
	char id[16];
	snprintf(id, sizeof id, "SW%03d", f->id);
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "change", sw_name_change(entry->change));
	sw_json_bool(json, "new_error", entry->new_error);
	sw_json_text(json, "id", id);
	sw_json_text(json, "kind", f->kind);
	put_finding(json, "a", diff->a, entry->a);
	put_finding(json, "b", diff->b, entry->b);
	sw_json_close(json, '}');
}

void sw_diff_json(const struct sw_diff *diff, FILE *out)
{
	struct sw_json json = {.out = out};
	sw_json_open(&json, NULL, '{');
	sw_json_text(&json, "schema", "syncwatch-diff/1");
	put_run(&json, "a", diff->a);
	put_run(&json, "b", diff->b);
	sw_json_open(&json, "noise", '{');
	sw_json_number(&json, "percent", SW_DIFF_NOISE_PERCENT);
	sw_json_ms(&json, "ms", SW_DIFF_NOISE_NS);
	sw_json_close(&json, '}');
	sw_json_open(&json, "summary", '{');
	for (int change = 0; change < SW_CHANGES; change++)
		sw_json_number(&json, sw_name_change((enum sw_change)change), diff->count[change]);
	sw_json_number(&json, "new_errors", diff->new_errors);
	sw_json_close(&json, '}');
	sw_json_open(&json, "entries", '[');
	for (size_t i = 0; i < diff->entries.n; i++)
		put_entry(&json, diff, &diff->entries.at[i]);
	sw_json_close(&json, ']');
	sw_json_close(&json, '}');
}
