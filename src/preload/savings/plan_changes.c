/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a plan that say which calls are made otherwise. */
#include "preload/savings/savings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const keys[] = {
	[SW_CHANGE_NONE] = "",
#define SW_RUN_CHANGE(name, key, text) [SW_CHANGE_##name] = key,
#include "base/run_changes.def"
};

static bool parse_site(const char *line, struct sw_plan_changes *out)
{
	struct sw_plan_site site = {0};
	char key[16];
	if (out->sites == SW_PLAN_SITES ||
	    sscanf(line, "site %15s %" SCNu32 " %" SCNx64 " %" SCNu64, key, &site.api, &site.stack, &site.value) != 4)
		return false;
	for (uint32_t i = 1; i < SW_CHANGES; i++)
		if (strcmp(keys[i], key) == 0)
			site.change = (enum sw_run_change)i;
	if (!site.change || site.api >= SW_ID_COUNT)
		return false;
	out->site[out->sites++] = site;
	return true;
}

static bool parse_need(const char *line, struct sw_plan_changes *out)
{
	struct sw_plan_site *site = out->sites ? &out->site[out->sites - 1] : NULL;
	uint32_t stream, to;
	if (!site || site->needs == SW_PLAN_NEEDS || sscanf(line, "need %" SCNu32 " %" SCNu32, &stream, &to) != 2 ||
	    stream >= out->streams || (to >= out->streams && to != SW_PLAN_HOST))
		return false;
	site->need[site->needs].stream = stream;
	site->need[site->needs++].to = to;
	return true;
}

static bool parse_stream(const char *line, struct sw_plan_changes *out)
{
	struct sw_plan_call call = {0};
	if (out->streams == SW_PLAN_STREAMS || sscanf(line, "stream %" SCNu32 " %" SCNu32 " %" SCNx64 " %" SCNu64,
						      &call.thread, &call.api, &call.stack, &call.nth) != 4)
		return false;
	out->stream[out->streams++] = call;
	return true;
}

bool sw_plan_parse_change(const char *line, struct sw_plan_changes *out)
{
	int outputs, guard, dry;
	if (sscanf(line, "outputs %d", &outputs) == 1) {
		out->outputs = outputs != 0;
		return true;
	}
	if (sscanf(line, "guard %d", &guard) == 1) {
		out->guard = guard < 0 || guard > SW_PLAN_GUARDED ? SW_PLAN_UNGUARDED : (enum sw_plan_guard)guard;
		return true;
	}
	if (sscanf(line, "dry %d", &dry) == 1) {
		out->dry = dry != 0;
		return true;
	}
	return sscanf(line, "room %" SCNu64, &out->room) == 1 || parse_stream(line, out) || parse_site(line, out) ||
	       parse_need(line, out);
}
