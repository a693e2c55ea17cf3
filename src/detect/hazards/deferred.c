/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/hazards/deferred.h"

#include <stdlib.h>
#include <string.h>

#include "detect/memory/contents.h"
#include "detect/model/model.h"
#include "detect/waits/wide_syncs.h"

/* Beyond either the oldest are evaluated. */
#define SW_MAX_DEFERRED	      65536u
#define SW_MAX_DEFERRED_BYTES (32u << 20)
/* Lanes that are remembered before it is asked which of them still count. */
#define SW_MANY_LANES 8u

struct sw_deferrals {
	bool all;
	void (*work)(struct sw_model *m, const struct sw_deferred *deferred);
	struct sw_touched anywhere;
	SW_VEC(struct sw_deferred *) queue; /* the oldest first; those done stay until the next sweep */
	struct sw_deferred *first;	    /* of all, referred to by the queue, blocks and `anywhere` */
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

static void drop(struct sw_deferred *d)
{
	if (--d->refs)
		return;
	*d->self = d->next;
	if (d->next)
		d->next->self = d->self;
	free(d);
}

void sw_deferrals_free(struct sw_deferrals *deferrals)
{
	for (struct sw_deferred *d = deferrals->first, *next; d; d = next) {
		next = d->next; /* blocks that ended did not say what they referred to */
		free(d);
	}
	free(deferrals->queue.at);
	free(deferrals->anywhere.lanes.at);
	free(deferrals->anywhere.deferred.at);
	free(deferrals);
}

/* ---- which accesses could meet ----------------------------------------------------------------------------------- */

/* Records from here on are asked about by a wait; UINT64_MAX: none. */
static uint64_t watched_from(const struct sw_model *m)
{
	uint64_t from, to;
	sw_wide_keep(m, &from, &to);
	return from <= to ? from : UINT64_MAX;
}

static bool counts(const struct sw_model *m, struct sw_point earlier, uint64_t seq, uint32_t lane, uint64_t watched)
{
	if (earlier.lane == lane)
		return false;
	return seq >= watched || sw_hb_ordered(m->hb, earlier, lane) != SW_ORDER_DOCUMENTED;
}

/* The last access of a lane is enough: what is ordered after it is ordered after those before it. */
static bool has_rival(const struct sw_model *m, const struct sw_touched *touched, uint32_t lane, uint64_t watched)
{
	for (size_t i = 0; i < touched->lanes.n; i++)
		if (counts(m, touched->lanes.at[i].point, touched->lanes.at[i].seq, lane, watched))
			return true;
	return false;
}

/* Everything to come is ordered after it, and no wait asks for it. */
static bool is_over(const struct sw_model *m, struct sw_point point, uint64_t seq, uint64_t watched)
{
	return seq < watched && sw_hb_passed(m->hb, point);
}

static void forget_lanes(const struct sw_model *m, struct sw_touched *touched)
{
	uint64_t watched = watched_from(m);
	size_t kept = 0;
	for (size_t i = 0; i < touched->lanes.n; i++) {
		struct sw_last_touch *last = &touched->lanes.at[i];
		if (!is_over(m, last->point, last->seq, watched))
			touched->lanes.at[kept++] = *last;
	}
	touched->lanes.n = kept;
}

static void note(const struct sw_model *m, struct sw_touched *touched, const struct sw_access *what, uint64_t step)
{
	size_t i = 0;
	while (i < touched->lanes.n && touched->lanes.at[i].point.lane != what->point.lane)
		i++;
	if (i == touched->lanes.n) {
		if (i >= SW_MANY_LANES && !(i & (i - 1)))
			forget_lanes(m, touched);
		i = touched->lanes.n;
		*sw_vec_push(&touched->lanes) = (struct sw_last_touch){0};
	}
	struct sw_last_touch *last = &touched->lanes.at[i];
	if (step >= last->step) {
		last->point = what->point;
		last->step = step;
	}
	/* What is done when a call returns has the number of its begin. */
	last->seq = what->seq > last->seq ? what->seq : last->seq;
}

void sw_deferred_note(struct sw_model *m, struct sw_block *block, const struct sw_access *what)
{
	uint64_t step = m->scope && m->scope->late ? m->scope->late->step : m->step;
	note(m, &block->touched, what, step);
	note(m, &m->deferrals->anywhere, what, step);
}

/* ---- the queue --------------------------------------------------------------------------------------------------- */

/* The queue may hold it for longer than the block lives. */
static void leave_block(struct sw_deferred *d, const struct sw_touched *touched)
{
	for (uint32_t k = 0; k < d->blocks; k++)
		if (d->block[k] && &d->block[k]->touched == touched)
			d->block[k] = NULL;
	drop(d);
}

static void compact(struct sw_touched *touched)
{
	size_t kept = 0;
	touched->done = 0;
	for (size_t i = 0; i < touched->deferred.n; i++) {
		struct sw_deferred *d = touched->deferred.at[i];
		if (d->done && !d->working) {
			leave_block(d, touched);
			continue;
		}
		touched->done += d->done;
		touched->deferred.at[kept++] = d;
	}
	touched->deferred.n = kept;
}

static void finish(struct sw_deferrals *deferrals, struct sw_deferred *d)
{
	d->done = true;
	deferrals->bytes -= d->bytes;
	deferrals->anywhere.done += !d->blocks;
	for (uint32_t i = 0; i < d->blocks; i++)
		if (d->block[i])
			d->block[i]->touched.done++;
}

static void work_out(struct sw_model *m, struct sw_deferred *d)
{
	const struct sw_record *record = m->record;
	struct sw_touch_scope *outer = m->scope, scope = {.late = d};
	finish(m->deferrals, d);
	m->record = &d->record;
	m->scope = &scope;
	d->working = true;
	m->deferrals->work(m, d);
	d->working = false;
	m->scope = outer;
	m->record = record;
}

static void tidy(struct sw_touched *touched)
{
	if (2 * touched->done > touched->deferred.n)
		compact(touched);
}

/* What is known of memory ends with a write that conflicts with nothing, too. */
static bool may_overwrite(const struct sw_model *m, const struct sw_deferred *d)
{
	bool may = !d->blocks && sw_contents_before(m->contents, 0, UINT64_MAX, d->step);
	for (uint32_t i = 0; i < d->blocks && !may; i++)
		may = d->block[i] && sw_contents_before(m->contents, d->block[i]->address,
							d->block[i]->address + d->block[i]->bytes, d->step);
	return may;
}

static void sweep(struct sw_model *m)
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
				finish(deferrals, d);
		}
		if (!d->done) {
			deferrals->queue.at[kept++] = d;
			continue;
		}
		for (uint32_t k = 0; k < d->blocks; k++)
			if (d->block[k])
				tidy(&d->block[k]->touched);
		drop(d);
	}
	tidy(&deferrals->anywhere);
	deferrals->queue.n = deferrals->swept = kept;
}

/* Memory stays bounded: the oldest half is evaluated. */
static void bound(struct sw_model *m)
{
	struct sw_deferrals *deferrals = m->deferrals;
	if (deferrals->queue.n <= 2 * deferrals->swept + 256 && deferrals->queue.n < SW_MAX_DEFERRED &&
	    deferrals->bytes < SW_MAX_DEFERRED_BYTES)
		return;
	sweep(m);
	if (deferrals->queue.n < SW_MAX_DEFERRED / 2 && deferrals->bytes < SW_MAX_DEFERRED_BYTES / 2)
		return;
	for (size_t i = 0; i < deferrals->queue.n / 2; i++)
		if (!deferrals->queue.at[i]->done)
			work_out(m, deferrals->queue.at[i]);
	sweep(m);
}

static struct sw_deferred *copy_of(const struct sw_model *m, const struct sw_access *what,
				   const struct sw_record *record, uint32_t blocks)
{
	size_t head = sizeof(struct sw_deferred) + blocks * sizeof(struct sw_block *), rec = record->rec->words * 8u;
	size_t params = record->params ? record->param_bytes : 0;
	struct sw_deferred *d = sw_alloc(head + rec + params);
	*d = (struct sw_deferred){.what = *what,
				  .record = *record,
				  .step = m->step,
				  .bytes = head + rec + params,
				  .refs = 1,
				  .blocks = blocks};
	struct sw_deferred **first = &m->deferrals->first;
	d->next = *first;
	d->self = first;
	if (*first)
		(*first)->self = &d->next;
	*first = d;
	char *copy = (char *)d + head;
	memcpy(copy, record->rec, rec);
	d->record.rec = (const struct sw_rec *)(const void *)copy;
	if (params)
		memcpy(copy + rec, record->params, params);
	if (record->params)
		d->record.params = copy + rec;
	return d;
}

bool sw_may_defer(const struct sw_model *m, struct sw_point point, struct sw_block *const *block, uint32_t blocks)
{
	uint64_t watched = watched_from(m);
	if (m->deferrals->all)
		return false;
	if (!blocks)
		return !has_rival(m, &m->deferrals->anywhere, point.lane, watched);
	for (uint32_t i = 0; i < blocks; i++)
		if (has_rival(m, &block[i]->touched, point.lane, watched))
			return false;
	return true;
}

static void enter(struct sw_model *m, struct sw_touched *touched, struct sw_deferred *d)
{
	d->refs++;
	*sw_vec_push(&touched->deferred) = d;
	note(m, touched, &d->what, d->step);
}

void sw_defer(struct sw_model *m, const struct sw_access *what, const struct sw_record *record,
	      struct sw_block *const *block, uint32_t blocks)
{
	bound(m);
	struct sw_deferred *d = copy_of(m, what, record, blocks);
	for (uint32_t i = 0; i < blocks; i++) {
		d->block[i] = block[i];
		enter(m, &block[i]->touched, d);
	}
	if (!blocks)
		enter(m, &m->deferrals->anywhere, d);
	else
		note(m, &m->deferrals->anywhere, what, d->step);
	*sw_vec_push(&m->deferrals->queue) = d;
	m->deferrals->bytes += d->bytes;
}

bool sw_deferred_one_lane(const struct sw_model *m, uint32_t lane)
{
	const struct sw_touched *anywhere = &m->deferrals->anywhere;
	return !anywhere->lanes.n || (anywhere->lanes.n == 1 && anywhere->lanes.at[0].point.lane == lane);
}

static void meet(struct sw_model *m, struct sw_touched *touched, struct sw_point point)
{
	uint64_t watched = watched_from(m);
	if (!touched->deferred.n || !has_rival(m, touched, point.lane, watched))
		return;
	/* Of those that are watched all, in the same lane too: one of them may stand for another. */
	for (size_t i = 0; i < touched->deferred.n; i++) {
		struct sw_deferred *d = touched->deferred.at[i];
		if (!d->done && !is_over(m, d->what.point, d->what.seq, watched) &&
		    (d->what.seq >= watched || counts(m, d->what.point, d->what.seq, point.lane, watched)))
			work_out(m, d);
	}
	compact(touched);
}

void sw_deferred_arrive(struct sw_model *m, struct sw_point point)
{
	meet(m, &m->deferrals->anywhere, point);
}

void sw_deferred_meet(struct sw_model *m, struct sw_block *block, struct sw_point point)
{
	sw_deferred_arrive(m, point);
	meet(m, &block->touched, point);
}

static void settle(struct sw_model *m, struct sw_touched *touched)
{
	for (size_t i = 0; i < touched->deferred.n; i++)
		if (!touched->deferred.at[i]->done)
			work_out(m, touched->deferred.at[i]);
	compact(touched);
}

void sw_deferred_settle(struct sw_model *m, struct sw_block *block)
{
	settle(m, &m->deferrals->anywhere);
	settle(m, &block->touched);
}

void sw_deferred_flush(struct sw_model *m)
{
	uint64_t watched = watched_from(m);
	for (size_t i = 0; i < m->deferrals->queue.n; i++) {
		struct sw_deferred *d = m->deferrals->queue.at[i];
		if (!d->done && !is_over(m, d->what.point, d->what.seq, watched))
			work_out(m, d);
	}
	sweep(m);
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
	struct sw_touched *touched = &block->touched;
	(void)arg;
	for (size_t i = 0; i < touched->deferred.n; i++)
		leave_block(touched->deferred.at[i], touched);
	touched->deferred.n = 0;
	touched->done = 0;
}

/* An allocation that was made since took the place of a freed one, with what was known of it. */
bool sw_deferred_lies_in(const struct sw_deferred *d, const struct sw_block *block)
{
	for (uint32_t i = 0; i < d->blocks; i++)
		if (d->block[i] == block)
			return true;
	return !d->blocks && block->born.seq < d->what.seq;
}
