/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of libsyncwatch-confirm.so: makes the calls of some sites otherwise, as the advice on a wait says, and times the
 * run (`syncwatch confirm --waits`).
 *
 *     host_uses.c  what the guard hears of them, and what it says of the host; waits that are left out or narrowed
 *     fences.c     what all streams had to do at one moment
 *     staging.c    what the recorder's records mean here: how long the run took; which site of the plan a call is,
 *                  which handle a stream of the plan has; pageable memory that is pinned where it is copied again
 *                  and again; when calls of sites began: their stretch of the run is what is compared; copies of
 *                  pageable memory through pinned buffers; copies that are made otherwise
 *     replace.c    the functions that the wrappers call instead of the driver's; memory that is not freed but used
 *                  again; memory that the program wants pinned, and is not; work that goes from the legacy default
 *                  stream to one of ours; limits of the device that are set once
 *
 * A call that cannot be made otherwise is made as it is, and counted.  Only one thing may differ for the program: time.
 */
#ifndef SW_PRELOAD_SAVINGS_SAVINGS_H
#define SW_PRELOAD_SAVINGS_SAVINGS_H

#include "preload/confirm/confirm.h"

/* ---- staging.c -------------------------------------------------------------------------------------------------- */

void sw_savings_record(const struct sw_rec *rec, CUstream stream, bool capturing);
void sw_savings_left(int status);
/* Writes what was done and how long it took. */
void sw_savings_end(void);

/* ---- staging.c -------------------------------------------------------------------------------------------------- */

/* The call of this entry point that the thread is in: its site in the plan, NULL: none. With a site,
   sw_savings_leave() must follow: until then the thread's calls are ours. */
const struct sw_plan_site *sw_savings_enter(uint32_t id);
/* `changed`: it was made otherwise. */
void sw_savings_leave(const struct sw_plan_site *site, bool changed);
/* Finds the site of a call without entering it. */
const struct sw_plan_site *sw_savings_site(uint32_t id);
/* A stream of the plan.  False: it is not there, or not yet. */
bool sw_savings_stream(uint32_t index, CUstream *stream);

/* ---- replace.c -------------------------------------------------------------------------------------------------- */

/* The driver's own functions; NULL where it has none. */
extern void *sw_savings_real[SW_ID_COUNT];
#define SW_SAVINGS_REAL(symbol) ((__typeof__(&symbol))sw_savings_function(SW_ID_##symbol))
void *sw_savings_function(uint32_t id);
/* Puts the functions of savings between the wrappers and the driver, for the entry points of the plan.  After the
   first call was recorded. */
void sw_savings_install(void);

/* ---- host_uses.c ------------------------------------------------------------------------------------------------ */

/* Waits as the site's change says.  False: that is impossible, and nothing was done. */
bool sw_savings_wait(const struct sw_plan_site *site, CUresult *status);

/* ---- fences.c --------------------------------------------------------------------------------------------------- */

/* Before a stream gets work: notes it, so that a fence put later waits for that work; if a fence orders all later
   work, the stream first waits for it. */
void sw_fences_work(CUstream stream);
void sw_fences_stream_gone(CUstream stream);
/* Gives fences up for the rest of the run: order that they would have to make is not known any more. */
void sw_fences_break(void);
struct sw_fence {
	CUevent event;	 /* NULL: none yet */
	uint64_t number; /* of a later fence it is larger */
	bool alone;	 /* all work so far was on this stream, whose later work needs no wait */
	CUstream stream;
};
/* Puts a fence: *fence stands for all work enqueued so far, on all streams.  False: that cannot be had. */
bool sw_fence_put(struct sw_fence *fence);
/* Is that work done? */
bool sw_fence_passed(const struct sw_fence *fence);
/* Orders all work that is enqueued later, on any stream, after the fence's work.  False: that cannot be had. */
bool sw_fence_order(const struct sw_fence *fence);

/* ---- replace.c -------------------------------------------------------------------------------------------------- */

void sw_kept_forget(void);

/* ---- staging.c -------------------------------------------------------------------------------------------------- */

struct sw_savings_copy {
	uint64_t dst, src, bytes;
	CUstream stream;
};

/* ---- staging.c -------------------------------------------------------------------------------------------------- */

/* The program is about to pin these bytes itself, or copies to them: they are pageable again, and stay it. */
void sw_pinned_release(const void *at, uint64_t bytes);

/* ---- staging.c -------------------------------------------------------------------------------------------------- */

/* Makes a copy of this entry point in the way that the plan changes it to.  False: the caller makes it as it is. */
bool sw_savings_copy(uint32_t id, const struct sw_savings_copy *copy);

/* May the call return before these bytes of the host are written? */
bool sw_savings_may_be_asynchronous(const struct sw_plan_site *site, uint64_t address, uint64_t bytes);

/* ---- host_uses.c ------------------------------------------------------------------------------------------------ */

/* Tells the guard what the call does instead.  False: what the record says. */
bool sw_host_uses_tell(const struct sw_rec *rec, const struct sw_companion_hooks *guard);
/* Called when the guard saw the host use memory that work in flight touches: counts the use, and where the plan
   says so waits for the work; the host continues when this returns. */
void sw_host_uses_seen(const struct sw_rec *rec);
void sw_host_uses_end(void);
/* Are the bytes alone on their pages? */
bool sw_host_uses_whole_pages(uint64_t address, uint64_t bytes);

/* ---- replace.c -------------------------------------------------------------------------------------------------- */

/* Does the address lie in memory that the plan left unpinned, although the program wanted it pinned? */
bool sw_unpinned_has(uint64_t address);
/* Before a launch with these parameters: pins memory to which they point and which the plan left unpinned, since
   the kernel may use it. */
void sw_unpinned_parameters(const void *block, size_t bytes);

/* ---- replace.c -------------------------------------------------------------------------------------------------- */

/* The stream of ours on which work for the default stream goes if the site's change says so.  False: it goes where
   the program puts it. */
bool sw_own_stream(const struct sw_plan_site *site, CUstream from, CUstream *out);
/* Is the address in device memory that the host cannot reach? */
bool sw_own_stream_device(uint64_t address);
/* Before a launch with these parameters: notes whether they lead to memory that the host can reach; then it is not
   moved to a stream of its own. */
void sw_own_stream_parameters(const void *block, size_t bytes);

/* ---- replace.c -------------------------------------------------------------------------------------------------- */

void sw_limits_prepare(void);

#endif
