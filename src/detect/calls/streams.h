/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, captures, host functions. */
#ifndef SW_DETECT_CALLS_STREAMS_H
#define SW_DETECT_CALLS_STREAMS_H

#include <stdint.h>

#include "hb/hb.h"
#include "reader/reader.h"

struct sw_access;
struct sw_hb_at;
struct sw_model;
struct sw_wait;
struct sw_rec_mem_op;
struct sw_value_copies;

/* Takes the record of an event, by a call or a node of a graph: it stands from now on for the work before it on its
   stream.  If nothing waited for its last record, the finding for that may be given. */
void sw_event_recorded(struct sw_model *m, struct sw_access *what, const struct sw_hb_at *at, uint64_t handle,
		       unsigned flags);

/* Waits of the host, queries. */

/* At the end of a wait for an event, a stream or a context: work before it that the recorder may have left out in a
   pause is known to be done. */
void sw_sync_over(struct sw_model *m, const struct sw_wait *w);
/* The last call of a thread if it copied a value to the host, else seq is 0. */
struct sw_access *sw_model_value(struct sw_model *m, uint32_t thread);
struct sw_value_copies *sw_value_copies_new(void);
void sw_value_copies_free(struct sw_value_copies *copies);

/*
 * Events that other processes know: the handle was exported here, or opened here.  (One that was only made for that,
 * with CU_EVENT_INTERPROCESS, is an event like any other.)  What other processes do with them is not seen: they may
 * wait for what was recorded here, do something, and record another event that is waited for here.  So a wait for one
 * is taken to cover, besides its own record, all that the records of such events cover.
 */

void sw_shared_event_exported(struct sw_model *m, uint64_t handle, uint64_t hash);

/* Streams that signal each other through memory. */

/* Notes that the current call writes a value to memory, as work at `point`, which may release a wait. */
void sw_value_written(struct sw_model *m, struct sw_point point, const struct sw_rec_mem_op *o);
/* Makes a stream wait until memory holds a value: it is then ordered after what all stores that may have released the
   wait have in common. */
void sw_value_waited(struct sw_model *m, const struct sw_hb_at *at, const struct sw_rec_mem_op *o);
/* Notes that the call orders work in a way that is not modelled: findings in its context are possible at most from here
   on. */
void sw_value_not_followed(struct sw_model *m, const struct sw_access *call);

#endif
