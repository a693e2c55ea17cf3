/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the plan that libsyncwatch-confirm.so reads. */
#include "confirm/trial.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_call(FILE *out, const char *name, const struct sw_plan_call *call)
{
	if (call->api)
		fprintf(out, "%s %" PRIu32 " %" PRIu32 " %" PRIx64 " %" PRIu64 "\n", name, call->thread, call->api,
			call->stack, call->nth);
}

static void put_changes(FILE *out, const struct sw_plan_changes *changes)
{
	static const char *const keys[] = {
		[SW_CHANGE_NONE] = "",
#define SW_RUN_CHANGE(name, key, text) [SW_CHANGE_##name] = key,
#include "base/run_changes.def"
	};
	fprintf(out, "outputs %d\ndry %d\nguard %d\nroom %" PRIu64 "\n", changes->outputs, changes->dry,
		(int)changes->guard, changes->room);
	for (uint32_t i = 0; i < changes->streams; i++) {
		const struct sw_plan_call *call = &changes->stream[i];
		fprintf(out, "stream %" PRIu32 " %" PRIu32 " %" PRIx64 " %" PRIu64 "\n", call->thread, call->api,
			call->stack, call->nth);
	}
	for (uint32_t i = 0; i < changes->sites; i++) {
		const struct sw_plan_site *site = &changes->site[i];
		fprintf(out, "site %s %" PRIu32 " %" PRIx64 " %" PRIu64 "\n", keys[site->change], site->api,
			site->stack, site->value);
		for (uint32_t k = 0; k < site->needs; k++)
			fprintf(out, "need %" PRIu32 " %" PRIu32 "\n", site->need[k].stream, site->need[k].to);
	}
}

static void put_edges(FILE *out, const struct sw_hold_plan *plan)
{
	for (uint32_t i = 0; i < plan->edges; i++) {
		const struct sw_plan_edge *e = &plan->edge[i];
		fprintf(out, "edge %" PRIu32 " %d %d %" PRIu32 " %" PRIx64 " %" PRIu32 " %" PRIx64 "\n", e->fix,
			e->host, e->threads, e->after_api, e->after_stack, e->before_api, e->before_stack);
	}
}

int sw_plan_write(const char *path, const struct sw_hold_plan *plan, struct sw_error *error)
{
	FILE *out = fopen(path, "we");
	if (!out)
		return sw_fail(error, -errno, "cannot write '%s': %s", path, strerror(errno));
	fprintf(out,
		"%s\nmode %s\nhost %d\ncaptured %d\naccess %d\nbound-ns %" PRIu64 "\ntotal-ns %" PRIu64 "\nresult %s\n",
		SW_PLAN_MAGIC,
		plan->mode == SW_PLAN_EDGE	? "edge"
		: plan->mode == SW_PLAN_EXPLORE ? "explore"
		: plan->mode == SW_PLAN_CHANGE	? "change"
						: "hold",
		plan->later_host, plan->captured, plan->later_access, plan->bound_ns, plan->total_ns, plan->result);
	if (plan->nodes)
		fprintf(out, "nodes %" PRIu32 "\n", plan->nodes);
	if (plan->mode == SW_PLAN_EXPLORE)
		fprintf(out, "explore %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", plan->seed, plan->rate,
			plan->first, plan->last);
	if (plan->mode == SW_PLAN_CHANGE)
		put_changes(out, &plan->changes);
	put_call(out, "earlier", &plan->earlier);
	put_call(out, "later", &plan->later);
	put_call(out, "buffer", &plan->buffer);
	put_edges(out, plan);
	fprintf(out, "bytes %" PRIu64 " %" PRIu64 "\n", plan->offset, plan->bytes);
	const bool bad = ferror(out);
	if (fclose(out) || bad)
		return sw_fail(error, -EIO, "cannot write '%s'", path);
	return 0;
}
