/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/calls/streams.h"

#include <stdlib.h>

#include "detect/calls/shared_events.h"
#include "detect/calls/tensor_blocks.h"
#include "detect/hazards/host_functions.h"
#include "detect/hazards/intended_order.h"
#include "detect/model/call.h"
#include "detect/model/captures.h"
#include "detect/model/events.h"
#include "detect/model/handlers.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"

void sw_on_stream_create(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_stream *s = (const struct sw_rec_stream *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, s->stream);
	uint32_t lane;
	sw_hb_stream_create(m->hb, r->rec->ctx, s->stream, s->flags & 1);
	w->what.stream = sw_model_lane(m, &at, &lane)->stream;
	struct sw_stream_info *info = &m->j->streams.at[w->what.stream];
	info->create_stack = r->stack;
	if (!info->create_seq)
		info->create_seq = r->seq;
}

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

void sw_on_event_create(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_event *e = (const struct sw_rec_event *)(const void *)r->rec;
	(void)w;
	sw_event_forget(m, e->event);
	sw_hb_event_create(m->hb, e->event);
	sw_shared_event_made(m, e);
}

void sw_on_event_destroy(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_event *e = (const struct sw_rec_event *)(const void *)r->rec;
	(void)w;
	sw_event_forget(m, e->event);
	sw_hb_event_destroy(m->hb, e->event);
}

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
	bool unwaited = before.recorded && !before.waits && !event->capture && !event->interprocess;
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
		lane->recorded = *what;
		lane->recorded_event = handle;
	}
	sw_shared_event_recorded(
		m, event,
		now.context_wide ? at->ctx : m->j->streams.at[sw_model_lane_state(m, now.record.lane)->stream].ctx);
	if (unwaited && event->ordering)
		sw_event_wait_replaced(m, event);
}

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

/* A graph records the event when it runs: somewhere among the work given out so far. */
static void wait_for_graph(struct sw_model *m, const struct sw_hb_at *at, unsigned flags)
{
	struct sw_hb_event_state state;
	sw_hb_event_record(m->hb, SW_SAFETY_EVENT, at, SW_HB_CONTEXT, NULL);
	sw_hb_stream_wait(m->hb, at, SW_SAFETY_EVENT, flags, &state);
	sw_hb_event_destroy(m->hb, SW_SAFETY_EVENT);
	m->j->coverage.edges_for_safety++;
}

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
	sw_shared_event_joined(m, event, &at, all ? SW_HB_CONTEXT : 0);
	sw_hb_stream_wait(m->hb, &at, s->event, all ? SW_HB_CONTEXT : 0, &state);
	event->ordering = true;
	if (lane_state && !event->interprocess)
		sw_event_wait_remember(m, sw_model_lane(m, &at, &lane), event, &state, useless);
}

/* ---- captures ---------------------------------------------------------------------------------------------------- */

void sw_on_capture(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_capture *c = (const struct sw_rec_capture *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, c->stream);
	uint32_t lane;
	struct sw_lane_state *lane_state = sw_model_lane(m, &at, &lane);
	w->what.stream = lane_state->stream;
	if (c->op != SW_CAPTURE_END) {
		if (!r->failed)
			sw_capture_join(m, lane_state, r->seq);
		return;
	}
	/* It continues, spoilt or not: UNMATCHED is not the stream that it began on, WRONG_THREAD not the thread. */
	if (r->failed && (r->rec->status == 903 || r->rec->status == 908))
		return;
	sw_capture_end(m, lane_state->capture);
}

/* ---- host functions ---------------------------------------------------------------------------------------------- */

#define SW_HOST_FUNC_UNSEEN 2u

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

/* The function runs: all before it on its stream is done, and the host may learn so before the function returns (it
   signals a condition variable, the waiting thread is faster than the return). */
void sw_on_host_func_run(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_host_func *f = (const struct sw_rec_host_func *)(const void *)r->rec;
	(void)w;
	sw_hb_host_func_end(m->hb, sw_host_func_start(m, f->enqueued, r->thread), r->thread, r->seq);
}
