/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an address in a case to boxes of bytes.
 *
 * The address and the inequalities of the case make an area (area.h).  Simple areas are boxes, or a few; anything else
 * is a hull.  The sites of an unrolled loop, and a site in its cases, have areas that differ only in where they begin:
 * what was found of one serves the others.
 */
#include <stdlib.h>

#include "footprint/launch/evaluation/area.h"
#include "footprint/launch/evaluation/eval.h"
#include "footprint/rules.h"

/* ---- areas that were looked at before */

/* from: less the address's constant. */
struct known_box {
	sw_wide from;
	uint64_t width, rows, pitch, slices, slice;
};

struct known_area {
	uint64_t check;
	uint64_t work;	     /* that it took, of the budget */
	struct sw_bounds at; /* where boxes begin, those that were given up too, less the constant */
	uint32_t first, n;   /* boxes; */
	enum sw_why why;     /* or why there are none */
};

struct sw_known_areas {
	struct sw_map of; /* hash -> area + 1 */
	SW_VEC(struct known_area) area;
	SW_VEC(struct known_box) box;
};

void sw_known_areas_free(struct sw_known_areas *areas)
{
	if (!areas)
		return;
	sw_map_free(&areas->of);
	free(areas->area.at);
	free(areas->box.at);
	free(areas);
}

/* An area with these hashes that was made into boxes before, in this evaluation; NULL: there is none. */
static const struct known_area *find_known_area(const struct sw_eval *e, const uint64_t hash[2])
{
	uint64_t found = e->areas ? sw_map_get(&e->areas->of, hash[0]) : 0;
	const struct known_area *area = found ? &e->areas->area.at[found - 1] : NULL;
	if (SW_RULE_IS_OFF(known_areas))
		return NULL;
	return area && area->check == hash[1] ? area : NULL;
}

/* Remembers an area by its hashes, with its area.n boxes. */
static void keep_area(struct sw_eval *e, const uint64_t hash[2], struct known_area area, const struct known_box *box)
{
	if (!e->areas)
		e->areas = sw_calloc(1, sizeof *e->areas);
	area.check = hash[1];
	area.first = (uint32_t)e->areas->box.n;
	for (uint32_t i = 0; i < area.n; i++)
		*sw_vec_push(&e->areas->box) = box[i];
	*sw_vec_push(&e->areas->area) = area;
	*sw_map_put(&e->areas->of, hash[0]) = e->areas->area.n;
}

/* The first box of a known area; NULL: it has none. */
static const struct known_box *boxes_of_known_area(const struct sw_eval *e, const struct known_area *area)
{
	return area->n ? &e->areas->box.at[area->first] : NULL;
}

/* ---- from an area to boxes */

/*
 * From an area to boxes of bytes.
 *
 * Variables are put together to parts: sums that take every value of an interval (tid + 256 * ctaid).  An inequality
 * over one part shortens it.  One over two parts, where one counts the overflow of the other, leaves full rows and a
 * last one that is not full.  Then parts whose bytes adjoin become the width, the others pitch and slice.
 */

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

/* Makes each variable of the address a part of its own, by ascending units.  One with a negative coefficient counts
   backwards, so that units are positive. */
static void part_all(const struct sw_area *p, struct parts *out)
{
	out->n = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		sw_wide by = p->address.by[i];
		if (!by)
			continue;
		out->at[out->n++] = (struct part){.lo = by > 0 ? p->lo[i] : -p->hi[i],
						  .hi = by > 0 ? p->hi[i] : -p->lo[i],
						  .unit = sw_wide_magnitude(by),
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

/* Adds part b to part a if the sum, in units of a, takes every value too: b's unit is a multiple of a's, and one
   step of b is no larger than what a spans.  False: it is not, nothing is changed. */
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

/* Writes the row's terms in the variables of a part as factor x the part's sum.  False: they are no multiple of it. */
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

/* Merges parts that the row adds up in the same proportion as the address does.  False: the row weighs the variables
   of one part differently. */
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

/* Records for launches that share this result that it depends on the box's first address being 0 or more. */
static void area_read_start(const struct sw_eval *e, sw_wide from)
{
	if (e->site)
		sw_reads_between(e->reads, e->site->address, from, from, 0, (sw_wide)UINT64_MAX);
}

/* Adds the box of these levels (the first is rows, the second slices) to the reaches.  False: the address is below
   0, or there are too many boxes: the site gets a hull. */
static bool push_box(const struct sw_area *p, const struct levels *levels, const struct sw_area_shape *shape)
{
	const struct level none = {0, 1}, *row = levels->n > 0 ? &levels->at[0] : &none,
			   *slice = levels->n > 1 ? &levels->at[1] : &none;
	area_read_start(p->eval, levels->from);
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

/* Adds the boxes of any number of levels.  A box has rows and slices only: of further levels the one with the fewest
   repetitions is taken apart, a box for each of them.  False: as push_box(). */
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

/* Makes boxes of parts that no inequality bounds any more.  Parts with small units fill the width, each other one is
   a level of repetitions.  False: they interleave. */
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

/* place_rest() where part `which` is cut to [lo, hi]; true, and nothing is added, if that leaves no value. */
static bool place_cut(const struct sw_area *p, const struct parts *parts, uint32_t which, sw_wide lo, sw_wide hi,
		      uint32_t row, const struct sw_area_shape *shape)
{
	struct parts cut = *parts;
	struct part *x = &cut.at[which];
	x->lo = x->lo > lo ? x->lo : lo;
	x->hi = x->hi < hi ? x->hi : hi;
	return x->lo > x->hi || place_rest(p, cut, row, shape);
}

/* Applies a row over two parts, constant + a * A + b * B >= 0, with |a| so large that B matters for at most one
   value of A: boxes of the full rows of A, and of that last one, which is not full.  False: the row is not like
   that. */
static bool place_rows(const struct sw_area *p, const struct parts *parts, uint32_t row, const uint32_t which[2],
		       const sw_wide factor[2], sw_wide constant, const struct sw_area_shape *shape)
{
	int big = sw_wide_magnitude(factor[1]) > sw_wide_magnitude(factor[0]);
	const struct part *minor = &parts->at[which[!big]];
	sw_wide a = factor[big], b = factor[!big];
	if (SW_RULE_IS_OFF(partial_rows))
		return false;
	if (minor->lo <= -SW_INFINITE || minor->hi >= SW_INFINITE ||
	    sw_wide_magnitude(a) < sw_wide_magnitude(b) * (minor->hi - minor->lo))
		return false;
	sw_wide least = b * (b > 0 ? minor->lo : minor->hi), most = b * (b > 0 ? minor->hi : minor->lo);
	/* In terms of s * A (s the sign of a), which the row bounds from below: full from `full` on, partly from `some`
	 * on. */
	sw_wide full = -sw_wide_floor(constant + least, sw_wide_magnitude(a)),
		some = -sw_wide_floor(constant + most, sw_wide_magnitude(a));
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

/* Applies the inequalities from number `row` on to the parts, one after the other, and makes boxes of what is left.
   False: the site gets a hull.  One of them is over more than one part, and not of the kind that place_rows() knows, or
   assemble_boxes() could not. */
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

/* Makes boxes of an area as it is.  False: its inequalities tie variables in ways that boxes cannot express. */
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

/* Does an inequality tie this variable to another one? */
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

/* The variable with the fewest values, of those that an inequality ties to others; -1: none has few enough. */
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

/* Makes boxes for each value of slice_variable(), as for the rows of a triangle.  False: there is no such variable,
   or some slice is not made of boxes. */
static bool sliced_boxes(struct sw_eval *e, const struct sw_area *p, const struct sw_area_shape *shape)
{
	int var = slice_variable(p);
	if (SW_RULE_IS_OFF(slices))
		return false;
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

/* Appends the boxes of an area that is simple; false: it is not made of boxes, and nothing in *out counts. */
static bool area_to_boxes(struct sw_eval *e, const struct sw_area *p, const struct sw_area_shape *shape)
{
	if (exact_boxes(p, shape))
		return true;
	shape->out->n = shape->from;
	return sliced_boxes(e, p, shape);
}

/* ---- an address in a case: boxes of its area, or a hull */

/* ---- the problem: address and inequalities over at most 16 local variables */

/* Writes a form as a row over the area's variables; variables of one value only go into the constant. */
static void take_form(const struct sw_eval *e, const struct sw_area *p, const struct sw_form *form,
		      struct sw_area_row *row)
{
	*row = (struct sw_area_row){.constant = form->constant};
	for (uint32_t i = 0; i < form->n; i++) {
		const struct sw_variable *v = &e->variable.at[form->var[i]];
		int at = sw_area_local(p, form->var[i]);
		if (v->lo == v->hi)
			row->constant += v->lo * form->by[i];
		else if (at >= 0)
			row->by[at] = form->by[i];
	}
}

/* Makes the area of an address, with the inequalities and variables of its system. */
static void take_system(const struct sw_eval *e, const struct sw_form *address, const struct sw_system *s,
			struct sw_area *p)
{
	p->n = s->n;
	p->rows = 0;
	p->empty = false;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct sw_variable *v = &e->variable.at[s->var[i]];
		p->var[i] = s->var[i];
		p->lo[i] = v->lo;
		p->hi[i] = v->hi;
	}
	take_form(e, p, address, &p->address);
	for (uint32_t i = 0; i < s->rows; i++)
		take_form(e, p, s->row[i], &p->row[p->rows++]);
}

/* ---- an area, which may be known but for where it begins */

/* Appends the boxes of all addresses of the system; else returns why there are none. */
static enum sw_why make_boxes(struct sw_eval *e, const struct sw_form *address, const struct sw_system *s,
			      const struct sw_area_shape *shape)
{
	struct sw_area area;
	take_system(e, address, s, &area);
	area.eval = e;
	if (!sw_area_simplify(&area))
		return SW_WHY_COMPUTED;
	if (area_to_boxes(e, &area, shape))
		return SW_WHY_NONE;
	return area.rows ? SW_WHY_RAGGED : SW_WHY_COMPUTED; /* without rows: steps that interleave */
}

/* Boxes that are kept; of longer lists each is another. */
#define MOST_KEPT 16

/* Appends the boxes of a known area, moved by the address's constant.  False: it must be made again, because a box
   would begin below 0, or the budget might end on the way. */
static bool take_known(struct sw_eval *e, const struct known_area *known, sw_wide constant,
		       const struct sw_area_shape *shape)
{
	bool any = known->at.lo <= known->at.hi;
	if (e->budget < known->work + SW_AREA_SLICE_COST || (any && known->at.lo + constant < 0))
		return false;
	e->budget -= known->work;
	if (any) {
		area_read_start(e, known->at.lo + constant);
		area_read_start(e, known->at.hi + constant);
	}
	const struct known_box *box = boxes_of_known_area(e, known);
	for (uint32_t i = 0; i < known->n; i++) {
		struct sw_reach reach = *shape->like;
		reach.extent = SW_EXTENT_BOX;
		reach.why = SW_WHY_NONE;
		reach.address = (uint64_t)(box[i].from + constant);
		reach.width = box[i].width;
		reach.rows = box[i].rows;
		reach.pitch = box[i].pitch;
		reach.slices = box[i].slices;
		reach.slice = box[i].slice;
		*sw_vec_push(shape->out) = reach;
	}
	return true;
}

/* Remembers what became of an area, with the address's constant taken out, for addresses that differ in it alone. */
static void keep_known(struct sw_eval *e, const uint64_t hash[2], struct known_area area, sw_wide constant,
		       const struct sw_area_shape *shape)
{
	struct known_box box[MOST_KEPT];
	size_t n = area.why ? 0 : shape->out->n - shape->from;
	/* Boxes below 0, and those that were given up without a budget, are not the same another time. */
	if (n > MOST_KEPT || e->budget < SW_AREA_SLICE_COST || shape->at->lo < 0)
		return;
	area.n = (uint32_t)n;
	area.at = (struct sw_bounds){shape->at->lo - constant, shape->at->hi - constant};
	for (size_t i = 0; i < n; i++) {
		const struct sw_reach *r = &shape->out->at[shape->from + i];
		box[i] = (struct known_box){
			(sw_wide)r->address - constant, r->width, r->rows, r->pitch, r->slices, r->slice};
	}
	keep_area(e, hash, area, box);
}

/* Appends the boxes of all addresses of the system, from a known area if there is one; else returns why there are
   none. */
static enum sw_why area_boxes(struct sw_eval *e, const struct sw_form *address, struct sw_system *s, uint64_t bytes,
			      const struct sw_reach *like, struct sw_reaches *out)
{
	struct sw_bounds at = {SW_INFINITE, -SW_INFINITE};
	const struct sw_area_shape shape = {like, out, out->n, bytes, &at};
	struct sw_form parts = *address;
	uint64_t hash[2], budget = e->budget;
	parts.constant = (sw_wide)bytes;
	sw_system_hash(e, s, &parts, hash);
	const struct known_area *known = find_known_area(e, hash);
	if (known && take_known(e, known, address->constant, &shape))
		return known->why;
	enum sw_why why = make_boxes(e, address, s, &shape);
	struct known_area area = {.work = budget - e->budget, .why = why};
	if (!known)
		keep_known(e, hash, area, address->constant, &shape);
	return why;
}

/* ---- boxes or a hull */

/* A number that may be larger than that says nothing about the address. */
#define WHOLE ((sw_wide)INT32_MAX)

/* Has the address a variable that is not understood, and which may be almost any number? */
static bool is_unlimited(const struct sw_eval *e, const struct sw_form *address)
{
	for (uint32_t i = 0; i < address->n; i++) {
		const struct sw_variable *v = &e->variable.at[address->var[i]];
		if (v->why && v->hi - v->lo >= WHOLE)
			return true;
	}
	return false;
}

/* Why some values of the system's variables need not be taken, so that a box would claim too much; SW_WHY_NONE: all
   are. */
static enum sw_why why_of_system(const struct sw_eval *e, const struct sw_system *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct sw_variable *v = &e->variable.at[s->var[i]];
		if (v->why)
			return (enum sw_why)v->why;
		/* Which value a counter had in the end is not known, only which it may have had. */
		if (v->counter && !sw_eval_inside(e, v->of))
			return SW_WHY_LOOP;
	}
	return sw_eval_rests_on_doubt(e) ? SW_WHY_COMPUTED : SW_WHY_NONE;
}

/* Why nothing bounds an address. */
static enum sw_why why_endless(const struct sw_eval *e, const struct sw_form *address)
{
	enum sw_why why = sw_eval_why(e, address);
	return why ? why : SW_WHY_NO_BOUND;
}

bool sw_eval_boxes(struct sw_eval *e, const struct sw_form *address, uint64_t bytes, const struct sw_reach *like,
		   struct sw_reaches *out, enum sw_why *why)
{
	struct sw_system s;
	size_t from = out->n;
	if (!bytes || !sw_system_narrow(e, address, &s))
		return true;
	struct sw_bounds range = sw_bound_in(e, address, &s);
	bool vague = range.hi - range.lo >= WHOLE && is_unlimited(e, address);
	bool any = range.lo == 0 && range.hi == (sw_wide)UINT64_MAX; /* not understood, wherever a base lies */
	if (!vague && !any && e->site)
		sw_reads_between(e->reads, e->site->address, range.lo, range.hi, 0,
				 (sw_wide)UINT64_MAX - (sw_wide)bytes);
	if (range.lo < 0 || range.hi > (sw_wide)UINT64_MAX - (sw_wide)bytes || vague) {
		*why = why_endless(e, address);
		return false;
	}
	if (range.lo > range.hi)
		return true;
	sw_system_complete(e, &s);
	*why = why_of_system(e, &s);
	if (!*why && !s.cut && !e->has_uninterpreted_fact)
		*why = area_boxes(e, address, &s, bytes, like, out);
	else if (!*why)
		*why = SW_WHY_COMPUTED;
	if (!*why)
		return true;
	out->n = from;
	struct sw_reach reach = *like;
	reach.extent = SW_EXTENT_HULL;
	reach.why = (uint8_t)*why;
	reach.address = (uint64_t)range.lo;
	reach.width = reach.pitch = reach.slice = (uint64_t)(range.hi - range.lo) + bytes;
	reach.rows = reach.slices = 1;
	*sw_vec_push(out) = reach;
	return true;
}
