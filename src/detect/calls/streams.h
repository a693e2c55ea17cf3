/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, captures, host functions. */
#ifndef SW_DETECT_CALLS_STREAMS_H
#define SW_DETECT_CALLS_STREAMS_H

#include "hb/hb.h"

struct sw_model;
struct sw_access;

/* The event was recorded, by a call or a node of a graph. */
void sw_event_recorded(struct sw_model *m, struct sw_access *what, const struct sw_hb_at *at, uint64_t handle,
		       unsigned flags);

#endif
