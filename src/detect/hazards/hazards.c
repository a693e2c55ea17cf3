/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/hazards/hazards.h"

#include <stdlib.h>
#include <string.h>

#include "detect/hazards/host_functions.h"
#include "detect/hazards/shared_uses.h"
#include "detect/hazards/touch.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/memory/shadow.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/wide_syncs.h"

/*
 * Events that were meant to order a hazard.  Waits for events that were never recorded, or recorded too early, and
 * records that nothing waits for occur in correct programs (first iterations, event pools): alone they are notes.  When
 * a hazard is found, the last waits of its later side show which of them should have ordered it.
 */

/* A wait of a stream (or the host) for an event, as hazards look back on it. */
struct sw_event_wait {
	struct sw_access wait, record, replaced;
	uint64_t made; /* the record that created the event, 0: not known */
	bool recorded;
	bool useless; /* the record covered no work that the waiting side did not know of */
	bool nothing; /* not even work that the host did not know to be done: SW205 if the work came too late */
	bool settled; /* work came after it on the waiting lane */
};

#define SW_EVENT_WAITS 8u

bool sw_event_wait_useless(struct sw_model *m, const struct sw_event_state *event, uint32_t lane)
{
	struct sw_point work = {event->record.point.lane, event->work};
	return event->record.seq && !sw_pause_hides_work(m, work.lane) &&
	       (!event->work || sw_hb_ordered(m->hb, work, lane) == SW_ORDER_DOCUMENTED);
}

/* ---- waits that order nothing (SW205) ---------------------------------------------------------------------------- */

/* For sw_hb_wait_lanes(): counts the lanes that a wait would bring new order of. */
static void one_more(void *arg, uint32_t lane, uint64_t known, uint64_t covered)
{
	(void)lane, (void)known, (void)covered;
	++*(unsigned *)arg;
}

/* Does the record of the event that the stream waits for cover only work that the host already knows to be done?  Then
   the wait orders nothing.  False also if the host itself came after the record: the wait is right, only no longer
   needed. */
static bool covers_nothing(struct sw_model *m, const struct sw_event_state *event)
{
	const struct sw_rec_stream_wait *wait = (const struct sw_rec_stream_wait *)(const void *)m->wait->record.rec;
	const struct sw_point work = {event->record.point.lane, event->work};
	const uint32_t thread = m->wait->record.thread, host = sw_hb_host_lane(m->hb, thread);
	struct sw_hb_event_state state;
	unsigned lanes = 0;
	if (m->wait->what.kind != SW_REC_STREAM_WAIT || event->work == UINT64_MAX ||
	    sw_pause_hides_work(m, event->record.point.lane))
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

/* Finds or adds the note "this wait orders nothing" (SW205) for the call site of the wait.  NULL: the note was dropped
   for good, since another wait of the site ordered something or is reported with a hazard. */
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

/* Takes back the finding about a wait that was right after all; it is made first where there is none, so that a later
   round of the same wait finds it dropped (find_or_add()). */
static void drop_event_finding(struct sw_model *m, const struct sw_event_wait *tie)
{
	struct sw_finding *known = find_or_add(m, tie);
	if (known)
		sw_collect_drop(&m->collect, known);
}

/* Did the wait bring nothing because the work on the record's stream came only after the record? */
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

/* Is one of the two lanes the legacy default stream, and the other one a stream of the same context that it waits for
   and that waits for it (all but non-blocking streams)? */
static bool legacy_orders(struct sw_model *m, const struct sw_access *earlier, const struct sw_access *later)
{
	const enum sw_lane_kind from = sw_hb_lane_kind(m->hb, earlier->point.lane);
	const enum sw_lane_kind to = sw_hb_lane_kind(m->hb, later->point.lane);
	const enum sw_lane_kind other = from == SW_LANE_LEGACY ? to : from;
	return (from == SW_LANE_LEGACY || to == SW_LANE_LEGACY) &&
	       (other == SW_LANE_BLOCKING || other == SW_LANE_PER_THREAD) &&
	       m->j->streams.at[earlier->stream].ctx == m->j->streams.at[later->stream].ctx;
}

/* Is the later work ordered whatever the host waits for?  By an event that its lane waited for lately, or by the legacy
   stream, which is one of the two. */
static bool ordered_without_host(struct sw_model *m, const struct sw_access *earlier, const struct sw_access *later)
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

/* Remembers a wait of a stream or the host for an event, so that a hazard can name it, and reports a wait for an event
   that was never recorded.  useless: its record covered no work that the waiting side did not know of. */
void sw_event_wait_remember(struct sw_model *m, struct sw_lane_state *lane, const struct sw_event_state *event,
			    const struct sw_hb_event_state *state, bool useless)
{
	if (sw_pause_hides_event(m, event))
		return;
	if (!lane->event_waits)
		lane->event_waits = sw_calloc(SW_EVENT_WAITS, sizeof *lane->event_waits);
	struct sw_event_wait *tie = &lane->event_waits[lane->event_waits_made++ % SW_EVENT_WAITS];
	*tie = (struct sw_event_wait){.wait = m->wait->what, .made = event->made, .recorded = state->recorded};
	if (state->recorded && event->record.seq) {
		tie->useless = useless;
		tie->record = event->record;
		tie->record.point = state->record;
		tie->replaced = event->replaced;
		tie->nothing = tie->record.stream != tie->wait.stream && covers_nothing(m, event);
		/* One wait of a call site that ordered something is enough for all of them: the first rounds of
		   loops. */
		if (!tie->nothing && tie->wait.kind == SW_REC_STREAM_WAIT)
			drop_event_finding(m, tie);
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

/* Were both records of an event made within calls of one library?  Such an event the library keeps for itself, and the
   program knows nothing of it.  A hazard that the lost record would have prevented names it all the same. */
static bool is_of_library(const struct sw_model *m, const struct sw_access *a, const struct sw_access *b)
{
	const struct sw_library_call *calls = m->j->library_calls.at;
	return a->library && b->library && calls[a->library - 1].library == calls[b->library - 1].library;
}

/* Reports that an event was recorded again before anything waited for its earlier record (SW203, a note). */
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

/* How a wait for an event failed to order the lane after `earlier`: NONE if it was issued before it, and so cannot have
   been meant for it, or if it brought the order of other work and so did its own duty. */
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

/* The wait among the last ones of the lane that should most likely have ordered the earlier side; *miss says how it
   failed.  NULL: none was meant for it. */
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

/* Advises to wait for another event, which was recorded after the earlier side and in time for the wait: the wrong slot
   of a ring was waited for. */
static void wait_for_other(struct sw_model *m, struct sw_finding *seen, const struct sw_event_wait *tie,
			   const struct sw_access *earlier, enum miss miss)
{
	const struct sw_event_state *event = sw_event_after(m, earlier, tie->wait.seq);
	if (miss == REPLACED || !event)
		return;
	seen->fix = SW_FIX_WAIT_OTHER;
	seen->fix_stream = event->record.stream;
	seen->fix_call.seq = event->record.seq;
}

/* Is the event recorded by a launch, as its programmatic or launch-completion event? */
static bool is_of_a_launch(const struct sw_model *m, const struct sw_access *record)
{
	const struct sw_trace_api *api = sw_reader_api(m->reader, record->api);
	return record->kind == SW_REC_EVENT_RECORD && api && strstr(api->driver, "Launch");
}

/* Looks for the wait that should have ordered the hazard: names it in the hazard's advice and as a finding of its own.
 */
static void event_wait_hazard(struct sw_model *m, struct sw_finding *hazard, struct sw_block *block)
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
	if (miss == NEVER && tie->made > earlier->seq)
		seen.fix = SW_FIX_RECORD_BEFORE;
	if (miss == TOO_EARLY && tie->record.kind != SW_REC_EVENT_RECORD)
		seen.fix = SW_FIX_RECORD_NODE;
	const bool by_launch = miss == TOO_EARLY && is_of_a_launch(m, &tie->record);
	if (by_launch)
		seen.fix = SW_FIX_RECORD_AFTER_LAUNCH;
	wait_for_other(m, &seen, tie, earlier, miss);
	drop_event_finding(m, tie);
	/* The note on the same wait would repeat the fact. */
	struct sw_finding *note = miss == NEVER ? sw_collect_find(&m->collect, seen.id, &tie->wait) : NULL;
	if (note)
		sw_collect_drop(&m->collect, note);
	hazard->fix_stream = seen.fix_stream;
	/* There is no call to move: an event is recorded besides. */
	hazard->fix = by_launch && seen.fix == SW_FIX_RECORD_AFTER_LAUNCH ? SW_FIX_EVENT : seen.fix;
	hazard->fix_call.seq = seen.fix_call.seq;
	hazard->fix_call = sw_recent_call(&m->collect.recent, seen.fix_call.seq);
	if (sw_collect_describes(&m->collect, &seen))
		missed.allocation = sw_model_mention(m, block);
	sw_collect_add(&m->collect, &seen, NULL);
}

/* Each occurrence of a hazard is passed to the observer up to this many times a pair of call sites: markers in a
   timeline. */
#define SW_MAX_OBSERVED 64u

struct sw_hazards {
	uint64_t unordered;		   /* uses that overlap an earlier one which no document orders before them */
	const sw_covered_vec *free_covers; /* while a release is judged: what its wait covers */
};

struct sw_hazards *sw_hazards_new(void)
{
	return sw_calloc(1, sizeof(struct sw_hazards));
}

void sw_hazards_free(struct sw_hazards *hazards)
{
	free(hazards);
}

uint64_t sw_hazards_unordered(const struct sw_model *m)
{
	return m->hazards->unordered;
}

void sw_hazards_released(struct sw_model *m, const sw_covered_vec *covers)
{
	m->hazards->free_covers = covers;
}

/* The finding for two unordered uses.  Memory of the host that is freed, or an access by the host itself, races with
   work in flight; the others are named by read and write. */
static int hazard_id(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later)
{
	enum sw_memory memory = later->block->memory;
	bool host_memory = memory == SW_MEM_PINNED || memory == SW_MEM_REGISTERED;
	if (later->range.role == SW_FREE)
		return host_memory ? SW_FINDING_HOST_IN_FLIGHT : SW_FINDING_USE_AFTER_FREE;
	if (earlier->host || later->host)
		return SW_FINDING_HOST_IN_FLIGHT;
	if (!sw_role_writes(earlier->range.role))
		return SW_FINDING_RACE_WAR;
	return sw_role_reads(later->range.role) ? SW_FINDING_RACE_RAW : SW_FINDING_RACE_WAW;
}

bool sw_hazard_lower(const struct sw_model *m, struct sw_finding *seen, uint8_t ctx)
{
	if (!m->context[ctx].unclassified && !m->context[0].unclassified)
		return false;
	seen->lowered = seen->severity == SW_ERROR;
	seen->severity = SW_NOTE;
	seen->confidence = SW_POSSIBLE;
	return true;
}

/* Lowers a finding if a call that is not modelled was made in the context of either side. */
static void lower_by_context(const struct sw_model *m, struct sw_finding *seen, const struct sw_shadow_use *earlier,
			     const struct sw_shadow_use *later)
{
	if (!sw_hazard_lower(m, seen, earlier->ctx))
		sw_hazard_lower(m, seen, later->ctx);
}

bool sw_hazard_is_dropped(const struct sw_model *m, const struct sw_finding *seen)
{
	return seen->confidence == SW_POSSIBLE && !seen->lowered && !m->collect.keep_possible;
}

/* Where it happened: the allocation, and the blocks of a caching allocator in it, NULL not known. */
struct place {
	struct sw_block *block;
	struct sw_pool_block *pool_block[2]; /* of both sides */
};

/* A hazard and its sides, until it is known to be new. */
struct hazard {
	struct sw_access side[2], free; /* free: the third, if there is one */
	struct sw_finding seen;		/* of these */
	struct sw_node_pair nodes;	/* both are nodes of one launch; seq 0: they are not */
};

/* Lists the allocations of both sides in the judgement, for the report to name. */
static void mention_blocks(struct sw_model *m, struct hazard *hazard, const struct place *place)
{
	for (int i = 0; i < 2; i++)
		hazard->side[i].allocation = sw_model_mention_pool_block(m, place->block, place->pool_block[i]);
	hazard->free.allocation = hazard->side[0].allocation;
}

/* Adds the finding and passes it to the observer (timelines).  An allocation is only mentioned where a report will name
   it: a hazard in a loop over new allocations must not list them all. */
static void emit_at(struct sw_model *m, struct hazard *hazard, const struct place *place)
{
	struct sw_finding *seen = &hazard->seen, *f;
	seen->access[0] = &hazard->side[0];
	seen->access[1] = &hazard->side[1];
	/* One that only its count is kept for says nothing of events, and is in no timeline. */
	const bool counted_only = seen->lowered && !m->collect.keep_possible;
	if (hazard->side[0].role != SW_FREE && hazard->side[0].role != SW_ALLOC && !counted_only)
		event_wait_hazard(m, seen, place->block);
	const uint32_t made = place->pool_block[0] ? place->pool_block[0]->allocated.stack
			      : place->block	   ? place->block->born.stack
						   : 0;
	const bool described =
		sw_collect_describes(&m->collect, seen) || sw_collect_wants_buffer(&m->collect, seen, made);
	if (described)
		mention_blocks(m, hazard, place);
	f = sw_collect_add(&m->collect, seen, NULL);
	if (hazard->nodes.first.seq)
		sw_collect_nodes(&m->collect, f, &hazard->nodes);
	if (f && !described && f->count <= SW_MAX_OBSERVED)
		mention_blocks(m, hazard, place);
	if (f && !counted_only && m->observer->hazard && (f->count <= SW_MAX_OBSERVED || m->observer->every_hazard))
		m->observer->hazard(m->observer->arg, f, &hazard->side[0], &hazard->side[1]);
}

/* Adds a finding on a whole allocation, where no block of a caching allocator is concerned. */
static void emit_hazard(struct sw_model *m, struct hazard *hazard, struct sw_block *block)
{
	emit_at(m, hazard, &(struct place){.block = block});
}

/* Weakens a finding whose sides are ordered only because the host threads ran in this order: no lock was seen that
   makes them.  One made of atomic operations would not have been, so this is never certain. */
static void weaken_observed(struct sw_finding *seen, enum sw_order order)
{
	if (order != SW_ORDER_OBSERVED)
		return;
	seen->host_order = true;
	seen->fix = SW_FIX_HOST_ORDER;
	if (seen->severity == SW_ERROR)
		seen->severity = SW_WARNING;
	if (seen->confidence == SW_CERTAIN)
		seen->confidence = SW_LIKELY;
}

/* Takes over severity and confidence.  If the two are ordered by measurement alone (`measured`) it is a note; may: the
   documents leave open whether the earlier call waited. */
static void apply_verdict(struct sw_finding *seen, struct sw_verdict verdict, bool measured, bool may)
{
	seen->severity = verdict.severity;
	seen->confidence = verdict.confidence;
	seen->basis = SW_BASIS_DOCUMENTED;
	if (measured) {
		seen->severity = SW_NOTE;
		seen->measured_order = true;
		seen->basis = may ? SW_BASIS_MAY : SW_BASIS_MEASURED;
	}
}

/* Advises to wait for the earlier access: names its stream and its call. */
static void fix_after(struct sw_finding *seen, const struct sw_access *earlier)
{
	seen->fix_stream = earlier->stream;
	seen->fix_call.seq = earlier->seq;
}

/* Adds to the finding the last edge that ordered the lane after that of the earlier side.  A call that blocks its
   thread may also have got it from a wait of the host, where the advice looks for it. */
static void last_order(struct sw_model *m, struct sw_finding *seen, const struct sw_point *earlier, uint32_t lane)
{
	struct sw_hb_last last = sw_hb_last_join(m->hb, lane, earlier->lane);
	if (seen->on_host && m->record) {
		const uint32_t host = sw_hb_host_lane(m->hb, m->record->thread);
		const struct sw_hb_last waited = sw_hb_last_join(m->hb, host, earlier->lane);
		last = waited.tick >= last.tick ? waited : last;
	}
	if (last.seq <= m->cut_seq)
		last.tick = 0; /* a pause lies between: what ordered the lanes in it is not known */
	seen->joined = last.tick;
	seen->last_kind = last.kind;
	seen->last_call.seq = last.tick ? last.seq : 0;
}

/* Does the wait of the release in hand, which waits by measurement, cover the use? */
static bool covered_by_free(const struct sw_model *m, struct sw_point point)
{
	if (m->hazards->free_covers)
		for (size_t i = 0; i < m->hazards->free_covers->n; i++)
			if (m->hazards->free_covers->at[i].lane == point.lane &&
			    m->hazards->free_covers->at[i].covered >= point.tick)
				return true;
	return false;
}

/* The next weaker verdict, at most a warning, for accesses that may be protected in a way that is not seen. */
static struct sw_verdict one_step_down(struct sw_verdict verdict)
{
	return verdict.severity == SW_ERROR ? (struct sw_verdict){SW_WARNING, SW_LIKELY}
					    : (struct sw_verdict){SW_NOTE, SW_POSSIBLE};
}

/* Severity and confidence by what both sides are known to touch, and by how far it is known to what blocks or objects
   that belongs. */
static struct sw_verdict weigh_evidence(struct sw_model *m, const struct sw_shadow_use *earlier,
					const struct sw_shadow_use *later)
{
	struct sw_range first = earlier->range;
	/* Flags inside of a kernel order other kernels; whether the host may know is asked below. */
	first.polls &= later->access.kind != SW_REC_HOST_ACCESS;
	struct sw_verdict verdict = sw_matrix(&first, &later->range, sw_pool_blocks_crowding(earlier, later));
	verdict = sw_verdict_in_blocks(earlier, later, verdict);
	if (sw_library_may_order(earlier, later))
		verdict = (struct sw_verdict){SW_NOTE, SW_POSSIBLE};
	if (later->access.kind == SW_REC_HOST_ACCESS &&
	    (sw_host_may_know(m, earlier->access.point) || sw_host_func_may_order(m, earlier, later)))
		verdict = (struct sw_verdict){SW_NOTE, SW_POSSIBLE};
	if (verdict.confidence != SW_POSSIBLE && sw_host_may_relay(m, earlier->access.point))
		verdict = (struct sw_verdict){SW_NOTE, SW_POSSIBLE};
	if (verdict.confidence != SW_POSSIBLE &&
	    ((sw_library_workspace(m, earlier, later) && !sw_workspace_shared(m, earlier, later)) ||
	     sw_others_may_know(m, earlier->access.point)))
		verdict = one_step_down(verdict);
	return verdict;
}

/* Adds the free as the third side where the memory of the earlier side was freed, and allocated again for the later
   one. */
static void describe_reuse(struct hazard *hazard, const struct sw_shadow_use *earlier,
			   const struct sw_shadow_use *later)
{
	struct sw_finding *seen = &hazard->seen;
	if (!sw_block_reused(earlier, later))
		return;
	seen->id = SW_FINDING_USE_AFTER_FREE;
	hazard->free = sw_pool_block_access(earlier->pool_block, SW_FREE);
	seen->third = &hazard->free;
	seen->accesses = 3;
	seen->fix = earlier->pool_block->one_stream ? SW_FIX_FREE_ARRAY_LATER : SW_FIX_FREE_TENSOR_LATER;
}

/* Makes it a finding about a kernel that accesses memory before its wait for the kernel before it (programmatic
   dependent launch).  Where that one triggers after its last access they are ordered as measured: still, no document
   promises that its memory can be seen then. */
static void describe_start(struct sw_finding *seen, struct sw_verdict verdict, enum sw_order order)
{
	seen->id = SW_FINDING_PROGRAMMATIC_RACE;
	seen->fix = SW_FIX_GRID_WAIT;
	seen->joined = false;
	if (order == SW_ORDER_MEASURED)
		seen->severity = verdict.severity < SW_WARNING ? verdict.severity : SW_WARNING;
}

/* Advises to wait for an event that the program records after the earlier work, where there is one: it orders no more
   than that work; a wait for a stream would also wait for the work that came since, and so undo double buffering. */
static void wait_by_event(struct sw_model *m, struct sw_finding *seen, const struct sw_access *earlier,
			  const struct sw_access *later, bool on_host)
{
	const struct sw_event_state *event = sw_event_after(m, earlier, later->seq);
	if (event) {
		seen->fix = on_host ? SW_FIX_HOST_EVENT : SW_FIX_STREAM_EVENT;
		seen->fix_stream = event->record.stream;
		seen->fix_call.seq = event->record.seq;
	} else if (on_host && earlier->stream &&
		   sw_model_lane_state(m, earlier->point.lane)->work > earlier->point.tick)
		seen->fix = SW_FIX_HOST_OWN_EVENT;
}

/* Chooses the advice by what made the later access: the host, a host function, work that polls a flag of the host's, or
   another stream. */
static void choose_fix(struct sw_model *m, struct sw_finding *seen, const struct sw_shadow_use *earlier,
		       const struct sw_shadow_use *later)
{
	seen->fix_stream = earlier->access.stream;
	seen->fix_call.seq = earlier->access.seq;
	seen->on_host = later->host || later->blocks;
	seen->fix = seen->on_host ? SW_FIX_HOST_SYNC : SW_FIX_EVENT;
	if (sw_host_func_made(m, later)) {
		seen->fix = SW_FIX_HOST_FUNCTION;
		seen->on_host = false;
	} else if (!later->host && sw_host_may_hold(m, earlier->access.point)) {
		seen->fix = SW_FIX_HOST_FLAG;
		seen->on_host = false;
	} else if (!earlier->node && !later->node) {
		wait_by_event(m, seen, &earlier->access, &later->access, seen->on_host);
	}
}

void sw_hazard_meet(void *arg, struct sw_shadow_use *earlier, struct sw_shadow_use *later)
{
	struct sw_model *m = arg;
	uint32_t lane = sw_use_view(later);
	enum sw_order order = sw_hb_ordered(m->hb, earlier->access.point, lane);
	/* Only the kernel's start is unordered: the rest of it comes after the other one. */
	bool start = lane != later->access.point.lane &&
		     sw_hb_ordered(m->hb, earlier->access.point, later->access.point.lane) == SW_ORDER_DOCUMENTED;
	if (lane != later->access.point.lane && !start) {
		lane = later->access.point.lane;
		order = sw_hb_ordered(m->hb, earlier->access.point, lane);
	}
	if (order == SW_ORDER_DOCUMENTED) {
		if (sw_wide_watches(m) && (later->host || !ordered_without_host(m, &earlier->access, &later->access)))
			sw_wide_need(m, earlier, later);
		return;
	}
	if (later->range.role == SW_FREE && earlier->mirrored)
		return; /* the other address stays */
	/* A host function runs before the work that was enqueued after it, earlier in the trace or not. */
	if (sw_host_func_orders(m, earlier, later) ||
	    (earlier->function.tick && sw_hb_ordered(m->hb, earlier->function, lane) == SW_ORDER_DOCUMENTED))
		return;
	m->hazards->unordered++;
	if (m->context[earlier->ctx].over)
		return;
	struct sw_block *block = later->block;
	struct sw_verdict verdict = weigh_evidence(m, earlier, later);
	if (start && later->unsure)
		verdict = (struct sw_verdict){SW_NOTE, SW_POSSIBLE};
	if (later->range.role == SW_FREE && block->memory == SW_MEM_ASYNC && verdict.severity != SW_ERROR)
		return; /* pools: certain cases only */
	struct hazard hazard = {
		.side = {earlier->access, later->access},
		.seen = {.id = hazard_id(earlier, later), .accesses = 2},
	};
	struct sw_finding *seen = &hazard.seen;
	choose_fix(m, seen, earlier, later);
	last_order(m, seen, &earlier->access.point, lane);
	seen->workspace = sw_workspace_shared(m, earlier, later);
	if (seen->workspace)
		seen->fix = SW_FIX_WORKSPACE;
	describe_reuse(&hazard, earlier, later);
	seen->host_flag = sw_host_may_relay(m, earlier->access.point);
	bool measured = order == SW_ORDER_MEASURED || covered_by_free(m, earlier->access.point);
	apply_verdict(seen, verdict, measured, earlier->may_wait);
	weaken_observed(seen, order);
	if (start)
		describe_start(seen, verdict, order);
	lower_by_context(m, seen, earlier, later);
	if (sw_hazard_is_dropped(m, seen))
		return;
	if (seen->accesses == 3 && sw_reuse_was_reported(earlier, later, seen->severity))
		return;
	emit_at(m, &hazard, &(struct place){block, {earlier->pool_block, later->pool_block}});
}

/* Changes a hazard between nodes of one launch: their order belongs where the graph is made, and the streams are those
   that were captured. */
static void order_nodes(const struct sw_model *m, struct hazard *hazard)
{
	const struct sw_access *made[2] = {sw_origin_find(m, hazard->side[0].node),
					   sw_origin_find(m, hazard->side[1].node)};
	if (!made[0] || !made[1] || hazard->side[0].seq != hazard->side[1].seq)
		return;
	for (int i = 0; i < 2; i++)
		hazard->side[i].stream = made[i]->stream;
	const bool captured = made[0]->stream && made[1]->stream;
	hazard->seen.fix = captured ? SW_FIX_JOIN : SW_FIX_FREE_NODE_LATER;
	hazard->nodes.first = (struct sw_named_call){made[1]->seq, made[1]->stack, made[1]->api, made[1]->flags};
	hazard->nodes.second = (struct sw_named_call){made[0]->seq, made[0]->stack, made[0]->api, made[0]->flags};
}

/* Reports a use of memory that was freed (use after free). */
void sw_hazard_freed(struct sw_model *m, struct sw_block *freed, struct sw_shadow_use *later)
{
	struct sw_range whole = sw_range_bytes(0, freed->bytes, SW_FREE, SW_EV_EXACT);
	struct sw_verdict verdict = sw_matrix(&whole, &later->range, sw_block_crowding(freed));
	if (freed->memory == SW_MEM_ASYNC && verdict.severity != SW_ERROR)
		return;
	/* The graph allocates the memory itself, after this use: that is SW106, said when its nodes were compared. */
	if (freed->born.node && freed->gone.seq != later->access.seq && !later->range.perhaps && m->played &&
	    m->played_allocates(m->played, freed->address))
		return;
	struct hazard hazard = {
		.side = {freed->gone, later->access},
		.seen = {.id = SW_FINDING_USE_AFTER_FREE,
			 .severity = verdict.severity,
			 .confidence = verdict.confidence,
			 .accesses = 2,
			 .fix = freed->memory == SW_MEM_ASYNC && freed->gone.stream ? SW_FIX_FREE_LATER_ASYNC
										    : SW_FIX_FREE_LATER,
			 .fix_call.seq = freed->gone.seq},
	};
	order_nodes(m, &hazard);
	sw_hazard_lower(m, &hazard.seen, later->ctx);
	if (!sw_hazard_is_dropped(m, &hazard.seen))
		emit_hazard(m, &hazard, freed);
}

void sw_hazard_reused(struct sw_model *m, struct sw_block *freed, const struct sw_access *born)
{
	enum sw_order order = sw_hb_ordered(m->hb, freed->gone.point, born->point.lane);
	if (order == SW_ORDER_DOCUMENTED)
		return;
	const struct sw_verdict verdict = {SW_ERROR, SW_CERTAIN};
	struct hazard hazard = {
		.side = {freed->gone, *born},
		.seen = {.id = SW_FINDING_USE_AFTER_FREE, .accesses = 2, .fix = SW_FIX_EVENT},
	};
	fix_after(&hazard.seen, &freed->gone);
	last_order(m, &hazard.seen, &freed->gone.point, born->point.lane);
	apply_verdict(&hazard.seen, verdict, order == SW_ORDER_MEASURED, false);
	weaken_observed(&hazard.seen, order);
	sw_hazard_lower(m, &hazard.seen, m->record->rec->ctx);
	if (!sw_hazard_is_dropped(m, &hazard.seen))
		emit_hazard(m, &hazard, freed);
}

/* Reports a use of stream-ordered memory that does not come after its allocation. */
void sw_hazard_unborn(struct sw_model *m, struct sw_block *block, struct sw_shadow_use *later)
{
	struct sw_point born = block->born.point;
	if (sw_hb_passed(m->hb, born)) {
		block->born_passed = true;
		return;
	}
	const struct sw_range *range = &later->range;
	enum sw_order order = sw_hb_ordered(m->hb, born, later->access.point.lane);
	bool sure = range->evidence == SW_EV_EXACT ||
		    (range->evidence == SW_EV_FOOTPRINT && range->bounded && !range->loose && !range->polls);
	if (!sure || range->perhaps || order == SW_ORDER_DOCUMENTED)
		return;
	struct hazard hazard = {
		.side = {block->born, later->access},
		.seen = {.id = SW_FINDING_USE_BEFORE_ALLOC, .accesses = 2, .fix = SW_FIX_EVENT},
	};
	fix_after(&hazard.seen, &block->born);
	last_order(m, &hazard.seen, &born, later->access.point.lane);
	apply_verdict(&hazard.seen, (struct sw_verdict){SW_ERROR, SW_CERTAIN}, order == SW_ORDER_MEASURED, false);
	weaken_observed(&hazard.seen, order);
	sw_hazard_lower(m, &hazard.seen, later->ctx);
	if (!sw_hazard_is_dropped(m, &hazard.seen))
		emit_hazard(m, &hazard, block);
}
