/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/hazards/host_functions.h"

#include <stdlib.h>

#include "base/map.h"
#include "detect/memory/shadow.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"

/*
 * One way of knowing can't be seen: work that writes a flag which the host polls (cuStreamWriteValue, a kernel with
 * volatile or system-scope accesses to host memory, a host node of a graph).  An access after such work is never more
 * than possible.  Nor is one after work that may touch anything, unless all of its code is known and has no such store:
 * plain stores signal nothing, wherever they go.
 *
 * Neither is a conflict with work that the host enqueues later, where the flag itself lies in memory that the host
 * sees: the host may poll it first.  The same holds for a kernel that polls such a flag, which the host may write when
 * other work is done.  PTX ISA, "Memory Consistency Model": volatile and system-scope operations order host and device.
 */

void sw_host_signalled(struct sw_model *m, struct sw_point by)
{
	sw_model_lane_state(m, by.lane)->signal = by.tick;
}

void sw_host_unclear(struct sw_model *m, struct sw_point by, bool may_signal)
{
	struct sw_lane_state *lane_state = sw_model_lane_state(m, by.lane);
	lane_state->unknown = by.tick;
	if (may_signal)
		lane_state->unclear = by.tick;
}

void sw_host_flag_written(struct sw_model *m, struct sw_point by)
{
	m->host_flags = true;
	sw_model_lane_state(m, by.lane)->flag = by.tick;
}

/* Notes that a step of a stream reads a flag in memory that the host sees: the first such step that may still be
   running is kept, since all work after it may have waited for the host. */
void sw_host_flag_read(struct sw_model *m, struct sw_point by)
{
	struct sw_lane_state *lane_state = sw_model_lane_state(m, by.lane);
	m->host_flags = true;
	if (!lane_state->listens || sw_hb_passed(m->hb, (struct sw_point){by.lane, lane_state->listens}))
		lane_state->listens = by.tick;
}

/* The last step of the lane that may signal through memory, 0: none. */
typedef uint64_t last_signal_fn(const struct sw_lane_state *lane_state);

/* The last step of the lane that may tell the host, through memory that the host sees, that it is done: a write of a
   value there, or work that is not known. */
static uint64_t last_host_signal(const struct sw_lane_state *lane_state)
{
	return lane_state->signal > lane_state->unclear ? lane_state->signal : lane_state->unclear;
}

/* The last event on the lane that other processes may wait for. */
static uint64_t last_shared_event(const struct sw_lane_state *lane_state)
{
	return lane_state->shared_event;
}

/* The last step of the lane that writes a flag which the host sees. */
static uint64_t last_flag(const struct sw_lane_state *lane_state)
{
	return lane_state->flag;
}

/* Is `work` ordered before such a signal of any lane that the host does not know to be done?  Whoever sees the signal
   then knows that the work is done as well. */
static bool ordered_before_signal(struct sw_model *m, struct sw_point work, last_signal_fn *last_signal)
{
	for (uint32_t lane = 0; lane < sw_lanes_count(m); lane++) {
		const uint64_t last = last_signal(sw_model_lane_state(m, lane));
		if (!last || sw_hb_passed(m->hb, (struct sw_point){lane, last}))
			continue;
		if (lane == work.lane ? last >= work.tick : sw_hb_ordered(m->hb, work, lane) != SW_ORDER_NONE)
			return true;
	}
	return false;
}

bool sw_host_may_know(struct sw_model *m, struct sw_point work)
{
	return ordered_before_signal(m, work, last_host_signal);
}

bool sw_host_may_hold(struct sw_model *m, struct sw_point work)
{
	for (uint32_t lane = 0; m->host_flags && lane < sw_lanes_count(m); lane++) {
		const struct sw_point at = {lane, sw_model_lane_state(m, lane)->listens};
		if (!at.tick || sw_hb_passed(m->hb, at))
			continue;
		if (lane == work.lane ? at.tick <= work.tick : sw_hb_ordered(m->hb, at, work.lane) != SW_ORDER_NONE)
			return true;
	}
	return false;
}

bool sw_host_may_relay(struct sw_model *m, struct sw_point work)
{
	return m->host_flags && (ordered_before_signal(m, work, last_flag) || sw_host_may_hold(m, work));
}

bool sw_others_may_know(struct sw_model *m, struct sw_point work)
{
	return m->shared_events_recorded && ordered_before_signal(m, work, last_shared_event);
}

/* Signals of one lane that are remembered while functions are pending. */
#define MOST_KNOWN 65536

/* From its step `tick` on, lane `by` knew the first `known` steps of the lane. */
struct knowledge {
	uint32_t by;
	uint64_t tick, known;
};
/* A lane with functions that have not returned. */
struct held_lane {
	uint32_t lane;
	bool full; /* too much to keep: everything counts as ordered */
	size_t pending;
	SW_VEC(struct knowledge) known; /* empty while nothing is pending */
	SW_VEC(uint64_t) unseen;	/* ticks, ascending */
};
struct function {
	struct sw_point point;
	sw_hb_token token;
};
struct sw_host_funcs {
	struct sw_map enqueued; /* record of HOST_FUNC -> index into function, + 1 */
	struct sw_map running;	/* thread -> index into function, + 1 */
	struct sw_map callers;	/* threads */
	uint32_t last_caller;
	SW_VEC(struct function) function;
	SW_VEC(uint32_t) free; /* of them */
	SW_VEC(struct held_lane) lane;
};

struct sw_host_funcs *sw_host_funcs_new(void)
{
	struct sw_host_funcs *funcs = sw_calloc(1, sizeof *funcs);
	funcs->last_caller = UINT32_MAX;
	return funcs;
}

/* Forgets all functions and lanes, as after a loss of records. */
static void clear_lanes(struct sw_host_funcs *funcs)
{
	for (size_t i = 0; i < funcs->lane.n; i++) {
		free(funcs->lane.at[i].known.at);
		free(funcs->lane.at[i].unseen.at);
	}
	free(funcs->lane.at);
	free(funcs->function.at);
	free(funcs->free.at);
	sw_map_free(&funcs->enqueued);
	sw_map_free(&funcs->running);
	sw_map_free(&funcs->callers);
	*funcs = (struct sw_host_funcs){.last_caller = UINT32_MAX};
}

void sw_host_funcs_free(struct sw_host_funcs *funcs)
{
	if (funcs)
		clear_lanes(funcs);
	free(funcs);
}

void sw_host_funcs_forget(struct sw_model *m)
{
	clear_lanes(m->host_funcs);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* The record of the lane among those with functions that have not returned; NULL: it has none. */
static struct held_lane *find_lane(const struct sw_host_funcs *funcs, uint32_t lane)
{
	for (size_t i = 0; i < funcs->lane.n; i++)
		if (funcs->lane.at[i].lane == lane)
			return &funcs->lane.at[i];
	return NULL;
}

/* Finds or adds the record of a lane that has a function pending. */
static struct held_lane *hold_lane(struct sw_host_funcs *funcs, uint32_t lane)
{
	struct held_lane *held = find_lane(funcs, lane);
	if (held)
		return held;
	held = sw_vec_push(&funcs->lane);
	*held = (struct held_lane){.lane = lane};
	return held;
}

/* Removes the lane's record once no function of it is pending: sw_host_func_note() looks at each such lane at every
   use. */
static void let_go(struct sw_host_funcs *funcs, struct held_lane *held)
{
	if (held->pending || held->unseen.n)
		return;
	free(held->known.at);
	free(held->unseen.at);
	*held = funcs->lane.at[--funcs->lane.n];
}

void sw_host_func_add(struct sw_model *m, uint64_t seq, struct sw_point point, sw_hb_token token)
{
	struct sw_host_funcs *funcs = m->host_funcs;
	uint32_t at = (uint32_t)funcs->function.n;
	if (funcs->free.n)
		at = funcs->free.at[--funcs->free.n];
	else
		sw_vec_push(&funcs->function);
	funcs->function.at[at] = (struct function){point, token};
	*sw_map_put(&funcs->enqueued, seq) = at + 1;
	hold_lane(funcs, point.lane)->pending++;
}

void sw_host_func_add_unseen(struct sw_model *m, struct sw_point point)
{
	struct held_lane *held = hold_lane(m->host_funcs, point.lane);
	size_t done = 0;
	while (done < held->unseen.n && sw_hb_passed(m->hb, (struct sw_point){point.lane, held->unseen.at[done]}))
		done++;
	for (size_t i = done; i < held->unseen.n; i++)
		held->unseen.at[i - done] = held->unseen.at[i];
	held->unseen.n -= done;
	if (!held->unseen.n && !held->pending) {
		held->known.n = 0;
		held->full = false;
	}
	*sw_vec_push(&held->unseen) = point.tick;
}

sw_hb_token sw_host_func_start(struct sw_model *m, uint64_t seq, uint32_t thread)
{
	struct sw_host_funcs *funcs = m->host_funcs;
	uint64_t at = sw_map_get(&funcs->enqueued, seq);
	if (!at)
		return 0;
	*sw_map_put(&funcs->running, thread) = at;
	return funcs->function.at[at - 1].token;
}

/* Ends the host function that record `seq` enqueued, which has returned on this thread. */
void sw_host_func_finish(struct sw_model *m, uint64_t seq, uint32_t thread)
{
	struct sw_host_funcs *funcs = m->host_funcs;
	uint64_t at = sw_map_get(&funcs->enqueued, seq);
	if (!at)
		return;
	struct held_lane *held = find_lane(funcs, funcs->function.at[at - 1].point.lane);
	sw_map_delete(&funcs->enqueued, seq);
	if (sw_map_get(&funcs->running, thread) == at)
		sw_map_delete(&funcs->running, thread);
	*sw_vec_push(&funcs->free) = (uint32_t)at - 1;
	held->pending--;
	let_go(funcs, held);
}

void sw_host_func_caller(struct sw_model *m, uint32_t thread)
{
	struct sw_host_funcs *funcs = m->host_funcs;
	if (thread == funcs->last_caller)
		return;
	funcs->last_caller = thread;
	*sw_map_put(&funcs->callers, thread) = 1;
}

struct sw_point sw_host_func_running(const struct sw_model *m, uint32_t thread)
{
	uint64_t at = sw_map_get(&m->host_funcs->running, thread);
	return at ? m->host_funcs->function.at[at - 1].point : (struct sw_point){0};
}

bool sw_host_func_made(const struct sw_model *m, const struct sw_shadow_use *access)
{
	const struct sw_host_funcs *funcs = m->host_funcs;
	bool unseen = false;
	if (access->access.kind != SW_REC_HOST_ACCESS)
		return false;
	for (size_t i = 0; i < funcs->lane.n; i++)
		unseen = unseen || funcs->lane.at[i].unseen.n;
	return access->function.tick || (unseen && !sw_map_get(&funcs->callers, access->access.thread));
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

void sw_host_func_note(struct sw_model *m, struct sw_point use)
{
	for (size_t i = 0; i < m->host_funcs->lane.n; i++) {
		struct held_lane *held = &m->host_funcs->lane.at[i];
		if (held->lane == use.lane)
			continue;
		uint64_t known = sw_hb_last_join(m->hb, use.lane, held->lane).tick;
		size_t k = held->known.n;
		while (k && held->known.at[k - 1].by != use.lane)
			k--;
		bool is_new = k ? held->known.at[k - 1].known != known : known;
		held->full |= held->known.n == MOST_KNOWN;
		if (is_new && !held->full)
			*sw_vec_push(&held->known) = (struct knowledge){use.lane, use.tick, known};
	}
}

/* The last step of the held lane that the use is ordered after: it knew of this step when it was enqueued.  UINT64_MAX,
   i.e. all steps, where too much would have to be kept. */
static uint64_t known_to(const struct held_lane *held, struct sw_point use)
{
	uint64_t known = 0;
	if (held->lane == use.lane)
		return use.tick;
	if (held->full)
		return UINT64_MAX;
	for (size_t k = 0; k < held->known.n; k++)
		if (held->known.at[k].by == use.lane && held->known.at[k].tick <= use.tick)
			known = held->known.at[k].known;
	return known;
}

bool sw_host_func_orders(const struct sw_model *m, const struct sw_shadow_use *use, const struct sw_shadow_use *access)
{
	struct sw_point function = access->function;
	const struct held_lane *held = function.tick ? find_lane(m->host_funcs, function.lane) : NULL;
	return held && known_to(held, use->access.point) >= function.tick;
}

bool sw_host_func_may_order(struct sw_model *m, const struct sw_shadow_use *use, const struct sw_shadow_use *access)
{
	const struct sw_host_funcs *funcs = m->host_funcs;
	if (access->function.tick || sw_map_get(&funcs->callers, access->access.thread))
		return false;
	for (size_t i = 0; i < funcs->lane.n; i++) {
		const struct held_lane *held = &funcs->lane.at[i];
		uint64_t known = known_to(held, use->access.point);
		for (size_t k = 0; k < held->unseen.n && held->unseen.at[k] <= known; k++)
			if (!sw_hb_passed(m->hb, (struct sw_point){held->lane, held->unseen.at[k]}))
				return true;
	}
	return false;
}
