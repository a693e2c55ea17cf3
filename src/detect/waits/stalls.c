/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that only hand work over, and took long nevertheless: another thread's call held the driver's lock (SW310), or
 * the stream's queue was full (SW311).
 *
 * Neither is documented, and neither is reported by CUDA: what is known is how long the call took, what other threads
 * were doing in all that time, and how much of the stream's work was not known to be finished.
 */
#include "detect/waits/stalls.h"

#include <stdlib.h>

#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/model.h"

/* Handing work over takes 2 to 12 us where nothing is in the way (H200, driver 580: launches and asynchronous copies
   with pinned memory); a call that long was held up by something. */
#define SW_STALL_NS 500000u
/* A launch after a full queue takes as long as a kernel of the stream, which may be short. */
#define SW_FULL_NS 15000u
/* Launches that may be pending on a stream: about a thousand on every GPU so far, which no document says. */
#define SW_FULL_QUEUE 1000u

/* Calls that took long, the last ones of each kind: a ring. */
#define SW_STALLS 64u

struct ring {
	struct sw_access at[SW_STALLS];
	uint32_t made;
};

struct sw_stalls {
	struct ring stalled, holders;
};

struct sw_stalls *sw_stalls_new(void)
{
	return sw_calloc(1, sizeof(struct sw_stalls));
}

void sw_stalls_free(struct sw_stalls *stalls)
{
	free(stalls);
}

static bool hands_over(uint8_t kind)
{
	return kind == SW_REC_LAUNCH || kind == SW_REC_COPY || kind == SW_REC_COPY_ND || kind == SW_REC_SET ||
	       kind == SW_REC_GRAPH_LAUNCH || kind == SW_REC_HOST_FUNC || kind == SW_REC_EVENT_RECORD ||
	       kind == SW_REC_STREAM_WAIT;
}

/* Calls during which the driver was seen to keep others out, or must, as they change what all work relies on. */
static bool holds(uint8_t kind)
{
	return kind == SW_REC_ALLOC || kind == SW_REC_FREE || kind == SW_REC_CONFIG || kind == SW_REC_CODE_LOAD ||
	       kind == SW_REC_CODE_TOUCH || kind == SW_REC_CONTEXT_OP || kind == SW_REC_GRAPH;
}

/* In progress all the time that the other one took, but for what the clocks of two threads may differ. */
static bool all_the_time(const struct sw_access *holder, const struct sw_access *stalled)
{
	uint64_t slack = stalled->dur_ns / 20;
	return holder->thread != stalled->thread && holder->t_ns <= stalled->t_ns + slack &&
	       holder->t_ns + holder->dur_ns + slack >= stalled->t_ns + stalled->dur_ns;
}

static void remember(struct ring *stalls, const struct sw_access *what)
{
	stalls->at[stalls->made++ % SW_STALLS] = *what;
}

static void report_lock(struct sw_model *m, const struct sw_access *stalled, const struct sw_access *holder)
{
	struct sw_finding seen = {
		.id = SW_FINDING_DRIVER_LOCK,
		.severity = SW_NOTE,
		.confidence = SW_LIKELY,
		.basis = SW_BASIS_MEASURED,
		.accesses = 2,
		.access = {stalled, holder},
		.fix = SW_FIX_BEFORE_THREADS,
	};
	struct sw_finding *f = sw_collect_add(&m->collect, &seen, NULL);
	if (f)
		sw_collect_cost(&m->collect, f,
				&(struct sw_wait_cost){
					.ns = stalled->dur_ns, .waited = true, .parts.lock_ns = stalled->dur_ns});
}

/* The record of one thread's call may come before or after that of the other's: the one that comes last looks for the
 * other.
 */
static void look_for_lock(struct sw_model *m, const struct sw_access *what)
{
	bool holder = holds(what->kind);
	struct ring *own = holder ? &m->stalls->holders : &m->stalls->stalled,
		    *other = holder ? &m->stalls->stalled : &m->stalls->holders;
	remember(own, what);
	for (uint32_t i = 0; i < SW_STALLS; i++) {
		struct sw_access *met = &other->at[i];
		if (!met->seq || !(holder ? all_the_time(what, met) : all_the_time(met, what)))
			continue;
		report_lock(m, holder ? met : what, holder ? what : met);
		(holder ? met : &own->at[(own->made - 1) % SW_STALLS])->seq = 0; /* reported */
		if (!holder)
			return;
	}
}

static void look_for_queue(struct sw_model *m, const struct sw_wait *w)
{
	struct sw_point point = w->what.point;
	uint32_t host = sw_hb_host_lane(m->hb, w->record.thread);
	uint64_t pending = point.tick - sw_hb_last_join(m->hb, host, point.lane).tick;
	if (!w->enqueues || pending < SW_FULL_QUEUE)
		return;
	struct sw_finding seen = {.id = SW_FINDING_QUEUE_FULL,
				  .severity = SW_NOTE,
				  .confidence = SW_LIKELY,
				  .basis = SW_BASIS_MEASURED,
				  .accesses = 1,
				  .access[0] = &w->what,
				  .fix = SW_FIX_FEWER,
				  .queued = pending};
	struct sw_finding *f = sw_collect_add(&m->collect, &seen, NULL);
	if (f)
		sw_collect_cost(
			&m->collect, f,
			&(struct sw_wait_cost){.ns = w->what.dur_ns, .waited = true, .parts.work_ns = w->what.dur_ns});
}

void sw_stall_done(struct sw_model *m, const struct sw_wait *w)
{
	const struct sw_access *what = &w->what;
	bool handed = !w->id && hands_over(what->kind);
	if (what->dur_ns >= SW_STALL_NS && (handed || holds(what->kind)))
		look_for_lock(m, what);
	if (what->dur_ns >= SW_FULL_NS && handed && what->kind == SW_REC_LAUNCH)
		look_for_queue(m, w);
}
