/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/memory/shadow.h"

#include <stdlib.h>
#include <string.h>

/* A cleared use, with one reference of the caller. */
struct sw_shadow_use *sw_use_new(struct sw_use_pool *pool)
{
	struct sw_shadow_use *use = pool->free;
	if (use)
		pool->free = use->free_next;
	else
		use = sw_arena_alloc(&pool->arena, sizeof *use);
	memset(use, 0, sizeof *use);
	use->refs = 1;
	pool->live++;
	return use;
}

/* Takes back a use without references. */
void sw_use_free(struct sw_use_pool *pool, struct sw_shadow_use *use)
{
	sw_pool_block_drop(use->pool_block);
	use->free_next = pool->free;
	pool->free = use;
	pool->live--;
}

/* The range that the use is compared by: one without known end is taken to touch all of its assumed extent. */
static struct sw_range extent_of(const struct sw_shadow_use *use)
{
	const struct sw_range *range = &use->range;
	return range->bounded ? *range
			      : sw_range_bytes(range->address, use->end - range->address, range->role, range->evidence);
}

/* Do the two uses share a byte?  Boxes must be compared row by row: a box may lie in all segments of its hull. */
static bool share_bytes(const struct sw_shadow_use *other, const struct sw_shadow_use *use)
{
	if (sw_use_is_dense(other) && sw_use_is_dense(use)) {
		uint64_t lo = other->range.address > use->range.address ? other->range.address : use->range.address;
		return lo < other->end && lo < use->end;
	}
	struct sw_range a = extent_of(other), b = extent_of(use);
	return sw_range_overlap(&a, &b);
}

/* Do the two uses share bytes in [lo, hi)? */
static bool use_shares_bytes_within(const struct sw_shadow_use *other, const struct sw_shadow_use *use, uint64_t lo,
				    uint64_t hi)
{
	struct sw_range a = extent_of(other), b = extent_of(use);
	return sw_range_overlap_within(&a, &b, lo, hi);
}

bool sw_use_conflicts(const struct sw_shadow_use *other, const struct sw_shadow_use *use)
{
	bool conflict = sw_role_writes(other->range.role) || sw_role_writes(use->range.role);
	if (other->range.role == SW_ATOMIC && use->range.role == SW_ATOMIC)
		conflict = false;
	return conflict && share_bytes(other, use);
}

bool sw_use_stands_for(const struct sw_shadow_use *use, const struct sw_shadow_use *other)
{
	bool same_box = use->range.address == other->range.address && use->range.width == other->range.width &&
			use->range.pitch == other->range.pitch && use->range.rows == other->range.rows &&
			use->range.slice == other->range.slice && use->range.slices == other->range.slices;
	if (!sw_range_dense(&use->range) && !same_box)
		return false;
	if (sw_range_rank(&use->range) < sw_range_rank(&other->range) || (use->range.polls && !other->range.polls))
		return false;
	if (!use->range.bounded && use->range.address != other->range.address)
		return false;
	if (!sw_role_writes(use->range.role) && sw_role_writes(other->range.role))
		return false;
	if (use->range.role == SW_ATOMIC && other->range.role != SW_ATOMIC)
		return false;
	return !(use->may_wait && !other->may_wait) && !(use->range.perhaps && !other->range.perhaps);
}

#define SW_RUN 64u

struct sw_overlap_run {
	uint64_t lo, tick; /* of the first */
	uint64_t most_hi, most_tick, most_seq;
	uint32_t n;
	struct sw_overlap *at; /* room for SW_RUN */
};

/* Widens the largest end, step and record number of the run by those of an interval. */
static void take_in(struct sw_overlap_run *run, const struct sw_overlap *x)
{
	run->most_hi = x->hi > run->most_hi ? x->hi : run->most_hi;
	run->most_tick = x->tick > run->most_tick ? x->tick : run->most_tick;
	run->most_seq = x->seq > run->most_seq ? x->seq : run->most_seq;
}

/* Computes the values by which a search passes over the run: its first start, and the largest end, step and record
   number. */
static void summarise_run(struct sw_overlap_run *run)
{
	run->lo = run->at[0].lo;
	run->tick = run->at[0].tick;
	run->most_hi = run->most_tick = run->most_seq = 0;
	for (uint32_t i = 0; i < run->n; i++)
		take_in(run, &run->at[i]);
}

/* Does the interval (lo, tick) come after the other in the order by start, then by step? */
static bool starts_later(uint64_t lo, uint64_t tick, uint64_t other_lo, uint64_t other_tick)
{
	return lo > other_lo || (lo == other_lo && tick > other_tick);
}

/* How many runs begin at or before this start and step. */
static size_t runs_up_to(const struct sw_overlaps *set, uint64_t lo, uint64_t tick)
{
	size_t from = 0, to = set->run.n;
	while (from < to) {
		size_t middle = (from + to) / 2;
		if (!starts_later(set->run.at[middle].lo, set->run.at[middle].tick, lo, tick))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Inserts an empty run at this index. */
static struct sw_overlap_run *add_run(struct sw_overlaps *set, size_t at)
{
	sw_vec_push(&set->run);
	struct sw_overlap_run *run = &set->run.at[at];
	memmove(run + 1, run, (set->run.n - 1 - at) * sizeof *run);
	*run = (struct sw_overlap_run){.at = sw_alloc(SW_RUN * sizeof *run->at)};
	return run;
}

/* Splits a full run in two. */
static void halve_run(struct sw_overlaps *set, size_t at)
{
	struct sw_overlap_run *upper = add_run(set, at + 1), *run = upper - 1;
	upper->n = run->n / 2;
	run->n -= upper->n;
	memcpy(upper->at, run->at + run->n, upper->n * sizeof *upper->at);
	summarise_run(run);
	summarise_run(upper);
}

/* Inserts an interval at its place in the order of start and step. */
void sw_overlaps_insert(struct sw_overlaps *set, const struct sw_overlap *interval)
{
	size_t number = runs_up_to(set, interval->lo, interval->tick);
	number -= number > 0;
	struct sw_overlap_run *run = set->run.n ? &set->run.at[number] : add_run(set, 0);
	uint32_t at = run->n;
	while (at && starts_later(run->at[at - 1].lo, run->at[at - 1].tick, interval->lo, interval->tick))
		at--;
	memmove(run->at + at + 1, run->at + at, (run->n++ - at) * sizeof *run->at);
	run->at[at] = *interval;
	run->lo = run->at[0].lo;
	run->tick = run->at[0].tick;
	take_in(run, interval);
	set->n++;
	if (run->n == SW_RUN)
		halve_run(set, number);
}

/* Removes interval `at` of a run, and the run with its last one. */
static void remove_at(struct sw_overlaps *set, size_t number, uint32_t at)
{
	struct sw_overlap_run *run = &set->run.at[number];
	memmove(run->at + at, run->at + at + 1, (--run->n - at) * sizeof *run->at);
	set->n--;
	if (run->n) {
		summarise_run(run);
		return;
	}
	free(run->at);
	memmove(run, run + 1, (--set->run.n - number) * sizeof *run);
}

void sw_overlaps_remove(struct sw_overlaps *set, uint64_t lo, uint64_t tick, const void *what)
{
	for (size_t number = runs_up_to(set, lo, tick); number-- > 0;) {
		const struct sw_overlap_run *run = &set->run.at[number];
		for (uint32_t i = 0; i < run->n; i++)
			if (run->at[i].lo == lo && run->at[i].tick == tick && run->at[i].what == what) {
				remove_at(set, number, i);
				return;
			}
	}
}

void sw_overlaps_clear(struct sw_overlaps *set)
{
	for (size_t i = 0; i < set->run.n; i++)
		free(set->run.at[i].at);
	free(set->run.at);
	*set = (struct sw_overlaps){0};
}

bool sw_overlaps_later(const struct sw_overlaps *set, uint64_t lo, uint64_t hi, uint64_t tick, uint64_t seq,
		       sw_overlap_vec *out)
{
	bool any = false;
	for (size_t number = 0; number < set->run.n && set->run.at[number].lo < hi; number++) {
		const struct sw_overlap_run *run = &set->run.at[number];
		if (run->most_hi <= lo || (run->most_tick <= tick && run->most_seq < seq))
			continue;
		for (uint32_t i = 0; i < run->n && run->at[i].lo < hi; i++) {
			const struct sw_overlap *x = &run->at[i];
			if (x->hi <= lo || (x->tick <= tick && x->seq < seq))
				continue;
			any = true;
			if (!out)
				return true;
			*sw_vec_push(out) = x->what;
		}
	}
	return any;
}

/* Uses crowd into one segment where hundreds of streams read it, or where the hulls of column tiles overlap: n tiles
   part their hulls into n segments, so the next one is compared n times with n.  A segment with more uses, or more
   boxes, than this forgets some, and so does one with more than FEW while all segments together take more than BYTES.
   A conflict with a forgotten use is missed, so each is counted; no conflict is invented. */
#define SW_MAX_USES	  4096u
#define SW_MAX_BOXES	  512u
#define SW_MAX_FEW_USES	  64u
#define SW_MAX_USES_BYTES (96u << 20)
/* Most segments hold one writer and a reader or two. */
#define SW_INLINE_USES	3u
#define SW_LANE_BUCKETS 64u

struct segment {
	struct sw_interval at;
	uint32_t n, room;
	struct sw_shadow_use **use;
	struct sw_shadow_use *few[SW_INLINE_USES];
};

/* Adds an empty segment for the offsets [lo, hi). */
static struct segment *segment_new(struct sw_shadow *shadow, uint64_t lo, uint64_t hi)
{
	struct segment *s = sw_alloc(sizeof *s);
	*s = (struct segment){.at = {.lo = lo, .hi = hi}, .use = s->few, .room = SW_INLINE_USES};
	sw_intervals_insert(&shadow->segments, &s->at);
	return s;
}

/* Removes a segment, and its references to uses. */
static void segment_free(struct sw_shadow *shadow, struct sw_use_pool *pool, struct segment *s)
{
	sw_intervals_remove(&shadow->segments, &s->at);
	for (uint32_t i = 0; i < s->n; i++)
		sw_use_drop(pool, s->use[i]);
	pool->links -= s->n;
	if (s->use != s->few)
		free(s->use);
	free(s);
}

/* Are there so many uses, or boxes, in the segment that some must be forgotten before one more is added? */
static bool is_full(const struct sw_use_pool *pool, const struct segment *s)
{
	size_t bytes = pool->links * sizeof *s->use + pool->live * sizeof **s->use;
	uint32_t boxes = 0;
	if (s->n < SW_MAX_FEW_USES)
		return false;
	for (uint32_t i = 0; s->n >= SW_MAX_BOXES && i < s->n; i++)
		boxes += !sw_range_dense(&s->use[i]->range);
	return s->n >= SW_MAX_USES || boxes >= SW_MAX_BOXES || bytes > SW_MAX_USES_BYTES;
}

/* Drops a use from one segment without a replacement; a later conflict with it there is missed, so each use is counted
   once. */
static void forget_use(struct sw_use_pool *pool, struct sw_shadow_use *use)
{
	pool->forgotten += !use->forgotten;
	use->forgotten = true;
	sw_use_drop(pool, use);
}

/* Drops the oldest quarter of the uses of the lane that has most here: one lane must not push out the others. */
static void segment_thin(struct sw_use_pool *pool, struct segment *s)
{
	uint32_t held[SW_LANE_BUCKETS] = {0}, most = 0, kept = 0;
	for (uint32_t i = 0; i < s->n; i++)
		held[s->use[i]->access.point.lane % SW_LANE_BUCKETS]++;
	for (uint32_t i = 1; i < SW_LANE_BUCKETS; i++)
		most = held[i] > held[most] ? i : most;
	uint32_t go = held[most] / 4 + 1;
	for (uint32_t i = 0; i < s->n; i++)
		if (go && s->use[i]->access.point.lane % SW_LANE_BUCKETS == most) {
			forget_use(pool, s->use[i]);
			go--;
		} else {
			s->use[kept++] = s->use[i];
		}
	pool->links -= s->n - kept;
	s->n = kept;
}

/* Makes room for so many uses. */
static void segment_grow(struct segment *s, uint32_t room)
{
	struct sw_shadow_use **more = sw_alloc(room * sizeof *more);
	memcpy(more, s->use, s->n * sizeof *more);
	if (s->use != s->few)
		free(s->use);
	s->use = more;
	s->room = room;
}

/* Adds a use to a segment, whose uses are in the order in which they came: nearly always last. */
static void segment_add(struct sw_use_pool *pool, struct segment *s, struct sw_shadow_use *use)
{
	if (is_full(pool, s))
		segment_thin(pool, s);
	uint32_t at = s->n;
	while (at && s->use[at - 1]->step > use->step)
		at--;
	if (s->n == s->room)
		segment_grow(s, 2 * s->room);
	memmove(s->use + at + 1, s->use + at, (s->n++ - at) * sizeof *s->use);
	s->use[at] = use;
	use->refs++;
	pool->links++;
}

/* Fills an empty segment with the uses of another one, and makes room for one more, which comes next. */
static void segment_copy(struct sw_use_pool *pool, struct segment *to, const struct segment *s)
{
	if (s->n >= to->room)
		segment_grow(to, 2 * s->n);
	memcpy(to->use, s->use, s->n * sizeof *s->use);
	for (uint32_t i = 0; i < s->n; i++)
		s->use[i]->refs++;
	to->n = s->n;
	pool->links += s->n;
}

/* Cuts a segment at x; returns the upper part. */
static struct segment *segment_cut(struct sw_shadow *shadow, struct sw_use_pool *pool, struct segment *s, uint64_t x)
{
	uint64_t hi = s->at.hi;
	s->at.hi = x;
	struct segment *upper = segment_new(shadow, x, hi);
	if (s->n <= SW_MAX_FEW_USES)
		segment_copy(pool, upper, s);
	else
		for (uint32_t i = 0; i < s->n; i++)
			segment_add(pool, upper, s->use[i]);
	return upper;
}

/* Do two segments hold the same uses in the same order?  Then they can be one. */
static bool same_uses(const struct segment *a, const struct segment *b)
{
	return a->n == b->n && !memcmp(a->use, b->use, a->n * sizeof *a->use);
}

/* Can nothing conflict with the use any more, since all that comes is ordered after it and no watched wait keeps it? */
static bool use_passed(const struct sw_shadow_env *env, const struct sw_shadow_use *other)
{
	bool kept = env->keep_from <= env->keep_to && other->access.seq >= env->keep_from;
	return !kept && sw_hb_passed(env->hb, other->access.point);
}

/* Must the two be compared at all: by lane, by role and by order?  The cheap part of the test: comparing boxes row by
   row costs a hundred times as much. */
static bool may_meet(const struct sw_shadow_env *env, const struct sw_shadow_use *other,
		     const struct sw_shadow_use *use)
{
	/* The start of a kernel may overlap the kernel before it in its lane, not the rest of itself. */
	bool same_lane = other->access.point.lane == use->access.point.lane;
	if ((same_lane && (!use->view || other->access.point.tick == use->access.point.tick)) ||
	    (!sw_role_writes(other->range.role) && !sw_role_writes(use->range.role)))
		return false;
	return (env->ordered_too && !same_lane) ||
	       sw_hb_ordered(env->hb, other->access.point, sw_use_view(use)) != SW_ORDER_DOCUMENTED;
}

/* Must the other use be kept although the use comes after it, for a watched wait (keep_from, keep_to)?  The use that
   needed the wait does not depend on the order of the two, unless they conflict: then this use needed it. */
static bool asked_about(const struct sw_shadow_env *env, const struct sw_shadow_use *use,
			const struct sw_shadow_use *other)
{
	return other->access.seq >= env->keep_from && other->access.seq <= env->keep_to &&
	       other->access.point.lane != use->access.point.lane && !sw_use_conflicts(other, use);
}

/* Does the new use take the place of the other one: ordered after it, and in conflict with all that the other would
   conflict with? */
static bool use_replaces(const struct sw_shadow_env *env, const struct sw_shadow_use *use,
			 const struct sw_shadow_use *other)
{
	return sw_use_stands_for(use, other) && !(env->apart && env->apart(env->arg, other, use)) &&
	       (other->access.point.lane == use->access.point.lane ||
		sw_hb_ordered(env->hb, other->access.point, use->access.point.lane) == SW_ORDER_DOCUMENTED);
}

/* Uses that sw_shadow_has_rival() looks at: more cost as much as an evaluation. */
#define SW_MOST_LOOKED_AT 256u

bool sw_shadow_has_rival(const struct sw_shadow *shadow, const struct sw_hb *hb, uint32_t lane, uint64_t from_seq,
			 uint64_t lo, uint64_t hi)
{
	uint32_t left = SW_MOST_LOOKED_AT;
	for (struct sw_interval *at = sw_intervals_from(&shadow->segments, lo); at && at->lo < hi;
	     at = sw_intervals_next(&shadow->segments, at)) {
		const struct segment *s = (const struct segment *)at;
		if (s->n >= left)
			return true;
		left -= s->n + 1;
		for (uint32_t i = 0; i < s->n; i++) {
			const struct sw_access *use = &s->use[i]->access;
			if (use->point.lane != lane &&
			    (use->seq >= from_seq || sw_hb_ordered(hb, use->point, lane) != SW_ORDER_DOCUMENTED))
				return true;
		}
	}
	return false;
}

/* Takes the other use out of all segments of the new one.  Where the new one is entered row by row, the other may
   remain between its rows (leave_between()). */
static void note_goes(struct sw_shadow_env *env, struct sw_shadow_use *other, const struct sw_shadow_use *use)
{
	other->stamp = env->serial;
	other->goes = true;
	env->between |= use->by_rows && !other->by_rows && !sw_use_is_dense(other);
}

/* Enters a use that was deferred into one segment.  Earlier uses are all ordered before it, later ones after it: it
   replaces earlier ones, and is left out where a later one replaces it. */
static void segment_visit_late(struct sw_shadow_env *env, struct segment *s, struct sw_shadow_use *use)
{
	uint32_t kept = 0;
	bool replaced = false;
	for (uint32_t i = 0; i < s->n; i++) {
		struct sw_shadow_use *other = s->use[i];
		bool later = other->step > use->step;
		if (use_passed(env, other) || (!later && sw_use_stands_for(use, other))) {
			note_goes(env, other, use);
			sw_use_drop(env->pool, other);
			continue;
		}
		replaced |= later && sw_use_stands_for(other, use);
		s->use[kept++] = other;
	}
	env->pool->links -= s->n - kept;
	s->n = kept;
	if (!replaced)
		segment_add(env->pool, s, use);
}

/* Is the use a box that was entered in all of its hull (the bytes from its first to its last)?  Then it stands also in
   segments that it does not touch. */
static bool has_hull(const struct sw_shadow_use *use)
{
	return !use->by_rows && !sw_use_is_dense(use);
}

/* Compares the new use with an earlier one, once for all segments that both lie in: in the first where the earlier one
   still has bytes that they share.  Others may have taken over those in the segments before.  True: the earlier one
   goes from the segments of the new one. */
static bool meet_use(struct sw_shadow_env *env, const struct segment *s, struct sw_shadow_use *other,
		     struct sw_shadow_use *use, bool enter)
{
	if (other->stamp != env->serial) {
		other->stamp = env->serial;
		other->goes = use_passed(env, other);
		other->meets = !other->goes && may_meet(env, other, use) && sw_use_conflicts(other, use);
		other->goes |=
			enter && !env->keep_all && use_replaces(env, use, other) && !asked_about(env, use, other);
	}
	if (other->meets &&
	    ((!has_hull(other) && !has_hull(use)) || use_shares_bytes_within(other, use, s->at.lo, s->at.hi))) {
		other->meets = false;
		other->refs++;
		*sw_vec_push(&env->met) = other;
	}
	return other->goes;
}

/* For qsort(): by the record of a use, then by the order in which its accesses were entered. */
static int by_entry(const void *a, const void *b)
{
	const struct sw_shadow_use *x = *(struct sw_shadow_use *const *)a, *y = *(struct sw_shadow_use *const *)b;
	return x->step != y->step ? (x->step < y->step ? -1 : 1) : (x->entry > y->entry) - (x->entry < y->entry);
}

/* Passes the conflicts of the use to env->meet, in an order that does not depend on how memory is cut into segments. */
static void report_conflicts(struct sw_shadow_env *env, struct sw_shadow_use *use)
{
	if (!env->met.n)
		return;
	size_t sorted = 1;
	while (sorted < env->met.n && by_entry(&env->met.at[sorted - 1], &env->met.at[sorted]) <= 0)
		sorted++;
	if (sorted < env->met.n)
		qsort(env->met.at, env->met.n, sizeof *env->met.at, by_entry);
	for (size_t i = 0; i < env->met.n; i++) {
		env->meet(env->arg, env->met.at[i], use);
		sw_use_drop(env->pool, env->met.at[i]);
	}
	free(env->met.at);
	env->met = (sw_use_vec){0};
}

/* Compares the use with those of one segment, removes those that it replaces, and with `enter` adds it. */
static void segment_visit(struct sw_shadow_env *env, struct segment *s, struct sw_shadow_use *use, bool enter)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		struct sw_shadow_use *other = s->use[i];
		if (meet_use(env, s, other, use, enter)) {
			env->between |= use->by_rows && !other->by_rows && !sw_use_is_dense(other);
			sw_use_drop(env->pool, other);
		} else {
			s->use[kept++] = other;
		}
	}
	env->pool->links -= s->n - kept;
	s->n = kept;
	if (enter)
		segment_add(env->pool, s, use);
}

/* Joins s to the segment below when both hold the same; returns the one that is left. */
static struct segment *segment_join(struct sw_shadow *shadow, struct sw_use_pool *pool, struct segment *below,
				    struct segment *s)
{
	if (!below || below->at.hi != s->at.lo || !same_uses(below, s))
		return s;
	uint64_t hi = s->at.hi;
	segment_free(shadow, pool, s);
	below->at.hi = hi;
	return below;
}

/* Removes uses that nothing can conflict with any more, and joins segments that then hold the same uses. */
static void sweep_segments(struct sw_shadow *shadow, struct sw_shadow_env *env)
{
	struct segment *below = NULL;
	for (struct sw_interval *at = sw_intervals_from(&shadow->segments, 0), *next; at; at = next) {
		struct segment *s = (struct segment *)at;
		uint32_t kept = 0;
		next = sw_intervals_next(&shadow->segments, at);
		for (uint32_t i = 0; i < s->n; i++)
			if (use_passed(env, s->use[i]))
				sw_use_drop(env->pool, s->use[i]);
			else
				s->use[kept++] = s->use[i];
		env->pool->links -= s->n - kept;
		s->n = kept;
		if (!kept)
			segment_free(shadow, env->pool, s);
		else
			below = segment_join(shadow, env->pool, below, s);
	}
	shadow->swept = shadow->segments.n;
}

void sw_shadow_probe(struct sw_shadow *shadow, struct sw_shadow_env *env, struct sw_shadow_use *use)
{
	for (struct sw_interval *at = sw_intervals_from(&shadow->segments, use->range.address); at && at->lo < use->end;
	     at = sw_intervals_next(&shadow->segments, at))
		segment_visit(env, (struct segment *)at, use, false);
	report_conflicts(env, use);
}

/* The segment that starts at `at`, cut to end at hi at most; one that holds nothing yet where `node`, the next one, is
   farther. */
static struct segment *piece_at(struct sw_shadow *shadow, struct sw_use_pool *pool, struct sw_interval *node,
				uint64_t at, uint64_t hi)
{
	if (!node || node->lo > at)
		return segment_new(shadow, at, node && node->lo < hi ? node->lo : hi);
	struct segment *s = (struct segment *)node;
	if (s->at.lo < at)
		s = segment_cut(shadow, pool, s, at);
	if (s->at.hi > hi)
		segment_cut(shadow, pool, s, hi);
	return s;
}

/* Segments that the new use makes equal grow together, the neighbours on both sides included; where it fills exactly
   one, that stays as it is. */
static void enter_bytes(struct sw_shadow *shadow, struct sw_shadow_env *env, struct sw_shadow_use *use, uint64_t lo,
			uint64_t hi, bool late)
{
	uint64_t at = lo;
	struct sw_interval *node = sw_intervals_from(&shadow->segments, at);
	bool several = false;
	while (at < hi) {
		struct segment *s = piece_at(shadow, env->pool, node, at, hi);
		if (late)
			segment_visit_late(env, s, use);
		else
			segment_visit(env, s, use, true);
		several = s->at.lo != lo || s->at.hi != hi;
		at = s->at.hi;
		node = sw_intervals_next(&shadow->segments, &s->at);
		if (several)
			segment_join(shadow, env->pool, (struct segment *)s->at.before, s);
	}
	if (several && node)
		segment_join(shadow, env->pool, (struct segment *)node->before, (struct segment *)node);
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

/* Tiles of one matrix (a step of each sequence in a batch) have hulls that overlap all others: n of them, each with
   what was done in its rows, would make n * rows segments, and the next one would visit them all.  A box is entered in
   its rows only where its hull holds that many segments more than rows, and at least half as many as the rows would
   add to what segments hold: each cuts two, and copies their uses. */
#define SW_SEGMENTS_PER_ROW 4u
#define SW_MOST_BOX_ROWS    4096u

/* Can the box be entered row by row: few rows, disjoint, in the order of their addresses? */
static bool has_few_rows_apart(const struct sw_range *box)
{
	return box->bounded && box->rows <= SW_MOST_BOX_ROWS && box->slices <= SW_MOST_BOX_ROWS &&
	       box->rows * box->slices <= SW_MOST_BOX_ROWS && sw_range_has_rows_apart(box);
}

/* Does the hull of the box hold so many more segments than it has rows that entering it in its rows alone is
   cheaper? */
static bool is_better_by_rows(const struct sw_shadow *shadow, const struct sw_shadow_use *use)
{
	const struct sw_range *box = &use->range;
	if (sw_range_dense(box) || !has_few_rows_apart(box))
		return false;
	uint64_t rows = box->rows * box->slices, seen = 0, uses = 0;
	if (shadow->segments.n <= SW_SEGMENTS_PER_ROW * rows)
		return false;
	for (const struct sw_interval *at = sw_intervals_from(&shadow->segments, box->address); at && at->lo < use->end;
	     at = sw_intervals_next(&shadow->segments, at)) {
		uses += ((const struct segment *)at)->n;
		if (++seen > SW_SEGMENTS_PER_ROW * rows && 2 * seen * seen > rows * (seen + 2 * uses))
			return true;
	}
	return false;
}

/* Removes, from the segments between the rows of a box, the uses that it replaces and that are there by their hull
   alone. */
static void leave_between(struct sw_shadow *shadow, struct sw_shadow_env *env, const struct sw_shadow_use *use)
{
	for (struct sw_interval *at = sw_intervals_from(&shadow->segments, use->range.address); at && at->lo < use->end;
	     at = sw_intervals_next(&shadow->segments, at)) {
		struct segment *s = (struct segment *)at;
		uint32_t kept = 0;
		for (uint32_t i = 0; i < s->n; i++)
			if (s->use[i]->stamp == env->serial && s->use[i]->goes)
				sw_use_drop(env->pool, s->use[i]);
			else
				s->use[kept++] = s->use[i];
		env->pool->links -= s->n - kept;
		s->n = kept;
	}
}

/* Enters a box row by row, as few segments lie in its rows and many in its hull. */
static void enter_rows(struct sw_shadow *shadow, struct sw_shadow_env *env, struct sw_shadow_use *use, bool late)
{
	const struct sw_range *box = &use->range;
	for (uint64_t slice = 0; slice < box->slices; slice++)
		for (uint64_t row = 0; row < box->rows; row++) {
			uint64_t lo = box->address + slice * box->slice + row * box->pitch;
			if (lo >= use->end)
				break;
			enter_bytes(shadow, env, use, lo, use->end - lo < box->width ? use->end : lo + box->width,
				    late);
		}
	if (env->between)
		leave_between(shadow, env, use);
}

/* Enters the use in all segments of its bytes, and compares it with those there.  late: it was deferred, and is
   compared with none. */
static void enter_use(struct sw_shadow *shadow, struct sw_shadow_env *env, struct sw_shadow_use *use, bool late)
{
	env->between = false;
	use->entry = env->serial;
	use->by_rows = is_better_by_rows(shadow, use);
	if (use->by_rows)
		enter_rows(shadow, env, use, late);
	else
		enter_bytes(shadow, env, use, use->range.address, use->end, late);
	report_conflicts(env, use);
	if (shadow->segments.n > 2 * shadow->swept + 256)
		sweep_segments(shadow, env);
}

/* For qsort(): by the number of the call. */
static int by_call(const void *a, const void *b)
{
	const struct sw_shadow_use *const *x = a, *const *y = b;
	return ((*x)->access.seq > (*y)->access.seq) - ((*x)->access.seq < (*y)->access.seq);
}

void sw_shadow_list(struct sw_shadow *shadow, const struct sw_shadow_env *env, uint64_t lo, uint64_t hi,
		    sw_use_vec *out)
{
	for (struct sw_interval *at = sw_intervals_from(&shadow->segments, lo); at && at->lo < hi;
	     at = sw_intervals_next(&shadow->segments, at)) {
		const struct segment *s = (const struct segment *)at;
		for (uint32_t i = 0; i < s->n; i++) {
			if (s->use[i]->stamp == env->serial)
				continue;
			s->use[i]->stamp = env->serial;
			*sw_vec_push(out) = s->use[i];
		}
	}
	if (out->n)
		qsort(out->at, out->n, sizeof *out->at, by_call);
}

void sw_shadow_enter(struct sw_shadow *shadow, struct sw_shadow_env *env, struct sw_shadow_use *use)
{
	enter_use(shadow, env, use, false);
}

void sw_shadow_enter_late(struct sw_shadow *shadow, struct sw_shadow_env *env, struct sw_shadow_use *use)
{
	enter_use(shadow, env, use, true);
}

void sw_shadow_forget(struct sw_shadow *shadow, struct sw_use_pool *pool, uint64_t lo, uint64_t hi)
{
	struct sw_interval *at;
	while ((at = sw_intervals_from(&shadow->segments, lo)) && at->lo < hi) {
		struct segment *s = (struct segment *)at;
		if (s->at.lo < lo)
			s = segment_cut(shadow, pool, s, lo);
		if (s->at.hi > hi)
			segment_cut(shadow, pool, s, hi);
		segment_free(shadow, pool, s);
	}
}

void sw_shadow_clear(struct sw_shadow *shadow, struct sw_use_pool *pool)
{
	for (struct sw_interval *at; (at = shadow->segments.root);)
		segment_free(shadow, pool, (struct segment *)at);
	shadow->swept = 0;
}
