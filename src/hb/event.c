/* SPDX-License-Identifier: Apache-2.0 */
/* Events: what their latest record saw, and who waits for it on a stream. */
#include "hb/order.h"

#include <stdlib.h>

static struct sw_event *find(const struct sw_hb *hb, uint64_t event)
{
	uint64_t index = sw_map_get(&hb->events, event);
	return index ? &hb->event.at[index - 1] : NULL;
}

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
	const struct sw_event *e = find(hb, event);
	*state = e ? e->state : (struct sw_hb_event_state){0};
}

const struct sw_snap *sw_event_use(struct sw_hb *hb, uint64_t event, struct sw_hb_event_state *state)
{
	struct sw_event *e = find(hb, event);
	if (state)
		*state = e ? e->state : (struct sw_hb_event_state){0};
	if (!e || !e->state.recorded)
		return NULL;
	e->state.waits++;
	return &e->snap;
}

/* CUDA Driver API, cuCtxRecordEvent: "captures in hEvent all the activities of the context hCtx at the time of this
 * call". */
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
		sw_step_begin(hb, at, lane);
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

/* cuCtxWaitEvent: "makes all future work submitted to context hCtx wait for all work captured in hEvent". */
static void wait_context(struct sw_hb *hb, const struct sw_hb_at *at, const struct sw_snap *snap)
{
	struct sw_snap host = sw_snap_peek(hb, sw_lane_acts(hb, at->thread, SW_LANE_HOST, at->seq));
	sw_context_use(hb, at->ctx);
	sw_context_hold(hb, at->ctx, &host);
	if (snap)
		sw_context_hold(hb, at->ctx, snap);
}

void sw_hb_stream_wait(struct sw_hb *hb, const struct sw_hb_at *at, uint64_t event, unsigned flags,
		       struct sw_hb_event_state *state)
{
	if (flags & SW_HB_CONTEXT) {
		wait_context(hb, at, sw_event_use(hb, event, state));
		return;
	}
	uint32_t lane = sw_hb_lane(hb, at);
	sw_step_begin(hb, at, lane);
	const struct sw_snap *snap = sw_event_use(hb, event, state);
	if (snap)
		sw_acquire(hb, lane, snap, SW_EDGE_EVENT,
			   flags & SW_HB_MEASURED ? SW_ORDER_MEASURED : SW_ORDER_DOCUMENTED, at->seq);
	sw_step_end(hb, lane, at->seq, false);
}

static uint64_t tick_in(const struct sw_snap *snap, uint32_t slot, enum sw_order basis)
{
	return snap->at.tick && snap->at.lane == slot ? snap->at.tick
						      : sw_clock_get(sw_known_by(&snap->known, basis), slot);
}

/* The intersection of sets that hold with each step all that it knew does so, too: the least ticks are a clock. */
static struct sw_snap common_of(struct sw_hb *hb, const uint64_t *event, size_t n)
{
	struct sw_snap common = {{0, 0}, 0, 0, {NULL, NULL, NULL}};
	for (uint32_t slot = 0; n && slot < hb->lanes.n; slot++)
		for (int basis = SW_ORDER_OBSERVED; basis <= SW_ORDER_DOCUMENTED; basis++) {
			uint64_t least = UINT64_MAX;
			for (size_t i = 0; i < n; i++) {
				const struct sw_event *e = find(hb, event[i]);
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
	const struct sw_event *only = n == 1 ? find(hb, *event) : NULL;
	struct sw_snap common = only ? sw_snap_hold(&only->snap) : common_of(hb, event, n);
	uint32_t lane = sw_hb_lane(hb, at);
	sw_step_begin(hb, at, lane);
	sw_acquire(hb, lane, &common, SW_EDGE_EVENT, SW_ORDER_DOCUMENTED, at->seq);
	sw_step_end(hb, lane, at->seq, false);
	sw_snap_drop(hb, &common);
}
