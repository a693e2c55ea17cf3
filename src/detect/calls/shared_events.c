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

/* Makes an event of the last record on this lane that other processes may wait for: an event of ours, no program has
   its handle. */
static uint64_t told_by(uint32_t lane)
{
	return UINT64_C(1) << 62 | lane;
}

void sw_shared_event_made(struct sw_model *m, const struct sw_rec_event *e)
{
	if (e->flags & SW_EVENT_INTERPROCESS || e->shared)
		*sw_event_of(m, e->event) = (struct sw_event_state){
			.exportable = true, .interprocess = e->shared != 0, .handle = e->shared};
}

static void told(struct sw_model *m, uint8_t ctx)
{
	m->context[ctx].shared_event = m->shared_events_recorded = m->shares = true;
	for (uint32_t lane = 0; lane < sw_lanes_count(m); lane++)
		sw_model_lane_state(m, lane)->shared_event = sw_model_lane_state(m, lane)->work;
}

/* Others may wait for an earlier record from now on: it covered some of the work so far. */
void sw_shared_event_exported(struct sw_model *m, uint64_t handle, uint64_t hash)
{
	struct sw_event_state *event = sw_event_of(m, handle);
	if (!event->interprocess && event->record.seq)
		told(m, m->j->streams.at[event->record.stream].ctx);
	event->interprocess = event->exportable = true;
	event->handle = (uint32_t)hash;
	sw_sharing_event_exported(m, handle, (uint32_t)hash);
}

void sw_shared_event_recorded(struct sw_model *m, const struct sw_event_state *event, uint8_t ctx)
{
	const struct sw_point record = event->record.point;
	if (!event->interprocess)
		return;
	if (!record.tick) {
		told(m, ctx);
		return;
	}
	m->shared_events_recorded = m->shares = true;
	sw_model_lane_state(m, record.lane)->shared_event = record.tick;
	sw_hb_event_snapshot(m->hb, told_by(record.lane), record.lane);
}

void sw_shared_event_joined(struct sw_model *m, const struct sw_event_state *event, const struct sw_hb_at *at,
			    unsigned flags)
{
	if (event->interprocess)
		sw_sharing_waited(m, event->handle);
	if (!event->interprocess || !m->shared_events_recorded)
		return;
	for (uint32_t lane = 0; lane < sw_lanes_count(m); lane++)
		if (sw_model_lane_state(m, lane)->shared_event) {
			sw_hb_stream_wait(m->hb, at, told_by(lane), flags, NULL);
			m->j->coverage.edges_for_safety++;
		}
	for (unsigned ctx = 0; ctx < SW_CONTEXTS; ctx++) {
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
	if (!event->interprocess || !m->shared_events_recorded)
		return;
	for (uint32_t lane = 0; lane < sw_lanes_count(m); lane++)
		if (sw_model_lane_state(m, lane)->shared_event) {
			sw_wait_add(m, w, sw_hb_wait_event(m->hb, told_by(lane), NULL), SW_ORDER_DOCUMENTED);
			m->j->coverage.edges_for_safety++;
		}
	for (unsigned ctx = 0; ctx < SW_CONTEXTS; ctx++)
		if (m->context[ctx].shared_event) {
			sw_wait_add(m, w, sw_hb_wait_context(m->hb, (uint8_t)ctx), SW_ORDER_DOCUMENTED);
			m->j->coverage.edges_for_safety++;
		}
}
