/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the bound that the intervals give a form reached?  A point of the case that reaches it proves that no inequality
 * makes it smaller, for a small part of what a linear program costs; most bounds are such.
 */
#include "footprint/launch/evaluation/eval.h"

/* Beyond it nothing is tried: sums of products would leave the range of sw_wide. */
#define FAR ((sw_wide)1 << 62)

static bool is_set(const struct sw_eval *e, uint32_t var)
{
	const struct sw_variable *v = &e->variable.at[var];
	return v->lo == v->hi || v->point_round == e->point_round;
}

static sw_wide point_of(const struct sw_eval *e, uint32_t var)
{
	const struct sw_variable *v = &e->variable.at[var];
	return v->lo == v->hi ? v->lo : v->point;
}

static bool set_point(struct sw_eval *e, uint32_t var, sw_wide value)
{
	struct sw_variable *v = &e->variable.at[var];
	v->point_round = e->point_round;
	v->point = value;
	return value < FAR && value > -FAR;
}

static sw_wide clamp_to(sw_wide value, sw_wide lo, sw_wide hi)
{
	return value < lo ? lo : value > hi ? hi : value;
}

/* What a quotient divides: those of its variables that are free take values such that the quotient is what it is. */
static bool place_dividend(struct sw_eval *e, const struct sw_quotient *q, sw_wide value)
{
	sw_wide rest = value * q->divisor - q->x.constant, hi = 0;
	uint32_t todo = 0;
	for (uint32_t i = 0; i < q->x.n; i++) {
		const struct sw_variable *v = &e->variable.at[q->x.var[i]];
		sw_wide by = q->x.by[i];
		if (is_set(e, q->x.var[i])) {
			rest -= by * point_of(e, q->x.var[i]);
			continue;
		}
		if (v->lo <= -FAR)
			return false;
		todo |= 1u << i;
		hi += by * (by > 0 ? clamp_to(v->hi, -FAR, FAR) : v->lo);
	}
	while (todo) { /* the largest coefficient first, as digits of a number */
		uint32_t best = (uint32_t)__builtin_ctz(todo);
		for (uint32_t i = best + 1; i < q->x.n; i++) {
			sw_wide size = q->x.by[i] < 0 ? -(sw_wide)q->x.by[i] : q->x.by[i];
			sw_wide most = q->x.by[best] < 0 ? -(sw_wide)q->x.by[best] : q->x.by[best];
			if ((todo >> i & 1) && size > most)
				best = i;
		}
		const struct sw_variable *v = &e->variable.at[q->x.var[best]];
		sw_wide by = q->x.by[best], far = clamp_to(v->hi, -FAR, FAR);
		todo &= ~(1u << best);
		hi -= by * (by > 0 ? far : v->lo);
		/* The smallest part with which the others can still make up the rest. */
		sw_wide at = by > 0 ? -sw_wide_floor(hi - rest, by) : sw_wide_floor(hi - rest, -by);
		at = clamp_to(at, v->lo, far);
		rest -= by * at;
		if (!set_point(e, q->x.var[best], at))
			return false;
	}
	return true;
}

static bool row_holds(const struct sw_eval *e, const struct sw_form *row)
{
	sw_wide sum = row->constant;
	for (uint32_t i = 0; i < row->n; i++)
		sum += point_of(e, row->var[i]) * row->by[i];
	return sum >= 0;
}

static bool set_form(struct sw_eval *e, const struct sw_form *form)
{
	for (uint32_t i = 0; i < form->n; i++) {
		const struct sw_variable *v = &e->variable.at[form->var[i]];
		if (v->lo != v->hi && !set_point(e, form->var[i], form->by[i] > 0 ? v->hi : v->lo))
			return false;
	}
	return true;
}

static bool set_others(struct sw_eval *e, const struct sw_system *s)
{
	for (uint32_t j = 0; j < s->n; j++) {
		uint32_t var = s->var[s->order[j]];
		const struct sw_variable *v = &e->variable.at[var];
		sw_wide value = v->lo;
		if (is_set(e, var))
			continue;
		if (v->quotient) {
			const struct sw_quotient *q = &e->quotient.at[v->of];
			value = q->x.constant;
			for (uint32_t i = 0; i < q->x.n; i++) {
				if (!is_set(e, q->x.var[i]) &&
				    !set_point(e, q->x.var[i], e->variable.at[q->x.var[i]].lo))
					return false;
				value += q->x.by[i] * point_of(e, q->x.var[i]);
			}
			value = clamp_to(sw_wide_floor(value, q->divisor), v->lo, v->hi);
		}
		if (!set_point(e, var, value))
			return false;
	}
	return true;
}

bool sw_corner_reached(struct sw_eval *e, const struct sw_form *form, const struct sw_system *s)
{
	e->point_round++;
	if (!set_form(e, form))
		return false;
	for (uint32_t j = s->n; j-- > 0;) {
		uint32_t var = s->var[s->order[j]];
		const struct sw_variable *v = &e->variable.at[var];
		if (v->quotient && is_set(e, var) && !place_dividend(e, &e->quotient.at[v->of], v->point))
			return false;
	}
	if (!set_others(e, s))
		return false;
	for (uint32_t i = 0; i < s->rows; i++) {
		if (!row_holds(e, s->row[i]))
			return false;
	}
	return true;
}

/* The least upper (lower) bound that one row alone gives a variable. */
static sw_wide by_one_row(const struct sw_eval *e, uint32_t var, bool upper, const struct sw_system *s)
{
	const struct sw_variable *v = &e->variable.at[var];
	sw_wide best = upper ? v->hi : v->lo;
	for (uint32_t i = 0; i < s->rows; i++) {
		int64_t by = sw_form_by(s->row[i], var);
		if (!by || by == INT64_MIN || (by < 0) != upper)
			continue;
		/* row = by * var + rest, and the rest is this at most. */
		sw_wide most = sw_bound_plain(e, s->row[i]).hi;
		if (most >= SW_INFINITE)
			continue;
		most -= by * (upper ? v->lo : v->hi);
		sw_wide at = upper ? sw_wide_floor(most, -(sw_wide)by) : -sw_wide_floor(most, by);
		best = upper ? (at < best ? at : best) : (at > best ? at : best);
	}
	return best;
}

bool sw_corner_of_variable(struct sw_eval *e, const struct sw_form *form, const struct sw_system *s, sw_wide *highest)
{
	if (form->n != 1 || (form->by[0] != 1 && form->by[0] != -1))
		return false;
	bool upper = form->by[0] > 0;
	struct sw_variable *v = &e->variable.at[form->var[0]];
	struct sw_variable before = *v;
	if (v->lo <= -FAR || v->hi >= FAR)
		return false;
	sw_wide best = by_one_row(e, form->var[0], upper, s);
	if (best == (upper ? v->hi : v->lo) || best < v->lo || best > v->hi)
		return false;
	/* Between the bounds, so that it stays a variable. */
	*(upper ? &v->hi : &v->lo) = best;
	bool reached = v->lo != v->hi && sw_corner_reached(e, form, s);
	v->lo = before.lo;
	v->hi = before.hi;
	*highest = upper ? best : -best;
	return reached;
}
