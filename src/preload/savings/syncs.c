/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits that are left out, or narrowed to what the advice keeps: the host waits for some streams, and streams for each
 * other.
 */
#include "preload/savings/savings.h"

static _Atomic(CUevent) events[SW_PLAN_SITES][SW_PLAN_NEEDS];

/* One for each need, made at its first use. */
static CUevent event_of(const struct sw_plan_site *site, uint32_t need)
{
	__typeof__(&cuEventCreate) make = SW_SAVINGS_REAL(cuEventCreate);
	__typeof__(&cuEventDestroy_v2) destroy = SW_SAVINGS_REAL(cuEventDestroy_v2);
	_Atomic(CUevent) *slot = &events[site - sw_confirm_plan.changes.site][need];
	CUevent event = atomic_load(slot), fresh = NULL;
	if (event || !make || make(&fresh, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
		return event;
	if (atomic_compare_exchange_strong(slot, &event, fresh))
		return fresh;
	if (destroy)
		destroy(fresh);
	return event;
}

/* All that is needed is there: nothing is done by halves. */
static bool resolve(const struct sw_plan_site *site, CUstream *from, CUstream *to, CUevent *event)
{
	for (uint32_t i = 0; i < site->needs; i++) {
		const bool host = site->need[i].to == SW_PLAN_HOST;
		event[i] = host ? NULL : event_of(site, i);
		if (!sw_savings_stream(site->need[i].stream, &from[i]) ||
		    (!host && (!event[i] || !sw_savings_stream(site->need[i].to, &to[i]))))
			return false;
	}
	return true;
}

/* What the host does with the memory, the guard sees. */
static bool without_host(const struct sw_plan_site *site)
{
	return !site->value && sw_confirm_plan.changes.guard == SW_PLAN_GUARDED && !sw_host_uses_missed();
}

static CUresult narrow(const struct sw_plan_site *site, const CUstream *from, const CUstream *to, const CUevent *event)
{
	__typeof__(&cuStreamSynchronize) wait = SW_SAVINGS_REAL(cuStreamSynchronize);
	__typeof__(&cuEventRecord) record = SW_SAVINGS_REAL(cuEventRecord);
	__typeof__(&cuStreamWaitEvent) order = SW_SAVINGS_REAL(cuStreamWaitEvent);
	CUresult status = wait && record && order ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
	/* The host first: it must not wait for an edge that is put in here. */
	for (uint32_t i = 0; i < site->needs && !status; i++)
		if (site->need[i].to == SW_PLAN_HOST && !without_host(site))
			status = wait(from[i]);
	for (uint32_t i = 0; i < site->needs && !status; i++) {
		if (site->need[i].to == SW_PLAN_HOST)
			continue;
		status = record(event[i], from[i]);
		if (!status)
			status = order(to[i], event[i], CU_EVENT_WAIT_DEFAULT);
	}
	return status;
}

bool sw_savings_wait(const struct sw_plan_site *site, CUresult *status)
{
	CUstream from[SW_PLAN_NEEDS], to[SW_PLAN_NEEDS];
	CUevent event[SW_PLAN_NEEDS];
	*status = CUDA_SUCCESS;
	if (sw_confirm_plan.changes.guard == SW_PLAN_REHEARSED)
		return false;
	if (site->change == SW_CHANGE_SKIP)
		return true;
	if (site->change != SW_CHANGE_NARROW || !resolve(site, from, to, event))
		return false;
	/* Whatever went wrong, the wait that the program made does it all. */
	return narrow(site, from, to, event) == CUDA_SUCCESS;
}
