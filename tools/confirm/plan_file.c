/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the plan that libsyncwatch-confirm.so reads. */
#include "confirm/trial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Writes how a call is recognised; nothing for none. */
static void put_call(FILE *out, const char *name, const struct sw_plan_call *call)
{
	if (call->api)
		fprintf(out, "%s" SW_PLAN_CALL "\n", name, call->thread, call->api, call->stack, call->nth);
}

/* Writes the changes of calls. */
static void put_changes(FILE *out, const struct sw_plan_changes *changes)
{
	static const char *const keys[] = {
		[SW_CHANGE_NONE] = "",
#define SW_RUN_CHANGE(name, key, text) [SW_CHANGE_##name] = key,
#include "base/run_changes.def"
	};
#define FLAG(format, member) fprintf(out, format "\n", changes->member);
	SW_PLAN_CHANGE_FLAGS(FLAG)
#undef FLAG
	fprintf(out, SW_PLAN_GUARD "\n" SW_PLAN_ROOM "\n", (int)changes->guard, changes->room);
	for (uint32_t i = 0; i < changes->streams; i++) {
		const struct sw_plan_call *call = &changes->stream[i];
		fprintf(out, SW_PLAN_STREAM "\n", call->thread, call->api, call->stack, call->nth);
	}
	for (uint32_t i = 0; i < changes->sites; i++) {
		const struct sw_plan_site *site = &changes->site[i];
		fprintf(out, "site %s" SW_PLAN_SITE "\n", keys[site->change], site->api, site->stack, site->value);
		for (uint32_t k = 0; k < site->needs; k++)
			fprintf(out, SW_PLAN_NEED "\n", site->need[k].stream, site->need[k].to);
	}
}

/* Writes the edges. */
static void put_edges(FILE *out, const struct sw_hold_plan *plan)
{
	for (uint32_t i = 0; i < plan->edges; i++) {
		const struct sw_plan_edge *e = &plan->edge[i];
		fprintf(out, SW_PLAN_EDGE_AT "\n", e->fix, e->host, e->threads, e->after_api, e->after_stack,
			e->before_api, e->before_stack);
	}
}

/* Writes the plan into a file; 0, or <0 with error filled. */
int sw_plan_write(const char *path, const struct sw_hold_plan *plan, struct sw_error *error)
{
	FILE *out = fopen(path, "we");
	if (!out)
		return sw_fail(error, -errno, "cannot write '%s': %s", path, strerror(errno));
	static const char *const modes[] = {
#define MODE(name, text) text,
		SW_PLAN_MODES(MODE)
#undef MODE
	};
	fprintf(out, "%s\nmode %s\nresult %s\n", SW_PLAN_MAGIC, modes[plan->mode], plan->result);
#define LINE(format, member) fprintf(out, format "\n", plan->member);
	SW_PLAN_FLAGS(LINE)
	SW_PLAN_NUMBERS(LINE)
#undef LINE
	if (plan->nodes)
		fprintf(out, SW_PLAN_NODES "\n", plan->nodes);
	if (plan->mode == SW_PLAN_EXPLORE)
		fprintf(out, SW_PLAN_SEED "\n", plan->seed, plan->rate, plan->first, plan->last);
	if (plan->mode == SW_PLAN_CHANGE)
		put_changes(out, &plan->changes);
#define CALL(key, member) put_call(out, key, &plan->member);
	SW_PLAN_CALLS(CALL)
#undef CALL
	put_edges(out, plan);
	fprintf(out, SW_PLAN_BYTES "\n", plan->offset, plan->bytes);
	const bool bad = ferror(out);
	if (fclose(out) || bad)
		return sw_fail(error, -EIO, "cannot write '%s'", path);
	return 0;
}
