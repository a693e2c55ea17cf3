/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and joins: what all operations are made of. */
#include "hb/order.h"

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

/* A merge has no step of its own: one edge for each merged lane that adds order. */
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

void sw_context_hold(struct sw_hb *hb, uint8_t ctx, const struct sw_snap *snap)
{
	struct sw_context *c = &hb->contexts[ctx];
	sw_snap_merge(hb, &c->wait, snap);
	c->waits++;
	for (int part = 0; c->parts && part < SW_CONTEXTS; part++)
		if (hb->contexts[part].whole == ctx)
			sw_context_hold(hb, (uint8_t)part, snap);
}

/*
 * CUDA Runtime API, "Stream synchronization behavior", legacy default stream: "when an action is taken in the legacy
 * stream [...], the legacy stream first waits on all blocking streams, the action is queued in the legacy stream, and
 * then all blocking streams wait on the legacy stream".
 */
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

void sw_step_begin(struct sw_hb *hb, const struct sw_hb_at *at, uint32_t lane)
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
	sw_step_begin(hb, at, lane);
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
	sw_step_begin(hb, at, lane);
	sw_acquire(hb, lane, &all, SW_EDGE_CONTEXT, SW_ORDER_DOCUMENTED, at->seq);
	sw_snap_drop(hb, &all);
	struct sw_point step = sw_step_end(hb, lane, at->seq, true);
	struct sw_snap done = sw_snap_peek(hb, lane);
	for (size_t i = 0; i < n; i++)
		sw_context_hold(hb, ctx[i], &done);
	return step;
}

struct sw_point sw_hb_enqueue_joined(struct sw_hb *hb, const struct sw_hb_at *at, uint8_t ctx)
{
	struct sw_hb_at there = *at;
	there.ctx = ctx;
	uint32_t lane = sw_hb_lane(hb, at), other = sw_hb_lane(hb, &there);
	if (lane == other)
		return sw_hb_enqueue(hb, at);
	struct sw_snap before = sw_snap_stream(hb, &there);
	sw_step_begin(hb, at, lane);
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
