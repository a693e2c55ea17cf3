/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/hazards/hazards.h"

#include <stdlib.h>

#include "detect/hazards/confidence.h"
#include "detect/hazards/host_functions.h"
#include "detect/hazards/host_knowledge.h"
#include "detect/hazards/intended_order.h"
#include "detect/hazards/library_workspace.h"
#include "detect/hazards/reused_blocks.h"
#include "detect/hazards/shared_workspace.h"
#include "detect/hazards/touch.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/memory/shadow.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/contexts.h"
#include "detect/model/model.h"
#include "detect/waits/wide_syncs.h"

/* Each occurrence of a hazard is passed to the observer up to this many times a pair of call sites: markers in a
 * timeline. */
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

static int hazard_id(const struct sw_shadow_use *m, const struct sw_shadow_use *x)
{
	enum sw_memory memory = x->block->memory;
	bool host_memory = memory == SW_MEM_PINNED || memory == SW_MEM_REGISTERED;
	if (x->range.role == SW_FREE)
		return host_memory ? SW_FINDING_HOST_IN_FLIGHT : SW_FINDING_USE_AFTER_FREE;
	if (m->host || x->host)
		return SW_FINDING_HOST_IN_FLIGHT;
	if (!sw_role_writes(m->range.role))
		return SW_FINDING_RACE_WAR;
	return sw_role_reads(x->range.role) ? SW_FINDING_RACE_RAW : SW_FINDING_RACE_WAW;
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

/* One call is enough where the two sides are in two contexts. */
static void lower(const struct sw_model *m, struct sw_finding *seen, const struct sw_shadow_use *earlier,
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
};

static void mention(struct sw_model *m, struct hazard *hazard, const struct place *place)
{
	for (int i = 0; i < 2; i++)
		hazard->side[i].allocation = sw_model_mention_pool_block(m, place->block, place->pool_block[i]);
	hazard->free.allocation = hazard->side[0].allocation;
}

/* An allocation is only mentioned where a report will name it: a hazard in a loop over new allocations must not list
   them all. */
static void emit_at(struct sw_model *m, struct hazard *hazard, const struct place *place)
{
	struct sw_finding *seen = &hazard->seen, *f;
	seen->access[0] = &hazard->side[0];
	seen->access[1] = &hazard->side[1];
	/* One that only its count is kept for says nothing of events, and is in no timeline. */
	const bool counted_only = seen->lowered && !m->collect.keep_possible;
	if (hazard->side[0].role != SW_FREE && hazard->side[0].role != SW_ALLOC && !counted_only)
		sw_event_wait_hazard(m, seen, place->block);
	const uint32_t made = place->pool_block[0] ? place->pool_block[0]->allocated.stack
			      : place->block	   ? place->block->born.stack
						   : 0;
	const bool described =
		sw_collect_describes(&m->collect, seen) || sw_collect_wants_buffer(&m->collect, seen, made);
	if (described)
		mention(m, hazard, place);
	f = sw_collect_add(&m->collect, seen, NULL);
	if (f && !described && f->count <= SW_MAX_OBSERVED)
		mention(m, hazard, place);
	if (f && !counted_only && m->observer->hazard && (f->count <= SW_MAX_OBSERVED || m->observer->every_hazard))
		m->observer->hazard(m->observer->arg, f, &hazard->side[0], &hazard->side[1]);
}

static void emit(struct sw_model *m, struct hazard *hazard, struct sw_block *block)
{
	emit_at(m, hazard, &(struct place){.block = block});
}

/*
 * Ordered only because the host threads ran in this order: no lock was seen that makes them.  One made of atomic
 * operations would not have been, so this is never certain.
 */
static void weaken(struct sw_finding *seen, enum sw_order order)
{
	if (order != SW_ORDER_OBSERVED)
		return;
	seen->host_order = true;
	if (seen->severity == SW_ERROR)
		seen->severity = SW_WARNING;
	if (seen->confidence == SW_CERTAIN)
		seen->confidence = SW_LIKELY;
}

static void judge(struct sw_finding *seen, struct sw_verdict verdict, bool measured, bool may)
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

static void fix_after(struct sw_finding *seen, const struct sw_access *earlier)
{
	seen->fix_stream = earlier->stream;
	seen->fix_call.seq = earlier->seq;
}

/* What last ordered the lane after that of the earlier side. */
static void last_order(const struct sw_model *m, struct sw_finding *seen, const struct sw_point *earlier, uint32_t lane)
{
	const struct sw_hb_last last = sw_hb_last_join(m->hb, lane, earlier->lane);
	seen->joined = last.tick;
	seen->last_kind = last.kind;
	seen->last_call.seq = last.tick ? last.seq : 0;
}

/* A release that waits by measurement: does its wait cover the use? */
static bool covered_by_free(const struct sw_model *m, struct sw_point point)
{
	if (m->hazards->free_covers)
		for (size_t i = 0; i < m->hazards->free_covers->n; i++)
			if (m->hazards->free_covers->at[i].lane == point.lane &&
			    m->hazards->free_covers->at[i].covered >= point.tick)
				return true;
	return false;
}

/* By what both sides are known to touch, and how far what they belong to is known. */
static struct sw_verdict weigh(struct sw_model *m, const struct sw_shadow_use *earlier,
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
		verdict = sw_one_step_down(verdict);
	return verdict;
}

/* What the earlier side used was freed, and allocated again for the later one: the free is the third side. */
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

/* The later side is a kernel before its wait for the kernel before it.  Ordered as measured where that triggers after
   its last access: still, no document promises that its memory can be seen then. */
static void describe_start(struct sw_finding *seen, struct sw_verdict verdict, enum sw_order order)
{
	seen->id = SW_FINDING_PROGRAMMATIC_RACE;
	seen->fix = SW_FIX_GRID_WAIT;
	seen->joined = false;
	if (order == SW_ORDER_MEASURED)
		seen->severity = verdict.severity < SW_WARNING ? verdict.severity : SW_WARNING;
}

static enum sw_fix fix_of(struct sw_model *m, const struct sw_shadow_use *earlier, const struct sw_shadow_use *later)
{
	if (sw_host_func_made(m, later))
		return SW_FIX_HOST_FUNCTION;
	if (later->host)
		return SW_FIX_HOST_SYNC;
	return sw_host_may_hold(m, earlier->access.point) ? SW_FIX_HOST_FLAG : SW_FIX_EVENT;
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
		if (sw_wide_watches(m) &&
		    (later->host || !sw_ordered_without_host(m, &earlier->access, &later->access)))
			sw_wide_need(m, earlier, later);
		return;
	}
	if (later->range.role == SW_FREE && earlier->mirrored)
		return; /* the other address stays */
	/* What a host function does comes before the work that was enqueued after it, earlier in the trace or not. */
	if (sw_host_func_orders(m, earlier, later) ||
	    (earlier->function.tick && sw_hb_ordered(m->hb, earlier->function, lane) == SW_ORDER_DOCUMENTED))
		return;
	m->hazards->unordered++;
	if (m->context[earlier->ctx].over)
		return;
	struct sw_block *block = later->block;
	struct sw_verdict verdict = weigh(m, earlier, later);
	if (start && later->unsure)
		verdict = (struct sw_verdict){SW_NOTE, SW_POSSIBLE};
	if (later->range.role == SW_FREE && block->memory == SW_MEM_ASYNC && verdict.severity != SW_ERROR)
		return; /* pools: certain cases only */
	struct hazard hazard = {
		.side = {earlier->access, later->access},
		.seen = {.id = hazard_id(earlier, later), .accesses = 2, .fix = fix_of(m, earlier, later)},
	};
	struct sw_finding *seen = &hazard.seen;
	fix_after(seen, &earlier->access);
	last_order(m, seen, &earlier->access.point, lane);
	seen->workspace = sw_workspace_shared(m, earlier, later);
	if (seen->workspace)
		seen->fix = SW_FIX_WORKSPACE;
	describe_reuse(&hazard, earlier, later);
	seen->host_flag = sw_host_may_relay(m, earlier->access.point);
	bool measured = order == SW_ORDER_MEASURED || covered_by_free(m, earlier->access.point);
	judge(seen, verdict, measured, earlier->may_wait);
	weaken(seen, order);
	if (start)
		describe_start(seen, verdict, order);
	lower(m, seen, earlier, later);
	if (sw_hazard_is_dropped(m, seen))
		return;
	if (seen->accesses == 3 && sw_reuse_was_reported(earlier, later, seen->severity))
		return;
	emit_at(m, &hazard, &(struct place){block, {earlier->pool_block, later->pool_block}});
}

void sw_hazard_freed(struct sw_model *m, struct sw_block *freed, struct sw_shadow_use *later)
{
	struct sw_range whole = sw_range_bytes(0, freed->bytes, SW_FREE, SW_EV_EXACT);
	struct sw_verdict verdict = sw_matrix(&whole, &later->range, sw_block_crowding(freed));
	if (freed->memory == SW_MEM_ASYNC && verdict.severity != SW_ERROR)
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
	sw_hazard_lower(m, &hazard.seen, later->ctx);
	if (!sw_hazard_is_dropped(m, &hazard.seen))
		emit(m, &hazard, freed);
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
	judge(&hazard.seen, verdict, order == SW_ORDER_MEASURED, false);
	weaken(&hazard.seen, order);
	sw_hazard_lower(m, &hazard.seen, m->record->rec->ctx);
	if (!sw_hazard_is_dropped(m, &hazard.seen))
		emit(m, &hazard, freed);
}

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
	judge(&hazard.seen, (struct sw_verdict){SW_ERROR, SW_CERTAIN}, order == SW_ORDER_MEASURED, false);
	weaken(&hazard.seen, order);
	sw_hazard_lower(m, &hazard.seen, later->ctx);
	if (!sw_hazard_is_dropped(m, &hazard.seen))
		emit(m, &hazard, block);
}
