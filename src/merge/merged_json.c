/* SPDX-License-Identifier: Apache-2.0 */
/* The merged report as JSON, which is a partial result at once: doc/merge.md. */
#include <inttypes.h>
#include <string.h>

#include "config.h"
#include "merge/merged.h"
#include "merge/merged_json.h"
#include "report/json/json_out.h"

static void put_rank(struct sw_json *json, const struct sw_merged_rank *r)
{
	sw_json_open(json, NULL, '{');
	if (r->ranked) {
		sw_json_number(json, "rank", r->rank);
		sw_json_number(json, "ranks", r->size);
		sw_json_number(json, "restart", r->restart);
	}
	sw_json_text(json, "job", r->job);
	sw_json_text(json, "host", r->host);
	sw_json_text(json, "boot", r->boot);
	sw_json_number(json, "pid", r->pid);
	sw_json_number(json, "ppid", r->ppid);
	sw_json_text(json, "program", r->program);
	sw_json_text(json, "trace", r->trace);
	sw_json_text(json, "recorder", r->recorder);
	sw_json_number(json, "start_real_ns", r->start_real_ns);
	sw_json_number(json, "start_monotonic_ns", r->start_monotonic_ns);
	sw_json_number(json, "start_ticks", r->start_ticks);
	sw_json_number(json, "tick_rate", r->tick_rate);
	sw_json_number(json, "span_ns", r->span_ns);
	sw_json_number(json, "host_wait_ns", r->host_wait_ns);
	sw_json_number(json, "driver_calls", r->driver_calls);
	sw_json_bool(json, "ended_in_order", r->ended_in_order);
	sw_json_bool(json, "simulated", r->simulated);
	sw_json_number(json, "errors", r->errors);
	sw_json_number(json, "warnings", r->warnings);
	sw_json_number(json, "notes", r->notes);
	sw_json_open(json, "gaps", '[');
	for (size_t i = 0; i < r->gaps.n; i++)
		sw_json_text(json, NULL, r->gaps.at[i]);
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

static const char *severity_name(enum sw_severity severity)
{
	return severity == SW_ERROR ? "error" : severity == SW_WARNING ? "warning" : "note";
}

static void put_finding(struct sw_json *json, const struct sw_merged_finding *finding)
{
	char fingerprint[17];
	snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, finding->fingerprint);
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "fingerprint", fingerprint);
	sw_json_text(json, "severity", severity_name(finding->severity));
	sw_json_bool(json, "suppressed", finding->suppressed);
	sw_json_open(json, "processes", '[');
	for (size_t i = 0; i < finding->in.n; i++)
		sw_json_number(json, NULL, finding->in.at[i]->index);
	sw_json_close(json, ']');
	sw_json_text(json, "text", finding->text);
	sw_json_raw(json, "finding", finding->json);
	sw_json_close(json, '}');
}

static void put_summary(struct sw_json *json, const struct sw_merged *merged)
{
	sw_json_open(json, "summary", '{');
	sw_json_number(json, "errors", merged->errors);
	sw_json_number(json, "warnings", merged->warnings);
	sw_json_number(json, "notes", merged->notes);
	sw_json_number(json, "suppressed", merged->suppressed);
	sw_json_number(json, "processes", merged->ranks.n);
	sw_json_number(json, "ranks", merged->present);
	sw_json_number(json, "ranks_expected", merged->expected);
	sw_json_bool(json, "complete", merged->gaps.n == 0);
	sw_json_open(json, "gaps", '[');
	for (size_t i = 0; i < merged->gaps.n; i++)
		sw_json_text(json, NULL, merged->gaps.at[i]);
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

void sw_merged_between_json(struct sw_json *json, const struct sw_merged *merged, bool pids)
{
	sw_json_open(json, "between_ranks", '[');
	for (size_t i = 0; i < merged->between.n; i++) {
		const struct sw_between *b = merged->between.at[i];
		char id[16], fingerprint[17];
		snprintf(id, sizeof id, "SW%03d", b->number);
		snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, b->fingerprint);
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "id", id);
		sw_json_text(json, "kind", sw_between_info(b->number)->kind);
		sw_json_text(json, "severity", severity_name(b->severity));
		sw_json_text(json, "confidence", b->confidence);
		sw_json_text(json, "fingerprint", fingerprint);
		sw_json_text(json, "message", b->title);
		sw_json_text(json, "text", b->text);
		sw_json_open(json, "processes", '[');
		for (size_t k = 0; k < b->ranks.n; k++)
			sw_json_number(json, NULL, pids ? b->ranks.at[k]->pid : b->ranks.at[k]->index);
		sw_json_close(json, ']');
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

static void put_clocks(struct sw_json *json, const struct sw_merged *merged)
{
	sw_json_open(json, "clocks", '[');
	for (size_t i = 0; i < merged->clocks.n; i++) {
		const struct sw_merged_clock *c = &merged->clocks.at[i];
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "host", c->host);
		sw_json_text(json, "boot", c->boot);
		sw_json_bool(json, "known", c->error_ns != UINT64_MAX);
		if (c->error_ns != UINT64_MAX) {
			sw_json_signed(json, "offset_ns", c->offset_ns);
			sw_json_number(json, "error_ns", c->error_ns);
		}
		sw_json_number(json, "collectives", c->collectives);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

void sw_merged_json(const struct sw_merged *merged, FILE *out)
{
	struct sw_json json = {.out = out};
	sw_json_open(&json, NULL, '{');
	sw_json_text(&json, "schema", "syncwatch-merge/1");
	sw_json_text(&json, "version", PACKAGE_VERSION);
	put_summary(&json, merged);
	sw_json_open(&json, "processes", '[');
	for (size_t i = 0; i < merged->ranks.n; i++)
		put_rank(&json, merged->ranks.at[i]);
	sw_json_close(&json, ']');
	sw_json_open(&json, "findings", '[');
	for (size_t i = 0; i < merged->findings.n; i++)
		put_finding(&json, merged->findings.at[i]);
	sw_json_close(&json, ']');
	sw_merged_json_collectives(&json, merged);
	sw_merged_json_shared(&json, merged);
	sw_merged_between_json(&json, merged, false);
	put_clocks(&json, merged);
	sw_json_open(&json, "unusable", '[');
	for (size_t i = 0; i < merged->unusable.n; i++) {
		sw_json_open(&json, NULL, '{');
		sw_json_text(&json, "path", merged->unusable.at[i].path);
		sw_json_text(&json, "why", merged->unusable.at[i].why);
		sw_json_close(&json, '}');
	}
	sw_json_close(&json, ']');
	sw_json_close(&json, '}');
}
