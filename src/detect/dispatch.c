/* SPDX-License-Identifier: Apache-2.0 */
/* Each record to its handler. */
#include "detect/dispatch.h"

#include "detect/calls/copies.h"
#include "detect/calls/streams.h"
#include "detect/model/handlers.h"
#include "detect/graphs/graphs.h"
#include "detect/hazards/deferred.h"
#include "detect/hazards/host_functions.h"
#include "detect/hazards/hazards.h"
#include "detect/hazards/shared_uses.h"
#include "detect/hazards/stored_values.h"
#include "detect/hazards/touch.h"
#include "detect/kernels/collectives.h"
#include "detect/libraries/library_calls.h"
#include "detect/memory/address_space.h"
#include "detect/memory/physical_memory.h"
#include "detect/memory/shadow.h"
#include "detect/model/lanes.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/forbidden.h"
#include "detect/model/model.h"
#include "detect/model/nvtx.h"
#include "detect/waits/schedule_feed.h"
#include "detect/waits/waits.h"
#include "detect/waits/wide_syncs.h"
#include "reader/kinds.h"

/* The end of a call: what it waited for is known, and judged. */

/* A copy or set of a few bytes takes so long (H200, driver 580: 11 to 44 us for 1 KiB). */
#define SW_DRIVER_NS 20000u

/* Splits the time of a wait into waiting for work, moving data and the driver's own part. */
static void split_cost(const struct sw_wait *w, struct sw_wait_cost *cost)
{
	uint8_t kind = w->what.kind;
	bool moves = kind == SW_REC_COPY || kind == SW_REC_COPY_ND || kind == SW_REC_SET;
	uint64_t own = cost->own_ns < cost->ns ? cost->own_ns : cost->ns;
	cost->parts.work_ns = cost->ns - own;
	cost->parts.driver_ns = moves && own > SW_DRIVER_NS ? SW_DRIVER_NS : own;
	cost->parts.transfer_ns = own - cost->parts.driver_ns;
}

/* Adds an occurrence of the finding that the call was noted for, with its cost. */
static void report_wait(struct sw_model *m, struct sw_wait *w, const struct sw_wait_cost *cost)
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
	struct sw_finding_details *more = sw_collect_more(&m->collect, f);
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

/* Judges what the host itself touched inside the call, now that it has returned. */
static void touch_by_host(struct sw_model *m, struct sw_wait *w, uint64_t seq)
{
	struct sw_access what = w->what;
	if (!w->host_range.width)
		return;
	what.stream = 0;
	what.point = sw_hb_host_step(m->hb, w->record.thread, seq);
	sw_model_touch(m, &what, &w->host_range, &(struct sw_touch){.host = true});
}

/* The kind of wait, for sums over the run, that a call of this kind of record counts as. */
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

/* Was the host held up by the call?  Pinning and loading code lose all their time, whatever part of it was waiting. */
static bool held_up(const struct sw_wait *w, bool waited)
{
	bool lost = w->id == SW_FINDING_HOST_PIN || w->id == SW_FINDING_MODULE_LOAD;
	return waited || (w->tokens && w->promised) || (lost && w->pending);
}

/* Counts the time of a call that held the host, by its kind.  Queries hold nobody: loops of them are counted as a whole
   (waits.c). */
static void count_by_kind(struct sw_model *m, const struct sw_wait *w, uint64_t ns)
{
	struct sw_host_wait *held = &m->j->host_waits[held_by(w->what.kind)];
	if (w->what.kind == SW_REC_QUERY)
		return;
	held->calls++;
	held->ns += ns;
}

/* Ends a call that has returned: the host joins what it waited for, then the wait is judged, by what it covered and how
   long it took. */
static void wait_done(struct sw_model *m, struct sw_wait *w, uint64_t seq, uint64_t t_ns, uint64_t dur_ns, bool failed)
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
	if (w->what.kind == SW_REC_SYNC || w->what.kind == SW_REC_QUERY)
		sw_sync_over(m, w);
	if (m->paused) {
		w->tokens = 0;
		sw_wait_report(m, w, false);
		return;
	}
	if (w->tokens || w->what.kind == SW_REC_CONTEXT_OP)
		sw_sharing_known(m, w->record.thread, t_ns);
	cost.waited = w->pending && dur_ns > w->own_ns;
	if (cost.waited)
		cost.own_ns = w->own_ns / SW_OWN_MARGIN;
	split_cost(w, &cost);
	if (w->tokens && (cost.waited || w->promised))
		m->j->host_wait_ns += dur_ns;
	if (held_up(w, cost.waited))
		count_by_kind(m, w, dur_ns);
	const bool blocks = w->tokens;
	bool documented = w->tokens && w->order[0] == SW_ORDER_DOCUMENTED;
	w->tokens = 0;
	sw_wait_report(m, w, cost.waited);
	if (done->n)
		sw_pending_completed(m, done, t_ns);
	touch_by_host(m, w, seq);
	report_wait(m, w, &cost);
	sw_forbidden_call(m, w, &cost, blocks);
	sw_stall_done(m, w);
	if (w->enqueues || w->what.kind == SW_REC_GRAPH_LAUNCH)
		sw_event_wait_worked(m, w->what.point.lane);
	sw_wide_wait_ended(m, w, &cost, documented);
}

/* Records were lost. */

/* Records were lost: forgets all uses of memory; returns how many. */
static uint64_t forget_uses(struct sw_model *m)
{
	uint64_t live = m->space.uses.live;
	for (struct sw_block *b = sw_space_next(&m->space, NULL); b; b = sw_space_next(&m->space, b))
		sw_shadow_clear(&b->shadow, &m->space.uses);
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&m->space.arrays, i, &slot));)
		sw_shadow_clear(&((struct sw_block *)(uintptr_t)slot.value)->shadow, &m->space.uses);
	sw_shadow_clear(&m->space.pageable.shadow, &m->space.uses);
	return live - m->space.uses.live;
}

/* Forgets the accesses so far, since everything before is taken to be ordered before everything after: they could only
   make findings that straddle the gap. */
static void forget_work(struct sw_model *m, uint64_t seq)
{
	sw_deferred_flush(m);
	m->j->coverage.straddling_dropped += forget_uses(m);
	sw_space_forget_freed(&m->space);
	sw_pool_blocks_forget(&m->space.pool_blocks);
	sw_wait_forget(m);
	sw_host_funcs_forget(m);
	sw_wide_forget(m);
	sw_batches_forget(m->batches);
	sw_uploads_forget(m);
	sw_stored_values_forget(m);
	sw_library_lost(m);
	sw_hb_barrier(m->hb, seq);
	sw_event_waits_forget(m);
	if (m->schedule)
		sw_schedule_break(m->schedule);
}

/* Handles a loss of records: nothing that the lost ones may have changed is relied on. */
void sw_on_loss(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	(void)w;
	sw_graphs_forget(m);
	sw_captures_forget(m);
	sw_physical_forget(m->physical);
	forget_work(m, r->seq);
}

/* Handles the edge of a pause, in which hot calls are left out on purpose.  Graphs, captures and memory were recorded
   all along.  Of events and streams less is known than happened (sw_pause_hides_event(), sw_pause_hides_work()). */
void sw_on_cut(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_cut *cut = (const struct sw_rec_cut *)(const void *)r->rec;
	const uint64_t edges = sw_hb_stats(m->hb).edges_for_safety, straddling = m->j->coverage.straddling_dropped;
	(void)w;
	forget_work(m, r->seq);
	m->cut_edges += sw_hb_stats(m->hb).edges_for_safety - edges;
	m->j->coverage.straddling_dropped = straddling; /* the report names the cut itself */
	sw_nvtx_forget(m);
	sw_model_pass_time(m, r->t_ns);
	m->paused = cut->flags & (SW_CUT_BEGINS | SW_CUT_AT_END);
	m->collect.none = m->paused || m->options->no_findings;
	if (!m->paused)
		m->cut_seq = r->seq;
}

static sw_handler *const handlers[256] = {
#define SW_HANDLER(kind, name) [SW_REC_##kind] = sw_on_##name,
	SW_HANDLERS(SW_HANDLER)
#undef SW_HANDLER
};

/* Fills an access with what the record alone says: who called, where and when; the handler adds what it touches. */
static void base_access(struct sw_model *m, const struct sw_record *r, struct sw_access *what)
{
	const struct sw_library_open *open = sw_library_open_of(m, r->thread);
	*what = (struct sw_access){
		.role = SW_CALL,
		.kind = r->rec->kind,
		.api = r->rec->api,
		.flags = r->rec->flags,
		.nvtx = sw_nvtx_of(m, r->thread),
		.forward = sw_nvtx_forward(m, r),
		.library = open ? open->index : 0,
		.library_call = open ? open->call : 0,
		.operands = open ? open->operands : 0,
		.seq = r->seq,
		.t_ns = r->t_ns,
		.dur_ns = r->dur_ns,
		.thread = r->thread,
		.stack = r->stack,
		.device = m->context[r->rec->ctx].device,
		.param = -1,
	};
}

/* Counts a record of a call by its kind for the coverage, and widens the time span of the run by it. */
static void count_call(struct sw_model *m, const struct sw_record *r)
{
	uint64_t end = r->t_ns + r->dur_ns;
	if (!m->any || r->t_ns < m->first_ns)
		m->first_ns = r->t_ns;
	if (!m->any || end > m->last_ns)
		m->last_ns = end;
	m->any = true;
	if (r->rec->flags & SW_RF_END || r->rec->kind == SW_REC_HOST_FUNC_RUN || r->rec->kind == SW_REC_ANNOTATION ||
	    r->rec->kind == SW_REC_HOST_ACCESS || r->rec->kind == SW_REC_HOST_SYNC)
		return;
	sw_host_func_caller(m, r->thread);
	m->j->coverage.driver_calls += r->calls;
	m->j->coverage.runtime_calls += r->rec->flags & SW_RF_RUNTIME ? r->calls : 0;
}

/* Handles the END record of a call of two records: wait_done() judges the call as a whole now.  m->wait and m->record
   are those of the call until the next record sets them. */
static void end_of_call(struct sw_model *m, const struct sw_record *r)
{
	const struct sw_rec_end *end = (const struct sw_rec_end *)(const void *)r->rec;
	struct sw_wait *w = sw_wait_take(m, end->begin_seq);
	if (!w) /* its BEGIN record was lost, or not judged */
		return;
	m->wait = w;
	m->record = &w->record;
	if (m->schedule)
		sw_timing_return(m, &w->record, r->dur_ns);
	if (w->record.rec->kind == SW_REC_HOST_FUNC_RUN)
		sw_host_func_returned(m, &w->record, r->seq);
	sw_recent_calls_add(&m->collect.recent, &w->record, r->seq);
	wait_done(m, w, r->seq, r->t_ns, r->dur_ns, r->failed);
	sw_wait_recycle(m, w);
}

/* Handles a call that failed: judging ends for a context that is lost, and a capture may have refused the call. */
static void report_failed_call(struct sw_model *m, const struct sw_record *r)
{
	struct sw_operation op = {.record = r};
	struct sw_context_state *context = &m->context[r->rec->ctx];
	if (sw_status_ends_context(r->rec->status) && !context->over) {
		context->over = true;
		if (!m->j->coverage.sticky_error_seq)
			m->j->coverage.sticky_error_seq = r->seq;
	}
	if (r->rec->flags & SW_RF_END)
		return;
	base_access(m, r, &op.what);
	sw_isolation_failed(m, r, &op.what);
	if (!m->observer->operation)
		return;
	m->observer->operation(m->observer->arg, &op);
}

void sw_model_step(struct sw_model *m, const struct sw_record *r)
{
	m->step++;
	if (r->rec->kind == SW_REC_RANGE) {
		sw_nvtx_take(m, r);
		return;
	}
	if (r->rec->kind == SW_REC_COLLECTIVE) {
		m->j->collectives = true;
		sw_collective_take(m, r);
		return;
	}
	if (r->rec->kind == SW_REC_LIBRARY) {
		sw_library_take(m, r);
		return;
	}
	sw_handler *handler = handlers[r->rec->kind];
	bool operation = sw_kind_is_operation(r->rec->kind);
	if (operation) {
		count_call(m, r);
		if (r->failed)
			report_failed_call(m, r);
		if (r->rec->flags & SW_RF_END) {
			end_of_call(m, r);
			return;
		}
		/* A capture has ended also when its end returned an error. */
		if ((r->failed && r->rec->kind != SW_REC_CAPTURE) || m->context[r->rec->ctx].over)
			return;
	}
	bool two = operation && r->rec->flags & SW_RF_BEGIN;
	m->record = r;
	m->wait = two ? sw_wait_open(m, r) : sw_wait_single(m, r);
	base_access(m, r, &m->wait->what);
	sw_recent_calls_add(&m->collect.recent, r, r->seq);
	if (handler)
		handler(m, m->record, m->wait);
	sw_asked_order_take(m, m->wait);
	if (operation && m->schedule && !m->paused)
		sw_timing_call(m, m->record, m->wait);
	if (operation && !two)
		wait_done(m, m->wait, r->seq, r->t_ns + r->dur_ns, r->dur_ns, false);
}
