/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an area to boxes of bytes.
 *
 * Variables are put together to parts: sums that take every value of an interval (tid + 256 * ctaid).  An inequality
 * that concerns one part shortens it; one that concerns two, of which one counts the other's overflow, leaves full rows
 * and a last one that is not full.  Then parts whose bytes adjoin become the width, the others pitch and slice.
 */
#include "footprint/launch/evaluation/area.h"

#define MAX_PIECES 8 /* boxes from one address: a full part and partial rows at both ends, twice */

/* ---- parts */

struct part {
	sw_wide lo, hi; /* of the sum, in units */
	sw_wide unit;	/* bytes, or (not in the address) 0 */
	uint32_t vars;	/* bit set of local variables */
	int first;	/* the variable with the smallest coefficient */
};
struct parts {
	struct part at[SW_AREA_VARS];
	uint32_t n;
};

static sw_wide magnitude_of(sw_wide a)
{
	return a < 0 ? -a : a;
}

/* Every variable of the address on its own; negative coefficients count backwards. */
static void part_all(const struct sw_area *p, struct parts *out)
{
	out->n = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		sw_wide by = p->address.by[i];
		if (!by)
			continue;
		out->at[out->n++] = (struct part){.lo = by > 0 ? p->lo[i] : -p->hi[i],
						  .hi = by > 0 ? p->hi[i] : -p->lo[i],
						  .unit = magnitude_of(by),
						  .vars = 1u << i,
						  .first = (int)i};
	}
	for (uint32_t i = 1; i < out->n; i++) {
		for (uint32_t j = i; j && out->at[j].unit < out->at[j - 1].unit; j--) {
			struct part t = out->at[j];
			out->at[j] = out->at[j - 1];
			out->at[j - 1] = t;
		}
	}
}

/* a + b where b's unit is a multiple of a's and b's steps leave no gaps: then the sum takes every value too. */
static bool merge_parts(struct parts *parts, uint32_t a, uint32_t b)
{
	struct part *x = &parts->at[a], *y = &parts->at[b];
	sw_wide ratio = y->unit / x->unit;
	bool endless = x->lo <= -SW_INFINITE || x->hi >= SW_INFINITE;
	if (y->unit % x->unit || (!endless && ratio > x->hi - x->lo + 1))
		return false;
	x->lo = sw_wide_add(x->lo, sw_wide_mul(y->lo, ratio));
	x->hi = sw_wide_add(x->hi, sw_wide_mul(y->hi, ratio));
	x->vars |= y->vars;
	for (uint32_t i = b + 1; i < parts->n; i++)
		parts->at[i - 1] = parts->at[i];
	parts->n--;
	return true;
}

/* The row's variables of a part as factor x the part's sum; false: they are no multiple of it. */
static bool factor_of(const struct sw_area *p, const struct sw_area_row *row, const struct part *part, sw_wide *factor)
{
	sw_wide by = row->by[part->first], unit = p->address.by[part->first];
	for (uint32_t i = 0; i < p->n; i++) {
		if ((part->vars >> i & 1) && row->by[i] * unit != by * p->address.by[i])
			return false;
	}
	*factor = unit > 0 ? by : -by; /* the sum counts variables with a negative coefficient backwards */
	return true;
}

/* Merges the parts of a row that it adds up as the address does.  What stays is in *touched; false: not separable. */
static bool merge_by_row(const struct sw_area *p, const struct sw_area_row *row, struct parts *parts)
{
	for (uint32_t a = 0; a < parts->n; a++) {
		sw_wide x, y;
		if (!factor_of(p, row, &parts->at[a], &x))
			return false;
		for (uint32_t b = a + 1; x && b < parts->n; b++) {
			if (!factor_of(p, row, &parts->at[b], &y))
				return false;
			if (y && y * parts->at[a].unit == x * parts->at[b].unit && merge_parts(parts, a, b))
				b = a;
		}
	}
	return true;
}

/* ---- assembling */

struct level {
	sw_wide pitch, rows;
};
struct levels {
	struct level at[SW_AREA_VARS];
	uint32_t n;
	sw_wide from, width;
};

void sw_area_read_start(const struct sw_eval *e, sw_wide from)
{
	if (e->site)
		sw_reads_between(e->reads, e->site->address, from, from, 0, (sw_wide)UINT64_MAX);
}

static bool push_box(const struct sw_area *p, const struct levels *levels, const struct sw_area_shape *shape)
{
	const struct level none = {0, 1}, *row = levels->n > 0 ? &levels->at[0] : &none,
			   *slice = levels->n > 1 ? &levels->at[1] : &none;
	sw_area_read_start(p->eval, levels->from);
	shape->at->lo = levels->from < shape->at->lo ? levels->from : shape->at->lo;
	shape->at->hi = levels->from > shape->at->hi ? levels->from : shape->at->hi;
	if (levels->from < 0 || shape->out->n - shape->from >= MAX_PIECES)
		return false;
	struct sw_reach reach = *shape->like;
	reach.extent = SW_EXTENT_BOX;
	reach.why = SW_WHY_NONE;
	reach.address = (uint64_t)levels->from;
	reach.width = (uint64_t)levels->width;
	reach.rows = (uint64_t)row->rows;
	reach.pitch = levels->n > 0 ? (uint64_t)row->pitch : reach.width;
	reach.slices = (uint64_t)slice->rows;
	reach.slice = levels->n > 1 ? (uint64_t)slice->pitch : reach.pitch * reach.rows;
	*sw_vec_push(shape->out) = reach;
	return true;
}

/* A box has rows and slices: of what there is more, the shortest is taken apart. */
static bool push_boxes(const struct sw_area *p, const struct levels *levels, const struct sw_area_shape *shape)
{
	if (levels->n <= 2)
		return push_box(p, levels, shape);
	struct levels one = *levels;
	uint32_t least = 0;
	for (uint32_t i = 1; i < levels->n; i++)
		least = levels->at[i].rows < levels->at[least].rows ? i : least;
	const struct level apart = levels->at[least];
	one.n--;
	for (uint32_t i = least; i < one.n; i++)
		one.at[i] = one.at[i + 1];
	for (sw_wide k = 0; k < apart.rows; k++) {
		one.from = levels->from + k * apart.pitch;
		if (!push_boxes(p, &one, shape))
			return false;
	}
	return true;
}

static bool assemble_boxes(const struct sw_area *p, const struct parts *parts, const struct sw_area_shape *shape)
{
	struct levels levels = {.from = p->address.constant, .width = shape->bytes};
	sw_wide span = 0; /* from the first to the last row */
	for (uint32_t i = 0; i < parts->n; i++) {
		const struct part *x = &parts->at[i];
		sw_wide count = x->hi - x->lo;
		levels.from += x->unit * x->lo;
		if (!count)
			continue;
		struct level *last = levels.n ? &levels.at[levels.n - 1] : NULL;
		if (!last && x->unit <= levels.width) {
			levels.width += x->unit * count;
			continue;
		}
		if (last && x->unit % last->pitch == 0 && x->unit / last->pitch <= last->rows)
			last->rows += x->unit / last->pitch * count;
		else if (last && x->unit < span + levels.width)
			return false; /* slices that interleave are no box that others could compare with */
		else
			levels.at[levels.n++] = (struct level){x->unit, count + 1};
		span += x->unit * count;
	}
	return push_boxes(p, &levels, shape);
}

static bool place_rest(const struct sw_area *p, struct parts parts, uint32_t row, const struct sw_area_shape *shape);

static bool place_cut(const struct sw_area *p, const struct parts *parts, uint32_t which, sw_wide lo, sw_wide hi,
		      uint32_t row, const struct sw_area_shape *shape)
{
	struct parts cut = *parts;
	struct part *x = &cut.at[which];
	x->lo = x->lo > lo ? x->lo : lo;
	x->hi = x->hi < hi ? x->hi : hi;
	return x->lo > x->hi || place_rest(p, cut, row, shape);
}

/*
 * constant + a * A + b * B >= 0 with |a| so large that B matters for at most one value of A: full rows, and that one.
 */
static bool place_rows(const struct sw_area *p, const struct parts *parts, uint32_t row, const uint32_t which[2],
		       const sw_wide factor[2], sw_wide constant, const struct sw_area_shape *shape)
{
	int big = magnitude_of(factor[1]) > magnitude_of(factor[0]);
	const struct part *minor = &parts->at[which[!big]];
	sw_wide a = factor[big], b = factor[!big];
	if (minor->lo <= -SW_INFINITE || minor->hi >= SW_INFINITE ||
	    magnitude_of(a) < magnitude_of(b) * (minor->hi - minor->lo))
		return false;
	sw_wide least = b * (b > 0 ? minor->lo : minor->hi), most = b * (b > 0 ? minor->hi : minor->lo);
	/* In terms of s * A (s the sign of a), which the row bounds from below: full from `full` on, partly from `some`
	 * on. */
	sw_wide full = -sw_wide_floor(constant + least, magnitude_of(a)),
		some = -sw_wide_floor(constant + most, magnitude_of(a));
	sw_wide up = SW_INFINITE;
	if (!place_cut(p, parts, which[big], a > 0 ? full : -up, a > 0 ? up : -full, row + 1, shape))
		return false;
	for (sw_wide s = some; s < full; s++) {
		struct parts cut = *parts;
		struct part *x = &cut.at[which[big]], *y = &cut.at[which[!big]];
		sw_wide at = a > 0 ? s : -s, rest = constant + a * at;
		if (at < x->lo || at > x->hi)
			continue;
		x->lo = x->hi = at;
		sw_wide bound = b > 0 ? -sw_wide_floor(rest, b) : sw_wide_floor(rest, -b);
		if (b > 0 && y->lo < bound)
			y->lo = bound;
		if (b < 0 && y->hi > bound)
			y->hi = bound;
		if (y->lo <= y->hi && !place_rest(p, cut, row + 1, shape))
			return false;
	}
	return true;
}

/* Applies the rows one after the other. */
static bool place_rest(const struct sw_area *p, struct parts parts, uint32_t row, const struct sw_area_shape *shape)
{
	for (; row < p->rows; row++) {
		uint32_t which[2], n = 0;
		sw_wide factor[2], one, fixed = p->row[row].constant, lo;
		for (uint32_t i = 0; i < parts.n; i++) {
			struct part *x = &parts.at[i];
			if (!factor_of(p, &p->row[row], x, &one))
				return false;
			if (x->lo == x->hi) {
				fixed += one * x->lo;
			} else if (one) {
				if (n == 2)
					return false;
				which[n] = i;
				factor[n++] = one;
			}
		}
		lo = fixed;
		for (uint32_t i = 0; i < n; i++) {
			struct part *x = &parts.at[which[i]];
			lo = sw_wide_add(lo, sw_wide_mul(factor[i], factor[i] > 0 ? x->lo : x->hi));
		}
		if (lo >= 0)
			continue;
		if (n == 0)
			return true; /* nothing of this piece is left */
		if (n == 2)
			return place_rows(p, &parts, row, which, factor, fixed, shape);
		struct part *x = &parts.at[which[0]];
		sw_wide bound = factor[0] > 0 ? -sw_wide_floor(fixed, factor[0]) : sw_wide_floor(fixed, -factor[0]);
		if (factor[0] > 0 && x->lo < bound)
			x->lo = bound;
		if (factor[0] < 0 && x->hi > bound)
			x->hi = bound;
		if (x->lo > x->hi)
			return true;
	}
	for (uint32_t i = 0; i < parts.n; i++) {
		if (parts.at[i].lo <= -SW_INFINITE || parts.at[i].hi >= SW_INFINITE)
			return false;
	}
	return assemble_boxes(p, &parts, shape);
}

static bool exact_boxes(const struct sw_area *p, const struct sw_area_shape *shape)
{
	struct parts parts;
	if (p->empty)
		return true;
	part_all(p, &parts);
	for (uint32_t i = 0; i < p->rows; i++) {
		if (!merge_by_row(p, &p->row[i], &parts))
			return false;
	}
	return place_rest(p, parts, 0, shape);
}

/* ---- ragged sets: the rows of a triangle, one after the other */

#define MAX_SLICES 256 /* of one site: each is a box, or a few */

static bool is_coupled(const struct sw_area *p, uint32_t var)
{
	for (uint32_t i = 0; i < p->rows; i++) {
		for (uint32_t j = 0; p->row[i].by[var] && j < p->n; j++) {
			if (j != var && p->row[i].by[j])
				return true;
		}
	}
	return false;
}

/* The variable with the fewest values, of those that an inequality ties to others. */
static int slice_variable(const struct sw_area *p)
{
	int best = -1;
	for (uint32_t i = 0; i < p->n; i++) {
		sw_wide span = p->hi[i] - p->lo[i];
		if (p->address.by[i] && span > 0 && span < MAX_SLICES && is_coupled(p, i) &&
		    (best < 0 || span < p->hi[best] - p->lo[best]))
			best = (int)i;
	}
	return best;
}

static bool sliced_boxes(struct sw_eval *e, const struct sw_area *p, const struct sw_area_shape *shape)
{
	int var = slice_variable(p);
	for (sw_wide at = var < 0 ? 0 : p->lo[var]; var >= 0 && at <= p->hi[var]; at++) {
		struct sw_area slice = *p;
		struct sw_area_shape own = *shape;
		own.from = own.out->n;
		slice.lo[var] = slice.hi[var] = at;
		if (e->budget < SW_AREA_SLICE_COST)
			return false;
		e->budget -= SW_AREA_SLICE_COST;
		if (!sw_area_simplify(&slice) || !exact_boxes(&slice, &own))
			return false;
	}
	return var >= 0;
}

bool sw_area_boxes(struct sw_eval *e, const struct sw_area *p, const struct sw_area_shape *shape)
{
	if (exact_boxes(p, shape))
		return true;
	shape->out->n = shape->from;
	return sliced_boxes(e, p, shape);
}
