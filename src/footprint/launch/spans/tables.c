/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables in the parameter block: lists of tensors, of which each block of threads picks one.
 *
 * A number from a table lies between the least and the largest of the elements that the index may mean; a pointer from
 * it is each of them, since between two tensors lies memory that the launch has nothing to do with.  Which elements
 * these are, the interval of the index does not show alone: it is also known modulo a power of two.
 */
#include <string.h>

#include "footprint/launch/spans/spans.h"

#define MOST_UNIT     4096u
#define MOST_ELEMENTS 4096
/* Spans that a new one is compared with. */
#define MOST_BACK 4u

/* ---- of the kernel: a number modulo a power of two --------------------------------------------------------------- */

/* A constant, modulo the largest unit. */
static struct sw_span_unit unit_of_number(int64_t x)
{
	return (struct sw_span_unit){MOST_UNIT, (uint16_t)((uint64_t)x % MOST_UNIT)};
}

/* The unit of x + y, or x - y: the smaller of both. */
static struct sw_span_unit unit_of_sum(struct sw_span_unit x, struct sw_span_unit y, bool minus)
{
	uint16_t unit = x.unit < y.unit ? x.unit : y.unit;
	return (struct sw_span_unit){unit, (uint16_t)((x.at + (minus ? 2u * MOST_UNIT - y.at : y.at)) % unit)};
}

/* The unit of x times a constant: each factor 2 of it makes the unit twice as large. */
static struct sw_span_unit unit_of_product(struct sw_span_unit x, uint64_t by)
{
	uint64_t unit = x.unit;
	while (unit < MOST_UNIT && !(by & 1)) {
		unit *= 2;
		by /= 2;
		x.at = (uint16_t)(2 * x.at);
	}
	return (struct sw_span_unit){(uint16_t)unit, (uint16_t)(x.at * (by % MOST_UNIT) % unit)};
}

/* The unit of a sum of any number of such steps: the largest power of two that divides each. */
static struct sw_span_unit unit_of_steps(struct sw_span_unit step)
{
	uint16_t unit = step.unit;
	while (step.at % unit)
		unit /= 2;
	return (struct sw_span_unit){unit, 0};
}

/* The unit that all values of a term are multiples of, and the remainder. */
static struct sw_span_unit unit_of(const struct sw_spans *s, const struct sw_term *t)
{
	static const struct sw_span_unit anything = {1, 0};
	const struct sw_term *term = s->f->term;
	const struct sw_span_unit *unit = s->unit;
	switch (t->op) {
	case SW_OP_CONST:
		return unit_of_number(t->imm);
	case SW_OP_MOV:
		return unit[t->a];
	case SW_OP_EXTEND:
		return t->imm >= 16 ? unit[t->a] : anything;
	case SW_OP_ADD:
	case SW_OP_SUB:
		return unit_of_sum(unit[t->a], unit[t->b], t->op == SW_OP_SUB);
	case SW_TERM_STEP:
		return unit_of_sum(unit[t->a], unit_of_steps(unit[t->b]), false);
	case SW_OP_MUL:
		if (term[t->b].op == SW_OP_CONST)
			return unit_of_product(unit[t->a], (uint64_t)term[t->b].imm);
		return term[t->a].op == SW_OP_CONST ? unit_of_product(unit[t->b], (uint64_t)term[t->a].imm) : anything;
	case SW_OP_SHL:
		if (term[t->b].op == SW_OP_CONST && term[t->b].imm >= 0 && term[t->b].imm < 32)
			return unit_of_product(unit[t->a], UINT64_C(1) << (unsigned)term[t->b].imm);
		return anything;
	default:
		return anything;
	}
}

/* ---- of the kernel: addresses that are a pointer from a table and what is added to it ---------------------------- */

/* The element of a table of pointers that the term is made from by adding numbers; SW_NO_TERM: none. */
static uint32_t table_of(const struct sw_spans *s, const struct sw_term *t, uint32_t number)
{
	if (t->width != 64)
		return SW_NO_TERM;
	switch (t->op) {
	case SW_TERM_ELEMENT:
		return t->imm == 8 ? number : SW_NO_TERM;
	case SW_OP_MOV:
		return s->table[t->a];
	case SW_OP_ADD:
		if (s->table[t->a] != SW_NO_TERM && s->table[t->b] != SW_NO_TERM)
			return SW_NO_TERM;
		return s->table[t->a] != SW_NO_TERM ? s->table[t->a] : s->table[t->b];
	case SW_OP_SUB:
	case SW_TERM_STEP:
		return s->table[t->b] == SW_NO_TERM ? s->table[t->a] : SW_NO_TERM;
	default:
		return SW_NO_TERM;
	}
}

void sw_span_note_table(struct sw_spans *s, uint32_t number)
{
	const struct sw_term *t = &s->f->term[number];
	struct sw_span_unit unit = unit_of(s, t);
	/* As many bits as the term has. */
	if (t->width < 16)
		unit = (struct sw_span_unit){1, 0};
	s->unit[number] = unit;
	s->table[number] = table_of(s, t, number);
}

/* ---- of a launch ------------------------------------------------------------------------------------------------- */

/* Offsets in a table: first, first + unit ... last. */
struct elements {
	uint32_t first, last, unit;
};
/* Finds the offsets that the index of a table may be.  False: they are not known, or too many. */
static bool find_elements(const struct sw_spans *s, const struct sw_term *t, struct elements *out)
{
	struct sw_bounds at = sw_span_exact(s, t->a, 64, true);
	struct sw_span_unit unit = s->unit[t->a];
	if (t->imm < 1 || t->imm > 8 || at.lo < t->b || at.hi > (sw_wide)t->c - t->imm ||
	    at.hi + t->imm > s->g->param_bytes)
		return false;
	at.lo += (unit.at - at.lo % unit.unit + unit.unit) % unit.unit;
	at.hi -= (at.hi % unit.unit - unit.at + unit.unit) % unit.unit;
	if (at.lo > at.hi || (at.hi - at.lo) / unit.unit >= MOST_ELEMENTS)
		return false;
	*out = (struct elements){(uint32_t)at.lo, (uint32_t)at.hi, unit.unit};
	return true;
}

/* The element at an offset of the parameter block. */
static sw_wide element_at(const struct sw_spans *s, const struct sw_term *t, uint32_t at)
{
	uint64_t word = 0;
	memcpy(&word, (const char *)s->g->params + at, (size_t)t->imm);
	return t->flags & SW_SIGNED ? sw_wide_wrap((sw_wide)word, (unsigned)t->imm * 8) : (sw_wide)word;
}

bool sw_span_element(const struct sw_spans *s, const struct sw_term *t, struct sw_bounds *out)
{
	struct elements which;
	if (!find_elements(s, t, &which))
		return false;
	struct sw_bounds all = {element_at(s, t, which.first), element_at(s, t, which.first)};
	for (uint32_t at = which.first; at < which.last;) {
		at += which.unit;
		sw_wide x = element_at(s, t, at);
		all.lo = x < all.lo ? x : all.lo;
		all.hi = x > all.hi ? x : all.hi;
	}
	*out = all;
	return true;
}

/* The interval of what is added to the pointer from the table to make this address. */
static struct sw_bounds rest_of(const struct sw_spans *s, uint32_t number)
{
	uint32_t table = s->table[number];
	struct sw_bounds rest = {0, 0}, more;
	while (number != table) {
		const struct sw_term *t = &s->f->term[number];
		bool first = s->table[t->a] == table;
		number = first ? t->a : t->b;
		if (t->op == SW_OP_MOV)
			continue;
		more = t->op == SW_TERM_STEP ? sw_span_steps(s, t) : sw_span_of(s, first ? t->b : t->a, 64);
		rest.lo += t->op == SW_OP_SUB ? -more.hi : more.lo;
		rest.hi += t->op == SW_OP_SUB ? -more.lo : more.hi;
	}
	return rest;
}

/* Joins the span found last with one of the few before it, if they adjoin: the tensors of a list mostly lie in its
   order. */
static void join_last(struct sw_spans *s, size_t from)
{
	const struct sw_span last = s->found.at[s->found.n - 1];
	for (size_t n = s->found.n - 1, i = n; i > from && i + MOST_BACK > n; i--) {
		struct sw_span *old = &s->found.at[i - 1];
		if (last.lo > old->hi || last.hi < old->lo)
			continue;
		old->lo = last.lo < old->lo ? last.lo : old->lo;
		old->hi = last.hi > old->hi ? last.hi : old->hi;
		s->found.n--;
		return;
	}
}

bool sw_span_has_pointers(const struct sw_spans *s, const struct sw_span_site *site)
{
	uint32_t table = s->table[site->address];
	return table != SW_NO_TERM && !sw_span_fixed(s->value[table].range);
}

bool sw_span_add_pointers(struct sw_spans *s, const struct sw_span_site *site, sw_wide bytes)
{
	const struct sw_term *t = &s->f->term[s->table[site->address]];
	struct elements which;
	size_t from = s->found.n;
	if (!find_elements(s, t, &which) || which.unit < sizeof(uint64_t))
		return false;
	struct sw_bounds rest = rest_of(s, site->address);
	if (rest.hi - rest.lo > SW_SPAN_FAR)
		return false;
	for (uint32_t at = which.first; at <= which.last; at += which.unit) {
		sw_wide pointer = element_at(s, t, at);
		sw_span_add(s, site, pointer + rest.lo, pointer + rest.hi + bytes);
		join_last(s, from);
	}
	return true;
}
