/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and joins: what all operations are made of. */
#include <stdlib.h>

#include "hb/order.h"

static struct sw_snap snap_stream(struct sw_hb *hb, const struct sw_hb_at *at);

/* Counts an edge that adds order and reports it to on_edge(). */
static void report_edge(struct sw_hb *hb, enum sw_edge_kind kind, enum sw_order basis, struct sw_point from,
			uint64_t from_seq, uint32_t lane, uint64_t seq)
{
	if (basis == SW_ORDER_OBSERVED)
		return; /* nothing that anybody promised, nor that was measured */
	hb->stats.edges++;
	if (!hb->options.on_edge)
		return;
	struct sw_hb_edge edge = {kind, basis, from, from_seq, lane, seq};
	hb->options.on_edge(hb->options.arg, &edge);
}

/* Joins a merge into the lane.  It has no step of its own, so there is an edge for each merged lane that adds order.
   Returns whether the lane's clock grew. */
static bool acquire_merge(struct sw_hb *hb, uint32_t lane, const struct sw_snap *from, enum sw_edge_kind kind,
			  enum sw_order basis, uint64_t seq)
{
	struct sw_lane *l = sw_lane_at(hb, lane);
	const struct sw_vector_clock *gained = sw_known_by(&from->known, basis);
	for (uint32_t i = 0; gained && i < gained->n; i++)
		if ((gained->at[i].learnt & 15) == SW_LEARNT_OWN && i != lane &&
		    gained->at[i].tick > sw_clock_get(sw_known_by(&l->known, basis), i))
			report_edge(hb, kind, basis, (struct sw_point){i, gained->at[i].tick},
				    gained->at[i].learnt >> 4, lane, seq);
	return sw_known_join(&hb->clock_bytes, &l->known, &from->known, lane, sw_learnt_from(seq, kind), basis);
}

bool sw_acquire(struct sw_hb *hb, uint32_t lane, const struct sw_snap *from, enum sw_edge_kind kind,
		enum sw_order basis, uint64_t seq)
{
	struct sw_lane *l = sw_lane_at(hb, lane);
	if (!from->at.tick) {
		bool gained = acquire_merge(hb, lane, from, kind, basis, seq);
		if (gained)
			l->gain = l->tick + 1;
		return gained;
	}
	if (from->at.lane == lane)
		return false;
	uint64_t known = sw_clock_get(sw_known_by(&l->known, basis), from->at.lane);
	if (known >= from->at.tick)
		return false;
	uint64_t learnt = sw_learnt_from(seq, kind);
	if (known < from->gain || !known)
		sw_known_join(&hb->clock_bytes, &l->known, &from->known, lane,
			      kind == SW_EDGE_ENQUEUE ? SW_LEARNT_KEEP : learnt, basis);
	sw_known_raise(&hb->clock_bytes, &l->known, from->at.lane, from->at.tick, learnt, basis);
	l->gain = l->tick + 1;
	report_edge(hb, kind, basis, from->at, from->seq, lane, seq);
	return true;
}

struct sw_snap sw_snap_peek(const struct sw_hb *hb, uint32_t lane)
{
	const struct sw_lane *l = sw_lane_at(hb, lane);
	return (struct sw_snap){{lane, l->tick}, l->gain, l->seq, l->known};
}

struct sw_snap sw_snap_hold(const struct sw_snap *snap)
{
	struct sw_snap held = *snap;
	held.known = sw_known_hold(&snap->known);
	return held;
}

void sw_snap_drop(struct sw_hb *hb, struct sw_snap *snap)
{
	sw_known_drop(&hb->clock_bytes, &snap->known);
	*snap = (struct sw_snap){{0, 0}, 0, 0, {NULL, NULL, NULL}};
}

void sw_snap_merge(struct sw_hb *hb, struct sw_snap *into, const struct sw_snap *from)
{
	size_t *bytes = &hb->clock_bytes;
	struct sw_point at = into->at;
	into->at.tick = 0;
	if (at.tick)
		sw_known_raise(bytes, &into->known, at.lane, at.tick, sw_learnt_from(into->seq, SW_LEARNT_OWN),
			       SW_ORDER_DOCUMENTED);
	sw_known_join(bytes, &into->known, &from->known, SW_NO_LANE, SW_LEARNT_KEEP, SW_ORDER_DOCUMENTED);
	if (from->at.tick)
		sw_known_raise(bytes, &into->known, from->at.lane, from->at.tick,
			       sw_learnt_from(from->seq, SW_LEARNT_OWN), SW_ORDER_DOCUMENTED);
}

void sw_snap_context(struct sw_hb *hb, struct sw_snap *into, uint8_t ctx)
{
	const struct sw_context *c = &hb->contexts[ctx];
	for (size_t i = 0; i < c->lanes.n; i++) {
		struct sw_snap lane = sw_snap_peek(hb, c->lanes.at[i]);
		if (!sw_hb_passed(hb, lane.at))
			sw_snap_merge(hb, into, &lane);
	}
	for (int part = 0; c->parts && part < SW_CONTEXTS; part++)
		if (hb->contexts[part].whole == ctx)
			sw_snap_context(hb, into, (uint8_t)part);
}

/* Makes all future work of a context and its parts come after the snapshot. */
static void context_hold(struct sw_hb *hb, uint8_t ctx, const struct sw_snap *snap)
{
	struct sw_context *c = &hb->contexts[ctx];
	sw_snap_merge(hb, &c->wait, snap);
	c->waits++;
	for (int part = 0; c->parts && part < SW_CONTEXTS; part++)
		if (hb->contexts[part].whole == ctx)
			context_hold(hb, (uint8_t)part, snap);
}

/* Joins what CUDA's legacy default stream makes a stream wait for before its next command. CUDA Runtime API, "Stream
   synchronization behavior": "when an action is taken in the legacy stream [...], the legacy stream first waits on
   all blocking streams, the action is queued in the legacy stream, and then all blocking streams wait on the legacy
   stream". */
static void acquire_legacy(struct sw_hb *hb, uint32_t lane, uint64_t seq)
{
	struct sw_lane *l = sw_lane_at(hb, lane);
	struct sw_context *ctx = &hb->contexts[l->ctx];
	if (l->kind == SW_LANE_LEGACY) {
		for (size_t i = 0; i < ctx->dirty.n; i++) {
			struct sw_snap blocking = sw_snap_peek(hb, ctx->dirty.at[i]);
			sw_acquire(hb, lane, &blocking, SW_EDGE_LEGACY, SW_ORDER_DOCUMENTED, seq);
			sw_lane_at(hb, ctx->dirty.at[i])->dirty = false;
		}
		ctx->dirty.n = 0;
	} else if (sw_lane_blocking(l) && ctx->legacy) {
		struct sw_snap legacy = sw_snap_peek(hb, ctx->legacy - 1);
		if (legacy.at.tick)
			sw_acquire(hb, lane, &legacy, SW_EDGE_LEGACY, SW_ORDER_DOCUMENTED, seq);
	}
}

/* Joins into a stream's lane all that CUDA makes the stream wait for before its next command: the host's call, the
   legacy rules, context-wide waits. */
static void step_begin(struct sw_hb *hb, const struct sw_hb_at *at, uint32_t lane)
{
	struct sw_snap host = sw_snap_peek(hb, sw_lane_acts(hb, at->thread, SW_LANE_HOST, at->seq));
	if (host.at.tick)
		sw_acquire(hb, lane, &host, SW_EDGE_ENQUEUE, SW_ORDER_DOCUMENTED, at->seq);
	struct sw_lane *l = sw_lane_at(hb, lane);
	struct sw_context *ctx = &hb->contexts[l->ctx];
	if (l->waits != ctx->waits) {
		sw_acquire(hb, lane, &ctx->wait, SW_EDGE_CONTEXT, SW_ORDER_DOCUMENTED, at->seq);
		l->waits = ctx->waits;
	}
	acquire_legacy(hb, lane, at->seq);
	if (l->unknown)
		hb->stats.unknown_streams++;
}

struct sw_point sw_step_end(struct sw_hb *hb, uint32_t lane, uint64_t seq, bool work)
{
	struct sw_lane *l = sw_lane_at(hb, lane);
	l->tick++;
	l->work = l->work << 1 | work;
	l->seq = seq;
	hb->stats.steps++;
	if (sw_lane_blocking(l) && !l->dirty && l->in_ctx != SW_NO_LANE) {
		l->dirty = true;
		*sw_vec_push(&hb->contexts[l->ctx].dirty) = lane;
	}
	return (struct sw_point){lane, l->tick};
}

struct sw_point sw_hb_enqueue(struct sw_hb *hb, const struct sw_hb_at *at)
{
	uint32_t lane = sw_hb_lane(hb, at);
	step_begin(hb, at, lane);
	return sw_step_end(hb, lane, at->seq, true);
}

struct sw_point sw_hb_enqueue_across(struct sw_hb *hb, const struct sw_hb_at *at, const uint8_t *ctx, size_t n)
{
	struct sw_snap all = {{0, 0}, 0, 0, {NULL, NULL, NULL}};
	uint32_t lane = sw_hb_lane(hb, at);
	for (size_t i = 0; i < n; i++) {
		sw_context_use(hb, ctx[i]);
		sw_snap_context(hb, &all, ctx[i]);
	}
	step_begin(hb, at, lane);
	sw_acquire(hb, lane, &all, SW_EDGE_CONTEXT, SW_ORDER_DOCUMENTED, at->seq);
	sw_snap_drop(hb, &all);
	struct sw_point step = sw_step_end(hb, lane, at->seq, true);
	struct sw_snap done = sw_snap_peek(hb, lane);
	for (size_t i = 0; i < n; i++)
		context_hold(hb, ctx[i], &done);
	return step;
}

struct sw_point sw_hb_enqueue_joined(struct sw_hb *hb, const struct sw_hb_at *at, uint8_t ctx)
{
	struct sw_hb_at there = *at;
	there.ctx = ctx;
	uint32_t lane = sw_hb_lane(hb, at), other = sw_hb_lane(hb, &there);
	if (lane == other)
		return sw_hb_enqueue(hb, at);
	struct sw_snap before = snap_stream(hb, &there);
	step_begin(hb, at, lane);
	sw_acquire(hb, lane, &before, SW_EDGE_LEGACY, SW_ORDER_MEASURED, at->seq);
	sw_snap_drop(hb, &before);
	struct sw_point step = sw_step_end(hb, lane, at->seq, true);
	struct sw_snap done = sw_snap_peek(hb, lane);
	if (sw_acquire(hb, other, &done, SW_EDGE_LEGACY, SW_ORDER_MEASURED, at->seq))
		sw_step_end(hb, other, at->seq, false);
	return step;
}

struct sw_point sw_hb_host_step(struct sw_hb *hb, uint32_t thread, uint64_t seq)
{
	return sw_step_end(hb, sw_lane_acts(hb, thread, SW_LANE_HOST, seq), seq, false);
}

/* Events: what their latest record saw, and who waits for it on a stream. */

/* The event of a handle; NULL: it is not known. */
static struct sw_event *find_event(const struct sw_hb *hb, uint64_t event)
{
	uint64_t index = sw_map_get(&hb->events, event);
	return index ? &hb->event.at[index - 1] : NULL;
}

/* The event of a handle, which is new (never recorded) where the handle is not known.  Valid until the next event is
   added. */
static struct sw_event *find_or_add(struct sw_hb *hb, uint64_t event)
{
	uint64_t *index = sw_map_put(&hb->events, event);
	if (!*index) {
		if (hb->event_free.n)
			*index = hb->event_free.at[--hb->event_free.n] + 1;
		else {
			sw_vec_push(&hb->event);
			*index = hb->event.n;
		}
		hb->event.at[*index - 1] = (struct sw_event){0};
		hb->stats.events++;
	}
	return &hb->event.at[*index - 1];
}

void sw_hb_event_create(struct sw_hb *hb, uint64_t event)
{
	sw_hb_event_destroy(hb, event); /* a handle given out again: its destruction was not seen */
	find_or_add(hb, event);
}

void sw_hb_event_destroy(struct sw_hb *hb, uint64_t event)
{
	uint64_t index = sw_map_get(&hb->events, event);
	if (!index)
		return;
	sw_snap_drop(hb, &hb->event.at[index - 1].snap);
	sw_map_delete(&hb->events, event);
	*sw_vec_push(&hb->event_free) = (uint32_t)index - 1;
	hb->stats.events--;
}

void sw_event_end_context(struct sw_hb *hb, uint8_t ctx)
{
	struct sw_map_slot slot;
	SW_VEC(uint64_t) ended = {0};
	for (size_t i = 0; (i = sw_map_next(&hb->events, i, &slot));) {
		const struct sw_event *e = &hb->event.at[slot.value - 1];
		if (e->state.recorded && e->ctx == ctx)
			*sw_vec_push(&ended) = slot.key;
	}
	for (size_t i = 0; i < ended.n; i++)
		sw_hb_event_destroy(hb, ended.at[i]);
	free(ended.at);
}

void sw_hb_event_state(const struct sw_hb *hb, uint64_t event, struct sw_hb_event_state *state)
{
	const struct sw_event *e = find_event(hb, event);
	*state = e ? e->state : (struct sw_hb_event_state){0};
}

/* The snapshot to wait for (NULL: nothing was recorded); counts the use; *state (may be NULL): as before the call. */
static const struct sw_snap *event_use(struct sw_hb *hb, uint64_t event, struct sw_hb_event_state *state)
{
	struct sw_event *e = find_event(hb, event);
	if (state)
		*state = e ? e->state : (struct sw_hb_event_state){0};
	if (!e || !e->state.recorded)
		return NULL;
	e->state.waits++;
	return &e->snap;
}

/* A merge of all that a context-wide record covers.  CUDA Driver API, cuCtxRecordEvent: "captures in hEvent all the
   activities of the context hCtx at the time of this call". */
static struct sw_snap record_context(struct sw_hb *hb, const struct sw_hb_at *at)
{
	struct sw_snap snap = {{0, 0}, 0, 0, {NULL, NULL, NULL}};
	struct sw_snap host = sw_snap_peek(hb, sw_lane_acts(hb, at->thread, SW_LANE_HOST, at->seq));
	sw_snap_merge(hb, &snap, &host);
	sw_context_use(hb, at->ctx);
	sw_snap_context(hb, &snap, at->ctx);
	return snap;
}

void sw_hb_event_record(struct sw_hb *hb, uint64_t event, const struct sw_hb_at *at, unsigned flags,
			struct sw_hb_event_state *before)
{
	struct sw_snap snap;
	struct sw_hb_event_state now = {
		.recorded = true, .record_seq = at->seq, .context_wide = (flags & SW_HB_CONTEXT) != 0};
	uint8_t ctx = at->ctx;
	if (now.context_wide) {
		snap = record_context(hb, at);
	} else {
		uint32_t lane = sw_hb_lane(hb, at);
		bool last = sw_lane_at(hb, lane)->chain.tick == sw_lane_at(hb, lane)->tick;
		step_begin(hb, at, lane);
		now.record = sw_step_end(hb, lane, at->seq, false);
		if (last &&
		    flags & SW_HB_EARLY) /* part of the launch that follows: nothing comes between the kernels */
			sw_lane_at(hb, lane)->chain.tick = now.record.tick;
		snap = sw_snap_peek(hb, lane);
		snap = sw_snap_hold(&snap);
		ctx = sw_lane_at(hb, lane)->ctx;
	}
	struct sw_event *e = find_or_add(hb, event);
	if (before)
		*before = e->state;
	sw_snap_drop(hb, &e->snap);
	*e = (struct sw_event){snap, now, ctx};
}

void sw_hb_event_snapshot(struct sw_hb *hb, uint64_t event, uint32_t lane)
{
	struct sw_snap snap = sw_snap_peek(hb, lane);
	struct sw_event *e = find_or_add(hb, event);
	sw_snap_drop(hb, &e->snap);
	*e = (struct sw_event){sw_snap_hold(&snap),
			       {.recorded = true, .record = snap.at, .record_seq = snap.seq},
			       sw_lane_at(hb, lane)->ctx};
}

/* Makes all future work of a context wait for the snapshot (NULL: for nothing but the host). cuCtxWaitEvent: "makes
   all future work submitted to context hCtx wait for all work captured in hEvent". */
static void wait_context(struct sw_hb *hb, const struct sw_hb_at *at, const struct sw_snap *snap)
{
	struct sw_snap host = sw_snap_peek(hb, sw_lane_acts(hb, at->thread, SW_LANE_HOST, at->seq));
	sw_context_use(hb, at->ctx);
	context_hold(hb, at->ctx, &host);
	if (snap)
		context_hold(hb, at->ctx, snap);
}

void sw_hb_stream_wait(struct sw_hb *hb, const struct sw_hb_at *at, uint64_t event, unsigned flags,
		       struct sw_hb_event_state *state)
{
	if (flags & SW_HB_CONTEXT) {
		wait_context(hb, at, event_use(hb, event, state));
		return;
	}
	uint32_t lane = sw_hb_lane(hb, at);
	step_begin(hb, at, lane);
	const struct sw_snap *snap = event_use(hb, event, state);
	if (snap)
		sw_acquire(hb, lane, snap, SW_EDGE_EVENT,
			   flags & SW_HB_MEASURED ? SW_ORDER_MEASURED : SW_ORDER_DOCUMENTED, at->seq);
	sw_step_end(hb, lane, at->seq, false);
}

/* The last step of lane `slot` that the snapshot covers, by the clock of the basis. */
static uint64_t tick_in(const struct sw_snap *snap, uint32_t slot, enum sw_order basis)
{
	return snap->at.tick && snap->at.lane == slot ? snap->at.tick
						      : sw_clock_get(sw_known_by(&snap->known, basis), slot);
}

/* A snapshot of the steps that all of the events cover: the least tick of each lane.  These ticks are a clock, since an
   intersection of sets that hold with each step all that the step knew is such a set, too. */
static struct sw_snap common_of(struct sw_hb *hb, const uint64_t *event, size_t n)
{
	struct sw_snap common = {{0, 0}, 0, 0, {NULL, NULL, NULL}};
	for (uint32_t slot = 0; n && slot < hb->lanes.n; slot++)
		for (int basis = SW_ORDER_OBSERVED; basis <= SW_ORDER_DOCUMENTED; basis++) {
			uint64_t least = UINT64_MAX;
			for (size_t i = 0; i < n; i++) {
				const struct sw_event *e = find_event(hb, event[i]);
				uint64_t tick = e ? tick_in(&e->snap, slot, (enum sw_order)basis) : 0;
				least = tick < least ? tick : least;
			}
			if (least)
				sw_known_raise(&hb->clock_bytes, &common.known, slot, least,
					       sw_learnt_from(0, SW_EDGE_EVENT), (enum sw_order)basis);
		}
	return common;
}

void sw_hb_stream_wait_common(struct sw_hb *hb, const struct sw_hb_at *at, const uint64_t *event, size_t n)
{
	const struct sw_event *only = n == 1 ? find_event(hb, *event) : NULL;
	struct sw_snap common = only ? sw_snap_hold(&only->snap) : common_of(hb, event, n);
	uint32_t lane = sw_hb_lane(hb, at);
	step_begin(hb, at, lane);
	sw_acquire(hb, lane, &common, SW_EDGE_EVENT, SW_ORDER_DOCUMENTED, at->seq);
	sw_step_end(hb, lane, at->seq, false);
	sw_snap_drop(hb, &common);
}

/*
 * Programmatic dependent launch.  A kernel that was launched so may begin once the kernel before it on the stream, the
 * primary, has triggered; its accesses after griddepcontrol.wait come after the primary in full.  What it does before
 * that comes after what the primary had waited for when it triggered, and after what the host knows.
 */

void sw_chain_end(struct sw_hb *hb, uint32_t lane)
{
	struct sw_chain *chain = &sw_lane_at(hb, lane)->chain;
	if (chain->begin)
		sw_snap_drop(hb, chain->begin);
	free(chain->begin);
	*chain = (struct sw_chain){0};
}

/* The slot that all views share. */
static uint32_t view_lane(struct sw_hb *hb)
{
	if (!hb->view)
		hb->view = sw_lane_new(hb, SW_LANE_VIEW, 0, 0, 0) + 1;
	return hb->view - 1;
}

/* Makes the view know a snapshot.  A view has no steps, and its joins are no edges: those of the kernel's lane are. */
static void raise_view(struct sw_hb *hb, uint32_t view, const struct sw_snap *from, enum sw_order basis)
{
	struct sw_known *known = &sw_lane_at(hb, view)->known;
	sw_known_join(&hb->clock_bytes, known, &from->known, view, SW_LEARNT_KEEP, basis);
	if (from->at.tick)
		sw_known_raise(&hb->clock_bytes, known, from->at.lane, from->at.tick,
			       sw_learnt_from(from->seq, SW_EDGE_ENQUEUE), basis);
}

/* Empties the view for a launch on this lane.  On the legacy stream it begins with the blocking streams that the
   launch is about to join, as the lane's own clock does not tell which of its steps those know. */
static uint32_t view_new(struct sw_hb *hb, uint32_t lane)
{
	uint32_t view = view_lane(hb); /* lanes may move */
	const struct sw_lane *l = sw_lane_at(hb, lane);
	const sw_lanes *dirty = &hb->contexts[l->ctx].dirty;
	sw_known_drop(&hb->clock_bytes, &sw_lane_at(hb, view)->known);
	for (size_t i = 0; l->kind == SW_LANE_LEGACY && i < dirty->n; i++) {
		struct sw_snap blocking = sw_snap_peek(hb, dirty->at[i]);
		raise_view(hb, view, &blocking, SW_ORDER_DOCUMENTED);
	}
	return view;
}

/* Makes the view know all that step_begin() makes a kernel on this lane wait for: the host's call, context-wide waits
   and the legacy stream.  The lane itself takes no step. */
static void take_begin_waits(struct sw_hb *hb, const struct sw_hb_at *at, uint32_t view, uint32_t lane)
{
	const struct sw_lane *l = sw_lane_at(hb, lane);
	const struct sw_context *ctx = &hb->contexts[l->ctx];
	struct sw_snap host = sw_snap_peek(hb, sw_lane_acts(hb, at->thread, SW_LANE_HOST, at->seq));
	raise_view(hb, view, &host, SW_ORDER_DOCUMENTED);
	raise_view(hb, view, &ctx->wait, SW_ORDER_DOCUMENTED);
	if (sw_lane_blocking(l) && ctx->legacy) {
		struct sw_snap legacy = sw_snap_peek(hb, ctx->legacy - 1);
		raise_view(hb, view, &legacy, SW_ORDER_DOCUMENTED);
	}
}

/* Makes the view know all that the lane knew before its last kernel, and what it has learnt from others since. */
static void take_before(struct sw_hb *hb, uint32_t view, uint32_t lane)
{
	struct sw_snap before = sw_snap_peek(hb, lane);
	before.at.tick = sw_lane_at(hb, lane)->chain.before;
	raise_view(hb, view, &before, SW_ORDER_DOCUMENTED);
}

/* Makes the view know all that a launch overlapping the lane's last kernel comes after when it begins: what that
   kernel began after or had waited for when it triggered, and step_begin()'s waits. */
static void look_from(struct sw_hb *hb, const struct sw_hb_at *at, uint32_t view, uint32_t lane)
{
	const struct sw_chain chain = sw_lane_at(hb, lane)->chain;
	const struct sw_snap all = sw_snap_peek(hb, lane);
	if (chain.begin)
		raise_view(hb, view, chain.begin, SW_ORDER_DOCUMENTED);
	else
		take_before(hb, view, lane);
	take_begin_waits(hb, at, view, lane);
	if (chain.late)
		raise_view(hb, view, &all, SW_ORDER_MEASURED);
}

/* Makes a kernel the one that launches on this lane may overlap.  begun: they may begin before the kernel has waited
   itself, so they come after no more than its own view. */
static void begin_chain(struct sw_hb *hb, uint32_t lane, const struct sw_hb_grid *grid, bool begun, uint32_t view)
{
	struct sw_lane *l = sw_lane_at(hb, lane);
	struct sw_chain chain = {.before = l->tick, .late = grid->late, .unsure = grid->unsure};
	if (begun) {
		const struct sw_snap from = sw_snap_peek(hb, view);
		chain.begin = sw_calloc(1, sizeof *chain.begin);
		sw_snap_merge(hb, chain.begin, &from);
		chain.unsure |= l->chain.unsure;
	}
	sw_chain_end(hb, lane);
	l->chain = chain;
}

struct sw_point sw_hb_launch(struct sw_hb *hb, const struct sw_hb_at *at, const struct sw_hb_grid *grid,
			     struct sw_hb_view *view)
{
	uint32_t lane = sw_hb_lane(hb, at);
	struct sw_lane *l = sw_lane_at(hb, lane);
	bool linked = grid->overlaps && l->chain.tick && l->chain.tick == l->tick;
	*view = (struct sw_hb_view){lane, linked && (l->chain.unsure || grid->unsure)};
	if (linked)
		view->lane = view_new(hb, lane);
	step_begin(hb, at, lane);
	if (linked) {
		look_from(hb, at, view->lane, lane);
		hb->stats.edges_for_safety += !grid->waits;
	}
	if (grid->triggers)
		begin_chain(hb, lane, grid, linked && grid->triggers_first, view->lane);
	else
		sw_chain_end(hb, lane);
	struct sw_point step = sw_step_end(hb, lane, at->seq, true);
	if (grid->triggers)
		sw_lane_at(hb, lane)->chain.tick = step.tick;
	return step;
}

/* Waits of the host: their begin fixes what they cover, their end makes the host lane join it. */

/* A token for a wait that covers this snapshot, whose references it takes over. */
static sw_hb_token give_token(struct sw_hb *hb, struct sw_snap snap)
{
	uint32_t token;
	if (hb->token_free.n)
		token = hb->token_free.at[--hb->token_free.n];
	else {
		token = (uint32_t)hb->token.n;
		sw_vec_push(&hb->token);
	}
	hb->token.at[token] = (struct sw_token){.snap = snap, .taken = true};
	return token + 1; /* 0 is no token */
}

/* The wait of a token; NULL: there is none, or it has ended. */
static struct sw_token *find_wait(const struct sw_hb *hb, sw_hb_token token)
{
	if (!token || token > hb->token.n || !hb->token.at[token - 1].taken)
		return NULL;
	return &hb->token.at[token - 1];
}

void sw_hb_wait_drop(struct sw_hb *hb, sw_hb_token token)
{
	struct sw_token *t = find_wait(hb, token);
	if (!t)
		return;
	sw_snap_drop(hb, &t->snap);
	t->taken = false;
	*sw_vec_push(&hb->token_free) = token - 1;
}

/* A token for a wait that covers the lane up to now. */
static sw_hb_token give_lane(struct sw_hb *hb, uint32_t lane)
{
	struct sw_snap snap = sw_snap_peek(hb, lane);
	return give_token(hb, sw_snap_hold(&snap));
}

sw_hb_token sw_hb_wait_event(struct sw_hb *hb, uint64_t event, struct sw_hb_event_state *state)
{
	const struct sw_snap *snap = event_use(hb, event, state);
	return snap ? give_token(hb, sw_snap_hold(snap)) : 0;
}

sw_hb_token sw_hb_wait_point(struct sw_hb *hb, uint32_t lane)
{
	return lane < hb->lanes.n ? give_lane(hb, lane) : 0;
}

/* The snapshot that a command enqueued on this stream now would come after; the caller drops it.  Nothing is
   enqueued: the lane must not change in a way that a later query could see.  Measured: cudaStreamSynchronize(legacy)
   waits for blocking streams. */
static struct sw_snap snap_stream(struct sw_hb *hb, const struct sw_hb_at *at)
{
	uint32_t lane = sw_hb_lane(hb, at);
	const struct sw_lane *l = sw_lane_at(hb, lane);
	const struct sw_context *ctx = &hb->contexts[l->ctx];
	struct sw_snap own = sw_snap_peek(hb, lane), snap = sw_snap_hold(&own);
	if (l->kind == SW_LANE_LEGACY)
		for (size_t i = 0; i < ctx->dirty.n; i++) {
			struct sw_snap blocking = sw_snap_peek(hb, ctx->dirty.at[i]);
			if (!sw_hb_passed(hb, blocking.at))
				sw_snap_merge(hb, &snap, &blocking);
		}
	else if (sw_lane_blocking(l) && ctx->legacy) {
		struct sw_snap legacy = sw_snap_peek(hb, ctx->legacy - 1);
		if (!sw_hb_passed(hb, legacy.at) && sw_clock_get(own.known.documented, legacy.at.lane) < legacy.at.tick)
			sw_snap_merge(hb, &snap, &legacy);
	}
	return snap;
}

sw_hb_token sw_hb_wait_stream(struct sw_hb *hb, const struct sw_hb_at *at)
{
	return give_token(hb, snap_stream(hb, at));
}

sw_hb_token sw_hb_wait_context(struct sw_hb *hb, uint8_t ctx)
{
	struct sw_snap snap = {{0, 0}, 0, 0, {NULL, NULL, NULL}};
	sw_context_use(hb, ctx);
	sw_snap_context(hb, &snap, ctx);
	return give_token(hb, snap);
}

sw_hb_token sw_hb_wait_device(struct sw_hb *hb, int device)
{
	struct sw_snap snap = {{0, 0}, 0, 0, {NULL, NULL, NULL}};
	for (int ctx = 0; ctx < SW_CONTEXTS; ctx++)
		if (hb->contexts[ctx].used && hb->contexts[ctx].device == device)
			sw_snap_context(hb, &snap, (uint8_t)ctx);
	return give_token(hb, snap);
}

/* The last step of a lane after `known` and up to `covered` that is work; 0: none.  Of steps older than the last 64
   it is not known, so `covered` itself is taken for work. */
static uint64_t last_work(const struct sw_lane *lane, uint64_t known, uint64_t covered)
{
	for (uint64_t tick = covered; tick > known; tick--) {
		uint64_t age = lane->tick - tick;
		if (age >= 64)
			return tick;
		if (lane->work >> age & 1)
			return tick;
	}
	return 0;
}

/* Work on one lane that a wait covers and the host does not know. */
struct pending {
	uint32_t lane;
	uint64_t known, covered, work;
};

/* Finds the next lane, from *lane on, on which the snapshot covers work that the host does not know.  Moves *lane
   on; false: there are no more. */
static bool next_pending(const struct sw_hb *hb, const struct sw_snap *snap, const struct sw_lane *host,
			 enum sw_order basis, uint32_t *lane, struct pending *out)
{
	const struct sw_vector_clock *covers = sw_known_by(&snap->known, basis),
				     *knows = sw_known_by(&host->known, basis);
	uint32_t n = covers ? covers->n : 0;
	if (snap->at.tick && snap->at.lane >= n)
		n = snap->at.lane + 1;
	while (*lane < n) {
		uint32_t i = (*lane)++;
		const struct sw_lane *l = sw_lane_at(hb, i);
		if (l->kind == SW_LANE_HOST || l->kind == SW_LANE_CALLBACK)
			continue;
		uint64_t covered = snap->at.tick && snap->at.lane == i ? snap->at.tick : sw_clock_get(covers, i);
		uint64_t known = sw_clock_get(knows, i);
		uint64_t work = covered > known ? last_work(l, known, covered) : 0;
		if (work) {
			*out = (struct pending){i, known, covered, work};
			return true;
		}
	}
	return false;
}

void sw_hb_wait_lanes(const struct sw_hb *hb, sw_hb_token token, uint32_t thread, enum sw_order basis,
		      void (*each)(void *arg, uint32_t lane, uint64_t known_tick, uint64_t covered_tick), void *arg)
{
	const struct sw_token *t = find_wait(hb, token);
	if (!t)
		return;
	struct sw_lane nobody = {0};
	const struct sw_lane *host = &nobody;
	if (!hb->options.strict_host)
		host = sw_lane_at(hb, hb->hosts.at[0]);
	else if (sw_map_get(&hb->host_threads, thread))
		host = sw_lane_at(hb, (uint32_t)sw_map_get(&hb->host_threads, thread) - 1);
	struct pending p;
	for (uint32_t at = 0; next_pending(hb, &t->snap, host, basis, &at, &p);)
		each(arg, p.lane, p.known, p.covered);
}

/* Ends a wait: the host lane joins what it covers, and the token is free again.  *waited (may be NULL): the work
   that the host did not know to be done. */
static void end_wait(struct sw_hb *hb, sw_hb_token token, uint32_t host, uint64_t seq, enum sw_edge_kind kind,
		     enum sw_order basis, struct sw_hb_waited *waited)
{
	struct sw_snap *snap = &find_wait(hb, token)->snap;
	struct pending p;
	for (uint32_t at = 0; waited && next_pending(hb, snap, sw_lane_at(hb, host), basis, &at, &p);)
		*waited = (struct sw_hb_waited){true, waited->lanes + 1, p.lane, {p.lane, p.work}};
	if (sw_acquire(hb, host, snap, kind, basis, seq))
		sw_step_end(hb, host, seq, false);
	sw_hb_wait_drop(hb, token);
}

void sw_hb_wait_end(struct sw_hb *hb, sw_hb_token token, uint32_t thread, uint64_t seq, enum sw_order basis,
		    struct sw_hb_waited *waited)
{
	if (waited)
		*waited = (struct sw_hb_waited){0};
	if (find_wait(hb, token))
		end_wait(hb, token, sw_lane_acts(hb, thread, SW_LANE_HOST, seq), seq, SW_EDGE_HOST_WAIT, basis, waited);
}

/* CUDA Driver API, cuLaunchHostFunc: the function "will block work added after it", so it is a step of its stream. */
struct sw_point sw_hb_host_func(struct sw_hb *hb, const struct sw_hb_at *at, sw_hb_token *token)
{
	struct sw_point step = sw_hb_enqueue(hb, at);
	*token = give_lane(hb, step.lane);
	return step;
}

void sw_hb_host_func_end(struct sw_hb *hb, sw_hb_token token, uint32_t thread, uint64_t seq)
{
	if (find_wait(hb, token))
		end_wait(hb, token, sw_lane_acts(hb, thread, SW_LANE_CALLBACK, seq), seq, SW_EDGE_CALLBACK,
			 SW_ORDER_DOCUMENTED, NULL);
}

void sw_hb_host_func_return(struct sw_hb *hb, const struct sw_hb_at *at)
{
	if (!hb->options.strict_host || !sw_lane_exists(hb, at))
		return; /* its stream may be destroyed */
	struct sw_snap host = sw_snap_peek(hb, sw_lane_acts(hb, at->thread, SW_LANE_CALLBACK, at->seq));
	uint32_t lane = sw_hb_lane(hb, at);
	sw_chain_end(hb, lane); /* it is no kernel */
	if (host.at.tick && sw_acquire(hb, lane, &host, SW_EDGE_CALLBACK, SW_ORDER_DOCUMENTED, at->seq))
		sw_step_end(hb, lane, at->seq, false);
}
