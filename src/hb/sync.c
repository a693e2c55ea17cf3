/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How host threads order each other when each has a lane of its own: a release stores the thread's clock in the object,
 * a later acquire joins it. POSIX.1-2017, Base Definitions 4.12 "Memory Synchronization", names the functions that
 * synchronise; src/detect/calls/device.c says which of them release and which acquire.
 */
#include "hb/order.h"

enum {
	SYNCS_MIN = 1024, /* objects below this number are not looked through */
	SYNCS_MAX = 65536 /* objects that are distinguished: a program with more of them in use loses precision */
};

/* ---- objects ---- */

/* Does every host lane know all that the snapshot covers? */
static bool all_passed(const struct sw_hb *hb, const struct sw_snap *snap)
{
	if (snap->at.tick)
		return sw_hb_passed(hb, snap->at);
	const struct sw_vector_clock *clock = sw_known_measured(&snap->known);
	for (uint32_t i = 0; clock && i < clock->n; i++)
		if (!sw_hb_passed(hb, (struct sw_point){i, clock->at[i].tick}))
			return false;
	return true;
}

/* Removes object i, and puts the last one in its place. */
static void forget_object(struct sw_hb *hb, size_t i)
{
	struct sw_sync *last = &hb->sync.at[hb->sync.n - 1];
	sw_map_delete(&hb->syncs, hb->sync.at[i].key);
	sw_snap_drop(hb, &hb->sync.at[i].snap);
	if (last != &hb->sync.at[i]) {
		hb->sync.at[i] = *last;
		*sw_map_put(&hb->syncs, last->key) = i + 1;
	}
	hb->sync.n--;
}

/* Drops the objects whose releases all hosts know, as mutexes need not be destroyed.  (What an observed
   clock holds beyond that, the next host to act knows anyway.)  If too many are left, they become one: more order,
   not less. */
static void look_through(struct sw_hb *hb)
{
	for (size_t i = hb->sync.n; i--;)
		if (all_passed(hb, &hb->sync.at[i].snap))
			forget_object(hb, i);
	if (hb->sync.n >= SYNCS_MAX)
		while (hb->sync.n) {
			sw_snap_merge(hb, &hb->old, &hb->sync.at[hb->sync.n - 1].snap);
			forget_object(hb, hb->sync.n - 1);
			hb->stats.edges_for_safety++;
		}
	hb->syncs_kept = hb->sync.n;
}

/* The object of a key; NULL: it was never released. */
static struct sw_sync *find_object(const struct sw_hb *hb, uint64_t key)
{
	uint64_t index = sw_map_get(&hb->syncs, key);
	return index ? &hb->sync.at[index - 1] : NULL;
}

/* The object of a key, made where there is none.  Valid until the next one is made. */
static struct sw_sync *find_or_add(struct sw_hb *hb, uint64_t key)
{
	struct sw_sync *sync = find_object(hb, key);
	if (sync)
		return sync;
	if (hb->sync.n >= SYNCS_MIN && hb->sync.n >= 2 * hb->syncs_kept)
		look_through(hb);
	sync = sw_vec_push(&hb->sync);
	*sync = (struct sw_sync){.key = key, .holder = SW_NO_LANE};
	*sw_map_put(&hb->syncs, key) = hb->sync.n;
	return sync;
}

void sw_hb_release(struct sw_hb *hb, uint64_t key, uint32_t thread, uint64_t seq)
{
	if (!hb->options.strict_host)
		return;
	uint32_t lane = sw_lane_acts(hb, thread, SW_LANE_HOST, seq);
	struct sw_snap host = sw_snap_peek(hb, lane);
	if (!host.at.tick)
		return; /* it knows nothing */
	struct sw_sync *sync = find_or_add(hb, key);
	/* A lock: the thread that unlocks has joined the lock's clock, so its own snapshot is enough. */
	if (sync->holder == lane) {
		sw_snap_drop(hb, &sync->snap);
		sync->snap = sw_snap_hold(&host);
	} else {
		sw_snap_merge(hb, &sync->snap, &host);
	}
	sync->holder = SW_NO_LANE;
}

/* Joins a snapshot into a host lane, as one step of it if that adds order. */
static void learn_snapshot(struct sw_hb *hb, uint32_t lane, const struct sw_snap *from, uint64_t seq)
{
	if (sw_acquire(hb, lane, from, SW_EDGE_HOST, SW_ORDER_DOCUMENTED, seq))
		sw_step_end(hb, lane, seq, false);
}

void sw_hb_acquire(struct sw_hb *hb, uint64_t key, uint32_t thread, uint64_t seq)
{
	if (!hb->options.strict_host)
		return;
	uint32_t lane = sw_lane_acts(hb, thread, SW_LANE_HOST, seq);
	struct sw_sync *sync = find_object(hb, key);
	/* Releases of objects that were forgotten to bound memory: any object may be one of them. */
	learn_snapshot(hb, lane, &hb->old, seq);
	if (!sync)
		return;
	learn_snapshot(hb, lane, &sync->snap, seq);
	/* If this lane releases next, its own clock replaces the object's. */
	sync->holder = lane;
}

/* ---- threads ---- */

/* The new thread's lane counts as a host from its creation on: accesses are forgotten when all hosts know them, and
   the new thread, which knows what its creator knew, must be one of these hosts. */
void sw_hb_thread_create(struct sw_hb *hb, uint64_t id, uint32_t creator, uint64_t seq)
{
	if (!hb->options.strict_host || sw_map_get(&hb->unborn, id))
		return;
	uint32_t host = sw_lane_acts(hb, creator, SW_LANE_HOST, seq);
	uint32_t lane = sw_lane_new(hb, SW_LANE_HOST, 0, 0, 0);
	struct sw_snap known = sw_snap_peek(hb, host);
	if (known.at.tick)
		learn_snapshot(hb, lane, &known, seq);
	*sw_vec_push(&hb->hosts) = lane;
	*sw_map_put(&hb->unborn, id) = lane + 1;
}

void sw_hb_thread_start(struct sw_hb *hb, uint64_t id, uint32_t thread)
{
	uint64_t lane = sw_map_get(&hb->unborn, id);
	if (!lane)
		return;
	sw_map_delete(&hb->unborn, id);
	if (sw_map_get(&hb->host_threads, thread)) {
		sw_lane_end_host(hb, (uint32_t)lane -
					     1); /* a trace that contradicts itself: keep the lane that has acted */
		return;
	}
	sw_lane_at(hb, (uint32_t)lane - 1)->thread = thread;
	*sw_map_put(&hb->host_threads, thread) = lane;
}

void sw_hb_thread_abandon(struct sw_hb *hb, uint64_t id)
{
	uint64_t lane = sw_map_get(&hb->unborn, id);
	if (!lane)
		return;
	sw_map_delete(&hb->unborn, id);
	sw_lane_end_host(hb, (uint32_t)lane - 1);
}

void sw_hb_thread_end(struct sw_hb *hb, uint64_t handle, uint32_t thread)
{
	if (!hb->options.strict_host)
		return;
	*sw_map_put(&hb->ended, handle) = thread;
	uint64_t lane = sw_map_get(&hb->host_threads, thread);
	if (lane && !sw_lane_at(hb, (uint32_t)lane - 1)->dead)
		sw_lane_end_host(hb, (uint32_t)lane - 1);
}

/* The joiner comes after all steps of the thread, also those recorded after its end: after the join the thread no
   longer exists. */
void sw_hb_thread_join(struct sw_hb *hb, uint64_t handle, uint32_t joiner, uint64_t seq)
{
	if (!hb->options.strict_host)
		return;
	uint32_t host = sw_lane_acts(hb, joiner, SW_LANE_HOST, seq);
	uint64_t lane = sw_map_get(&hb->host_threads, sw_map_get(&hb->ended, handle));
	struct sw_snap gone = lane ? sw_snap_peek(hb, (uint32_t)lane - 1) : (struct sw_snap){0};
	if (gone.at.tick)
		learn_snapshot(hb, host, &gone, seq);
	sw_map_delete(&hb->ended, handle);
}
