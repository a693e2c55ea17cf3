/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives in a partial result: arrays of numbers, since there are many. */
#include <inttypes.h>
#include <stdlib.h>

#include "merge/merged.h"
#include "merge/merged_json.h"

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

/* On one line: a long run has many. */
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

void sw_merged_json_collectives(struct sw_json *json, const struct sw_merged *merged)
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
