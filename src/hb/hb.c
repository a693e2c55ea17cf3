/* SPDX-License-Identifier: Apache-2.0 */
/* The engine as a whole: creation and destruction, contexts, queries. */
#include "hb/order.h"

#include <stdlib.h>

struct sw_hb *sw_hb_new(const struct sw_hb_options *options)
{
	struct sw_hb *hb = sw_calloc(1, sizeof *hb);
	if (options)
		hb->options = *options;
	hb->actor = SW_NO_LANE;
	if (!hb->options.strict_host)
		sw_hb_host_lane(hb, 0);
	return hb;
}

void sw_hb_free(struct sw_hb *hb)
{
	if (!hb)
		return;
	for (uint32_t i = 0; i < hb->lanes.n; i++)
		sw_chain_end(hb, i);
	for (size_t i = 0; i < hb->lanes.n; i++)
		sw_known_drop(&hb->clock_bytes, &hb->lanes.at[i].known);
	for (size_t i = 0; i < hb->event.n; i++)
		sw_snap_drop(hb, &hb->event.at[i].snap);
	for (size_t i = 0; i < hb->token.n; i++)
		sw_snap_drop(hb, &hb->token.at[i].snap);
	for (size_t i = 0; i < hb->sync.n; i++)
		sw_snap_drop(hb, &hb->sync.at[i].snap);
	sw_snap_drop(hb, &hb->old);
	sw_snap_drop(hb, &hb->left);
	for (size_t i = 0; i < SW_CONTEXTS; i++) {
		sw_snap_drop(hb, &hb->contexts[i].wait);
		free(hb->contexts[i].lanes.at);
		free(hb->contexts[i].dirty.at);
	}
	sw_map_free(&hb->streams);
	sw_map_free(&hb->threads);
	sw_map_free(&hb->host_threads);
	sw_map_free(&hb->events);
	sw_map_free(&hb->unborn);
	sw_map_free(&hb->ended);
	sw_map_free(&hb->syncs);
	free(hb->lanes.at);
	free(hb->free.at);
	free(hb->dead.at);
	free(hb->per_thread.at);
	free(hb->hosts.at);
	free(hb->sync.at);
	free(hb->event.at);
	free(hb->event_free.at);
	free(hb->token.at);
	free(hb->token_free.at);
	free(hb);
}

/* ---- contexts ---- */

void sw_hb_context_create(struct sw_hb *hb, uint8_t ctx, int device)
{
	sw_context_use(hb, ctx)->device = device;
}

void sw_hb_context_within(struct sw_hb *hb, uint8_t part, uint8_t whole)
{
	struct sw_context *p = sw_context_use(hb, part), *w = sw_context_use(hb, whole);
	if (part == whole || p->whole || p->parts || w->whole)
		return;
	p->whole = whole;
	w->parts = true;
	sw_snap_merge(hb, &p->wait, &w->wait);
	p->waits++;
}

static void end_context(struct sw_hb *hb, uint8_t ctx)
{
	struct sw_context *c = &hb->contexts[ctx];
	for (size_t i = 0; i < c->lanes.n; i++) {
		struct sw_lane *l = sw_lane_at(hb, c->lanes.at[i]);
		l->dirty = false;
		l->in_ctx = SW_NO_LANE;
		if (l->dead)
			continue;
		if (l->kind == SW_LANE_BLOCKING || l->kind == SW_LANE_NONBLOCKING)
			sw_map_delete(&hb->streams, l->handle);
		sw_lane_die(hb, c->lanes.at[i]);
	}
	c->lanes.n = c->dirty.n = 0;
	c->legacy = 0;
	c->device = 0;
	c->used = false;
	c->whole = 0;
	sw_snap_drop(hb, &c->wait);
	sw_event_end_context(hb, ctx);
	for (int part = 0; c->parts && part < SW_CONTEXTS; part++)
		if (hb->contexts[part].whole == ctx)
			end_context(hb, (uint8_t)part);
	c->parts = false;
}

void sw_hb_context_destroy(struct sw_hb *hb, uint8_t ctx, uint32_t thread, uint64_t seq)
{
	if (!hb->contexts[ctx].used)
		return;
	uint32_t host = sw_lane_acts(hb, thread, SW_LANE_HOST, seq);
	struct sw_snap snap = {{0, 0}, 0, 0, {NULL, NULL, NULL}};
	sw_snap_context(hb, &snap, ctx);
	if (sw_acquire(hb, host, &snap, SW_EDGE_CONTEXT, SW_ORDER_DOCUMENTED, seq))
		sw_step_end(hb, host, seq, false);
	sw_snap_drop(hb, &snap);
	end_context(hb, ctx);
}

/* ---- questions ---- */

enum sw_lane_kind sw_hb_lane_kind(const struct sw_hb *hb, uint32_t lane)
{
	return lane < hb->lanes.n ? (enum sw_lane_kind)sw_lane_at(hb, lane)->kind : SW_LANE_HOST;
}

uint32_t sw_hb_lane_serial(const struct sw_hb *hb, uint32_t lane)
{
	return lane < hb->lanes.n ? sw_lane_at(hb, lane)->serial : 0;
}

enum sw_order sw_hb_ordered(const struct sw_hb *hb, struct sw_point earlier, uint32_t lane)
{
	if (lane >= hb->lanes.n)
		return SW_ORDER_NONE;
	const struct sw_lane *l = sw_lane_at(hb, lane);
	if (earlier.lane == lane)
		return earlier.tick <= l->tick ? SW_ORDER_DOCUMENTED : SW_ORDER_NONE;
	if (sw_clock_get(l->known.documented, earlier.lane) >= earlier.tick)
		return SW_ORDER_DOCUMENTED;
	if (l->known.measured && sw_clock_get(l->known.measured, earlier.lane) >= earlier.tick)
		return SW_ORDER_MEASURED;
	if (l->known.observed && sw_clock_get(l->known.observed, earlier.lane) >= earlier.tick)
		return SW_ORDER_OBSERVED;
	return SW_ORDER_NONE;
}

uint64_t sw_hb_known(const struct sw_hb *hb, uint32_t lane, uint32_t other)
{
	return lane < hb->lanes.n ? sw_clock_get(sw_lane_at(hb, lane)->known.documented, other) : 0;
}

bool sw_hb_passed(const struct sw_hb *hb, struct sw_point point)
{
	for (size_t i = 0; i < hb->hosts.n; i++)
		if (sw_hb_ordered(hb, point, hb->hosts.at[i]) != SW_ORDER_DOCUMENTED)
			return false;
	return hb->hosts.n > 0;
}

struct sw_hb_last sw_hb_last_join(const struct sw_hb *hb, uint32_t lane, uint32_t from)
{
	struct sw_hb_last never = {0, 0, SW_EDGE_ENQUEUE};
	if (lane >= hb->lanes.n || from >= hb->lanes.n || lane == from)
		return never;
	const struct sw_vector_clock *clock = sw_lane_at(hb, lane)->known.documented;
	/* Facts about the slot's last owner do not hold for this one. */
	if (sw_clock_get(clock, from) <= sw_lane_at(hb, from)->base)
		return never;
	const struct sw_known_tick *known = &clock->at[from];
	return (struct sw_hb_last){known->tick, known->learnt >> 4, (enum sw_edge_kind)(known->learnt & 15)};
}

static size_t map_bytes(const struct sw_map *map)
{
	return map->room * (sizeof *map->slots + sizeof *map->used);
}

struct sw_hb_stats sw_hb_stats(const struct sw_hb *hb)
{
	struct sw_hb_stats stats = hb->stats;
	stats.bytes = sizeof *hb + hb->clock_bytes + hb->lanes.room * sizeof *hb->lanes.at +
		      hb->event.room * sizeof *hb->event.at + hb->token.room * sizeof *hb->token.at +
		      hb->sync.room * sizeof *hb->sync.at +
		      (hb->free.room + hb->dead.room + hb->per_thread.room + hb->hosts.room + hb->event_free.room +
		       hb->token_free.room) *
			      sizeof(uint32_t) +
		      map_bytes(&hb->streams) + map_bytes(&hb->threads) + map_bytes(&hb->host_threads) +
		      map_bytes(&hb->events) + map_bytes(&hb->unborn) + map_bytes(&hb->ended) + map_bytes(&hb->syncs);
	for (size_t i = 0; i < SW_CONTEXTS; i++)
		stats.bytes += (hb->contexts[i].lanes.room + hb->contexts[i].dirty.room) * sizeof(uint32_t);
	return stats;
}

void sw_hb_barrier(struct sw_hb *hb, uint64_t seq)
{
	struct sw_snap all = {{0, 0}, 0, 0, {NULL, NULL, NULL}};
	for (uint32_t i = 0; i < hb->lanes.n; i++)
		if (sw_lane_at(hb, i)->taken) {
			struct sw_snap lane = sw_snap_peek(hb, i);
			sw_snap_merge(hb, &all, &lane);
		}
	for (uint32_t i = 0; i < hb->lanes.n; i++) {
		struct sw_lane *l = sw_lane_at(hb, i);
		if (!l->taken || l->kind == SW_LANE_VIEW)
			continue;
		sw_known_drop(&hb->clock_bytes, &l->known);
		/* With all steps of all lanes in it, the documented clock holds all that the others could. */
		l->known.documented = sw_clock_hold(all.known.documented);
		l->gain = l->tick + 1;
		sw_step_end(hb, i, seq, false);
		hb->stats.edges_for_safety++;
	}
	sw_snap_drop(hb, &all);
}
