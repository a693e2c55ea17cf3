/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes, the streams that they are, and the work that is enqueued on them. */
#include "detect/model/lanes.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "detect/behaviour/behaviour.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/model/call.h"
#include "detect/model/model.h"

struct sw_event_table {
	struct sw_map by_handle; /* -> struct sw_event_state */
};

struct sw_event_table *sw_event_table_new(void)
{
	return sw_calloc(1, sizeof(struct sw_event_table));
}

void sw_event_table_free(struct sw_event_table *events)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&events->by_handle, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(&events->by_handle);
	free(events);
}

struct sw_event_state *sw_event_find(struct sw_model *m, uint64_t handle)
{
	return sw_map_ptr(&m->events->by_handle, handle);
}

struct sw_event_state *sw_event_of(struct sw_model *m, uint64_t handle)
{
	struct sw_event_state *event = sw_map_ptr(&m->events->by_handle, handle);
	if (!event) {
		event = sw_calloc(1, sizeof *event);
		sw_map_put_ptr(&m->events->by_handle, handle, event);
	}
	return event;
}

const struct sw_event_state *sw_event_after(struct sw_model *m, const struct sw_access *work, uint64_t until)
{
	const struct sw_lane_state *lane = sw_model_lane_state(m, work->point.lane);
	const uint32_t n = lane->records_made < SW_LANE_RECORDS ? lane->records_made : SW_LANE_RECORDS;
	for (uint32_t i = n; i > 0; i--) {
		const struct sw_recorded *at = &lane->recorded[(lane->records_made - i) % SW_LANE_RECORDS];
		if (at->tick < work->point.tick || at->seq <= work->seq || at->seq >= until)
			continue;
		const struct sw_event_state *event = sw_event_find(m, at->event);
		if (event && event->record.seq == at->seq)
			return event;
	}
	return NULL;
}

/* Forgets an event that was destroyed: a later one may have its handle. */
void sw_event_forget(struct sw_model *m, uint64_t handle)
{
	free(sw_map_ptr(&m->events->by_handle, handle));
	sw_map_delete(&m->events->by_handle, handle);
}

void sw_event_waits_forget(struct sw_model *m)
{
	for (uint32_t i = 0; i < m->lanes->at.n; i++)
		m->lanes->at.at[i].event_waits_made = 0;
}

/* The context of the lane's stream. */
static uint8_t context_of_lane(const struct sw_model *m, const struct sw_lane_state *lane)
{
	return m->j->streams.at[lane->stream].ctx;
}

/* May work that was given to this lane itself while the recorder paused be pending?  Not if the host waited for the
   lane since. */
static bool hides_own(const struct sw_model *m, const struct sw_lane_state *lane)
{
	return lane->waited_seq < m->cut_seq && lane->made_seq < m->cut_seq;
}

/* May a pause hide work of the context's legacy stream?  A wait for that stream covers the streams that it orders,
   and their work waits for its work. */
static bool hides_legacy(const struct sw_model *m, uint8_t ctx)
{
	for (uint32_t i = 0; i < m->lanes->at.n; i++)
		if (sw_hb_lane_kind(m->hb, i) == SW_LANE_LEGACY && context_of_lane(m, &m->lanes->at.at[i]) == ctx)
			return hides_own(m, &m->lanes->at.at[i]);
	return true; /* the pause may have used it */
}

bool sw_pause_hides_work(struct sw_model *m, uint32_t lane)
{
	const struct sw_lane_state *state = sw_model_lane_state(m, lane);
	const enum sw_lane_kind kind = sw_hb_lane_kind(m->hb, lane);
	const uint8_t ctx = context_of_lane(m, state);
	if (!m->cut_seq || m->context[ctx].waited_seq > m->cut_seq)
		return false;
	if (kind == SW_LANE_BLOCKING || kind == SW_LANE_PER_THREAD ? hides_legacy(m, ctx) : hides_own(m, state))
		return true;
	for (uint32_t i = 0; i < m->lanes->at.n; i++)
		if (i != lane && sw_hb_lane_kind(m->hb, i) != SW_LANE_HOST && hides_own(m, &m->lanes->at.at[i]) &&
		    sw_hb_last_join(m->hb, lane, i).seq > m->cut_seq)
			return true;
	return false;
}

bool sw_pause_hides_event(const struct sw_model *m, const struct sw_event_state *event)
{
	return event->record.seq < m->cut_seq && event->made < m->cut_seq;
}

bool sw_model_wait_rule(const struct sw_model *m, uint8_t ctx, enum sw_wait_rule may)
{
	const struct sw_wait_rule_set *set = m->context[ctx].may;
	return (set ? set : sw_wait_rules_built_in())->waits[may];
}

/* Streams that take part in captures, and the calls that became nodes. */

struct sw_captures {
	struct sw_map origins;		 /* record of a captured call -> place in `origin` + 1 */
	SW_VEC(struct sw_access) origin; /* the last of them: a ring */
	size_t next;
};

struct sw_captures *sw_captures_new(void)
{
	return sw_calloc(1, sizeof(struct sw_captures));
}

void sw_captures_free(struct sw_captures *captures)
{
	sw_map_free(&captures->origins);
	free(captures->origin.at);
	free(captures);
}

void sw_captures_forget(struct sw_model *m)
{
	sw_captures_free(m->captures);
	m->captures = sw_captures_new();
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

/* Does any lane take part in this capture? */
bool sw_capture_lives(const struct sw_model *m, uint64_t capture)
{
	for (size_t i = 0; m->lanes->capturing && capture && i < m->lanes->at.n; i++)
		if (m->lanes->at.at[i].capture == capture)
			return true;
	return false;
}

void sw_capture_join(struct sw_model *m, struct sw_lane_state *lane_state, uint64_t capture)
{
	m->lanes->capturing += !lane_state->capture;
	lane_state->capture = capture;
}

/* Takes the lane's stream out of its capture. */
void sw_capture_leave(struct sw_model *m, struct sw_lane_state *lane_state)
{
	m->lanes->capturing -= lane_state->capture != 0;
	lane_state->capture = 0;
}

void sw_capture_end(struct sw_model *m, uint64_t capture)
{
	for (size_t i = 0; capture && i < m->lanes->at.n; i++)
		if (m->lanes->at.at[i].capture == capture) {
			m->lanes->at.at[i].capture = 0;
			m->lanes->capturing--;
		}
}

/* The one stream other than this lane's that is part of its capture; 0: none, or several. */
uint32_t sw_capture_other_stream(const struct sw_model *m, const struct sw_lane_state *lane_state)
{
	uint32_t other = 0;
	for (size_t i = 0; lane_state->capture && i < m->lanes->at.n; i++) {
		const struct sw_lane_state *lane = &m->lanes->at.at[i];
		if (lane == lane_state || lane->capture != lane_state->capture)
			continue;
		if (other)
			return 0;
		other = lane->stream;
	}
	return other;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Calls that became nodes and may still be named by a description. */
#define SW_MAX_ORIGINS 65536u

/* Remembers a captured call for the description of the graph that it became a node of; the oldest goes. */
void sw_origin_remember(struct sw_model *m, const struct sw_access *what)
{
	struct sw_captures *g = m->captures;
	size_t place = g->next;
	if (g->origin.n < SW_MAX_ORIGINS)
		sw_vec_push(&g->origin);
	else
		sw_map_delete(&g->origins, g->origin.at[place].seq);
	g->origin.at[place] = *what;
	*sw_map_put(&g->origins, what->seq) = place + 1;
	g->next = (place + 1) % SW_MAX_ORIGINS;
}

const struct sw_access *sw_origin_last(const struct sw_model *m, uint32_t stream)
{
	const struct sw_captures *g = m->captures;
	for (size_t n = 0; stream && n < g->origin.n; n++) {
		const struct sw_access *at = &g->origin.at[(g->next + g->origin.n - 1 - n) % g->origin.n];
		if (at->stream == stream)
			return at;
	}
	return NULL;
}

const struct sw_access *sw_origin_find(const struct sw_model *m, uint64_t seq)
{
	size_t place = seq ? sw_map_get(&m->captures->origins, seq) : 0;
	return place ? &m->captures->origin.at[place - 1] : NULL;
}

/* The bytes that the earlier one touches. */
struct sw_asked_uses {
	SW_VEC(struct sw_range) range;
};

void sw_asked_uses_free(struct sw_asked_uses *uses)
{
	if (uses)
		free(uses->range.at);
	free(uses);
}

void sw_asked_order_unclear(struct sw_model *m, const struct sw_access *what)
{
	struct sw_asked_order *asked = m->options->asked;
	if (asked && (what->seq == asked->earlier || what->seq == asked->later))
		asked->unclear = true;
}

/* Gives the range the one address by which its bytes are compared: memory of the host may have several.  False: it may
   lie elsewhere, too. */
static bool has_one_address(const struct sw_model *m, struct sw_range *range)
{
	uint64_t offset;
	const struct sw_block *block = sw_space_find(&m->space, range->address, &offset);
	if (!block)
		return true;
	range->address = block->address + offset;
	return !block->pieces && !block->within;
}

void sw_asked_order_touch(struct sw_model *m, const struct sw_access *what, const struct sw_range *range, bool array)
{
	struct sw_asked_order *asked = m->options->asked;
	struct sw_range at = *range;
	if (!asked || m->listing || (what->seq != asked->earlier && what->seq != asked->later))
		return;
	if (array || !range->bounded || range->vague || range->perhaps || !has_one_address(m, &at)) {
		asked->unclear = true;
		return;
	}
	if (!m->asked_uses)
		m->asked_uses = sw_calloc(1, sizeof *m->asked_uses);
	if (what->seq == asked->earlier) {
		*sw_vec_push(&m->asked_uses->range) = at;
		return;
	}
	for (size_t i = 0; i < m->asked_uses->range.n; i++) {
		const struct sw_range *other = &m->asked_uses->range.at[i];
		if ((!sw_role_writes(at.role) && !sw_role_writes(other->role)) || !sw_range_overlap(&at, other))
			continue;
		/* Perhaps not all of it is touched, or the kernels have an order of their own. */
		if (at.loose || other->loose || at.polls || other->polls)
			asked->unclear = true;
		else
			asked->meet = true;
	}
}

void sw_asked_order_take(struct sw_model *m, const struct sw_wait *w)
{
	struct sw_asked_order *asked = m->options->asked;
	if (!asked || !w->enqueues)
		return;
	if (w->what.seq == asked->earlier) {
		asked->point = w->what.point;
	} else if (w->what.seq == asked->later && asked->point.tick) {
		asked->known = true;
		asked->order = sw_hb_ordered(m->hb, asked->point, w->what.point.lane);
	}
}

struct sw_lanes *sw_lanes_new(void)
{
	return sw_calloc(1, sizeof(struct sw_lanes));
}

void sw_lanes_free(struct sw_lanes *lanes)
{
	for (size_t i = 0; i < lanes->at.n; i++) {
		free(lanes->at.at[i].event_waits);
		free(lanes->at.at[i].recorded);
		free(lanes->at.at[i].pending);
	}
	free(lanes->at.at);
	sw_map_free(&lanes->shared_streams);
	free(lanes);
}

/* How many lanes the order engine has made. */
uint32_t sw_lanes_count(const struct sw_model *m)
{
	return (uint32_t)m->lanes->at.n;
}

/* The stream, context and thread of a record, as the order engine takes them. */
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

/* A key for the description that this lane shares with others; 0: it has one of its own. */
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

/* The description of a lane for reports: index in judgement.streams. Beyond SW_MAX_STREAMS those of one kind share one.
 */
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

/* The state of a lane; empty for a new lane that got the number of an old one. */
struct sw_lane_state *sw_model_lane_state(struct sw_model *m, uint32_t lane)
{
	while (m->lanes->at.n <= lane)
		*sw_vec_push(&m->lanes->at) = (struct sw_lane_state){0};
	struct sw_lane_state *lane_state = &m->lanes->at.at[lane];
	uint32_t serial = sw_hb_lane_serial(m->hb, lane);
	if (lane_state->serial != serial) {
		free(lane_state->event_waits);
		free(lane_state->recorded);
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

/* Enqueues the current call as work of a stream, together with other contexts or as a kernel that may overlap
   (`others`).  False: the stream captures, so that nothing is executed. */
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

/* Tells the observer of each piece of work that the host knows now to be done. */
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
