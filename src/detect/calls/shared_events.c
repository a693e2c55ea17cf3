/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/calls/shared_events.h"

#include "detect/hazards/shared_uses.h"
#include "detect/model/call.h"
#include "detect/model/contexts.h"
#include "detect/model/events.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/waits.h"

#define SW_EVENT_INTERPROCESS 4u /* CU_EVENT_INTERPROCESS */

void sw_shared_event_made(struct sw_model *m, const struct sw_rec_event *e)
{
	if (e->flags & SW_EVENT_INTERPROCESS || e->shared)
		*sw_event_of(m, e->event) = (struct sw_event_state){.interprocess = true, .handle = e->shared};
}

void sw_shared_event_exported(struct sw_model *m, uint64_t handle, uint64_t hash)
{
	struct sw_event_state *event = sw_event_of(m, handle);
	event->interprocess = true;
	event->handle = (uint32_t)hash;
	sw_sharing_event_exported(m, handle, (uint32_t)hash);
}

void sw_shared_event_recorded(struct sw_model *m, const struct sw_event_state *event, uint8_t ctx)
{
	if (!event->interprocess)
		return;
	m->context[ctx].shared_event = true;
	m->shared_events_recorded = m->shares = true;
	const struct sw_point record = event->record.point;
	if (record.tick)
		sw_model_lane_state(m, record.lane)->shared_event = record.tick;
	for (uint32_t lane = 0; !record.tick && lane < sw_lanes_count(m); lane++)
		sw_model_lane_state(m, lane)->shared_event = sw_model_lane_state(m, lane)->work;
}

void sw_shared_event_joined(struct sw_model *m, const struct sw_event_state *event, const struct sw_hb_at *at,
			    unsigned flags)
{
	if (event->interprocess)
		sw_sharing_waited(m, event->handle);
	for (unsigned ctx = 0; event->interprocess && m->shared_events_recorded && ctx < SW_CONTEXTS; ctx++) {
		struct sw_hb_at all = *at;
		all.ctx = (uint8_t)ctx;
		if (!m->context[ctx].shared_event)
			continue;
		sw_hb_event_record(m->hb, SW_SAFETY_EVENT, &all, SW_HB_CONTEXT, NULL);
		sw_hb_stream_wait(m->hb, at, SW_SAFETY_EVENT, flags, NULL);
		sw_hb_event_destroy(m->hb, SW_SAFETY_EVENT);
		m->j->coverage.edges_for_safety++;
	}
}

void sw_shared_event_awaited(struct sw_model *m, const struct sw_event_state *event, struct sw_wait *w)
{
	if (event->interprocess)
		sw_sharing_waited(m, event->handle);
	for (unsigned ctx = 0; event->interprocess && m->shared_events_recorded && ctx < SW_CONTEXTS; ctx++)
		if (m->context[ctx].shared_event) {
			sw_wait_add(m, w, sw_hb_wait_context(m->hb, (uint8_t)ctx), SW_ORDER_DOCUMENTED);
			m->j->coverage.edges_for_safety++;
		}
}
