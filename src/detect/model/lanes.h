/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes and the streams that they are: what is known of a lane besides its clocks, and enqueuing work.  Not
 * thread-safe.
 */
#ifndef SW_DETECT_MODEL_LANES_H
#define SW_DETECT_MODEL_LANES_H

#include "detect/model/call.h"

struct sw_model;
struct sw_lanes;
struct sw_event_wait;

/* What is known of an operation's lane besides its clocks.  A slot that changed hands has another serial. */
struct sw_lane_state {
	uint32_t serial;
	uint32_t stream;		   /* index in judgement.streams */
	uint64_t work;			   /* last step that was work */
	struct sw_access last;		   /* that work; seq 0: none */
	uint64_t since;			   /* record of the first work since a wait that is asked about, 0: none */
	uint64_t visible, visible_seq;	   /* last step that touched memory which the host can, and its record */
	uint64_t unknown;		   /* last step whose accesses are not known */
	uint64_t unclear;		   /* last step that may signal where it is not known to touch anything */
	uint64_t capture;		   /* that the stream is part of now: record of its begin, 0: none */
	uint64_t signal;		   /* last step that may signal the host through memory */
	uint64_t flag;			   /* last step that writes a flag in memory which the host sees */
	uint64_t listens;		   /* first step, not known to be done, that reads such a flag */
	uint64_t shared_event;		   /* last step that an event covers which other processes may wait for */
	struct sw_access recorded;	   /* the last record of an event on it, seq 0: none */
	uint64_t recorded_event;	   /* handle */
	struct sw_event_wait *event_waits; /* waits made on this lane, a ring; NULL: none yet */
	uint32_t event_waits_made;
	struct sw_pending { /* enqueued work that is not known to be done, oldest first: a ring */
		uint64_t seq, tick;
	} * pending;
	uint32_t pending_room, pending_first, pending_n;
};

struct sw_hb_at sw_model_at(const struct sw_model *m, const struct sw_record *r, uint64_t stream);
/* Lane and its state; the stream is described in the judgement on the way. */
struct sw_lane_state *sw_model_lane(struct sw_model *m, const struct sw_hb_at *at, uint32_t *lane);
struct sw_lane_state *sw_model_lane_state(struct sw_model *m, uint32_t lane);
/* The stream takes part in a capture: what is issued to it now is not executed. */
bool sw_model_captured(struct sw_model *m, const struct sw_hb_at *at);

/* Enqueues the current call as work of a stream and places it (what.point, what.stream). False: it is not executed. */
bool sw_model_enqueue(struct sw_model *m, const struct sw_record *r, uint64_t stream);
/* Other contexts that work takes part in: `all`, it is serialised with each as a whole; else with the default stream of
   the first, as was measured. */
struct sw_others {
	bool all;
	uint8_t n, ctx[3];
	const struct sw_hb_grid *grid; /* of a kernel; NULL: other work */
	struct sw_hb_view *view;       /* what the kernel's start comes after */
};
bool sw_model_enqueue_with(struct sw_model *m, const struct sw_record *r, uint64_t stream,
			   const struct sw_others *others);

/* Work of a lane that is not known to be done: the observer learns when it is. */
void sw_pending_push(struct sw_model *m, struct sw_lane_state *lane, uint64_t seq, uint64_t tick);
void sw_pending_completed(struct sw_model *m, const sw_covered_vec *done, uint64_t t_ns);

uint32_t sw_lanes_count(const struct sw_model *m);
struct sw_lanes *sw_lanes_new(void);
void sw_lanes_free(struct sw_lanes *lanes);

#endif
