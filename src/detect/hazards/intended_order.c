/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that were meant to order a hazard.  Waits for events that were never recorded, or recorded too early, and
 * records that nothing waits for occur in correct programs (first iterations, event pools): alone they are notes.  When
 * a hazard is found, the last waits of its later side show which of them should have ordered it.
 */
#include "detect/hazards/intended_order.h"

#include <stdlib.h>

#include "detect/hazards/touch.h"
#include "detect/memory/address_space.h"
#include "detect/model/collect.h"
#include "detect/model/events.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"

/* A wait of a stream (or the host) for an event, as hazards look back on it. */
struct sw_event_wait {
	struct sw_access wait, record, replaced;
	bool recorded;
	bool useless; /* the record covered no work that the waiting side did not know of */
	bool nothing; /* not even work that the host did not know to be done: SW205 if the work came too late */
	bool settled; /* work came after it on the waiting lane */
};

#define SW_EVENT_WAITS 8u

bool sw_event_wait_useless(const struct sw_model *m, const struct sw_event_state *event, uint32_t lane)
{
	struct sw_point work = {event->record.point.lane, event->work};
	return event->record.seq && (!event->work || sw_hb_ordered(m->hb, work, lane) == SW_ORDER_DOCUMENTED);
}

/* ---- waits that order nothing (SW205) ---------------------------------------------------------------------------- */

static void one_more(void *arg, uint32_t lane, uint64_t known, uint64_t covered)
{
	(void)lane, (void)known, (void)covered;
	++*(unsigned *)arg;
}

/* The record covers nothing, on its stream or by what that stream waited for, but what the host knows to be done. */
static bool covers_nothing(struct sw_model *m, const struct sw_event_state *event)
{
	const struct sw_rec_stream_wait *wait = (const struct sw_rec_stream_wait *)(const void *)m->wait->record.rec;
	const struct sw_point work = {event->record.point.lane, event->work};
	const uint32_t thread = m->wait->record.thread, host = sw_hb_host_lane(m->hb, thread);
	struct sw_hb_event_state state;
	unsigned lanes = 0;
	if (m->wait->what.kind != SW_REC_STREAM_WAIT || event->work == UINT64_MAX)
		return false;
	if (event->work && sw_hb_ordered(m->hb, work, host) != SW_ORDER_DOCUMENTED)
		return false;
	/* The host waited after the record: the wait is right, only no longer needed. */
	if (sw_hb_ordered(m->hb, event->record.point, host) == SW_ORDER_DOCUMENTED)
		return false;
	sw_hb_token token = sw_hb_wait_event(m->hb, wait->event, &state);
	sw_hb_wait_lanes(m->hb, token, thread, SW_ORDER_DOCUMENTED, one_more, &lanes);
	sw_hb_wait_drop(m->hb, token);
	return !lanes;
}

static struct sw_finding *find_or_add(struct sw_model *m, const struct sw_event_wait *tie)
{
	struct sw_finding seen = {.id = SW_FINDING_WAIT_ORDERS_NOTHING,
				  .severity = SW_NOTE,
				  .confidence = SW_CERTAIN,
				  .accesses = 1,
				  .access[0] = &tie->wait,
				  .fix = SW_FIX_RECORD_LATER,
				  .fix_stream = tie->record.stream,
				  .fix_call.seq = tie->record.seq};
	struct sw_finding *known = sw_collect_find(&m->collect, seen.id, &tie->wait);
	/* Dropped for good: a first round, or reported together with a hazard. */
	return known && !known->count ? NULL : sw_collect_add(&m->collect, &seen, NULL);
}

static void never_mind(struct sw_model *m, const struct sw_event_wait *tie)
{
	struct sw_finding *known = find_or_add(m, tie);
	if (known)
		sw_collect_drop(&m->collect, known);
}

/* Work came on the stream of the record too late for the wait, but before all that the wait could hold back. */
static bool came_too_late(struct sw_model *m, const struct sw_event_wait *tie)
{
	const struct sw_lane_state *from = sw_model_lane_state(m, tie->record.point.lane);
	return tie->nothing && from->stream == tie->record.stream && from->work > tie->record.point.tick;
}

void sw_event_wait_worked(struct sw_model *m, uint32_t lane)
{
	const struct sw_lane_state *state = sw_model_lane_state(m, lane);
	uint32_t n = state->event_waits_made < SW_EVENT_WAITS ? state->event_waits_made : SW_EVENT_WAITS;
	for (uint32_t i = 1; i <= n; i++) {
		struct sw_event_wait *tie = &state->event_waits[(state->event_waits_made - i) % SW_EVENT_WAITS];
		if (tie->settled)
			return;
		tie->settled = true;
		if (came_too_late(m, tie))
			find_or_add(m, tie);
	}
}

static bool legacy_orders(struct sw_model *m, const struct sw_access *earlier, const struct sw_access *later)
{
	const enum sw_lane_kind from = sw_hb_lane_kind(m->hb, earlier->point.lane);
	const enum sw_lane_kind to = sw_hb_lane_kind(m->hb, later->point.lane);
	const enum sw_lane_kind other = from == SW_LANE_LEGACY ? to : from;
	return (from == SW_LANE_LEGACY || to == SW_LANE_LEGACY) &&
	       (other == SW_LANE_BLOCKING || other == SW_LANE_PER_THREAD) &&
	       m->j->streams.at[earlier->stream].ctx == m->j->streams.at[later->stream].ctx;
}

bool sw_ordered_without_host(struct sw_model *m, const struct sw_access *earlier, const struct sw_access *later)
{
	const struct sw_lane_state *state = sw_model_lane_state(m, later->point.lane);
	const uint32_t n = state->event_waits_made < SW_EVENT_WAITS ? state->event_waits_made : SW_EVENT_WAITS;
	if (!earlier->stream || !later->stream || earlier->point.lane == later->point.lane)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct sw_event_wait *tie = &state->event_waits[i];
		if (tie->wait.kind == SW_REC_STREAM_WAIT && tie->record.seq &&
		    tie->record.point.lane == earlier->point.lane && tie->record.point.tick >= earlier->point.tick)
			return true;
	}
	return legacy_orders(m, earlier, later);
}

/* ---- waits that did not order a hazard --------------------------------------------------------------------------- */

void sw_event_wait_remember(struct sw_model *m, struct sw_lane_state *lane, const struct sw_event_state *event,
			    const struct sw_hb_event_state *state, bool useless)
{
	if (!lane->event_waits)
		lane->event_waits = sw_calloc(SW_EVENT_WAITS, sizeof *lane->event_waits);
	struct sw_event_wait *tie = &lane->event_waits[lane->event_waits_made++ % SW_EVENT_WAITS];
	*tie = (struct sw_event_wait){.wait = m->wait->what, .recorded = state->recorded};
	if (state->recorded && event->record.seq) {
		tie->useless = useless;
		tie->record = event->record;
		tie->record.point = state->record;
		tie->replaced = event->replaced;
		tie->nothing = tie->record.stream != tie->wait.stream && covers_nothing(m, event);
		/* One wait of a call site that ordered something is enough for all of them: the first rounds of
		   loops. */
		if (!tie->nothing && tie->wait.kind == SW_REC_STREAM_WAIT)
			never_mind(m, tie);
		return;
	}
	if (state->recorded)
		return;
	struct sw_finding seen = {.id = SW_FINDING_WAIT_UNRECORDED,
				  .severity = SW_NOTE,
				  .confidence = SW_CERTAIN,
				  .accesses = 1,
				  .access[0] = &tie->wait,
				  .fix = SW_FIX_RECORD_FIRST,
				  .fix_call.seq = tie->wait.seq};
	sw_collect_add(&m->collect, &seen, NULL);
}

/* An event that a library keeps for itself and records within its calls: the program knows nothing of it.  A hazard
   that the lost record would have prevented names it all the same. */
static bool is_of_library(const struct sw_model *m, const struct sw_access *a, const struct sw_access *b)
{
	const struct sw_library_call *calls = m->j->library_calls.at;
	return a->library && b->library && calls[a->library - 1].library == calls[b->library - 1].library;
}

void sw_event_wait_replaced(struct sw_model *m, const struct sw_event_state *event)
{
	if (is_of_library(m, &event->replaced, &event->record))
		return;
	struct sw_finding seen = {.id = SW_FINDING_EVENT_OVERWRITTEN,
				  .severity = SW_NOTE,
				  .confidence = SW_CERTAIN,
				  .accesses = 2,
				  .access = {&event->replaced, &event->record},
				  .fix = SW_FIX_OWN_EVENT,
				  .fix_call.seq = event->record.seq};
	sw_collect_add(&m->collect, &seen, NULL);
}

/* How a wait failed to order the earlier side, the most telling first. */
enum miss { NEVER, REPLACED, TOO_EARLY, WRONG_STREAM, NONE };

/* A wait that was issued before the earlier side cannot have been meant for it; one that brought the order of other
   work did its own duty. */
static enum miss miss_of(const struct sw_event_wait *tie, const struct sw_access *earlier)
{
	if (tie->wait.seq < earlier->seq)
		return NONE;
	if (!tie->recorded)
		return NEVER;
	if (tie->replaced.seq > earlier->seq && tie->replaced.point.lane == earlier->point.lane)
		return REPLACED;
	if (tie->record.point.lane == earlier->point.lane && tie->record.point.tick < earlier->point.tick)
		return TOO_EARLY;
	if (tie->useless && tie->record.seq > earlier->seq && tie->record.point.lane != earlier->point.lane)
		return WRONG_STREAM;
	return NONE;
}

static const struct sw_event_wait *find_tie(const struct sw_lane_state *lane, const struct sw_access *earlier,
					    enum miss *miss)
{
	const struct sw_event_wait *best = NULL;
	uint32_t n = lane->event_waits_made < SW_EVENT_WAITS ? lane->event_waits_made : SW_EVENT_WAITS;
	*miss = NONE;
	for (uint32_t i = 1; i <= n; i++) {
		const struct sw_event_wait *tie = &lane->event_waits[(lane->event_waits_made - i) % SW_EVENT_WAITS];
		enum miss found = miss_of(tie, earlier);
		if (found < *miss) {
			*miss = found;
			best = tie;
		}
	}
	return best;
}

/* The program records another event after the work, in time: the wrong slot of a ring was waited for. */
static void wait_for_other(struct sw_model *m, struct sw_finding *seen, const struct sw_event_wait *tie,
			   const struct sw_access *earlier, enum miss miss)
{
	const struct sw_lane_state *lane = sw_model_lane_state(m, earlier->point.lane);
	const struct sw_access *record = &lane->recorded;
	if (miss == REPLACED || record->point.lane != earlier->point.lane || record->seq <= earlier->seq ||
	    record->seq >= tie->wait.seq || sw_event_of(m, lane->recorded_event)->record.seq != record->seq)
		return;
	seen->fix = SW_FIX_WAIT_OTHER;
	seen->fix_stream = record->stream;
	seen->fix_call.seq = record->seq;
}

void sw_event_wait_hazard(struct sw_model *m, struct sw_finding *hazard, struct sw_block *block)
{
	static const struct {
		int id;
		enum sw_fix fix;
	} finding_of[] = {
		[NEVER] = {SW_FINDING_WAIT_UNRECORDED, SW_FIX_RECORD_HERE},
		[REPLACED] = {SW_FINDING_EVENT_OVERWRITTEN, SW_FIX_OWN_EVENT},
		[TOO_EARLY] = {SW_FINDING_WAIT_COVERS_NOTHING, SW_FIX_MOVE_RECORD},
		[WRONG_STREAM] = {SW_FINDING_WAIT_COVERS_NOTHING, SW_FIX_RECORD_STREAM},
	};
	const struct sw_access *earlier = hazard->access[0], *later = hazard->access[1];
	const struct sw_lane_state *lane = sw_model_lane_state(m, later->point.lane);
	enum miss miss;
	const struct sw_event_wait *tie =
		lane->event_waits && !hazard->measured_order ? find_tie(lane, earlier, &miss) : NULL;
	if (!tie)
		return;
	struct sw_finding seen = {.id = finding_of[miss].id,
				  .severity = hazard->severity,
				  .confidence = hazard->confidence,
				  .basis = hazard->basis,
				  .fix = finding_of[miss].fix,
				  .fix_stream = earlier->stream,
				  .missed = {hazard->id, earlier->seq}};
	struct sw_access missed = *earlier;
	if (miss == NEVER) {
		seen.accesses = 2;
		seen.access[0] = &tie->wait;
		seen.access[1] = &missed;
		seen.fix_call.seq = tie->wait.seq;
	} else {
		seen.accesses = 3;
		seen.access[0] = miss == REPLACED ? &tie->replaced : &tie->record;
		seen.access[1] = miss == REPLACED ? &tie->record : &tie->wait;
		seen.third = &missed;
		seen.fix_call.seq = tie->record.seq;
	}
	if (miss == TOO_EARLY && tie->record.kind != SW_REC_EVENT_RECORD)
		seen.fix = SW_FIX_RECORD_NODE;
	wait_for_other(m, &seen, tie, earlier, miss);
	never_mind(m, tie);
	hazard->fix_stream = seen.fix_stream;
	hazard->fix = seen.fix;
	hazard->fix_call.seq = seen.fix_call.seq;
	hazard->fix_call = sw_recent_call(&m->collect.recent, seen.fix_call.seq);
	if (sw_collect_describes(&m->collect, &seen))
		missed.allocation = sw_model_mention(m, block);
	sw_collect_add(&m->collect, &seen, NULL);
}
