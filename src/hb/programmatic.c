/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programmatic dependent launch.  A kernel that was launched so may begin once the kernel before it on the stream, the
 * primary, has triggered; its accesses after griddepcontrol.wait come after the primary in full.  What it does before
 * that comes after what the primary had waited for when it triggered, and after what the host knows.
 */
#include "hb/order.h"

#include <stdlib.h>

void sw_chain_end(struct sw_hb *hb, uint32_t lane)
{
	struct sw_chain *chain = &sw_lane_at(hb, lane)->chain;
	if (chain->begin)
		sw_snap_drop(hb, chain->begin);
	free(chain->begin);
	*chain = (struct sw_chain){0};
}

static uint32_t view_lane(struct sw_hb *hb)
{
	if (!hb->view)
		hb->view = sw_lane_new(hb, SW_LANE_VIEW, 0, 0, 0) + 1;
	return hb->view - 1;
}

/* The view has no steps and its joins are no edges of their own: the kernel's lane has them. */
static void take(struct sw_hb *hb, uint32_t view, const struct sw_snap *from, enum sw_order basis)
{
	struct sw_known *known = &sw_lane_at(hb, view)->known;
	sw_known_join(&hb->clock_bytes, known, &from->known, view, SW_LEARNT_KEEP, basis);
	if (from->at.tick)
		sw_known_raise(&hb->clock_bytes, known, from->at.lane, from->at.tick,
			       sw_learnt_from(from->seq, SW_EDGE_ENQUEUE), basis);
}

/* An empty view, but for the blocking streams that a launch on the legacy stream is about to join: its own clock does
   not tell which of its own steps those know. */
static uint32_t view_new(struct sw_hb *hb, uint32_t lane)
{
	uint32_t view = view_lane(hb); /* lanes may move */
	const struct sw_lane *l = sw_lane_at(hb, lane);
	const sw_lanes *dirty = &hb->contexts[l->ctx].dirty;
	sw_known_drop(&hb->clock_bytes, &sw_lane_at(hb, view)->known);
	for (size_t i = 0; l->kind == SW_LANE_LEGACY && i < dirty->n; i++) {
		struct sw_snap blocking = sw_snap_peek(hb, dirty->at[i]);
		take(hb, view, &blocking, SW_ORDER_DOCUMENTED);
	}
	return view;
}

/* All else that a kernel on this lane waits for before it begins, as sw_step_begin() has it. */
static void take_rest(struct sw_hb *hb, const struct sw_hb_at *at, uint32_t view, uint32_t lane)
{
	const struct sw_lane *l = sw_lane_at(hb, lane);
	const struct sw_context *ctx = &hb->contexts[l->ctx];
	struct sw_snap host = sw_snap_peek(hb, sw_lane_acts(hb, at->thread, SW_LANE_HOST, at->seq));
	take(hb, view, &host, SW_ORDER_DOCUMENTED);
	take(hb, view, &ctx->wait, SW_ORDER_DOCUMENTED);
	if (sw_lane_blocking(l) && ctx->legacy) {
		struct sw_snap legacy = sw_snap_peek(hb, ctx->legacy - 1);
		take(hb, view, &legacy, SW_ORDER_DOCUMENTED);
	}
}

/* All that the lane knew before its last kernel, and what it has learnt since from others. */
static void take_before(struct sw_hb *hb, uint32_t view, uint32_t lane)
{
	struct sw_snap before = sw_snap_peek(hb, lane);
	before.at.tick = sw_lane_at(hb, lane)->chain.before;
	take(hb, view, &before, SW_ORDER_DOCUMENTED);
}

static void look_from(struct sw_hb *hb, const struct sw_hb_at *at, uint32_t view, uint32_t lane)
{
	const struct sw_chain chain = sw_lane_at(hb, lane)->chain;
	const struct sw_snap all = sw_snap_peek(hb, lane);
	if (chain.begin)
		take(hb, view, chain.begin, SW_ORDER_DOCUMENTED);
	else
		take_before(hb, view, lane);
	take_rest(hb, at, view, lane);
	if (chain.late)
		take(hb, view, &all, SW_ORDER_MEASURED);
}

/* Launches that overlap this one may begin before it ends.  begun: they may come before its wait, too. */
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
	sw_step_begin(hb, at, lane);
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
