/* SPDX-License-Identifier: Apache-2.0 */
/* The engine as a whole: creation and destruction, contexts, queries. */
#include "hb/hb.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "hb/order.h"

static void lane_die(struct sw_hb *hb, uint32_t lane);

/* The bytes of a clock with room for so many lanes. */
static size_t size_of(uint32_t room)
{
	return sizeof(struct sw_vector_clock) + room * sizeof(struct sw_known_tick);
}

/* Gives up one reference to a clock (NULL: nothing), and frees the clock with the last.  *bytes: the memory that all
   clocks hold. */
static void release_clock(size_t *bytes, struct sw_vector_clock *clock)
{
	if (!clock || --clock->refs)
		return;
	*bytes -= size_of(clock->room);
	free(clock);
}

/* Takes a reference to a clock and returns one to a clock with at least n slots that may be written: the same one,
   or a copy where others refer to it or it has no room. */
static struct sw_vector_clock *writable_clock(size_t *bytes, struct sw_vector_clock *clock, uint32_t n)
{
	uint32_t had = clock ? clock->n : 0;
	if (clock && clock->refs == 1 && n <= clock->room) {
		if (n > had) {
			memset(clock->at + had, 0, (n - had) * sizeof *clock->at);
			clock->n = n;
		}
		return clock;
	}
	if (n < had)
		n = had;
	uint32_t room = (n + 7) & ~7u;
	struct sw_vector_clock *copy = sw_alloc(size_of(room));
	*bytes += size_of(room);
	copy->refs = 1;
	copy->n = n;
	copy->room = room;
	if (had)
		memcpy(copy->at, clock->at, had * sizeof *copy->at);
	memset(copy->at + had, 0, (n - had) * sizeof *copy->at);
	release_clock(bytes, clock);
	return copy;
}

/* Raises the clock's tick of `lane` to at least `tick`.  Returns whether it grew. */
static bool raise_tick(size_t *bytes, struct sw_vector_clock **clock, uint32_t lane, uint64_t tick, uint64_t learnt)
{
	if (sw_clock_get(*clock, lane) >= tick)
		return false;
	*clock = writable_clock(bytes, *clock, lane + 1);
	(*clock)->at[lane] = (struct sw_known_tick){tick, learnt};
	return true;
}

/* The first slot, other than `own`, whose tick in `from` is later than in the clock; from->n if there is none. */
static uint32_t first_newer(const struct sw_vector_clock *clock, const struct sw_vector_clock *from, uint32_t own)
{
	uint32_t both = clock->n < from->n ? clock->n : from->n, i = 0;
	while (i < both && (clock->at[i].tick >= from->at[i].tick || i == own))
		i++;
	if (i == both)
		while (i < from->n && (!from->at[i].tick || i == own))
			i++;
	return i;
}

/* Raises each tick of *clock, the clock of lane `own`, to that of `from`, except the lane's own, which its clock does
   not keep.  learnt: the record to note for each slot that grows, or SW_LEARNT_KEEP for the one that `from` has.
   *bytes: what all clocks take, kept up to date.  Returns whether any grew. */
static bool join_clock(size_t *bytes, struct sw_vector_clock **clock, struct sw_vector_clock *from, uint32_t own,
		       uint64_t learnt)
{
	if (!from || from == *clock)
		return false;
	if (!*clock && learnt == SW_LEARNT_KEEP) {
		*clock = sw_clock_hold(from);
		return true;
	}
	if (!*clock)
		*clock = writable_clock(bytes, NULL, from->n);
	uint32_t i = first_newer(*clock, from, own);
	if (i == from->n)
		return false;
	struct sw_vector_clock *to = *clock = writable_clock(bytes, *clock, from->n);
	for (; i < from->n; i++)
		if (from->at[i].tick > to->at[i].tick && i != own) {
			to->at[i].tick = from->at[i].tick;
			to->at[i].learnt = learnt == SW_LEARNT_KEEP ? from->at[i].learnt : learnt;
		}
	return true;
}

/* Do both clocks have the same ticks, whatever records these were learnt from? */
static bool clocks_equal(const struct sw_vector_clock *a, const struct sw_vector_clock *b)
{
	uint32_t na = a ? a->n : 0, nb = b ? b->n : 0;
	for (uint32_t i = 0; i < na || i < nb; i++)
		if (sw_clock_get(a, i) != sw_clock_get(b, i))
			return false;
	return true;
}

struct sw_known sw_known_hold(const struct sw_known *known)
{
	return (struct sw_known){sw_clock_hold(known->documented), sw_clock_hold(known->measured),
				 sw_clock_hold(known->observed)};
}

void sw_known_drop(size_t *bytes, struct sw_known *known)
{
	release_clock(bytes, known->documented);
	release_clock(bytes, known->measured);
	release_clock(bytes, known->observed);
	*known = (struct sw_known){NULL, NULL, NULL};
}

/* Which of a lane's clocks are, or are about to be, apart from the one below. */
struct separate {
	bool measured, observed;
};

/* Gives the measured and the observed clock of a lane, before the lane learns something of this basis, a reference
   of its own where they may come to differ from the clock below.  from: the clocks that are joined, or NULL. */
static struct separate separate_clocks(struct sw_known *known, const struct sw_known *from, enum sw_order basis)
{
	struct separate separate = {.measured = known->measured || basis == SW_ORDER_MEASURED,
				    .observed = known->observed || basis == SW_ORDER_OBSERVED};
	separate.measured |= from && from->measured && basis == SW_ORDER_DOCUMENTED;
	separate.observed |= from && from->observed;
	if (separate.observed && !known->observed)
		known->observed = sw_clock_hold(sw_known_measured(known));
	if (separate.measured && !known->measured)
		known->measured = sw_clock_hold(known->documented);
	return separate;
}

/* Drops, after the lane has learnt something, the measured and the observed clock where they equal the clock below.
   documented, measured: whether these clocks grew: where neither did, none can have caught up. */
static void merge_equal(size_t *bytes, struct sw_known *known, bool documented, bool measured)
{
	const struct sw_vector_clock *less = sw_known_measured(known);
	if (known->observed == less ||
	    (known->observed && (documented || measured) && clocks_equal(less, known->observed))) {
		release_clock(bytes, known->observed);
		known->observed = NULL;
	}
	if (known->measured == known->documented || (documented && clocks_equal(known->documented, known->measured))) {
		release_clock(bytes, known->measured);
		known->measured = NULL;
	}
}

bool sw_known_raise(size_t *bytes, struct sw_known *known, uint32_t lane, uint64_t tick, uint64_t learnt,
		    enum sw_order basis)
{
	if (basis == SW_ORDER_DOCUMENTED && !known->measured && !known->observed)
		return raise_tick(bytes, &known->documented, lane, tick, learnt);
	struct separate separate = separate_clocks(known, NULL, basis);
	bool observed = separate.observed && raise_tick(bytes, &known->observed, lane, tick, learnt);
	bool measured = separate.measured && basis >= SW_ORDER_MEASURED &&
			raise_tick(bytes, &known->measured, lane, tick, learnt);
	bool documented = basis == SW_ORDER_DOCUMENTED && raise_tick(bytes, &known->documented, lane, tick, learnt);
	merge_equal(bytes, known, documented, measured);
	return observed || measured || documented;
}

bool sw_known_join(size_t *bytes, struct sw_known *known, const struct sw_known *from, uint32_t own, uint64_t learnt,
		   enum sw_order basis)
{
	if (basis == SW_ORDER_DOCUMENTED && !known->measured && !from->measured && !known->observed && !from->observed)
		return join_clock(bytes, &known->documented, from->documented, own, learnt);
	struct separate separate = separate_clocks(known, from, basis);
	bool observed = separate.observed &&
			join_clock(bytes, &known->observed, sw_known_by(from, SW_ORDER_OBSERVED), own, learnt);
	bool measured = separate.measured && basis >= SW_ORDER_MEASURED &&
			join_clock(bytes, &known->measured, sw_known_measured(from), own, learnt);
	bool documented =
		basis == SW_ORDER_DOCUMENTED && join_clock(bytes, &known->documented, from->documented, own, learnt);
	merge_equal(bytes, known, documented, measured);
	return observed || measured || documented;
}

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

/* Forgets a context: its lanes end, its handles are free for new streams, and the contexts that are parts of it end as
   well. */
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
		lane_die(hb, c->lanes.at[i]);
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

/* The last step of lane `from` that `lane` knows by what CUDA documents, and the record by which it learnt of that
   step; tick 0: none since the slot of `from` has its present owner. */
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

/* The memory that a table holds. */
static size_t map_bytes(const struct sw_map *map)
{
	return map->room * (sizeof *map->slots + sizeof *map->used);
}

/* Counts of the engine's work, and the bytes that it holds. */
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

/* Lane slots: allocated, found by handle or thread, reused once every host lane knows all their steps. */

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

/* Removes a lane from a list, which keeps its order. */
static void remove_value(sw_lanes *lanes, uint32_t lane)
{
	for (size_t i = 0; i < lanes->n; i++)
		if (lanes->at[i] == lane) {
			memmove(lanes->at + i, lanes->at + i + 1, (lanes->n - i - 1) * sizeof *lanes->at);
			lanes->n--;
			return;
		}
}

/* The key of a per-thread stream in hb->threads: context and thread. */
static uint64_t thread_key(uint8_t ctx, uint32_t thread)
{
	return (uint64_t)ctx << 32 | thread;
}

/* Is it the lane of a host thread, be it the program's or the driver's? */
static bool is_host(const struct sw_lane *lane)
{
	return lane->kind == SW_LANE_HOST || lane->kind == SW_LANE_CALLBACK;
}

/* Forgets the lane of a host thread that ended.  All know its steps, but hb->left keeps what it had observed where
   it was the last to act. */
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

/* Frees a lane's slot for another lane, once every host lane knows all its steps.  Ticks of the slot continue, so
   old points keep their meaning. */
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

/* Does every host lane know all steps of this lane? */
static bool lane_passed(const struct sw_hb *hb, uint32_t lane)
{
	return sw_hb_passed(hb, (struct sw_point){lane, sw_lane_at(hb, lane)->tick});
}

/* Makes all hosts know this lane's work, so that its slot becomes free and memory stays bounded.  Counted, as the
   order added is no order that the program made. */
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

/* Frees the slots of the oldest lanes of a queue that all hosts know; lanes that are still needed go to its end.
   keep: so many lanes are left alone; max: beyond so many, join_for_safety() makes the oldest known. */
static void reclaim_slots(struct sw_hb *hb, sw_lanes *queue, size_t keep, size_t max)
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
	reclaim_slots(hb, &hb->dead, 0, DEAD_MAX);
	if (kind == SW_LANE_PER_THREAD)
		reclaim_slots(hb, &hb->per_thread, PER_THREAD_KEEP, PER_THREAD_MAX);
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

/* Ends a lane: no handle or thread leads to it any more, and its slot is free once all hosts know its steps. */
static void lane_die(struct sw_hb *hb, uint32_t lane)
{
	struct sw_lane *l = sw_lane_at(hb, lane);
	if (l->kind == SW_LANE_PER_THREAD) {
		sw_map_delete(&hb->threads, thread_key(l->ctx, l->thread));
		remove_value(&hb->per_thread, lane);
	}
	l->dead = true;
	*sw_vec_push(&hb->dead) = lane;
}

/* The lane of a context's legacy stream, made at the first use. */
static uint32_t legacy_lane(struct sw_hb *hb, uint8_t ctx)
{
	struct sw_context *c = sw_context_use(hb, ctx);
	if (!c->legacy)
		c->legacy = sw_lane_new(hb, SW_LANE_LEGACY, ctx, 0, 1) + 1;
	return c->legacy - 1;
}

/* The lane of a thread's own default stream in a context, made at the first use. */
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
	lane_die(hb, (uint32_t)lane - 1);
}

/* ---- hosts ---- */

/* Gives a new host lane what all the others know: one of them created the thread.  Which one was not recorded, and
   less would undo what sw_hb_passed() promised. */
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

/* Makes the lane of a host thread. */
static uint32_t new_host(struct sw_hb *hb, uint32_t thread, enum sw_lane_kind kind)
{
	uint32_t lane = sw_lane_new(hb, kind, 0, thread, 0);
	inherit_from_hosts(hb, lane);
	*sw_vec_push(&hb->hosts) = lane;
	return lane;
}

/* Makes the lane of an ended thread count again, as the thread acts once more: in a destructor of thread-local data
   that runs after the recorder's. */
static void revive_lane(struct sw_hb *hb, uint32_t lane)
{
	sw_lane_at(hb, lane)->dead = false;
	remove_value(&hb->dead, lane);
	inherit_from_hosts(hb, lane); /* what all others knew was taken for passed while this one did not count */
	*sw_vec_push(&hb->hosts) = lane;
}

/* The lane of a host thread, made at its first use.  kind: which kind it gets then. */
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
		revive_lane(hb, (uint32_t)lane - 1);
	}
	return (uint32_t)lane - 1;
}

/* Returns host_lane(); with a lane for each thread, it first observes what the host as a whole knew, the last step
   of any host lane.  So the observed clocks are those that one lane for all threads would have. */
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
