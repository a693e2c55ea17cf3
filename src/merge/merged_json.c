/* SPDX-License-Identifier: Apache-2.0 */
/* The merged report as JSON, which is a partial result at once: doc/merge.md. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "merge/merged.h"
#include "report/json/json_out.h"

/* Collectives in a partial result: arrays of numbers, since there are many. */

/* Writes the different calls, to which the sequences refer by index + 1. */
static void put_kinds(struct sw_json *json, const struct sw_communicator *c)
{
	sw_json_open(json, "kinds", '[');
	for (size_t i = 0; i < c->kinds.n; i++) {
		const struct sw_collective_call *k = &c->kinds.at[i];
		sw_json_open(json, NULL, '[');
		sw_json_number(json, NULL, k->op);
		sw_json_number(json, NULL, k->type);
		sw_json_number(json, NULL, k->reduction);
		sw_json_signed(json, NULL, k->root);
		sw_json_number(json, NULL, k->count);
		sw_json_close(json, ']');
	}
	sw_json_close(json, ']');
}

/* Puts the numbers on one line: a long run has many. */
static void put_numbers(struct sw_json *json, const char *key, const uint32_t *numbers, size_t n)
{
	char *text;
	size_t bytes;
	FILE *out = sw_memory_stream(&text, &bytes);
	putc('[', out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%u", i ? "," : "", numbers[i]);
	putc(']', out);
	fclose(out);
	sw_json_raw(json, key, text);
	free(text);
}

/* Writes the calls of the ranks that agree, and these ranks with how far each got. */
static void put_sequence(struct sw_json *json, const struct sw_collective_sequence *s)
{
	sw_json_open(json, NULL, '{');
	put_numbers(json, "calls", s->calls.at, s->calls.n);
	sw_json_open(json, "members", '[');
	for (size_t i = 0; i < s->members.n; i++) {
		const struct sw_collective_member *m = &s->members.at[i];
		sw_json_open(json, NULL, '[');
		sw_json_number(json, NULL, m->process->index);
		sw_json_number(json, NULL, m->rank);
		sw_json_number(json, NULL, m->calls);
		sw_json_number(json, NULL, m->end_ns);
		sw_json_number(json, NULL, m->last_ns);
		sw_json_close(json, ']');
	}
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* Writes when ranks of one machine came to each collective that is kept; -1 stands for an end that is not known. */
static void put_machine(struct sw_json *json, const struct sw_arrivals *m)
{
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "boot", m->boot);
	sw_json_open(json, "times", '[');
	for (size_t i = 0; i < m->at.n; i++) {
		const struct sw_arrival *a = &m->at.at[i];
		char *text = sw_format("[%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%zu,%" PRIu64
				       ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
				       a->number, a->n, a->first_ns, a->last_ns, a->second_ns, a->waited_ns,
				       a->done_ns == UINT64_MAX ? INT64_C(-1) : (int64_t)a->done_ns, a->last->index,
				       a->wait_ns, a->copy_ns, a->host_ns, a->second_busy_ns);
		sw_json_raw(json, NULL, text);
		free(text);
	}
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* Writes the member "communicators", from which a later merge goes on. */
static void merged_json_collectives(struct sw_json *json, const struct sw_merged *merged)
{
	sw_json_open(json, "communicators", '[');
	for (size_t i = 0; i < merged->collectives.communicators.n; i++) {
		const struct sw_communicator *c = merged->collectives.communicators.at[i];
		char identity[17];
		snprintf(identity, sizeof identity, "%016" PRIx64, c->identity);
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "identity", identity);
		sw_json_number(json, "size", c->size);
		sw_json_number(json, "stride", c->stride);
		put_kinds(json, c);
		sw_json_open(json, "sequences", '[');
		for (size_t k = 0; k < c->sequences.n; k++)
			put_sequence(json, c->sequences.at[k]);
		sw_json_close(json, ']');
		sw_json_open(json, "machines", '[');
		for (size_t k = 0; k < c->machines.n; k++)
			put_machine(json, c->machines.at[k]);
		sw_json_close(json, ']');
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

/* Memory that processes share, as JSON. */

/* Writes a hash as 16 hexadecimal digits: JSON's numbers hold no 64 bits in all readers. */
static void put_hash(struct sw_json *json, const char *name, uint64_t hash)
{
	char text[17];
	snprintf(text, sizeof text, "%016" PRIx64, hash);
	sw_json_text(json, name, text);
}

/* Opens an object of one process and one handle; the caller adds to it and closes it. */
static void put_handle(struct sw_json *json, const struct sw_merged_rank *process, uint64_t hash)
{
	sw_json_open(json, NULL, '{');
	sw_json_number(json, "process", process->index);
	put_hash(json, "handle", hash);
}

/* Writes one use of shared memory, by the names that take_use() reads. */
static void put_use(struct sw_json *json, const struct sw_merged_use *u)
{
	put_handle(json, u->process, u->handle);
	sw_json_number(json, "first_byte", u->lo);
	sw_json_number(json, "end_byte", u->hi);
	sw_json_number(json, "call_ns", u->call_ns);
	sw_json_number(json, "learnt_ns", u->learnt_ns);
	sw_json_number(json, "known_ns", u->known_ns);
	sw_json_number(json, "told_ns", u->signalled_ns);
	sw_json_number(json, "told_more_ns", u->signalled_more_ns);
	sw_json_number(json, "waited_ns", u->waited_ns);
	sw_json_number(json, "told_event", u->signalled_event);
	sw_json_number(json, "waited_event", u->waited_event);
	sw_json_bool(json, "reads", u->reads);
	sw_json_bool(json, "writes", u->writes);
	sw_json_bool(json, "atomic", u->atomic);
	sw_json_bool(json, "learning", u->learning);
	put_hash(json, "site", u->site);
	sw_json_text(json, "what", u->what);
	sw_json_close(json, '}');
}

/* Writes the members "shared_memory" and "shared_uses": exports have "bytes", imports "opened_ns". */
static void merged_json_shared(struct sw_json *json, const struct sw_merged *merged)
{
	sw_json_open(json, "shared_memory", '[');
	for (size_t i = 0; i < merged->shared.exports.n; i++) {
		const struct sw_shared_export *e = &merged->shared.exports.at[i];
		put_handle(json, e->process, e->hash);
		sw_json_number(json, "bytes", e->bytes);
		sw_json_number(json, "freed_ns", e->freed_ns);
		if (e->freed_at) {
			put_hash(json, "freed_site", e->freed_site);
			sw_json_text(json, "freed_at", e->freed_at);
		}
		sw_json_close(json, '}');
	}
	for (size_t i = 0; i < merged->shared.imports.n; i++) {
		const struct sw_shared_import *e = &merged->shared.imports.at[i];
		put_handle(json, e->process, e->hash);
		sw_json_number(json, "opened_ns", e->opened_ns);
		sw_json_number(json, "closed_ns", e->closed_ns);
		sw_json_number(json, "last_ns", e->last_ns);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_open(json, "shared_uses", '[');
	for (size_t i = 0; i < merged->shared.uses.n; i++)
		put_use(json, &merged->shared.uses.at[i]);
	sw_json_close(json, ']');
}

/* Writes one process: who it is, how its run went, and what its trace lacks. */
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
	sw_json_number(json, "calls_left_out", r->left_out);
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

/* The severity as reports in JSON write it. */
static const char *severity_name(enum sw_severity severity)
{
	return severity == SW_ERROR ? "error" : severity == SW_WARNING ? "warning" : "note";
}

/* Writes one finding with its processes, its text and the rank's own object of it. */
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

/* Writes the counts, and whether all ranks were merged whole. */
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

/* Writes the findings between processes, which are named by index into "processes", or by pid where there is no such
   member. */
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

/* Writes how the machines' clocks differ, where collectives tell. */
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

/* Writes the whole result, so that sw_merged_read() can go on from it. */
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
	merged_json_collectives(&json, merged);
	merged_json_shared(&json, merged);
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
