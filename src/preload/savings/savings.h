/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of libsyncwatch-confirm.so: makes the calls of some sites otherwise, as the advice on a wait says, and times the
 * run (`syncwatch confirm --waits`).
 *
 *     plan_changes.c  reads that part of the plan
 *     timing.c        what the recorder's records mean here: how long the run took
 *     sites.c         which site of the plan a call is, which handle a stream of the plan has
 *     replace.c       the functions that the wrappers call instead of the driver's
 *     copies.c        copies that are made otherwise
 *     host_uses.c     what the guard hears of them, and what it says of the host
 *     syncs.c         waits that are left out or narrowed
 *     fences.c        what all streams had to do at one moment
 *     kept_memory.c   memory that is not freed but used again
 *     pinned.c        pageable memory that is pinned where it is copied again and again
 *     marks.c         when calls of sites began: their stretch of the run is what is compared
 *     staging.c       copies of pageable memory through pinned buffers
 *     unpinned.c      memory that the program wants pinned, and is not
 *     own_stream.c    work that goes from the legacy default stream to one of ours
 *     limits.c        limits of the device that are set once
 *
 * A call that cannot be made otherwise is made as it is, and counted.  Only one thing may differ for the program: time.
 */
#ifndef SW_PRELOAD_SAVINGS_SAVINGS_H
#define SW_PRELOAD_SAVINGS_SAVINGS_H

#include "preload/confirm/confirm.h"

/* ---- plan_changes.c ---------------------------------------------------------------------------------------------- */

/* False: the line is no part of a change. */
bool sw_plan_parse_change(const char *line, struct sw_plan_changes *out);

/* ---- timing.c ---------------------------------------------------------------------------------------------------- */

void sw_savings_record(const struct sw_rec *rec, CUstream stream, bool capturing);
void sw_savings_left(int status);
/* Writes what was done and how long it took. */
void sw_savings_end(void);

/* ---- sites.c ----------------------------------------------------------------------------------------------------- */

/* The call of this entry point that the thread is in: its site in the plan, NULL: none. With a site,
   sw_savings_leave() must follow: until then the thread's calls are ours. */
const struct sw_plan_site *sw_savings_enter(uint32_t id);
/* `changed`: it was made otherwise. */
void sw_savings_leave(const struct sw_plan_site *site, bool changed);
/* The same for a look at it alone. */
const struct sw_plan_site *sw_savings_site(uint32_t id);
/* A stream of the plan.  False: it is not there, or not yet. */
bool sw_savings_stream(uint32_t index, CUstream *stream);
void sw_savings_stream_made(const struct sw_rec *rec);
void sw_savings_stream_gone(uint64_t handle);
/* While a stream is captured every call is made as it is. */
void sw_savings_capturing(bool now);
bool sw_savings_captures(void);
void sw_savings_tell_sites(void);

/* ---- replace.c --------------------------------------------------------------------------------------------------- */

/* The driver's own functions; NULL where it has none. */
extern void *sw_savings_real[SW_ID_COUNT];
#define SW_SAVINGS_REAL(symbol) ((__typeof__(&symbol))sw_savings_function(SW_ID_##symbol))
void *sw_savings_function(uint32_t id);
/* From now on wrappers call ours.  Once a call was recorded. */
void sw_savings_install(void);

/* ---- syncs.c ----------------------------------------------------------------------------------------------------- */

/* What the site's change leaves of the wait.  False: it cannot be done, and nothing was. */
bool sw_savings_wait(const struct sw_plan_site *site, CUresult *status);

/* ---- fences.c ---------------------------------------------------------------------------------------------------- */

/* The stream is about to get work. */
void sw_fences_work(CUstream stream);
void sw_fences_stream_gone(CUstream stream);
/* From now on none can be had. */
void sw_fences_break(void);
struct sw_fence {
	CUevent event;	 /* NULL: none yet */
	uint64_t number; /* of a later fence it is larger */
	bool alone;	 /* all work so far was on this stream, whose later work needs no wait */
	CUstream stream;
};
/* *fence stands for all work so far.  False: it cannot be had. */
bool sw_fence_put(struct sw_fence *fence);
/* Is that work done? */
bool sw_fence_passed(const struct sw_fence *fence);
/* All later work comes after it. */
bool sw_fence_order(const struct sw_fence *fence);

/* ---- kept_memory.c ----------------------------------------------------------------------------------------------- */

/* Memory of that kind (id of what allocates it) and size that was kept. */
bool sw_kept_take(uint32_t kind, uint64_t bytes, unsigned flags, bool host, uint64_t *address);
/* It was allocated, and may be kept when it is freed. */
void sw_kept_made(uint32_t kind, uint64_t bytes, unsigned flags, uint64_t address);
/* False: it must be freed. */
bool sw_kept_give(uint64_t address);
/* It is about to be freed: its address may be that of another block soon. */
void sw_kept_gone(uint64_t address);
/* Frees what is kept on the device; false: nothing. */
bool sw_kept_drop(void);
void sw_kept_forget(void);

/* ---- staging.c --------------------------------------------------------------------------------------------------- */

struct sw_savings_copy {
	uint64_t dst, src, bytes;
	CUstream stream;
};
void sw_staging_prepare(void);
/* The host has waited or asked for work, and may read what copies brought. */
void sw_staging_bring(void);
/* Waits for all such copies. */
void sw_staging_finish(void);
/* It may learn of work in ways that are not seen. */
void sw_staging_in_order(void);
bool sw_staging_pageable(uint64_t address);
/* False: it was not made, or only in part. */
bool sw_staging_copy(const struct sw_savings_copy *copy);
/* What a copy to the device brought is copied back, to be compared with these bytes of the host.  False: there is no
   room for it. */
bool sw_staging_check(const struct sw_savings_copy *copy, uint64_t hash);
/* Compares what has come back. */
void sw_staging_compare(void);
/* So many were other bytes; so many are not known. */
void sw_staging_spoilt(uint64_t *spoilt, uint64_t *unknown);

/* ---- pinned.c ---------------------------------------------------------------------------------------------------- */

/* A copy of pageable memory to the device, from memory that is pinned for it.  False: it was not made. */
bool sw_pinned_copy(const struct sw_savings_copy *copy);
/* Is it memory that is pinned here? */
bool sw_pinned_has(uint64_t address);
/* The program is about to pin these bytes itself, or copies to them: they are pageable again, and stay it. */
void sw_pinned_release(const void *at, uint64_t bytes);
void sw_pinned_end(void);

/* ---- marks.c ----------------------------------------------------------------------------------------------------- */

/* A call of this site begins. */
void sw_marks_call(uint32_t site);
/* The thread's call has returned; it waited for the whole device. */
void sw_marks_left(bool waited);
/* So long a change took for what it does once. */
void sw_marks_once(uint64_t ns);
/* `last_ns`: when the last call of all returned. */
void sw_marks_end(uint64_t last_ns);

/* ---- copies.c ---------------------------------------------------------------------------------------------------- */

/* A copy of this entry point.  False: it is to be made as it is. */
bool sw_savings_copy(uint32_t id, const struct sw_savings_copy *copy);

/* May the call return before these bytes of the host are written? */
bool sw_savings_may_be_asynchronous(const struct sw_plan_site *site, uint64_t address, uint64_t bytes);

/* ---- host_uses.c ------------------------------------------------------------------------------------------------- */

/* Tells the guard what the call does instead.  False: what the record says. */
bool sw_host_uses_tell(const struct sw_rec *rec, const struct sw_companion_hooks *guard);
/* The guard saw the host use memory in flight, and lets it continue when this returns. */
void sw_host_uses_seen(const struct sw_rec *rec);
void sw_host_uses_end(void);
/* Are the bytes alone on their pages? */
bool sw_host_uses_whole_pages(uint64_t address, uint64_t bytes);
/* A copy of other bytes than whole pages was made: the guard may miss uses. */
bool sw_host_uses_missed(void);

/* ---- unpinned.c -------------------------------------------------------------------------------------------------- */

bool sw_unpinned_add(void *at, size_t bytes, unsigned flags);
bool sw_unpinned_drop(void *at);
bool sw_unpinned_has(uint64_t address);
/* A kernel gets these parameters: what they point to is pinned after all. */
void sw_unpinned_parameters(const void *block, size_t bytes);

/* ---- own_stream.c ------------------------------------------------------------------------------------------------ */

/* Where work for this stream goes.  False: where the program puts it. */
bool sw_own_stream(const struct sw_plan_site *site, CUstream from, CUstream *out);
/* Memory of the device that the host cannot reach. */
bool sw_own_stream_device(uint64_t address);
/* The parameters of the launch that comes next. */
void sw_own_stream_parameters(const void *block, size_t bytes);
bool sw_own_stream_launch_may_move(void);

/* ---- limits.c ---------------------------------------------------------------------------------------------------- */

void sw_limits_prepare(void);
bool sw_limits_hold(const struct sw_plan_site *site, CUlimit limit, size_t value);

#endif
