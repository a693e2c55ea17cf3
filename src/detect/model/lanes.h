/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes and the streams that they are: what is known of a lane besides its clocks, and enqueuing work.  Not
 * thread-safe.
 */
#ifndef SW_DETECT_MODEL_LANES_H
#define SW_DETECT_MODEL_LANES_H

#include <stdbool.h>

#include "base/map.h"
#include "detect/detect.h"
#include "detect/model/call.h"

struct sw_access;
struct sw_asked_uses;
struct sw_captures;
struct sw_event_table;
struct sw_event_wait;
struct sw_lanes;
struct sw_model;
struct sw_range;
struct sw_wait;

/* Facts about an operation's lane besides its clocks.  A slot that changed hands has another serial. */
struct sw_lane_state {
	uint32_t serial;
	uint32_t stream;	       /* index in judgement.streams */
	uint64_t work;		       /* last step that was work */
	struct sw_access last;	       /* that work; seq 0: none */
	uint64_t since;		       /* record of the first work since a wait that is asked about, 0: none */
	uint64_t visible, visible_seq; /* last step that touched memory which the host can, and its record */
	uint64_t unknown;	       /* last step whose accesses are not known */
	uint64_t unclear;	       /* last step that may signal where it is not known to touch anything */
	uint64_t made_seq;	       /* record of the stream's creation, 0: not known */
	uint64_t waited_seq;	       /* record of the last wait of the host for all of it, 0: none */
	uint64_t capture;	       /* that the stream is part of now: record of its begin, 0: none */
	uint64_t signal;	       /* last step that may signal the host through memory */
	uint64_t flag;		       /* last step that writes a flag in memory which the host sees */
	uint64_t listens;	       /* first step, not known to be done, that reads such a flag */
	uint64_t shared_event;	       /* last step that an event covers which other processes may wait for */
	struct sw_recorded {	       /* the last records of events on it, a ring; NULL: none yet */
		uint64_t event, seq, tick;
	} * recorded;
	uint32_t records_made;
	struct sw_event_wait *event_waits; /* waits made on this lane, a ring; NULL: none yet */
	uint32_t event_waits_made;
	struct sw_pending { /* enqueued work that is not known to be done, oldest first: a ring */
		uint64_t seq, tick;
	} * pending;
	uint32_t pending_room, pending_first, pending_n;
};

struct sw_hb_at sw_model_at(const struct sw_model *m, const struct sw_record *r, uint64_t stream);
/* The lane of a stream, and its state; the stream is described in the judgement on the way. */
struct sw_lane_state *sw_model_lane(struct sw_model *m, const struct sw_hb_at *at, uint32_t *lane);
/* The state of a lane by its number. */
struct sw_lane_state *sw_model_lane_state(struct sw_model *m, uint32_t lane);
/* Does the stream take part in a capture, so that what is issued to it now is not executed? */
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

/* Keeps enqueued work that is not known to be done until a wait covers it. */
void sw_pending_push(struct sw_model *m, struct sw_lane_state *lane, uint64_t seq, uint64_t tick);
/* Drops the work that a wait covered, and tells the observer when it was done. */
void sw_pending_completed(struct sw_model *m, const sw_covered_vec *done, uint64_t t_ns);

uint32_t sw_lanes_count(const struct sw_model *m);
struct sw_lanes *sw_lanes_new(void);
void sw_lanes_free(struct sw_lanes *lanes);

struct sw_lanes {
	SW_VEC(struct sw_lane_state) at;
	size_t capturing;	      /* lanes that are part of a capture */
	struct sw_map shared_streams; /* descriptions that several lanes share -> index in judgement.streams */
	uint32_t streams_made;
};

/* Events of the program, as the waits for them see them.  Not thread-safe. */

struct sw_event_state {
	uint64_t made;		   /* record of its creation, 0: not known */
	struct sw_access record;   /* the last record's call */
	struct sw_access replaced; /* a record that was replaced before any wait for it; seq 0: none */
	uint64_t capture;	   /* recorded inside this capture, 0: outside of captures */
	uint64_t work;		   /* last step of work on the stream when it was recorded, 0: none */
	struct sw_access last;	   /* that work; seq 0: none, or not known */
	bool in_graph;		   /* recorded by an external node of a graph, at an unknown time */
	uint32_t handle;	   /* of an event that processes share: low bits of the hash of its handle, else 0 */
	bool exportable;	   /* made with CU_EVENT_INTERPROCESS: others may come to know it */
	bool interprocess;	   /* other processes may record it and wait for it */
	bool ordering;		   /* a stream or the host has waited for it */
};

/* An event of our own: no program can have this handle, since events are pointers. */
#define SW_SAFETY_EVENT 3u

/* Records of a lane that are kept: the slots of most rings. */
#define SW_LANE_RECORDS 16u
/* The first event that was recorded on the lane of the work, after it and before record `until`, and was not recorded
   again; NULL: there is none. */
const struct sw_event_state *sw_event_after(struct sw_model *m, const struct sw_access *work, uint64_t until);

/* The state of an event, made if it is unknown. */
struct sw_event_state *sw_event_of(struct sw_model *m, uint64_t handle);
/* The state of an event; NULL: nothing is known of it. */
struct sw_event_state *sw_event_find(struct sw_model *m, uint64_t handle);
/* Forgets an event that was destroyed. */
void sw_event_forget(struct sw_model *m, uint64_t handle);
struct sw_event_table *sw_event_table_new(void);
void sw_event_table_free(struct sw_event_table *events);

/* Pauses of the recorder: calls were left out before `cut_seq` of the model, so that less may have happened than is
 * known.
 */

/* Waits on streams that were made before explain nothing that comes after. */
void sw_event_waits_forget(struct sw_model *m);
/* May the lane have work that was left out and is not known to be done? */
bool sw_pause_hides_work(struct sw_model *m, uint32_t lane);
/* May the event have been recorded, or waited for, by calls that were left out, since all that is known of it? */
bool sw_pause_hides_event(const struct sw_model *m, const struct sw_event_state *event);

/* Contexts: which live, of what device, and which calls wait there.  Not thread-safe. */

#define SW_CONTEXTS 256u

struct sw_context_state {
	uint64_t handle;
	int device;
	bool live, primary, green;
	bool released;	   /* a primary one that may have no user any more */
	uint8_t whole;	   /* of a green context: the primary one of its device, which owns what is allocated; else 0 */
	uint32_t arch;	   /* of the device, 0 not looked up */
	bool shared_event; /* an event that other processes may wait for covers some of its work: not known which */
	bool over;	   /* a sticky error ended judgement */
	uint64_t waited_seq;		    /* record of the last wait for all of it, 0: none */
	uint64_t unclassified;		    /* first call that we do not model, 0: none */
	const struct sw_wait_rule_set *may; /* NULL: its creation was not seen, as built in */
};

/* Does a call in this context wait, by the rules for calls that no document decides? */
bool sw_model_wait_rule(const struct sw_model *m, uint8_t ctx, enum sw_wait_rule may);

/* Calls that became nodes of a graph: a description of the graph refers to them by their records. */

void sw_origin_remember(struct sw_model *m, const struct sw_access *what);
/* The last captured call on a stream (index); NULL: none, also for stream 0. */
const struct sw_access *sw_origin_last(const struct sw_model *m, uint32_t stream);
/* The captured call with this record; NULL: not known. */
const struct sw_access *sw_origin_find(const struct sw_model *m, uint64_t seq);

/* Makes a lane part of a capture. */
void sw_capture_join(struct sw_model *m, struct sw_lane_state *lane, uint64_t capture);
/* The lane is part of a capture no more. */
void sw_capture_leave(struct sw_model *m, struct sw_lane_state *lane);
/* Is any lane part of the capture? */
bool sw_capture_lives(const struct sw_model *m, uint64_t capture);
/* Takes all lanes out of the capture; 0: none. */
void sw_capture_end(struct sw_model *m, uint64_t capture);
/* The one stream besides this lane's that is part of its capture; 0: none, or several. */
uint32_t sw_capture_other_stream(const struct sw_model *m, const struct sw_lane_state *lane);
/* Records were lost: forgets captures and the calls that nodes were captured from. */
void sw_captures_forget(struct sw_model *m);
struct sw_captures *sw_captures_new(void);
void sw_captures_free(struct sw_captures *captures);

/* Are two given calls ordered by a rule, and do they touch the same bytes? (`syncwatch confirm --calls`) */

/* For judges that are asked about the order of two calls (struct sw_asked_order): notes the work of a call that
   enqueued some, and answers when it was the later one. */
void sw_asked_order_take(struct sw_model *m, const struct sw_wait *w);
/* For the same question: notes a range that one of the two calls touches (addresses, or a part of an array), and
   whether the two meet. */
void sw_asked_order_touch(struct sw_model *m, const struct sw_access *what, const struct sw_range *range, bool array);
/* For the same question: one of the two calls touches memory that no range describes, so whether they meet is
   unclear. */
void sw_asked_order_unclear(struct sw_model *m, const struct sw_access *what);
void sw_asked_uses_free(struct sw_asked_uses *uses);

#endif
