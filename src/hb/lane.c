/* SPDX-License-Identifier: Apache-2.0 */
/* Lane slots: allocated, found by handle or thread, reused once every host lane knows all their steps. */
#include "hb/order.h"

#include <string.h>

enum {
	LOOK = 16,	      /* how many candidates a new lane looks at */
	DEAD_MAX = 256,	      /* destroyed streams that may be unknown to the host: more are joined to it for safety */
	PER_THREAD_KEEP = 64, /* per-thread streams that are kept even though everything on them is known */
	PER_THREAD_MAX = 512
};

struct sw_context *sw_context_use(struct sw_hb *hb, uint8_t ctx)
{
	struct sw_context *c = &hb->contexts[ctx];
	c->used = true;
	return c;
}

static void remove_value(sw_lanes *lanes, uint32_t lane)
{
	for (size_t i = 0; i < lanes->n; i++)
		if (lanes->at[i] == lane) {
			memmove(lanes->at + i, lanes->at + i + 1, (lanes->n - i - 1) * sizeof *lanes->at);
			lanes->n--;
			return;
		}
}

static uint64_t thread_key(uint8_t ctx, uint32_t thread)
{
	return (uint64_t)ctx << 32 | thread;
}

static bool is_host(const struct sw_lane *lane)
{
	return lane->kind == SW_LANE_HOST || lane->kind == SW_LANE_CALLBACK;
}

/* A host thread that ended.  Its steps are known to all, but not that it was the last to act, and what it had observed.
 */
static void release_host(struct sw_hb *hb, uint32_t lane)
{
	const struct sw_lane *l = sw_lane_at(hb, lane);
	if (sw_map_get(&hb->host_threads, l->thread) == lane + 1)
		sw_map_delete(&hb->host_threads, l->thread);
	if (hb->actor == lane) {
		struct sw_snap all = sw_snap_peek(hb, lane);
		sw_snap_drop(hb, &hb->left);
		sw_snap_merge(hb, &hb->left, &all);
		hb->actor = SW_NO_LANE;
	}
}

/* Every host lane knows all steps of this slot, so another lane may use it: ticks continue, old points stay valid. */
static void release_slot(struct sw_hb *hb, uint32_t lane)
{
	struct sw_lane *l = sw_lane_at(hb, lane);
	struct sw_context *ctx = &hb->contexts[l->ctx];
	if (l->in_ctx != SW_NO_LANE) {
		uint32_t last = ctx->lanes.at[--ctx->lanes.n];
		ctx->lanes.at[l->in_ctx] = last;
		sw_lane_at(hb, last)->in_ctx = l->in_ctx;
	}
	if (l->dirty)
		remove_value(&ctx->dirty, lane);
	if (l->kind == SW_LANE_PER_THREAD) {
		uint64_t key = thread_key(l->ctx, l->thread);
		if (sw_map_get(&hb->threads, key) == lane + 1)
			sw_map_delete(&hb->threads, key);
		if (!l->dead)
			remove_value(&hb->per_thread, lane);
	}
	if (l->dead)
		remove_value(&hb->dead, lane);
	if (is_host(l))
		release_host(hb, lane);
	sw_chain_end(hb, lane);
	sw_known_drop(&hb->clock_bytes, &l->known);
	l->taken = false;
	hb->stats.lanes--;
	*sw_vec_push(&hb->free) = lane;
}

static bool lane_passed(const struct sw_hb *hb, uint32_t lane)
{
	return sw_hb_passed(hb, (struct sw_point){lane, sw_lane_at(hb, lane)->tick});
}

/* To bound memory: all hosts are taken to know this lane's work.  An edge too many at worst, and counted. */
static void join_for_safety(struct sw_hb *hb, uint32_t lane)
{
	for (size_t i = 0; i < hb->hosts.n; i++) {
		struct sw_snap snap = sw_snap_peek(hb, lane);
		if (!sw_acquire(hb, hb->hosts.at[i], &snap, SW_EDGE_CONTEXT, SW_ORDER_DOCUMENTED, snap.seq))
			continue;
		hb->stats.edges_for_safety++;
		sw_step_end(hb, hb->hosts.at[i], snap.seq, false);
	}
}

/* Examines the oldest candidates for unused slots; slots still needed go to the end of the queue. */
static void reclaim(struct sw_hb *hb, sw_lanes *queue, size_t keep, size_t max)
{
	for (size_t look = LOOK; look && queue->n > keep; look--) {
		uint32_t lane = queue->at[0];
		if (queue->n > max && hb->hosts.n && !lane_passed(hb, lane))
			join_for_safety(hb, lane);
		if (lane_passed(hb, lane)) {
			release_slot(hb, lane);
			continue;
		}
		memmove(queue->at, queue->at + 1, (queue->n - 1) * sizeof *queue->at);
		queue->at[queue->n - 1] = lane;
	}
}

uint32_t sw_lane_new(struct sw_hb *hb, enum sw_lane_kind kind, uint8_t ctx, uint32_t thread, uint64_t handle)
{
	reclaim(hb, &hb->dead, 0, DEAD_MAX);
	if (kind == SW_LANE_PER_THREAD)
		reclaim(hb, &hb->per_thread, PER_THREAD_KEEP, PER_THREAD_MAX);
	uint32_t lane;
	if (hb->free.n)
		lane = hb->free.at[--hb->free.n];
	else {
		lane = (uint32_t)hb->lanes.n;
		*sw_vec_push(&hb->lanes) = (struct sw_lane){0};
	}
	uint64_t tick = sw_lane_at(hb, lane)->tick;
	*sw_lane_at(hb, lane) = (struct sw_lane){.tick = tick,
						 .base = tick,
						 .gain = tick,
						 .handle = handle,
						 .thread = thread,
						 .serial = ++hb->serials,
						 .in_ctx = SW_NO_LANE,
						 .ctx = ctx,
						 .kind = (uint8_t)kind,
						 .taken = true};
	if (++hb->stats.lanes > hb->stats.lanes_peak)
		hb->stats.lanes_peak = hb->stats.lanes;
	if (is_host(sw_lane_at(hb, lane)) || kind == SW_LANE_VIEW)
		return lane;
	struct sw_context *c = sw_context_use(hb, ctx);
	sw_lane_at(hb, lane)->in_ctx = (uint32_t)c->lanes.n;
	*sw_vec_push(&c->lanes) = lane;
	if (kind == SW_LANE_PER_THREAD)
		*sw_vec_push(&hb->per_thread) = lane;
	return lane;
}

void sw_lane_die(struct sw_hb *hb, uint32_t lane)
{
	struct sw_lane *l = sw_lane_at(hb, lane);
	if (l->kind == SW_LANE_PER_THREAD) {
		sw_map_delete(&hb->threads, thread_key(l->ctx, l->thread));
		remove_value(&hb->per_thread, lane);
	}
	l->dead = true;
	*sw_vec_push(&hb->dead) = lane;
}

static uint32_t legacy_lane(struct sw_hb *hb, uint8_t ctx)
{
	struct sw_context *c = sw_context_use(hb, ctx);
	if (!c->legacy)
		c->legacy = sw_lane_new(hb, SW_LANE_LEGACY, ctx, 0, 1) + 1;
	return c->legacy - 1;
}

static uint32_t per_thread_lane(struct sw_hb *hb, uint8_t ctx, uint32_t thread)
{
	uint64_t key = thread_key(ctx, thread);
	uint64_t lane = sw_map_get(&hb->threads, key);
	if (!lane) {
		lane = sw_lane_new(hb, SW_LANE_PER_THREAD, ctx, thread, 2) + 1;
		*sw_map_put(&hb->threads, key) = lane;
	}
	return (uint32_t)(lane - 1);
}

enum { HANDLE_DEFAULT, HANDLE_LEGACY, HANDLE_PER_THREAD }; /* NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD */

uint32_t sw_hb_lane(struct sw_hb *hb, const struct sw_hb_at *at)
{
	if (at->stream == HANDLE_LEGACY || (at->stream == HANDLE_DEFAULT && !at->per_thread))
		return legacy_lane(hb, at->ctx);
	if (at->stream == HANDLE_PER_THREAD || at->stream == HANDLE_DEFAULT)
		return per_thread_lane(hb, at->ctx, at->thread);
	uint64_t lane = sw_map_get(&hb->streams, at->stream);
	if (!lane) {
		/* Blocking is the reading with more order. */
		lane = sw_lane_new(hb, SW_LANE_BLOCKING, at->ctx, 0, at->stream) + 1;
		sw_lane_at(hb, (uint32_t)lane - 1)->unknown = true;
		*sw_map_put(&hb->streams, at->stream) = lane;
	}
	return (uint32_t)(lane - 1);
}

bool sw_lane_exists(const struct sw_hb *hb, const struct sw_hb_at *at)
{
	return at->stream <= HANDLE_PER_THREAD || sw_map_get(&hb->streams, at->stream);
}

void sw_hb_stream_create(struct sw_hb *hb, uint8_t ctx, uint64_t stream, bool nonblocking)
{
	if (stream <= HANDLE_PER_THREAD)
		return;
	sw_hb_stream_destroy(hb, stream); /* a handle given out again: its destruction was not seen */
	uint32_t lane = sw_lane_new(hb, nonblocking ? SW_LANE_NONBLOCKING : SW_LANE_BLOCKING, ctx, 0, stream);
	*sw_map_put(&hb->streams, stream) = lane + 1;
}

void sw_hb_stream_destroy(struct sw_hb *hb, uint64_t stream)
{
	uint64_t lane = sw_map_get(&hb->streams, stream);
	if (!lane)
		return;
	sw_map_delete(&hb->streams, stream);
	sw_lane_die(hb, (uint32_t)lane - 1);
}

/* ---- hosts ---- */

/*
 * A new host thread knows what all the others know: one of them created it.  Which one was not recorded, and less would
 * undo what sw_hb_passed() promised.
 */
static void inherit_from_hosts(struct sw_hb *hb, uint32_t lane)
{
	struct sw_lane *l = sw_lane_at(hb, lane);
	for (uint32_t slot = 0; hb->hosts.n && slot < hb->lanes.n; slot++)
		for (int basis = SW_ORDER_OBSERVED; basis <= SW_ORDER_DOCUMENTED; basis++) {
			uint64_t least = UINT64_MAX;
			for (size_t i = 0; i < hb->hosts.n; i++) {
				const struct sw_lane *host = sw_lane_at(hb, hb->hosts.at[i]);
				uint64_t tick =
					hb->hosts.at[i] == slot
						? host->tick
						: sw_clock_get(sw_known_by(&host->known, (enum sw_order)basis), slot);
				least = tick < least ? tick : least;
			}
			if (slot != lane && least)
				sw_known_raise(&hb->clock_bytes, &l->known, slot, least,
					       sw_learnt_from(0, SW_EDGE_CONTEXT), (enum sw_order)basis);
		}
	if (l->known.documented || l->known.measured || l->known.observed) {
		l->gain = l->tick + 1;
		hb->stats.edges_for_safety++;
		sw_step_end(hb, lane, 0, false);
	}
}

static uint32_t new_host(struct sw_hb *hb, uint32_t thread, enum sw_lane_kind kind)
{
	uint32_t lane = sw_lane_new(hb, kind, 0, thread, 0);
	inherit_from_hosts(hb, lane);
	*sw_vec_push(&hb->hosts) = lane;
	return lane;
}

/* A thread may act once more after it ended: in a destructor of thread-local data that runs after the recorder's. */
static void revive(struct sw_hb *hb, uint32_t lane)
{
	sw_lane_at(hb, lane)->dead = false;
	remove_value(&hb->dead, lane);
	inherit_from_hosts(hb, lane); /* what all others knew was taken for passed while this one did not count */
	*sw_vec_push(&hb->hosts) = lane;
}

/* The lane of a host thread; kind: what it will be when this is its first. */
static uint32_t host_lane(struct sw_hb *hb, uint32_t thread, enum sw_lane_kind kind)
{
	if (!hb->options.strict_host) {
		if (!hb->hosts.n)
			new_host(hb, 0, SW_LANE_HOST);
		return hb->hosts.at[0];
	}
	uint64_t lane = sw_map_get(&hb->host_threads, thread);
	if (!lane) {
		lane = new_host(hb, thread, kind) + 1;
		*sw_map_put(&hb->host_threads, thread) = lane;
	} else if (sw_lane_at(hb, (uint32_t)lane - 1)->dead) {
		revive(hb, (uint32_t)lane - 1);
	}
	return (uint32_t)lane - 1;
}

/*
 * In addition to what the thread knows, its lane observes what the host as a whole knew: the last step of any host
 * lane. So the observed clocks are those that one lane for all threads would have.
 */
uint32_t sw_lane_acts(struct sw_hb *hb, uint32_t thread, enum sw_lane_kind kind, uint64_t seq)
{
	uint32_t lane = host_lane(hb, thread, kind);
	if (lane == hb->actor || !hb->options.strict_host)
		return lane;
	struct sw_snap last = hb->actor == SW_NO_LANE ? sw_snap_hold(&hb->left) : sw_snap_peek(hb, hb->actor);
	bool merged = hb->actor == SW_NO_LANE;
	if ((merged || last.at.tick) && sw_acquire(hb, lane, &last, SW_EDGE_HOST, SW_ORDER_OBSERVED, seq))
		sw_step_end(hb, lane, seq, false);
	if (merged)
		sw_snap_drop(hb, &last);
	hb->actor = lane;
	return lane;
}

void sw_lane_end_host(struct sw_hb *hb, uint32_t lane)
{
	if (hb->hosts.n == 1)
		return; /* the next owner inherits from it */
	remove_value(&hb->hosts, lane);
	sw_lane_at(hb, lane)->dead = true;
	*sw_vec_push(&hb->dead) = lane;
}

uint32_t sw_hb_host_lane(struct sw_hb *hb, uint32_t thread)
{
	return host_lane(hb, thread, SW_LANE_HOST);
}
