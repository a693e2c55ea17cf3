/* SPDX-License-Identifier: Apache-2.0 */
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
#include "detect/hazards/host_knowledge.h"

#include "detect/model/lanes.h"
#include "detect/model/model.h"

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

void sw_host_flag_read(struct sw_model *m, struct sw_point by)
{
	struct sw_lane_state *lane_state = sw_model_lane_state(m, by.lane);
	m->host_flags = true;
	if (!lane_state->listens || sw_hb_passed(m->hb, (struct sw_point){by.lane, lane_state->listens}))
		lane_state->listens = by.tick;
}

/* The last step of the lane that may signal through memory, 0: none. */
typedef uint64_t last_signal_fn(const struct sw_lane_state *lane_state);

static uint64_t last_host_signal(const struct sw_lane_state *lane_state)
{
	return lane_state->signal > lane_state->unclear ? lane_state->signal : lane_state->unclear;
}

static uint64_t last_shared_event(const struct sw_lane_state *lane_state)
{
	return lane_state->shared_event;
}

static uint64_t last_flag(const struct sw_lane_state *lane_state)
{
	return lane_state->flag;
}

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
