/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that processes share, as JSON. */
#include <inttypes.h>

#include "merge/merged.h"
#include "merge/merged_json.h"

static void put_hash(struct sw_json *json, const char *name, uint64_t hash)
{
	char text[17];
	snprintf(text, sizeof text, "%016" PRIx64, hash);
	sw_json_text(json, name, text);
}

static void put_handle(struct sw_json *json, const struct sw_merged_rank *process, uint64_t hash)
{
	sw_json_open(json, NULL, '{');
	sw_json_number(json, "process", process->index);
	put_hash(json, "handle", hash);
}

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

void sw_merged_json_shared(struct sw_json *json, const struct sw_merged *merged)
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
