/* SPDX-License-Identifier: Apache-2.0 */
/* Events that were meant to order a hazard (SW201-SW203), or anything at all (SW205). */
#ifndef SW_DETECT_HAZARDS_INTENDED_ORDER_H
#define SW_DETECT_HAZARDS_INTENDED_ORDER_H

#include "detect/model/events.h"
#include "detect/model/lanes.h"

struct sw_model;
struct sw_block;

void sw_event_wait_remember(struct sw_model *m, struct sw_lane_state *lane, const struct sw_event_state *event,
			    const struct sw_hb_event_state *state, bool useless);
/* Would a wait of this lane for what the event holds now bring nothing?  Asked before the wait. */
bool sw_event_wait_useless(const struct sw_model *m, const struct sw_event_state *event, uint32_t lane);
/* Looks for the wait that should have ordered the hazard: names it in the hazard's advice and as a finding of its own.
 */
void sw_event_wait_hazard(struct sw_model *m, struct sw_finding *hazard, struct sw_block *block);
/* Is the later work ordered whatever the host waits for?  By an event that its lane waited for lately, or by the legacy
   stream, which is one of the two. */
bool sw_ordered_without_host(struct sw_model *m, const struct sw_access *earlier, const struct sw_access *later);
/* Work came on the lane: what the waits before it could wait for is settled. */
void sw_event_wait_worked(struct sw_model *m, uint32_t lane);
void sw_event_wait_replaced(struct sw_model *m, const struct sw_event_state *event);

#endif
