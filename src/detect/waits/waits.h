/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call waits for: what it covers that the host does not know to be done, and how long its own work may take.
 * Not thread-safe.
 */
#ifndef SW_DETECT_WAITS_WAITS_H
#define SW_DETECT_WAITS_WAITS_H

#include <stdbool.h>

#include "detect/model/call.h"
#include "hb/hb.h"

struct sw_access;
struct sw_call_waits;
struct sw_legacy;
struct sw_model;
struct sw_polls;
struct sw_record;
struct sw_stalls;
struct sw_wait;

/* How long a call's own work plausibly takes: more than this, while something was pending, counts as waiting. */
enum sw_own {
	SW_OWN_SYNC,
	SW_OWN_COPY,
	SW_OWN_PAGEABLE_COPY,
	SW_OWN_SET,
	SW_OWN_FREE,
	SW_OWN_ALLOC,
	SW_OWN_PIN,
	SW_OWN_UNPIN,
	SW_OWN_CONFIG,
	SW_OWN_LOAD,
};

/* The own work that is reported of a call that waited: typical, as a part of the maximum above. */
#define SW_OWN_MARGIN 4u

/* The state of a call that begins, which collects what the call waits for until its end: of a call of two records
   (BEGIN and END), or of one. */
struct sw_wait *sw_wait_open(struct sw_model *m, const struct sw_record *r);
struct sw_wait *sw_wait_single(struct sw_model *m, const struct sw_record *r);
/* Takes the call with this BEGIN out of the open ones; NULL: none. */
struct sw_wait *sw_wait_take(struct sw_model *m, uint64_t begin_seq);
/* Releases the state of a call of two records, which has ended and is judged, for reuse. */
void sw_wait_recycle(struct sw_model *m, struct sw_wait *w);
/* Adds work (`token`: a snapshot of it) to what the call waits for; `order`: whether that is documented or measured. */
void sw_wait_add(struct sw_model *m, struct sw_wait *w, sw_hb_token token, enum sw_order order);
/* Finds the work that the token covers and the host does not know to be done; sets w->pending, w->covered. */
void sw_wait_look(struct sw_model *m, struct sw_wait *w, sw_hb_token token);
/* Notes whether work that a snapshot (token) holds was pending, as sw_wait_look() does, and drops the snapshot. */
void sw_wait_peek(struct sw_model *m, struct sw_wait *w, sw_hb_token token);
/* Drops all tokens of the call: what it waits for is not looked at any more. */
void sw_wait_drop(struct sw_model *m, struct sw_wait *w);
/* For sw_hb_wait_lanes(): gathers what a wait covers in a sw_covered_vec. */
void sw_wait_covers(void *list, uint32_t lane, uint64_t known, uint64_t covered);
/* How long (ns) a call of this kind, on so many bytes, plausibly needs for its own work. */
uint64_t sw_wait_own(enum sw_own what, uint64_t bytes);
/* Reports the call to the observer, at its end. */
void sw_wait_report(struct sw_model *m, struct sw_wait *w, bool blocks);
/* The trace ends, or records were lost: calls that never came to their end stay in flight. */
void sw_wait_forget(struct sw_model *m);
/* An empty list of what the call that ends has covered; the same one at each call. */
sw_covered_vec *sw_wait_scratch(struct sw_model *m);
struct sw_call_waits *sw_call_waits_new(void);
void sw_call_waits_free(struct sw_call_waits *waits);

/* Loops of queries (SW403). */

/* Counts a query that returned "not ready", in a row of one call site on one thread.  `done`: this one returned
   "ready" and ends the row, and SW403 is given if the row was a busy wait. */
void sw_poll_again(struct sw_model *m, const struct sw_record *r, const struct sw_access *what, bool done);
struct sw_polls *sw_polls_new(void);
void sw_polls_free(struct sw_polls *polls);

/* Calls that were held up by another thread, or by a full queue (SW310, SW311). */

/* At the end of each call: if it took long although it need not wait for work, looks for a call of another thread
   that held the driver's lock (SW310), or for a full queue (SW311). */
void sw_stall_done(struct sw_model *m, const struct sw_wait *w);
struct sw_stalls *sw_stalls_new(void);
void sw_stalls_free(struct sw_stalls *stalls);

/* Order that only the legacy stream made (SW304). */

void sw_legacy_edge(struct sw_model *m, const struct sw_hb_edge *edge);
struct sw_legacy *sw_legacy_new(void);
void sw_legacy_free(struct sw_legacy *legacy);

#endif
