/* SPDX-License-Identifier: Apache-2.0 */
/* What an address touches in a case: boxes of the area that it is made from, or a hull. */
#include "footprint/launch/evaluation/area.h"
#include "footprint/launch/evaluation/known_areas.h"

/* ---- the problem: address and inequalities over at most 16 local variables */

static int local_of(const struct sw_area *p, uint32_t var)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->var[i] == var)
			return (int)i;
	}
	return -1;
}

static void take_form(const struct sw_eval *e, const struct sw_area *p, const struct sw_form *form,
		      struct sw_area_row *row)
{
	*row = (struct sw_area_row){.constant = form->constant};
	for (uint32_t i = 0; i < form->n; i++) {
		const struct sw_variable *v = &e->variable.at[form->var[i]];
		int at = local_of(p, form->var[i]);
		if (v->lo == v->hi)
			row->constant += v->lo * form->by[i];
		else if (at >= 0)
			row->by[at] = form->by[i];
	}
}

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

static enum sw_why make_boxes(struct sw_eval *e, const struct sw_form *address, const struct sw_system *s,
			      const struct sw_area_shape *shape)
{
	struct sw_area area;
	take_system(e, address, s, &area);
	area.eval = e;
	if (!sw_area_simplify(&area))
		return SW_WHY_COMPUTED;
	if (sw_area_boxes(e, &area, shape))
		return SW_WHY_NONE;
	return area.rows ? SW_WHY_RAGGED : SW_WHY_COMPUTED; /* without rows: steps that interleave */
}

/* Boxes that are kept; of longer lists each is another. */
#define MOST_KEPT 16

/* false: it must be looked at again. */
static bool take_known(struct sw_eval *e, const struct sw_known_area *known, sw_wide constant,
		       const struct sw_area_shape *shape)
{
	bool any = known->at.lo <= known->at.hi;
	if (e->budget < known->work + SW_AREA_SLICE_COST || (any && known->at.lo + constant < 0))
		return false;
	e->budget -= known->work;
	if (any) {
		sw_area_read_start(e, known->at.lo + constant);
		sw_area_read_start(e, known->at.hi + constant);
	}
	const struct sw_known_box *box = sw_known_areas_boxes(e, known);
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

static void keep_known(struct sw_eval *e, const uint64_t hash[2], struct sw_known_area area, sw_wide constant,
		       const struct sw_area_shape *shape)
{
	struct sw_known_box box[MOST_KEPT];
	size_t n = area.why ? 0 : shape->out->n - shape->from;
	/* What lies below 0, or was given up without a budget, is another time something else. */
	if (n > MOST_KEPT || e->budget < SW_AREA_SLICE_COST || shape->at->lo < 0)
		return;
	area.n = (uint32_t)n;
	area.at = (struct sw_bounds){shape->at->lo - constant, shape->at->hi - constant};
	for (size_t i = 0; i < n; i++) {
		const struct sw_reach *r = &shape->out->at[shape->from + i];
		box[i] = (struct sw_known_box){
			(sw_wide)r->address - constant, r->width, r->rows, r->pitch, r->slices, r->slice};
	}
	sw_known_areas_keep(e, hash, area, box);
}

/* Boxes of all addresses of the system; else why there are none. */
static enum sw_why area_boxes(struct sw_eval *e, const struct sw_form *address, struct sw_system *s, uint64_t bytes,
			      const struct sw_reach *like, struct sw_reaches *out)
{
	struct sw_bounds at = {SW_INFINITE, -SW_INFINITE};
	const struct sw_area_shape shape = {like, out, out->n, bytes, &at};
	struct sw_form parts = *address;
	uint64_t hash[2], budget = e->budget;
	parts.constant = (sw_wide)bytes;
	sw_system_hash(e, s, &parts, hash);
	const struct sw_known_area *known = sw_known_areas_find(e, hash);
	if (known && take_known(e, known, address->constant, &shape))
		return known->why;
	enum sw_why why = make_boxes(e, address, s, &shape);
	struct sw_known_area area = {.work = budget - e->budget, .why = why};
	if (!known)
		keep_known(e, hash, area, address->constant, &shape);
	return why;
}

/* ---- */

/* A number that may be larger than that says nothing about the address. */
#define WHOLE ((sw_wide)INT32_MAX)

static bool is_unlimited(const struct sw_eval *e, const struct sw_form *address)
{
	for (uint32_t i = 0; i < address->n; i++) {
		const struct sw_variable *v = &e->variable.at[address->var[i]];
		if (v->why && v->hi - v->lo >= WHOLE)
			return true;
	}
	return false;
}

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
