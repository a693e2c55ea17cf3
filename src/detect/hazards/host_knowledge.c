/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One way of knowing can't be seen: work that writes a flag which the host polls (cuStreamWriteValue, a kernel with
 * volatile or system-scope accesses to host memory, a host node of a graph).  An access after such work is never more
 * than possible.
 */
#include "detect/hazards/host_knowledge.h"

#include "detect/model/lanes.h"
#include "detect/model/model.h"

void sw_host_signalled(struct sw_model *m, struct sw_point by)
{
	sw_model_lane_state(m, by.lane)->signal = by.tick;
}

/* The last step of the lane that tells somebody, 0 none. */
typedef uint64_t teller(const struct sw_lane_state *books);

static uint64_t tells_host(const struct sw_lane_state *books)
{
	return books->signal > books->unknown ? books->signal : books->unknown;
}

static uint64_t tells_others(const struct sw_lane_state *books)
{
	return books->told;
}

static bool told(struct sw_model *m, struct sw_point work, teller *tells)
{
	for (uint32_t lane = 0; lane < sw_lanes_count(m); lane++) {
		const uint64_t last = tells(sw_model_lane_state(m, lane));
		if (!last || sw_hb_passed(m->hb, (struct sw_point){lane, last}))
			continue;
		if (lane == work.lane ? last >= work.tick : sw_hb_ordered(m->hb, work, lane) != SW_ORDER_NONE)
			return true;
	}
	return false;
}

bool sw_host_may_know(struct sw_model *m, struct sw_point work)
{
	return told(m, work, tells_host);
}

bool sw_others_may_know(struct sw_model *m, struct sw_point work)
{
	return m->told_others && told(m, work, tells_others);
}
