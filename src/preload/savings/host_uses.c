/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With --guard-host: the guard hears what a call does instead of what its record says, so it protects the memory that
 * the host does not wait for any more.  Where the host touches it nevertheless, the work is waited for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arch.h"
#include "preload/savings/savings.h"

#define PAGE sw_arch_page_bytes()

static _Atomic uint64_t seen, in_calls, unguarded;
/* An access to other bytes of a guarded page opened it: later ones to the copy's bytes were not seen. */
static _Atomic bool missed;

/* Do the bytes fill their pages, so that protecting these hits nothing else? */
bool sw_host_uses_whole_pages(uint64_t address, uint64_t bytes)
{
	return address % PAGE == 0 && bytes % PAGE == 0;
}

/* Was a copy of other bytes than whole pages made?  The guard may miss uses of these. */
static bool host_uses_missed(void)
{
	return atomic_load(&missed);
}

/* Is this pinned memory of the host? */
static bool is_pinned(uint64_t address)
{
	__typeof__(&cuPointerGetAttribute) ask = SW_SAVINGS_REAL(cuPointerGetAttribute);
	CUmemorytype type = 0;
	return ask && ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)address) == CUDA_SUCCESS &&
	       type == CU_MEMORYTYPE_HOST;
}

/* Does pinned memory share its first or last page with other bytes?  The guard protects whole pages only. */
static bool shares_pages(uint64_t address, uint64_t bytes)
{
	return !sw_host_uses_whole_pages(address, bytes) && is_pinned(address);
}

/* Work whose memory the guard does not protect, or only with the bytes around it (doc/guard.md). */
static bool may_be_missed(const struct sw_rec *rec)
{
	const struct sw_rec_copy *c = (const struct sw_rec_copy *)(const void *)rec;
	switch (rec->kind) {
	case SW_REC_COPY:
		/* Others are done when they return. */
		return !(rec->flags & SW_RF_BEGIN) &&
		       (shares_pages(c->dst, c->bytes) || shares_pages(c->src, c->bytes));
	case SW_REC_COPY_ND:
		return !(rec->flags & SW_RF_BEGIN);
	case SW_REC_GRAPH_LAUNCH:
		return true;
	case SW_REC_ALLOC:
		return ((const struct sw_rec_alloc *)(const void *)rec)->memory == SW_MEM_MANAGED;
	default:
		return false;
	}
}

/* True: the guard hears nothing of this wait, as it is left out.  The streams that the host still waits for are left
   out as well: their memory stays protected for longer than it need be. */
static bool tell_wait(const struct sw_plan_site *site)
{
	return site->change == SW_CHANGE_SKIP || site->change == SW_CHANGE_NARROW;
}

/* Tells the guard of the asynchronous copy or set (`bytes` of record) that is made in place of a blocking one.  False:
   it is made as recorded. */
static bool tell_asynchronous(const struct sw_plan_site *site, const struct sw_rec *rec, size_t bytes,
			      const struct sw_companion_hooks *guard)
{
	union {
		struct sw_rec h;
		struct sw_rec_copy copy;
		struct sw_rec_set set;
	} other;
	if (site->change != SW_CHANGE_ASYNC)
		return false;
	memcpy(&other, rec, bytes);
	other.h.flags &= (uint16_t) ~(SW_RF_BEGIN | SW_RF_SYNCHRONOUS);
	guard->published(&other.h);
	return true;
}

/* Tells the guard that a wait or copy is made so that the host does not wait: it then watches whether the host needed
   that. */
bool sw_host_uses_tell(const struct sw_rec *rec, const struct sw_companion_hooks *guard)
{
	const bool copy = rec->kind == SW_REC_COPY, set = rec->kind == SW_REC_SET;
	if (rec->flags & SW_RF_END)
		return false;
	if (!atomic_load(&missed) && may_be_missed(rec))
		atomic_store(&missed, true);
	if (!(rec->flags & SW_RF_BEGIN) || (rec->kind != SW_REC_SYNC && !copy && !set))
		return false;
	const struct sw_plan_site *site = sw_savings_site(rec->api);
	if (!site)
		return false;
	if (rec->kind == SW_REC_SYNC)
		return tell_wait(site);
	return tell_asynchronous(site, rec, copy ? sizeof(struct sw_rec_copy) : sizeof(struct sw_rec_set), guard);
}

/* The host used memory of unfinished work: a wait that was left out was needed, which the result counts. */
void sw_host_uses_seen(const struct sw_rec *rec)
{
	const struct sw_rec_host_access *a = (const struct sw_rec_host_access *)(const void *)rec;
	__typeof__(&cuCtxSynchronize) wait = SW_SAVINGS_REAL(cuCtxSynchronize);
	if (a->flags & SW_HOST_UNGUARDED) {
		atomic_fetch_add(&unguarded, a->bytes);
		return;
	}
	/* A fault is of one byte; a system call has been made already. */
	atomic_fetch_add(a->bytes == 1 ? &seen : &in_calls, 1);
	if (sw_confirm_plan.changes.guard == SW_PLAN_GUARDED && wait)
		wait();
}

/* Writes how many uses there were in code, in system calls, and of memory that could not be watched. */
void sw_host_uses_end(void)
{
	if (sw_confirm_plan.changes.guard)
		sw_result("host %llu %llu %llu", (unsigned long long)atomic_load(&seen),
			  (unsigned long long)atomic_load(&in_calls),
			  (unsigned long long)(atomic_load(&unguarded) + atomic_load(&missed) + !sw_confirm_others));
}

/*
 * Waits that are left out, or narrowed to what the advice keeps: the host waits for some streams, and streams for each
 * other.
 */

static _Atomic(CUevent) events[SW_PLAN_SITES][SW_PLAN_NEEDS];

/* The event for one of the site's needs, made at its first use. */
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

/* Finds the streams and events of all needs of a site.  False: one is missing, and nothing is done by halves. */
static bool resolve_needs(const struct sw_plan_site *site, CUstream *from, CUstream *to, CUevent *event)
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

/* Can the site's wait leave out the host? Only if the guard sees all that the host does with the memory. */
static bool without_host(const struct sw_plan_site *site)
{
	return !site->value && sw_confirm_plan.changes.guard == SW_PLAN_GUARDED && !host_uses_missed();
}

/* Waits only for what the plan says the program needs: streams for each other, the host for some streams. */
static CUresult narrow_wait(const struct sw_plan_site *site, const CUstream *from, const CUstream *to,
			    const CUevent *event)
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

/* Makes a wait of the program as the plan says: not at all, or only for the streams whose work is needed.  False: as it
   was. */
bool sw_savings_wait(const struct sw_plan_site *site, CUresult *status)
{
	CUstream from[SW_PLAN_NEEDS], to[SW_PLAN_NEEDS];
	CUevent event[SW_PLAN_NEEDS];
	*status = CUDA_SUCCESS;
	if (sw_confirm_plan.changes.guard == SW_PLAN_REHEARSED)
		return false;
	if (site->change == SW_CHANGE_SKIP)
		return true;
	if (site->change != SW_CHANGE_NARROW || !resolve_needs(site, from, to, event))
		return false;
	/* Whatever went wrong, the wait that the program made does it all. */
	return narrow_wait(site, from, to, event) == CUDA_SUCCESS;
}
