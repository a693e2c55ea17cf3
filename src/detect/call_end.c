/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a call: what it waited for is known, and judged. */
#include "detect/dispatch.h"

#include "detect/hazards/intended_order.h"
#include "detect/hazards/shared_uses.h"
#include "detect/hazards/touch.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/stalls.h"
#include "detect/waits/waits.h"
#include "detect/waits/wide_syncs.h"

/* What a copy or set of a few bytes takes (H200, driver 580: 11 to 44 us for 1 KiB). */
#define SW_DRIVER_NS 20000u

static void split(const struct sw_wait *w, struct sw_wait_cost *cost)
{
	uint8_t kind = w->what.kind;
	bool moves = kind == SW_REC_COPY || kind == SW_REC_COPY_ND || kind == SW_REC_SET;
	uint64_t own = cost->own_ns < cost->ns ? cost->own_ns : cost->ns;
	cost->parts.work_ns = cost->ns - own;
	cost->parts.driver_ns = moves && own > SW_DRIVER_NS ? SW_DRIVER_NS : own;
	cost->parts.transfer_ns = own - cost->parts.driver_ns;
}

static void report(struct sw_model *m, struct sw_wait *w, const struct sw_wait_cost *cost)
{
	if (!w->id || (w->only_waited && !cost->waited) || (!w->always && !w->pending))
		return;
	struct sw_finding seen = {
		.id = w->id,
		.severity = SW_NOTE,
		.confidence = SW_CERTAIN,
		.basis = w->basis,
		.accesses = 1,
		.access[0] = &w->what,
		.fix = w->fix,
		.covered = w->covered.n,
	};
	if (w->read_back.seq) {
		seen.accesses = 2;
		seen.access[1] = &w->read_back;
	}
	if (w->basis == SW_BASIS_MAY && cost->waited && w->id != SW_FINDING_DEVICE_ALLOC)
		seen.basis = SW_BASIS_MEASURED;
	struct sw_finding *f = sw_collect_add(&m->collect, &seen, NULL);
	if (!f)
		return;
	sw_collect_cost(&m->collect, f, cost);
	struct sw_finding_more *more = sw_collect_more(&m->collect, f);
	more->pinned += w->pinned;
	if (w->staged && w->bytes > more->unpinned)
		more->unpinned = w->bytes;
	more->to_host |= w->moves == SW_MOVES_DOWN || w->read_back.seq;
	if (w->maker.seq)
		more->maker = w->maker;
	more->last_ns = w->what.t_ns > more->last_ns ? w->what.t_ns : more->last_ns;
	if (cost->waited && cost->ns >= f->cost->worst_ns)
		more->waited_for = w->waited_for;
	/* A promise is unkept only while no call at this place kept it. */
	f->not_waited = w->promised && !f->cost->waited_calls && (f->not_waited || w->pending);
	if (seen.basis == SW_BASIS_MEASURED)
		f->basis = SW_BASIS_MEASURED;
}

static void touch_by_host(struct sw_model *m, struct sw_wait *w, uint64_t seq)
{
	struct sw_access what = w->what;
	if (!w->host_range.width)
		return;
	what.stream = 0;
	what.point = sw_hb_host_step(m->hb, w->record.thread, seq);
	sw_model_touch(m, &what, &w->host_range, &(struct sw_touch){.host = true});
}

static enum sw_host_wait_kind held_by(uint8_t kind)
{
	static const struct {
		uint8_t kind;
		enum sw_host_wait_kind held;
	} kinds[] = {
		{SW_REC_SYNC, SW_HOST_WAIT_SYNC},	{SW_REC_COPY, SW_HOST_WAIT_COPY},
		{SW_REC_COPY_ND, SW_HOST_WAIT_COPY},	{SW_REC_SET, SW_HOST_WAIT_SET},
		{SW_REC_FREE, SW_HOST_WAIT_FREE},	{SW_REC_ALLOC, SW_HOST_WAIT_ALLOC},
		{SW_REC_LAUNCH, SW_HOST_WAIT_LOAD},	{SW_REC_CODE_LOAD, SW_HOST_WAIT_LOAD},
		{SW_REC_CODE_TOUCH, SW_HOST_WAIT_LOAD}, {SW_REC_CONFIG, SW_HOST_WAIT_CONFIG},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].kind == kind)
			return kinds[i].held;
	return SW_HOST_WAIT_OTHER;
}

/* Of pinning and of loading code all time is lost, whatever part of it was waiting. */
static bool held_up(const struct sw_wait *w, bool waited)
{
	bool lost = w->id == SW_FINDING_HOST_PIN || w->id == SW_FINDING_MODULE_LOAD;
	return waited || (w->tokens && w->promised) || (lost && w->pending);
}

/* Queries hold nobody: loops of them are counted as a whole (polls.c). */
static void count_by_kind(struct sw_model *m, const struct sw_wait *w, uint64_t ns)
{
	struct sw_host_wait *held = &m->j->host_waits[held_by(w->what.kind)];
	if (w->what.kind == SW_REC_QUERY)
		return;
	held->calls++;
	held->ns += ns;
}

void sw_wait_done(struct sw_model *m, struct sw_wait *w, uint64_t seq, uint64_t t_ns, uint64_t dur_ns, bool failed)
{
	struct sw_wait_cost cost = {.ns = dur_ns, .own_ns = dur_ns};
	w->what.dur_ns = w->record.dur_ns = dur_ns;
	sw_sharing_called(m, w);
	if (failed) {
		sw_wait_drop(m, w);
		sw_wait_report(m, w, false);
		return;
	}
	sw_covered_vec *done = sw_wait_scratch(m);
	for (uint32_t i = 0; i < w->tokens; i++) {
		struct sw_hb_waited waited;
		if (m->observer->completed)
			sw_hb_wait_lanes(m->hb, w->token[i], w->record.thread, SW_ORDER_MEASURED, sw_wait_covers, done);
		sw_hb_wait_end(m->hb, w->token[i], w->record.thread, seq, w->order[i], &waited);
	}
	if (w->tokens || w->what.kind == SW_REC_CONTEXT_OP)
		sw_sharing_known(m, w->record.thread, t_ns);
	cost.waited = w->pending && dur_ns > w->own_ns;
	if (cost.waited)
		cost.own_ns = w->own_ns / SW_OWN_MARGIN;
	split(w, &cost);
	if (w->tokens && (cost.waited || w->promised))
		m->j->host_wait_ns += dur_ns;
	if (held_up(w, cost.waited))
		count_by_kind(m, w, dur_ns);
	bool documented = w->tokens && w->order[0] == SW_ORDER_DOCUMENTED;
	w->tokens = 0;
	sw_wait_report(m, w, cost.waited);
	if (done->n)
		sw_pending_completed(m, done, t_ns);
	touch_by_host(m, w, seq);
	report(m, w, &cost);
	sw_stall_done(m, w);
	if (w->enqueues || w->what.kind == SW_REC_GRAPH_LAUNCH)
		sw_event_wait_worked(m, w->what.point.lane);
	sw_wide_over(m, w, &cost, documented);
}
