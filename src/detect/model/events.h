/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the program, as the waits for them see them.  Not thread-safe. */
#ifndef SW_DETECT_MODEL_EVENTS_H
#define SW_DETECT_MODEL_EVENTS_H

#include "detect/detect.h"

struct sw_model;
struct sw_event_table;

struct sw_event_state {
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

/* Created if unknown. */
struct sw_event_state *sw_event_of(struct sw_model *m, uint64_t handle);
/* NULL: nothing is known of it. */
struct sw_event_state *sw_event_find(struct sw_model *m, uint64_t handle);
void sw_event_forget(struct sw_model *m, uint64_t handle);
struct sw_event_table *sw_event_table_new(void);
void sw_event_table_free(struct sw_event_table *events);

#endif
