/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that other processes know: the handle was exported here, or opened here.  (One that was only made for that,
 * with CU_EVENT_INTERPROCESS, is an event like any other.)  What other processes do with them is not seen: they may
 * wait for what was recorded here, do something, and record another event that is waited for here.  So a wait for one
 * is taken to cover, besides its own record, all that the records of such events cover.
 */
#ifndef SW_DETECT_CALLS_SHARED_EVENTS_H
#define SW_DETECT_CALLS_SHARED_EVENTS_H

#include "reader/reader.h"

struct sw_event_state;
struct sw_hb_at;
struct sw_model;
struct sw_wait;

void sw_shared_event_made(struct sw_model *m, const struct sw_rec_event *e);
void sw_shared_event_exported(struct sw_model *m, uint64_t handle, uint64_t hash);
/* `record` of the event is the one that was just made in this context. */
void sw_shared_event_recorded(struct sw_model *m, const struct sw_event_state *event, uint8_t ctx);
/* A stream (flags: of sw_hb_stream_wait), or the host, waits for it. */
void sw_shared_event_joined(struct sw_model *m, const struct sw_event_state *event, const struct sw_hb_at *at,
			    unsigned flags);
void sw_shared_event_awaited(struct sw_model *m, const struct sw_event_state *event, struct sw_wait *w);

#endif
