/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes, the streams that they are, and the work that is enqueued on them. */
#include "detect/model/lanes.h"

#include <stdlib.h>

#include "base/hash.h"
#include "detect/model/call.h"
#include "detect/model/captures.h"
#include "detect/model/contexts.h"
#include "detect/model/lanes_state.h"
#include "detect/model/model.h"

struct sw_lanes *sw_lanes_new(void)
{
	return sw_calloc(1, sizeof(struct sw_lanes));
}

void sw_lanes_free(struct sw_lanes *lanes)
{
	for (size_t i = 0; i < lanes->at.n; i++) {
		free(lanes->at.at[i].event_waits);
		free(lanes->at.at[i].pending);
	}
	free(lanes->at.at);
	sw_map_free(&lanes->shared_streams);
	free(lanes);
}

uint32_t sw_lanes_count(const struct sw_model *m)
{
	return (uint32_t)m->lanes->at.n;
}

struct sw_hb_at sw_model_at(const struct sw_model *m, const struct sw_record *r, uint64_t stream)
{
	(void)m;
	return (struct sw_hb_at){.stream = stream,
				 .seq = r->seq,
				 .thread = r->thread,
				 .ctx = r->rec->ctx,
				 .per_thread = r->rec->flags & SW_RF_PER_THREAD};
}

/* ---- lanes and streams ------------------------------------------------------------------------------------------- */

/* Streams that are described one by one: 2 MiB.  A program that makes them without end gets one description for all
   further ones of a call site, so that memory does not grow with the run.  A timeline draws each of them anyway. */
#define SW_MAX_STREAMS 16384u

/* Which description lanes of this kind share; 0: the lane has one of its own. */
static uint64_t shared_key(const struct sw_model *m, const struct sw_hb_at *at, enum sw_lane_kind kind, bool many)
{
	uint64_t key = (uint64_t)kind << 40 | (uint64_t)at->ctx << 32;
	bool created = m->record->rec->kind == SW_REC_STREAM_CREATE;
	if (many)
		return sw_hash_u64(key | (created ? m->record->stack : 0)) | 1ull << 63;
	if (kind == SW_LANE_BLOCKING || kind == SW_LANE_NONBLOCKING)
		return 0;
	return key | (kind == SW_LANE_PER_THREAD ? at->thread : 0);
}

static uint32_t describe_stream(struct sw_model *m, const struct sw_hb_at *at, uint32_t lane)
{
	enum sw_lane_kind kind = sw_hb_lane_kind(m->hb, lane);
	bool handle = kind == SW_LANE_BLOCKING || kind == SW_LANE_NONBLOCKING;
	bool many = m->j->streams.n >= SW_MAX_STREAMS && !m->observer->operation && kind != SW_LANE_LEGACY;
	uint64_t key = shared_key(m, at, kind, many);
	uint64_t *known = key ? sw_map_put(&m->lanes->shared_streams, key) : NULL;
	if (known && *known)
		return (uint32_t)*known;
	uint32_t index = (uint32_t)m->j->streams.n;
	*sw_vec_push(&m->j->streams) = (struct sw_stream_info){
		.handle = handle && !many ? at->stream : 0,
		.kind = kind,
		.number = handle && !many ? ++m->lanes->streams_made : 0,
		.ctx = at->ctx,
		.device = m->context[at->ctx].device,
		.thread = kind == SW_LANE_PER_THREAD ? at->thread : 0,
		.many = many,
	};
	if (known)
		*known = index;
	return index;
}

struct sw_lane_state *sw_model_lane_state(struct sw_model *m, uint32_t lane)
{
	while (m->lanes->at.n <= lane)
		*sw_vec_push(&m->lanes->at) = (struct sw_lane_state){0};
	struct sw_lane_state *lane_state = &m->lanes->at.at[lane];
	uint32_t serial = sw_hb_lane_serial(m->hb, lane);
	if (lane_state->serial != serial) {
		free(lane_state->event_waits);
		free(lane_state->pending);
		m->lanes->capturing -= lane_state->capture != 0;
		*lane_state = (struct sw_lane_state){.serial = serial};
	}
	return lane_state;
}

struct sw_lane_state *sw_model_lane(struct sw_model *m, const struct sw_hb_at *at, uint32_t *lane)
{
	*lane = sw_hb_lane(m->hb, at);
	struct sw_lane_state *lane_state = sw_model_lane_state(m, *lane);
	if (!lane_state->stream)
		lane_state->stream = describe_stream(m, at, *lane);
	return lane_state;
}

bool sw_model_captured(struct sw_model *m, const struct sw_hb_at *at)
{
	uint32_t lane;
	return m->lanes->capturing && sw_model_lane(m, at, &lane)->capture;
}

bool sw_model_enqueue_with(struct sw_model *m, const struct sw_record *r, uint64_t stream,
			   const struct sw_others *others)
{
	struct sw_hb_at at = sw_model_at(m, r, stream);
	struct sw_access *what = &m->wait->what;
	uint32_t lane;
	struct sw_lane_state *lane_state = sw_model_lane(m, &at, &lane);
	what->stream = lane_state->stream;
	what->device = m->j->streams.at[lane_state->stream].device;
	if (lane_state->capture) {
		sw_origin_remember(m, what);
		return false;
	}
	if (others->grid)
		what->point = sw_hb_launch(m->hb, &at, others->grid, others->view);
	else if (!others->n)
		what->point = sw_hb_enqueue(m->hb, &at);
	else if (others->all)
		what->point = sw_hb_enqueue_across(m->hb, &at, others->ctx, others->n);
	else
		what->point = sw_hb_enqueue_joined(m->hb, &at, others->ctx[0]);
	lane_state = sw_model_lane_state(m, what->point.lane);
	lane_state->work = what->point.tick;
	lane_state->last = *what;
	if (!lane_state->since)
		lane_state->since = r->seq;
	m->wait->enqueues = true;
	sw_pending_push(m, lane_state, r->seq, what->point.tick);
	return true;
}

bool sw_model_enqueue(struct sw_model *m, const struct sw_record *r, uint64_t stream)
{
	static const struct sw_others nobody = {0};
	return sw_model_enqueue_with(m, r, stream, &nobody);
}

/* ---- work that is not known to be done --------------------------------------------------------------------------- */

/* Work remembered per stream for telling when it was known to be done; of a stream that nothing waits for the oldest is
   dropped. */
#define SW_MAX_PENDING 65536u

void sw_pending_push(struct sw_model *m, struct sw_lane_state *lane, uint64_t seq, uint64_t tick)
{
	if (!m->observer->completed)
		return;
	if (lane->pending_n) { /* a launch of a graph may take several steps: it is done with the last */
		struct sw_pending *last =
			&lane->pending[(lane->pending_first + lane->pending_n - 1) % lane->pending_room];
		if (last->seq == seq) {
			last->tick = tick;
			return;
		}
	}
	if (lane->pending_n == lane->pending_room && lane->pending_room < SW_MAX_PENDING) {
		uint32_t room = lane->pending_room ? 2 * lane->pending_room : 16;
		struct sw_pending *more = sw_alloc(room * sizeof *more);
		for (uint32_t i = 0; i < lane->pending_n; i++)
			more[i] = lane->pending[(lane->pending_first + i) % lane->pending_room];
		free(lane->pending);
		lane->pending = more;
		lane->pending_room = room;
		lane->pending_first = 0;
	}
	if (lane->pending_n == lane->pending_room) {
		lane->pending_first = (lane->pending_first + 1) % lane->pending_room;
		lane->pending_n--;
	}
	lane->pending[(lane->pending_first + lane->pending_n++) % lane->pending_room] = (struct sw_pending){seq, tick};
}

void sw_pending_completed(struct sw_model *m, const sw_covered_vec *done, uint64_t t_ns)
{
	for (size_t i = 0; i < done->n; i++) {
		struct sw_lane_state *lane = sw_model_lane_state(m, done->at[i].lane);
		while (lane->pending_n && lane->pending[lane->pending_first].tick <= done->at[i].covered) {
			m->observer->completed(m->observer->arg, lane->pending[lane->pending_first].seq, lane->stream,
					       t_ns);
			lane->pending_first = (lane->pending_first + 1) % lane->pending_room;
			lane->pending_n--;
		}
	}
}
