/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/hazards/deferred.h"

#include <stdlib.h>
#include <string.h>

#include "detect/hazards/stored_values.h"
#include "detect/memory/contents.h"
#include "detect/model/model.h"
#include "detect/waits/wide_syncs.h"

/* Beyond either the oldest are evaluated. */
#define SW_MAX_DEFERRED	      65536u
#define SW_MAX_DEFERRED_BYTES (64u << 20)
/* Lanes that are kept before those that no longer count are removed. */
#define SW_MANY_LANES 8u

struct sw_deferrals {
	bool all;
	void (*work)(struct sw_model *m, const struct sw_deferred *deferred);
	struct sw_touched anywhere;	       /* all that was touched */
	SW_VEC(struct sw_deferred *) unplaced; /* that may lie anywhere, the oldest first ... */
	uint32_t done;			       /* ... of which so many are done */
	SW_VEC(struct sw_deferred *) queue;    /* the oldest first; those done stay until the next sweep */
	struct sw_deferred *first;	       /* of all, referred to by the queue and `unplaced` */
	sw_overlap_vec found;		       /* to be evaluated */
	size_t bytes;
	size_t swept; /* left by the last sweep */
};

struct sw_deferrals *sw_deferrals_new(bool all, void (*work)(struct sw_model *m, const struct sw_deferred *deferred))
{
	struct sw_deferrals *deferrals = sw_calloc(1, sizeof *deferrals);
	deferrals->all = all;
	deferrals->work = work;
	return deferrals;
}

/* Releases one of the references (of the queue and of the list `unplaced`); frees the launch with the last one. */
static void drop_deferred(struct sw_deferred *d)
{
	if (--d->refs)
		return;
	*d->self = d->next;
	if (d->next)
		d->next->self = d->self;
	free(d);
}

/* Frees all deferred launches without evaluating them. */
void sw_deferrals_free(struct sw_deferrals *deferrals)
{
	for (struct sw_deferred *d = deferrals->first, *next; d; d = next) {
		next = d->next;
		free(d);
	}
	free(deferrals->queue.at);
	free(deferrals->anywhere.lanes.at);
	free(deferrals->unplaced.at);
	free(deferrals->found.at);
	free(deferrals);
}

/* ---- which accesses could conflict
   ----------------------------------------------------------------------------------- */

/* Number of the first record whose uses a watched wait still needs (wide_syncs.h); UINT64_MAX: no wait is watched. */
static uint64_t watched_from(const struct sw_model *m)
{
	uint64_t from, to;
	sw_wide_keep(m, &from, &to);
	return from <= to ? from : UINT64_MAX;
}

/* Must an access of `lane` that comes now care about this earlier access of another lane?  Yes if no document orders it
   before, or if a watched wait may be what orders it (records from number `watched` on). */
static bool earlier_counts(const struct sw_model *m, struct sw_point earlier, uint64_t seq, uint32_t lane,
			   uint64_t watched)
{
	if (earlier.lane == lane)
		return false;
	return seq >= watched || sw_hb_ordered(m->hb, earlier, lane) != SW_ORDER_DOCUMENTED;
}

/* May an access of this lane conflict with what was touched?  The last access of each other lane is enough: what is
   ordered after it is ordered after those before it. */
static bool has_rival(const struct sw_model *m, const struct sw_touched *touched, uint32_t lane, uint64_t watched)
{
	for (size_t i = 0; i < touched->lanes.n; i++)
		if (earlier_counts(m, touched->lanes.at[i].point, touched->lanes.at[i].seq, lane, watched))
			return true;
	return false;
}

/* Does the access matter no more, since everything to come is ordered after it and no wait watches it? */
static bool is_over(const struct sw_model *m, struct sw_point point, uint64_t seq, uint64_t watched)
{
	return seq < watched && sw_hb_passed(m->hb, point);
}

/* Removes lanes whose last access nothing can conflict with any more, and that have nothing deferred, so that the list
   of a block used by many streams in turn stays short. */
static void forget_lanes(const struct sw_model *m, struct sw_touched *touched)
{
	uint64_t watched = watched_from(m);
	size_t kept = 0;
	for (size_t i = 0; i < touched->lanes.n; i++) {
		struct sw_last_touch *last = &touched->lanes.at[i];
		if (last->deferred.n || !is_over(m, last->point, last->seq, watched))
			touched->lanes.at[kept++] = *last;
		else
			sw_overlaps_clear(&last->deferred);
	}
	touched->lanes.n = kept;
}

/* The last access of the lane in what was touched; NULL: it has made none. */
static struct sw_last_touch *touch_of(const struct sw_touched *touched, uint32_t lane)
{
	for (size_t i = 0; i < touched->lanes.n; i++)
		if (touched->lanes.at[i].point.lane == lane)
			return &touched->lanes.at[i];
	return NULL;
}

/* Notes that the lane of `what` touched this memory at record number `step`.  A deferred launch is entered late, so an
   earlier step than the last one of the lane changes nothing. */
static struct sw_last_touch *note_touch(const struct sw_model *m, struct sw_touched *touched,
					const struct sw_access *what, uint64_t step)
{
	struct sw_last_touch *last = touch_of(touched, what->point.lane);
	if (!last) {
		size_t n = touched->lanes.n;
		if (n >= SW_MANY_LANES && !(n & (n - 1)))
			forget_lanes(m, touched);
		last = sw_vec_push(&touched->lanes);
		*last = (struct sw_last_touch){0};
	}
	if (step >= last->step) {
		last->point = what->point;
		last->step = step;
	}
	/* An access when a call returns has the number of its begin. */
	last->seq = what->seq > last->seq ? what->seq : last->seq;
	return last;
}

void sw_deferred_note(struct sw_model *m, struct sw_block *block, const struct sw_access *what)
{
	uint64_t step = m->scope && m->scope->late ? m->scope->late->step : m->step;
	note_touch(m, &block->touched, what, step);
	note_touch(m, &m->deferrals->anywhere, what, step);
}

/* ---- the queue --------------------------------------------------------------------------------------------------- */

/* Removes the launch from each block's list of deferred launches. */
static void leave_blocks(struct sw_deferred *d)
{
	for (uint32_t i = 0; i < d->parts; i++) {
		struct sw_block *block = d->block[d->part[i].block];
		if (block)
			sw_overlaps_remove(&touch_of(&block->touched, d->what.point.lane)->deferred, d->part[i].lo,
					   d->what.point.tick, d);
	}
}

/* Marks the launch as done and takes it out of all lists but the queue and `unplaced`, which drop it when they are next
   swept. */
static void finish_launch(struct sw_deferrals *deferrals, struct sw_deferred *d)
{
	d->done = true;
	deferrals->bytes -= d->bytes;
	deferrals->done += !d->blocks;
	leave_blocks(d);
}

/* Evaluates a deferred launch: its accesses are entered as of its own record and step, then the current record is
   judged on. */
static void work_out(struct sw_model *m, struct sw_deferred *d)
{
	const struct sw_record *record = m->record;
	struct sw_touch_scope *outer = m->scope, scope = {.late = d};
	finish_launch(m->deferrals, d);
	m->record = &d->record;
	m->scope = &scope;
	m->deferrals->work(m, d);
	m->scope = outer;
	m->record = record;
}

/* Removes launches that are done from the list of those without a known place, when they are more than half of it. */
static void tidy_unplaced(struct sw_deferrals *deferrals)
{
	size_t kept = 0;
	if (2 * deferrals->done <= deferrals->unplaced.n)
		return;
	for (size_t i = 0; i < deferrals->unplaced.n; i++) {
		struct sw_deferred *d = deferrals->unplaced.at[i];
		if (d->done)
			drop_deferred(d);
		else
			deferrals->unplaced.at[kept++] = d;
	}
	deferrals->unplaced.n = kept;
	deferrals->done = 0;
}

/* May the launch write where the bytes that a copy uploaded before it are known (contents.h)?  Such a write matters
   even if it conflicts with nothing: the known content ends with it. */
static bool may_overwrite(const struct sw_model *m, const struct sw_deferred *d)
{
	bool may = !d->blocks && sw_contents_before(m->contents, 0, UINT64_MAX, d->step);
	for (uint32_t i = 0; i < d->blocks && !may; i++)
		may = d->block[i] && sw_contents_before(m->contents, d->block[i]->address,
							d->block[i]->address + d->block[i]->bytes, d->step);
	return may;
}

bool sw_deferred_may_overwrite(const struct sw_model *m, uint64_t step)
{
	const struct sw_deferrals *deferrals = m->deferrals;
	for (size_t i = deferrals->queue.n; i-- > 0 && deferrals->queue.at[i]->step >= step;)
		if (!deferrals->queue.at[i]->done && may_overwrite(m, deferrals->queue.at[i]))
			return true;
	return false;
}

/* Drops a deferred launch that nothing can meet any more, without evaluating it: only values where it may have
   written become unknown. */
static void leave_unevaluated(struct sw_model *m, struct sw_deferred *d)
{
	if (!d->blocks)
		sw_values_unknown(m, d->step);
	for (uint32_t i = 0; i < d->parts; i++) {
		struct sw_block *block = d->block[d->part[i].block];
		if (block)
			sw_value_overwritten(m, d->what.point, block, block->address + d->part[i].lo,
					     block->address + d->part[i].hi, d->step);
	}
	finish_launch(m->deferrals, d);
}

/* Removes launches that nothing can conflict with any more; one that may have overwritten known memory is evaluated
   first. */
static void sweep_queue(struct sw_model *m)
{
	struct sw_deferrals *deferrals = m->deferrals;
	uint64_t watched = watched_from(m);
	size_t kept = 0;
	for (size_t i = 0; i < deferrals->queue.n; i++) {
		struct sw_deferred *d = deferrals->queue.at[i];
		if (!d->done && is_over(m, d->what.point, d->what.seq, watched)) {
			if (may_overwrite(m, d))
				work_out(m, d);
			else
				leave_unevaluated(m, d);
		}
		if (!d->done) {
			deferrals->queue.at[kept++] = d;
			continue;
		}
		drop_deferred(d);
	}
	tidy_unplaced(deferrals);
	deferrals->queue.n = deferrals->swept = kept;
}

/* Evaluates the oldest half of the deferred launches when there are too many of them, or they take too much memory. */
static void bound_memory(struct sw_model *m)
{
	struct sw_deferrals *deferrals = m->deferrals;
	if (deferrals->queue.n <= 2 * deferrals->swept + 256 && deferrals->queue.n < SW_MAX_DEFERRED &&
	    deferrals->bytes < SW_MAX_DEFERRED_BYTES)
		return;
	sweep_queue(m);
	if (deferrals->queue.n < SW_MAX_DEFERRED / 2 && deferrals->bytes < SW_MAX_DEFERRED_BYTES / 2)
		return;
	for (size_t i = 0; i < deferrals->queue.n / 2; i++)
		if (!deferrals->queue.at[i]->done)
			work_out(m, deferrals->queue.at[i]);
	sweep_queue(m);
}

/* A deferred launch with copies of its record, parameters and bounds, in one piece of memory. */
static struct sw_deferred *copy_of(const struct sw_model *m, const struct sw_access *what,
				   const struct sw_record *record, const struct sw_deferred_place *place)
{
	uint32_t blocks = place ? place->blocks : 0, parts = place ? place->ranges : 0;
	size_t head = sizeof(struct sw_deferred) + blocks * sizeof(struct sw_block *);
	size_t body = parts * sizeof(struct sw_deferred_range), rec = record->rec->words * 8u;
	size_t params = record->params ? record->param_bytes : 0;
	struct sw_deferred *d = sw_alloc(head + body + rec + params);
	*d = (struct sw_deferred){.what = *what,
				  .record = *record,
				  .step = m->step,
				  .bytes = head + body + rec + params,
				  .refs = 1,
				  .blocks = blocks,
				  .parts = parts};
	struct sw_deferred **first = &m->deferrals->first;
	d->next = *first;
	d->self = first;
	if (*first)
		(*first)->self = &d->next;
	*first = d;
	d->part = (struct sw_deferred_range *)(void *)((char *)d + head);
	char *copy = (char *)d + head + body;
	memcpy(copy, record->rec, rec);
	d->record.rec = (const struct sw_rec *)(const void *)copy;
	if (params)
		memcpy(copy + rec, record->params, params);
	if (record->params)
		d->record.params = copy + rec;
	return d;
}

/* Did another lane touch some of [lo, hi), or is something deferred there, that is not ordered before the lane's? */
static bool has_rival_in(const struct sw_model *m, const struct sw_block *block, uint64_t lo, uint64_t hi,
			 uint32_t lane, uint64_t watched)
{
	bool any = false;
	for (size_t i = 0; i < block->touched.lanes.n; i++) {
		const struct sw_last_touch *last = &block->touched.lanes.at[i];
		if (!earlier_counts(m, last->point, last->seq, lane, watched))
			continue;
		any = true;
		if (sw_overlaps_later(&last->deferred, lo, hi, sw_hb_known(m->hb, lane, last->point.lane), watched,
				      NULL))
			return true;
	}
	return any && sw_shadow_has_rival(&block->shadow, m->hb, lane, watched, lo, hi);
}

bool sw_may_defer(struct sw_model *m, struct sw_point point, const struct sw_deferred_place *place)
{
	uint64_t watched = watched_from(m);
	if (m->deferrals->all)
		return false;
	if (!place)
		return !has_rival(m, &m->deferrals->anywhere, point.lane, watched);
	for (uint32_t i = 0; i < place->ranges; i++) {
		const struct sw_deferred_range *r = &place->range[i];
		if (has_rival_in(m, place->block[r->block], r->lo, r->hi, point.lane, watched))
			return false;
	}
	return true;
}

/* Enters the launch in the blocks that it may access, so that an access to one of these ranges finds it there. */
static void enter_deferred(struct sw_model *m, struct sw_deferred *d, const struct sw_deferred_place *place)
{
	for (uint32_t i = 0; i < d->blocks; i++) {
		d->block[i] = place->block[i];
		note_touch(m, &d->block[i]->touched, &d->what, d->step);
	}
	for (uint32_t i = 0; i < d->parts; i++) {
		const struct sw_deferred_range *r = &place->range[i];
		const struct sw_overlap at = {r->lo, r->hi, d->what.point.tick, d->what.seq, d};
		d->part[i] = *r;
		sw_overlaps_insert(&touch_of(&d->block[r->block]->touched, d->what.point.lane)->deferred, &at);
	}
}

void sw_defer(struct sw_model *m, const struct sw_access *what, const struct sw_record *record,
	      const struct sw_deferred_place *place)
{
	struct sw_deferrals *deferrals = m->deferrals;
	bound_memory(m);
	struct sw_deferred *d = copy_of(m, what, record, place);
	enter_deferred(m, d, place);
	note_touch(m, &deferrals->anywhere, what, d->step);
	if (!d->blocks) {
		d->refs++;
		*sw_vec_push(&deferrals->unplaced) = d;
	}
	*sw_vec_push(&deferrals->queue) = d;
	deferrals->bytes += d->bytes;
}

bool sw_deferred_one_lane(const struct sw_model *m, uint32_t lane)
{
	const struct sw_touched *anywhere = &m->deferrals->anywhere;
	return !anywhere->lanes.n || (anywhere->lanes.n == 1 && anywhere->lanes.at[0].point.lane == lane);
}

void sw_deferred_arrive(struct sw_model *m, struct sw_point point)
{
	struct sw_deferrals *deferrals = m->deferrals;
	uint64_t watched = watched_from(m);
	if (!deferrals->unplaced.n || !has_rival(m, &deferrals->anywhere, point.lane, watched))
		return;
	/* All that are watched, in the same lane too: one of them may stand for another. */
	for (size_t i = 0; i < deferrals->unplaced.n; i++) {
		struct sw_deferred *d = deferrals->unplaced.at[i];
		if (!d->done && !is_over(m, d->what.point, d->what.seq, watched) &&
		    (d->what.seq >= watched || earlier_counts(m, d->what.point, d->what.seq, point.lane, watched)))
			work_out(m, d);
	}
	tidy_unplaced(deferrals);
}

/* For qsort(): orders deferred launches by the number of their records. */
static int by_step(const void *a, const void *b)
{
	const struct sw_deferred *x = *(const struct sw_deferred *const *)a;
	const struct sw_deferred *y = *(const struct sw_deferred *const *)b;
	return (x->step > y->step) - (x->step < y->step);
}

/* Evaluates the deferred launches that were found, in the order in which they came. */
static void work_out_found(struct sw_model *m)
{
	sw_overlap_vec *found = &m->deferrals->found;
	if (found->n)
		qsort(found->at, found->n, sizeof *found->at, by_step);
	for (size_t i = 0; i < found->n; i++) {
		struct sw_deferred *d = found->at[i];
		if (!d->done)
			work_out(m, d);
	}
	found->n = 0;
}

void sw_deferred_meet(struct sw_model *m, struct sw_block *block, uint64_t lo, uint64_t hi, struct sw_point point)
{
	sw_overlap_vec *found = &m->deferrals->found;
	uint64_t watched = watched_from(m);
	sw_deferred_arrive(m, point);
	for (size_t i = 0; i < block->touched.lanes.n; i++) {
		const struct sw_last_touch *last = &block->touched.lanes.at[i];
		if (last->deferred.n && earlier_counts(m, last->point, last->seq, point.lane, watched))
			sw_overlaps_later(&last->deferred, lo, hi, sw_hb_known(m->hb, point.lane, last->point.lane),
					  watched, found);
	}
	const struct sw_last_touch *own = found->n ? touch_of(&block->touched, point.lane) : NULL;
	if (own) /* those that are watched: one of them may stand for another */
		sw_overlaps_later(&own->deferred, lo, hi, UINT64_MAX, watched, found);
	work_out_found(m);
}

void sw_deferred_settle(struct sw_model *m, struct sw_block *block)
{
	struct sw_deferrals *deferrals = m->deferrals;
	for (size_t i = 0; i < deferrals->unplaced.n; i++)
		if (!deferrals->unplaced.at[i]->done)
			work_out(m, deferrals->unplaced.at[i]);
	tidy_unplaced(deferrals);
	for (size_t i = 0; i < block->touched.lanes.n; i++)
		sw_overlaps_later(&block->touched.lanes.at[i].deferred, 0, UINT64_MAX, 0, 0, &deferrals->found);
	work_out_found(m);
}

void sw_deferred_flush(struct sw_model *m)
{
	uint64_t watched = watched_from(m);
	for (size_t i = 0; i < m->deferrals->queue.n; i++) {
		struct sw_deferred *d = m->deferrals->queue.at[i];
		if (!d->done && !is_over(m, d->what.point, d->what.seq, watched))
			work_out(m, d);
	}
	sweep_queue(m);
}

uint64_t sw_deferred_oldest(const struct sw_model *m)
{
	for (size_t i = 0; i < m->deferrals->queue.n; i++)
		if (!m->deferrals->queue.at[i]->done)
			return m->deferrals->queue.at[i]->step;
	return UINT64_MAX;
}

void sw_deferred_leave(void *arg, struct sw_block *block)
{
	struct sw_model *m = arg;
	sw_overlap_vec *found = &m->deferrals->found;
	for (size_t i = 0; i < block->touched.lanes.n; i++) {
		struct sw_overlaps *deferred = &block->touched.lanes.at[i].deferred;
		sw_overlaps_later(deferred, 0, UINT64_MAX, 0, 0, found);
		sw_overlaps_clear(deferred);
	}
	for (size_t i = 0; i < found->n; i++) {
		struct sw_deferred *d = found->at[i];
		for (uint32_t k = 0; k < d->blocks; k++)
			if (d->block[k] == block)
				d->block[k] = NULL;
	}
	found->n = 0;
}

/* A launch without a known place may access any block that was allocated before it.  A block allocated since at a
   reused address was not there for it to access. */
bool sw_deferred_lies_in(const struct sw_deferred *d, const struct sw_block *block)
{
	for (uint32_t i = 0; i < d->blocks; i++)
		if (d->block[i] == block)
			return true;
	return !d->blocks && block->born.seq < d->what.seq;
}

bool sw_deferred_next_part(const struct sw_deferred *d, const struct sw_block *block, uint32_t *number, uint64_t *lo,
			   uint64_t *hi)
{
	if (!d->blocks)
		return !(*number)++;
	for (uint32_t i = 0; !*number && i < d->parts; i++) {
		const struct sw_deferred_range *part = &d->part[i];
		if (d->block[part->block] == block && part->lo <= *lo && part->hi >= *hi) {
			*number = d->parts; /* nearly always: nothing is cut */
			return true;
		}
	}
	while (*number < d->parts) {
		const struct sw_deferred_range *part = &d->part[(*number)++];
		if (d->block[part->block] != block || part->lo >= *hi || part->hi <= *lo)
			continue;
		*lo = part->lo > *lo ? part->lo : *lo;
		*hi = part->hi < *hi ? part->hi : *hi;
		return true;
	}
	return false;
}
