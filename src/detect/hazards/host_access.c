/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host touched in its own code, as far as the guard saw it (--guard-host).
 *
 * The guard releases pages later than it could have, never earlier than it may: what it tells of is an access, not yet
 * a hazard.  Whether the host could know the work to be done is judged here, like all order.
 *
 * One way of knowing can't be seen: work that writes a flag which the host polls (cuStreamWriteValue, a kernel with
 * volatile or system-scope accesses to host memory, a host node of a graph).  An access after such work is never more
 * than possible.
 */
#include "detect/model/model.h"

void sw_on_host_access(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_host_access *a = (const struct sw_rec_host_access *)(const void *)r->rec;
	enum sw_role role = a->flags & SW_HOST_WRITES ? SW_WRITE : SW_READ;
	struct sw_range range = sw_range_bytes(a->address, a->bytes, role, SW_EV_EXACT);
	w->what.point = sw_hb_host_step(m->hb, r->thread, r->seq);
	m->j->coverage.host_accesses++;
	sw_model_touch(m, &w->what, &range, &(struct sw_touch){.host = true});
}

void sw_host_signalled(struct sw_model *m, struct sw_point by)
{
	sw_model_lane_state(m, by.lane)->signal = by.tick;
}

bool sw_host_may_know(struct sw_model *m, struct sw_point work)
{
	for (uint32_t lane = 0; lane < m->lanes.n; lane++) {
		const struct sw_lane_state *books = sw_model_lane_state(m, lane);
		uint64_t last = books->signal > books->unknown ? books->signal : books->unknown;
		if (!last || sw_hb_passed(m->hb, (struct sw_point){lane, last}))
			continue;
		if (lane == work.lane ? last >= work.tick : sw_hb_ordered(m->hb, work, lane) != SW_ORDER_NONE)
			return true;
	}
	return false;
}
