/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that are made otherwise: those of planned sites, and those of memory that the program pins and the plan
   leaves pageable. */
#include "preload/savings/savings.h"

/* The bytes are protected as long as they are in flight: those of a page that other bytes share are not. */
bool sw_savings_may_be_asynchronous(const struct sw_plan_site *site, uint64_t address, uint64_t bytes)
{
	return site->change == SW_CHANGE_ASYNC && sw_confirm_plan.changes.guard == SW_PLAN_GUARDED &&
	       sw_host_uses_whole_pages(address, bytes) && !sw_staging_pageable(address);
}

static bool asynchronous(const struct sw_plan_site *site, const struct sw_savings_copy *c)
{
	__typeof__(&cuMemcpyDtoHAsync_v2) copy = SW_SAVINGS_REAL(cuMemcpyDtoHAsync_v2);
	return copy && sw_savings_may_be_asynchronous(site, c->dst, c->bytes) &&
	       copy((void *)(uintptr_t)c->dst, c->src, c->bytes, c->stream) == CUDA_SUCCESS;
}

static bool on_own_stream(const struct sw_plan_site *site, const struct sw_savings_copy *c)
{
	__typeof__(&cuMemcpyDtoDAsync_v2) copy = SW_SAVINGS_REAL(cuMemcpyDtoDAsync_v2);
	CUstream own;
	return copy && sw_own_stream_device(c->dst) && sw_own_stream_device(c->src) &&
	       sw_own_stream(site, c->stream, &own) && copy(c->dst, c->src, c->bytes, own) == CUDA_SUCCESS;
}

bool sw_savings_copy(uint32_t id, const struct sw_savings_copy *copy)
{
	const struct sw_plan_site *site = sw_savings_enter(id);
	bool changed = false;
	if (sw_savings_captures())
		return false;
	/* What is written here stays pageable: the program may read it when the call returns. */
	sw_pinned_release((const void *)(uintptr_t)copy->dst, copy->bytes);
	if (!site)
		return (sw_unpinned_has(copy->src) || sw_unpinned_has(copy->dst) || sw_pinned_has(copy->src)) &&
		       sw_staging_copy(copy);
	if (site->change == SW_CHANGE_PIN)
		changed = sw_pinned_copy(copy) ||
			  ((sw_staging_pageable(copy->src) || sw_pinned_has(copy->src)) && sw_staging_copy(copy));
	else if (site->change == SW_CHANGE_STAGE)
		changed = sw_staging_copy(copy);
	else if (site->change == SW_CHANGE_OWN)
		changed = on_own_stream(site, copy);
	else if (site->change == SW_CHANGE_ASYNC)
		changed = asynchronous(site, copy);
	sw_savings_leave(site, changed);
	return changed;
}
