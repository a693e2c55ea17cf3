/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/calls/streams.h"

#include <stdlib.h>

#include "detect/calls/allocations.h"
#include "detect/hazards/host_functions.h"
#include "detect/hazards/hazards.h"
#include "detect/hazards/shared_uses.h"
#include "detect/hazards/stored_values.h"
#include "detect/hazards/touch.h"
#include "detect/model/call.h"
#include "detect/model/lanes.h"
#include "detect/model/collect.h"
#include "detect/model/forbidden.h"
#include "detect/model/handlers.h"
#include "detect/model/model.h"
#include "detect/waits/waits.h"
#include "detect/waits/wide_syncs.h"

#define SW_EVENT_INTERPROCESS 4u /* CU_EVENT_INTERPROCESS */

/* The event, in the order engine, that stands for the lane's last record which other processes may wait for.  No
   program can hold its handle: events are pointers. */
static uint64_t told_by(uint32_t lane)
{
	return UINT64_C(1) << 62 | lane;
}

/* When an event was created: notes whether other processes may know it, or it is one of theirs that was opened here
   (`shared`: low bits of its handle's hash). */
static void shared_event_made(struct sw_model *m, const struct sw_rec_event *e)
{
	if (e->flags & SW_EVENT_INTERPROCESS || e->shared)
		*sw_event_of(m, e->event) = (struct sw_event_state){
			.exportable = true, .interprocess = e->shared != 0, .handle = e->shared};
}

/* Notes that other processes may wait for an event that covers some work of the context, not known which: it may be all
   that was enqueued so far, on any lane. */
static void mark_shared_event(struct sw_model *m, uint8_t ctx)
{
	m->context[ctx].shared_event = m->shared_events_recorded = m->shares = true;
	for (uint32_t lane = 0; lane < sw_lanes_count(m); lane++)
		sw_model_lane_state(m, lane)->shared_event = sw_model_lane_state(m, lane)->work;
}

/* When the event's handle was exported: others may wait for its earlier record from now on, which covered some of the
   work so far. */
void sw_shared_event_exported(struct sw_model *m, uint64_t handle, uint64_t hash)
{
	struct sw_event_state *event = sw_event_of(m, handle);
	if (!event->interprocess && event->record.seq)
		mark_shared_event(m, m->j->streams.at[event->record.stream].ctx);
	event->interprocess = event->exportable = true;
	event->handle = (uint32_t)hash;
	sw_sharing_event_exported(m, handle, (uint32_t)hash);
}

/* When an event was recorded that other processes know: they may learn, and tell this process, that the work before it
   is done. */
static void shared_event_recorded(struct sw_model *m, const struct sw_event_state *event, uint8_t ctx)
{
	const struct sw_point record = event->record.point;
	if (!event->interprocess)
		return;
	if (!record.tick) {
		mark_shared_event(m, ctx);
		return;
	}
	m->shared_events_recorded = m->shares = true;
	sw_model_lane_state(m, record.lane)->shared_event = record.tick;
	sw_hb_event_snapshot(m->hb, told_by(record.lane), record.lane);
}

/* Before a stream waits for an event that other processes know (at: the stream; flags: of sw_hb_stream_wait): it is
   also ordered after all that records of such events cover here (see streams.h), since another process may have waited
   for them. */
static void shared_event_joined(struct sw_model *m, const struct sw_event_state *event, const struct sw_hb_at *at,
				unsigned flags)
{
	if (event->interprocess)
		sw_sharing_waited(m, event->handle);
	if (!event->interprocess || !m->shared_events_recorded)
		return;
	for (uint32_t lane = 0; lane < sw_lanes_count(m); lane++)
		if (sw_model_lane_state(m, lane)->shared_event) {
			sw_hb_stream_wait(m->hb, at, told_by(lane), flags, NULL);
			m->j->coverage.edges_for_safety++;
		}
	for (unsigned ctx = 0; ctx < SW_CONTEXTS; ctx++) {
		struct sw_hb_at all = *at;
		all.ctx = (uint8_t)ctx;
		if (!m->context[ctx].shared_event)
			continue;
		sw_hb_event_record(m->hb, SW_SAFETY_EVENT, &all, SW_HB_CONTEXT, NULL);
		sw_hb_stream_wait(m->hb, at, SW_SAFETY_EVENT, flags, NULL);
		sw_hb_event_destroy(m->hb, SW_SAFETY_EVENT);
		m->j->coverage.edges_for_safety++;
	}
}

/* Adds to a wait of the host for an event that other processes know all that records of such events cover here (see
   streams.h). */
static void shared_event_awaited(struct sw_model *m, const struct sw_event_state *event, struct sw_wait *w)
{
	if (event->interprocess)
		sw_sharing_waited(m, event->handle);
	if (!event->interprocess || !m->shared_events_recorded)
		return;
	for (uint32_t lane = 0; lane < sw_lanes_count(m); lane++)
		if (sw_model_lane_state(m, lane)->shared_event) {
			sw_wait_add(m, w, sw_hb_wait_event(m->hb, told_by(lane), NULL), SW_ORDER_DOCUMENTED);
			m->j->coverage.edges_for_safety++;
		}
	for (unsigned ctx = 0; ctx < SW_CONTEXTS; ctx++)
		if (m->context[ctx].shared_event) {
			sw_wait_add(m, w, sw_hb_wait_context(m->hb, (uint8_t)ctx), SW_ORDER_DOCUMENTED);
			m->j->coverage.edges_for_safety++;
		}
}

/* With nothing pending that we know of, a call that takes longer than this waited for something that we do not see. */
#define SW_REDUNDANT_MAX_NS 100000u

/* Adds to a wait of the host all work before the event's last record; an event that a graph records covers the whole
   context, to be safe. */
static void wait_event(struct sw_model *m, struct sw_wait *w, const struct sw_record *r, uint64_t handle)
{
	struct sw_hb_event_state state;
	struct sw_event_state *event = sw_event_find(m, handle);
	if (event && event->capture)
		return;
	if (event && event->in_graph) {
		sw_wait_add(m, w, sw_hb_wait_context(m->hb, r->rec->ctx), SW_ORDER_DOCUMENTED);
		m->j->coverage.edges_for_safety++;
		return;
	}
	sw_hb_token token = sw_hb_wait_event(m->hb, handle, &state);
	bool first = !w->tokens;
	sw_covered_vec before = w->covered;
	if (!first)
		w->covered = (sw_covered_vec){0};
	sw_wait_look(m, w, token);
	if (!first) {
		free(before.at);
		w->pending |= before.n > 0;
	}
	sw_wait_add(m, w, token, SW_ORDER_DOCUMENTED);
	if (!event || (w->hidden |= sw_pause_hides_event(m, event) ||
				    (event->record.seq && sw_pause_hides_work(m, event->record.point.lane)))) {
		w->pending |= w->hidden;
		return;
	}
	event->ordering = true;
	if (event->interprocess) {
		shared_event_awaited(m, event, w);
		return;
	}
	if (w->pending && event->last.seq > w->waited_for.seq)
		w->waited_for = event->last;
	uint32_t host = sw_hb_host_lane(m->hb, r->thread);
	sw_event_wait_remember(m, sw_model_lane_state(m, host), event, &state, sw_event_wait_useless(m, event, host));
}

/* Begins a synchronisation: takes a snapshot of the work that it waits for. */
static void begin_sync(struct sw_model *m, const struct sw_record *r, struct sw_wait *w, const struct sw_rec_sync *s)
{
	struct sw_hb_at at = sw_model_at(m, r, s->handle);
	sw_hb_token token;
	uint32_t lane;
	switch ((enum sw_sync_what)s->what) {
	case SW_SYNC_ELAPSED:
		wait_event(m, w, r, s->handle2);
		__attribute__((fallthrough));
	case SW_SYNC_EVENT:
		wait_event(m, w, r, s->handle);
		return;
	case SW_SYNC_STREAM:
		w->what.stream = sw_model_lane(m, &at, &lane)->stream;
		w->hidden = sw_pause_hides_work(m, lane);
		token = sw_hb_wait_stream(m->hb, &at);
		break;
	case SW_SYNC_CONTEXT:
		w->hidden = m->context[r->rec->ctx].waited_seq < m->cut_seq;
		token = sw_hb_wait_context(m->hb, r->rec->ctx);
		break;
	default:
		return;
	}
	sw_wait_look(m, w, token);
	w->pending |= w->hidden;
	sw_wait_add(m, w, token, SW_ORDER_DOCUMENTED);
}

/* After a wait: work before it is known to be done, even where the recorder left out (`cut_seq`) what came between. */
void sw_sync_over(struct sw_model *m, const struct sw_wait *w)
{
	const struct sw_rec_sync *s = (const struct sw_rec_sync *)(const void *)w->record.rec;
	struct sw_hb_at at = sw_model_at(m, &w->record, s->handle);
	const struct sw_event_state *event;
	uint32_t lane;
	if (!m->cut_seq || !w->tokens)
		return;
	if (s->what == SW_SYNC_STREAM)
		sw_model_lane(m, &at, &lane)->waited_seq = w->record.seq;
	else if (s->what == SW_SYNC_CONTEXT)
		m->context[w->record.rec->ctx].waited_seq = w->record.seq;
	else if ((event = sw_event_find(m, s->handle)) && event->record.seq > m->cut_seq && event->last.seq)
		sw_model_lane_state(m, event->record.point.lane)->waited_seq = event->record.seq;
}

/* When the host learnt that the event's record was done: notes the question for waits that may have been made for
   it. */
static void asked_event(struct sw_model *m, uint64_t handle)
{
	struct sw_event_state *event = sw_event_find(m, handle);
	if (event && !event->capture && event->record.seq)
		sw_wide_asked(m, event->record.point, event->record.seq);
}

/* Notes the work that a query, or a measured time between events, asked for: a wait before it was perhaps made for this
   question, since without the wait the answer might have been "not ready". */
static void remember_question(struct sw_model *m, const struct sw_record *r, const struct sw_rec_sync *s)
{
	struct sw_hb_at at = sw_model_at(m, r, s->handle);
	uint32_t lane;
	if (s->what == SW_SYNC_STREAM) {
		const struct sw_lane_state *lane_state = sw_model_lane(m, &at, &lane);
		if (lane_state->work)
			sw_wide_asked(m, (struct sw_point){lane, lane_state->work}, lane_state->last.seq);
		return;
	}
	asked_event(m, s->handle);
	if (s->what == SW_SYNC_ELAPSED)
		asked_event(m, s->handle2);
}

/* Between a copy and the wait for it there is nothing but the way out of one call and into the next. */
#define SW_READ_BACK_NS 50000u

struct sw_value_copies {
	SW_VEC(struct sw_access)
	by_thread; /* of sw_model_thread(): its last call, when that copied a value; else seq 0 */
};

/* The last copies of single values to the host, by thread. */
struct sw_value_copies *sw_value_copies_new(void)
{
	return sw_calloc(1, sizeof(struct sw_value_copies));
}

void sw_value_copies_free(struct sw_value_copies *copies)
{
	free(copies->by_thread.at);
	free(copies);
}

struct sw_access *sw_model_value(struct sw_model *m, uint32_t thread)
{
	const uint32_t number = sw_model_thread(m, thread);
	while (m->value_copies->by_thread.n <= number)
		*sw_vec_push(&m->value_copies->by_thread) = (struct sw_access){0};
	return &m->value_copies->by_thread.at[number];
}

/* For a wait for a value that was just copied to pinned memory (tensor.item()): judges the asynchronous copy and the
   wait as one synchronous copy. */
static void read_back(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	struct sw_access *value = sw_model_value(m, r->thread);
	bool behind = value->seq && value->stream == w->what.stream &&
		      r->t_ns - value->t_ns < value->dur_ns + SW_READ_BACK_NS;
	if (behind && w->pending) {
		w->read_back = *value;
		w->id = SW_FINDING_SYNC_COPY;
		w->basis = SW_BASIS_DOCUMENTED;
		w->fix = SW_FIX_VALUE;
	}
	value->seq = 0;
}

/* Handles a wait of the host for an event, a stream or a context, and the time between two events. */
void sw_on_sync(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_sync *s = (const struct sw_rec_sync *)(const void *)r->rec;
	w->what.role = SW_WAIT;
	m->j->coverage.syncs++;
	w->own_ns = sw_wait_own(SW_OWN_SYNC, 0);
	begin_sync(m, r, w, s);
	if (s->what == SW_SYNC_ELAPSED)
		remember_question(m, r, s);
	if (s->what == SW_SYNC_ELAPSED || !w->tokens)
		return;
	w->promised = w->pending;
	if (s->what == SW_SYNC_STREAM)
		read_back(m, r, w);
	const struct sw_event_state *event = s->what == SW_SYNC_EVENT ? sw_event_find(m, s->handle) : NULL;
	if (event && event->interprocess)
		return; /* it waits for others, perhaps */
	if (!w->pending && r->dur_ns < SW_REDUNDANT_MAX_NS) {
		w->id = SW_FINDING_REDUNDANT_SYNC;
		w->basis = SW_BASIS_DOCUMENTED;
		w->fix = SW_FIX_REMOVE;
		w->always = true;
	}
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

/* Handles a query of a stream or an event: one that says "done" orders like a wait. */
void sw_on_query(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_sync *q = (const struct sw_rec_sync *)(const void *)r->rec;
	bool done = r->rec->status != SW_NOT_READY;
	w->what.role = SW_WAIT;
	w->own_ns = sw_wait_own(SW_OWN_SYNC, 0);
	sw_poll_again(m, r, &w->what, done);
	if (!done)
		return;
	begin_sync(m, r, w, q);
	remember_question(m, r, q);
}

/*
 * Streams that signal each other through memory: cuStreamWriteValue, cuStreamWaitValue, cuStreamBatchMemOp.
 *
 * Several stores may have released a wait: it is ordered after what they all come after (hazards/stored_values.h).  If
 * none may have, a kernel, the host or a later write releases it: that is not followed.
 *
 * CUDA Driver API, "Stream Memory Operations": a write is preceded by a system-wide memory barrier unless
 * CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER; a wait holds "further work" of its stream.
 */

void sw_value_not_followed(struct sw_model *m, const struct sw_access *call)
{
	struct sw_finding seen = {.id = SW_FINDING_UNCLASSIFIED_CALL,
				  .severity = SW_NOTE,
				  .confidence = SW_CERTAIN,
				  .accesses = 1,
				  .access[0] = call};
	uint8_t ctx = m->record->rec->ctx;
	m->j->coverage.unclassified_calls++;
	if (!m->context[ctx].unclassified)
		m->context[ctx].unclassified = m->record->seq;
	sw_collect_add(&m->collect, &seen, NULL);
}

void sw_value_written(struct sw_model *m, struct sw_point point, const struct sw_rec_mem_op *o)
{
	const struct sw_range range = sw_range_bytes(o->address, o->bytes, SW_WRITE, SW_EV_EXACT);
	sw_upload_written(m, &range, m->step);
	sw_value_stored(m, point, o);
	sw_host_signalled(m, point);
	uint64_t offset;
	const struct sw_block *block = sw_space_find(&m->space, o->address, &offset);
	if (!block || sw_host_sees(block))
		sw_host_flag_written(m, point);
}

/* Makes the stream wait until memory holds a value: it comes after what all stores that may have released the wait have
   in common. */
void sw_value_waited(struct sw_model *m, const struct sw_hb_at *at, const struct sw_rec_mem_op *o)
{
	uint64_t events[SW_MAX_STORES];
	int n = sw_value_releases(m, o, sw_hb_lane(m->hb, at), events);
	if (n < 0)
		sw_value_not_followed(m, &m->wait->what);
	else if (n)
		sw_hb_stream_wait_common(m->hb, at, events, (size_t)n);
}

/* Touches discarded memory, which is written with indeterminate values; each range of a batch is work of its own.  CUDA
   Driver API, cuMemDiscardBatchAsync: reading from a discarded range "will return an indeterminate value", and "any
   reads, writes or prefetches [...] that occur simultaneously with the discard" are undefined behaviour. */
static void touch_discarded(struct sw_model *m, const struct sw_access *what, const struct sw_rec_mem_op *o)
{
	const struct sw_range range = sw_range_bytes(o->address, o->bytes, SW_WRITE, SW_EV_EXACT);
	if (o->bytes)
		sw_model_touch(m, what, &range, &(struct sw_touch){0});
}

/* Handles writes of values and waits for them, prefetches, attachments and discards.  A prefetch and an attachment are
   work; advice is not.  A batch's barriers and flushes order what its other members order anyway. */
void sw_on_mem_op(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_mem_op *o = (const struct sw_rec_mem_op *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, o->stream);
	if (o->op == SW_MEMOP_ADVISE || !sw_model_enqueue(m, r, o->stream))
		return;
	if (o->op == SW_MEMOP_DISCARD) {
		touch_discarded(m, &w->what, o);
		return;
	}
	if (o->op == SW_MEMOP_WRITE_VALUE)
		sw_value_written(m, w->what.point, o);
	else if (o->op == SW_MEMOP_WAIT_VALUE)
		sw_value_waited(m, &at, o);
	sw_wide_poison(m);
}

/* Handles a new stream. */
void sw_on_stream_create(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_stream *s = (const struct sw_rec_stream *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, s->stream);
	uint32_t lane;
	sw_hb_stream_create(m->hb, r->rec->ctx, s->stream, s->flags & 1);
	w->what.stream = sw_model_lane(m, &at, &lane)->stream;
	struct sw_stream_info *info = &m->j->streams.at[w->what.stream];
	sw_model_lane_state(m, lane)->made_seq = r->seq;
	info->create_stack = r->stack;
	if (!info->create_seq)
		info->create_seq = r->seq;
}

/* Handles the destruction of a stream: its work goes on, a capture on it ends. */
void sw_on_stream_destroy(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_stream *s = (const struct sw_rec_stream *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, s->stream);
	uint32_t lane;
	struct sw_lane_state *lane_state = sw_model_lane(m, &at, &lane);
	w->what.stream = lane_state->stream;
	sw_capture_leave(m, lane_state);
	sw_hb_stream_destroy(m->hb, s->stream);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* Handles a new event; its handle may be that of one that was destroyed. */
void sw_on_event_create(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_event *e = (const struct sw_rec_event *)(const void *)r->rec;
	(void)w;
	sw_event_forget(m, e->event);
	sw_hb_event_create(m->hb, e->event);
	sw_event_of(m, e->event)->made = r->seq;
	shared_event_made(m, e);
}

/* Handles the destruction of an event: waits that have begun keep what they cover. */
void sw_on_event_destroy(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_event *e = (const struct sw_rec_event *)(const void *)r->rec;
	(void)w;
	sw_event_forget(m, e->event);
	sw_hb_event_destroy(m->hb, e->event);
}

/* The order engine's flags for those of an event's record. */
static unsigned record_flags(uint32_t flags)
{
	return (flags & SW_EVENT_RECORD_CONTEXT ? SW_HB_CONTEXT : 0u) |
	       (flags & SW_EVENT_RECORD_EARLY ? SW_HB_EARLY : 0u);
}

void sw_event_recorded(struct sw_model *m, struct sw_access *what, const struct sw_hb_at *at, uint64_t handle,
		       unsigned flags)
{
	struct sw_event_state *event = sw_event_of(m, handle);
	struct sw_hb_event_state before, now;
	sw_hb_event_record(m->hb, handle, at, flags, &before);
	bool unwaited = before.recorded && !before.waits && !event->capture && !event->interprocess &&
			!sw_pause_hides_event(m, event);
	event->replaced = (struct sw_access){0};
	if (unwaited)
		event->replaced = event->record;
	sw_hb_event_state(m->hb, handle, &now);
	what->point = now.record;
	event->record = *what;
	event->work = now.context_wide ? UINT64_MAX : sw_model_lane_state(m, now.record.lane)->work;
	event->last = now.context_wide ? (struct sw_access){0} : sw_model_lane_state(m, now.record.lane)->last;
	event->capture = 0;
	if (!now.context_wide) {
		struct sw_lane_state *lane = sw_model_lane_state(m, now.record.lane);
		if (!lane->recorded)
			lane->recorded = sw_calloc(SW_LANE_RECORDS, sizeof *lane->recorded);
		lane->recorded[lane->records_made++ % SW_LANE_RECORDS] =
			(struct sw_recorded){handle, what->seq, now.record.tick};
	}
	shared_event_recorded(m, event,
			      now.context_wide ? at->ctx
					       : m->j->streams.at[sw_model_lane_state(m, now.record.lane)->stream].ctx);
	if (unwaited && event->ordering)
		sw_event_wait_replaced(m, event);
}

/* Handles a record of an event on a stream or a context; in a capture it becomes part of the graph and orders nothing
   outside. */
void sw_on_event_record(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_event_record *e = (const struct sw_rec_event_record *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, e->stream);
	struct sw_event_state *event = sw_event_of(m, e->event);
	uint32_t lane;
	uint64_t capture = 0;
	w->what.role = SW_RECORD;
	if (!(e->flags & SW_EVENT_RECORD_CONTEXT)) {
		const struct sw_lane_state *lane_state = sw_model_lane(m, &at, &lane);
		w->what.stream = lane_state->stream;
		capture = lane_state->capture;
	}
	if (capture) {
		if (e->flags & SW_EVENT_RECORD_EXTERNAL)
			event->in_graph = true;
		else
			event->capture = capture;
		return;
	}
	sw_event_recorded(m, &w->what, &at, e->event, record_flags(e->flags));
	sw_tensor_event_recorded(m, r, e->event);
}

/* Waits for an event that a graph records: which of the graph's launches did is not known, so the stream is ordered
   after all work of the context. */
static void wait_for_graph(struct sw_model *m, const struct sw_hb_at *at, unsigned flags)
{
	struct sw_hb_event_state state;
	sw_hb_event_record(m->hb, SW_SAFETY_EVENT, at, SW_HB_CONTEXT, NULL);
	sw_hb_stream_wait(m->hb, at, SW_SAFETY_EVENT, flags, &state);
	sw_hb_event_destroy(m->hb, SW_SAFETY_EVENT);
	m->j->coverage.edges_for_safety++;
}

/* Handles the wait of a stream, or of a context's future work, for an event.  A wait for an event that was recorded in
   a capture makes the stream part of the capture. */
void sw_on_stream_wait(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_stream_wait *s = (const struct sw_rec_stream_wait *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, s->stream);
	struct sw_event_state *event = sw_event_of(m, s->event);
	struct sw_hb_event_state state;
	bool all = s->flags & 2;
	uint32_t lane;
	w->what.role = SW_WAIT;
	struct sw_lane_state *lane_state = all ? NULL : sw_model_lane(m, &at, &lane);
	if (lane_state)
		w->what.stream = lane_state->stream;
	if (lane_state && sw_capture_lives(m, event->capture)) {
		sw_capture_join(m, lane_state, event->capture);
		return;
	}
	if (event->capture || (lane_state && lane_state->capture))
		return;
	if (event->in_graph) {
		wait_for_graph(m, &at, all ? SW_HB_CONTEXT : 0);
		return;
	}
	bool useless = lane_state && sw_event_wait_useless(m, event, lane);
	shared_event_joined(m, event, &at, all ? SW_HB_CONTEXT : 0);
	sw_hb_stream_wait(m->hb, &at, s->event, all ? SW_HB_CONTEXT : 0, &state);
	event->ordering = true;
	if (lane_state && !event->interprocess)
		sw_event_wait_remember(m, sw_model_lane(m, &at, &lane), event, &state, useless);
}

/* ---- captures ---------------------------------------------------------------------------------------------------- */

/* Handles the begin and the end of a capture on a stream. */
void sw_on_capture(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_capture *c = (const struct sw_rec_capture *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, c->stream);
	uint32_t lane;
	struct sw_lane_state *lane_state = sw_model_lane(m, &at, &lane);
	w->what.stream = lane_state->stream;
	if (c->op != SW_CAPTURE_END) {
		if (!r->failed) {
			sw_capture_join(m, lane_state, r->seq);
			sw_forbidden_capture_begun(m, r->seq, r->thread);
		}
		return;
	}
	/* The capture continues, spoilt or not: UNMATCHED is not the stream that it began on, WRONG_THREAD not the
	   thread. */
	if (r->failed && (r->rec->status == 903 || r->rec->status == 908))
		return;
	sw_forbidden_capture_ended(m, lane_state->capture);
	sw_capture_end(m, lane_state->capture);
}

/* ---- host functions ---------------------------------------------------------------------------------------------- */

#define SW_HOST_FUNC_UNSEEN 2u

/* Handles a host function that is enqueued on a stream; its run is another record. */
void sw_on_host_func(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_host_func *f = (const struct sw_rec_host_func *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, f->stream);
	uint32_t lane;
	sw_hb_token token;
	struct sw_lane_state *lane_state = sw_model_lane(m, &at, &lane);
	w->what.stream = lane_state->stream;
	if (lane_state->capture)
		return;
	w->what.point = sw_hb_host_func(m->hb, &at, &token);
	w->enqueues = true;
	lane_state = sw_model_lane_state(m, w->what.point.lane);
	lane_state->work = lane_state->visible = w->what.point.tick;
	lane_state->last = w->what;
	if (!lane_state->since)
		lane_state->since = r->seq;
	lane_state->visible_seq = r->seq;
	sw_pending_push(m, lane_state, r->seq, w->what.point.tick);
	if (f->flags & SW_HOST_FUNC_UNSEEN) {
		sw_hb_wait_drop(m->hb, token);
		sw_host_func_add_unseen(m, w->what.point);
	} else {
		sw_host_func_add(m, r->seq, w->what.point, token);
	}
}

/* Handles the start of a host function: all work before it on its stream is done.  The host may learn so before the
   function returns (it signals a condition variable, the waiting thread is faster than the return). */
void sw_on_host_func_run(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_host_func *f = (const struct sw_rec_host_func *)(const void *)r->rec;
	(void)w;
	sw_hb_host_func_end(m->hb, sw_host_func_start(m, f->enqueued, r->thread), r->thread, r->seq);
}
