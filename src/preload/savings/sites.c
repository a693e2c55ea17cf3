/* SPDX-License-Identifier: Apache-2.0 */
/* Which site of the plan a call is, and which handles the streams of the plan have in this run. */
#include "preload/savings/savings.h"

#include "preload/recorder/writer.h"

static struct {
	_Atomic uint64_t changed, passed;
} counts[SW_PLAN_SITES];

static struct {
	uint64_t made; /* calls that are like the one that makes it; by its thread alone */
	_Atomic uint64_t handle;
} streams[SW_PLAN_STREAMS];

static _Atomic bool capturing;
static __thread bool busy __attribute__((tls_model("initial-exec")));

void sw_savings_capturing(bool now)
{
	atomic_store(&capturing, now);
}

bool sw_savings_captures(void)
{
	return atomic_load(&capturing);
}

static const struct sw_plan_site *find(uint32_t id)
{
	const struct sw_plan_changes *plan = &sw_confirm_plan.changes;
	const struct sw_plan_site *any = NULL;
	bool hashed = false;
	uint64_t stack = 0;
	if (busy || atomic_load(&capturing) || !sw_confirm_recorder->inside())
		return NULL;
	for (uint32_t i = 0; i < plan->sites; i++) {
		if (plan->site[i].api != id)
			continue;
		if (plan->site[i].stack == SW_PLAN_ANY) {
			any = &plan->site[i];
			continue;
		}
		stack = hashed ? stack : sw_places_stack();
		hashed = true;
		if (plan->site[i].stack == stack)
			return &plan->site[i];
	}
	return any;
}

const struct sw_plan_site *sw_savings_site(uint32_t id)
{
	return sw_confirm_plan.changes.dry ? NULL : find(id);
}

const struct sw_plan_site *sw_savings_enter(uint32_t id)
{
	const struct sw_plan_site *site = find(id);
	if (site && site->stack != SW_PLAN_ANY)
		sw_marks_call((uint32_t)(site - sw_confirm_plan.changes.site));
	if (sw_confirm_plan.changes.dry)
		return NULL;
	busy |= site != NULL;
	return site;
}

void sw_savings_leave(const struct sw_plan_site *site, bool changed)
{
	const size_t at = (size_t)(site - sw_confirm_plan.changes.site);
	atomic_fetch_add(changed ? &counts[at].changed : &counts[at].passed, 1);
	busy = false;
}

void sw_savings_tell_sites(void)
{
	for (uint32_t i = 0; i < sw_confirm_plan.changes.sites; i++)
		sw_result("changed %u %llu %llu", i, (unsigned long long)atomic_load(&counts[i].changed),
			  (unsigned long long)atomic_load(&counts[i].passed));
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

bool sw_savings_stream(uint32_t index, CUstream *stream)
{
	const uint64_t handle = atomic_load(&streams[index].handle);
	*stream = sw_confirm_plan.changes.stream[index].api ? (CUstream)(uintptr_t)handle : CU_STREAM_LEGACY;
	return *stream != NULL;
}

void sw_savings_stream_made(const struct sw_rec *rec)
{
	const struct sw_plan_changes *plan = &sw_confirm_plan.changes;
	const uint32_t thread = sw_confirm_recorder->thread()->number;
	bool hashed = false;
	uint64_t stack = 0;
	for (uint32_t i = 0; i < plan->streams; i++) {
		const struct sw_plan_call *call = &plan->stream[i];
		if (!call->api || call->api != rec->api || call->thread != thread)
			continue;
		stack = hashed ? stack : sw_places_stack();
		hashed = true;
		if (call->stack == stack && ++streams[i].made == call->nth)
			atomic_store(&streams[i].handle, ((const struct sw_rec_stream *)(const void *)rec)->stream);
	}
}

void sw_savings_stream_gone(uint64_t handle)
{
	for (uint32_t i = 0; i < sw_confirm_plan.changes.streams; i++) {
		uint64_t expected = handle;
		atomic_compare_exchange_strong(&streams[i].handle, &expected, 0);
	}
}
