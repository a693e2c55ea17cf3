/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/calls/syncs.h"

#include <stdlib.h>

#include "detect/calls/shared_events.h"
#include "detect/hazards/intended_order.h"
#include "detect/model/call.h"
#include "detect/model/events.h"
#include "detect/model/handlers.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/polls.h"
#include "detect/waits/waits.h"
#include "detect/waits/wide_syncs.h"

/* With nothing pending that we know of, a call that takes longer than this waited for something that we do not see. */
#define SW_REDUNDANT_MAX_NS 100000u

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
	if (!event)
		return;
	event->ordering = true;
	if (event->interprocess) {
		sw_shared_event_awaited(m, event, w);
		return;
	}
	if (w->pending && event->last.seq > w->waited_for.seq)
		w->waited_for = event->last;
	uint32_t host = sw_hb_host_lane(m->hb, r->thread);
	sw_event_wait_remember(m, sw_model_lane_state(m, host), event, &state, sw_event_wait_useless(m, event, host));
}

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
		token = sw_hb_wait_stream(m->hb, &at);
		break;
	case SW_SYNC_CONTEXT:
		token = sw_hb_wait_context(m->hb, r->rec->ctx);
		break;
	default:
		return;
	}
	sw_wait_look(m, w, token);
	sw_wait_add(m, w, token, SW_ORDER_DOCUMENTED);
}

static void asked_event(struct sw_model *m, uint64_t handle)
{
	struct sw_event_state *event = sw_event_find(m, handle);
	if (event && !event->capture && event->record.seq)
		sw_wide_asked(m, event->record.point, event->record.seq);
}

/* Questions that a wait was perhaps made for: without it the answer might have been "not ready". */
static void asked(struct sw_model *m, const struct sw_record *r, const struct sw_rec_sync *s)
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

/* A value is copied to pinned memory and waited for (tensor.item()): the copy is asynchronous, the pair is not. */
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

void sw_on_sync(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_sync *s = (const struct sw_rec_sync *)(const void *)r->rec;
	w->what.role = SW_WAIT;
	m->j->coverage.syncs++;
	w->own_ns = sw_wait_own(SW_OWN_SYNC, 0);
	begin_sync(m, r, w, s);
	if (s->what == SW_SYNC_ELAPSED)
		asked(m, r, s);
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
	asked(m, r, q);
}
