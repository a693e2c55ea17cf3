/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the bounds of a launch are made from.
 *
 * Pointers that only are added to: whatever they are, the addresses made from them move with them and nothing else
 * changes, so the spans of one launch serve the next one with tensors elsewhere.  A pointer that is compared, masked
 * (is it aligned?), chosen by or read in halves is a number, but for whether it is null.
 *
 * And the rest of the parameter block, as far as it counts: PyTorch's index arithmetic has room for 25 dimensions, most
 * of which hold what was left in memory before.
 */
#include <string.h>

#include "footprint/launch/spans/spans.h"

/* No parameter block has so many bytes: a term that reads beyond it reads nothing. */
#define MOST_BYTES ((int64_t)1 << 16)

/* The bytes of the parameter block that a term reads: [*lo, *hi). */
static bool bytes_read(const struct sw_term *t, int64_t *lo, int64_t *hi)
{
	bool table = t->op == SW_TERM_ELEMENT;
	if (!table && (t->op != SW_OP_PARAM || t->imm < 0 || t->imm >= MOST_BYTES))
		return false;
	*lo = table ? t->b : t->imm;
	*hi = table ? t->c : t->imm + (t->width + 7) / 8;
	*hi = *hi < MOST_BYTES ? *hi : MOST_BYTES;
	return *lo < *hi;
}

void sw_span_note_word(struct sw_spans *s, uint32_t number)
{
	const struct sw_term *t = &s->f->term[number];
	int64_t lo, hi;
	uint32_t i = 0;
	s->word[number] = SW_SPAN_NO_POINTER;
	if (!bytes_read(t, &lo, &hi))
		return;
	while (s->read.n < (size_t)hi)
		*sw_vec_push(&s->read) = false;
	if (t->op != SW_OP_PARAM || t->width != 64)
		return;
	while (i < s->pointer.n && s->pointer.at[i].at != lo)
		i++;
	if (i == SW_SPAN_MOST_POINTERS)
		return;
	if (i == s->pointer.n)
		*sw_vec_push(&s->pointer) = (struct sw_span_pointer){.at = (uint32_t)lo};
	s->word[number] = i;
}

void sw_span_begin_reads(struct sw_spans *s)
{
	if (s->read.n)
		memset(s->read.at, false, s->read.n * sizeof *s->read.at);
	for (size_t i = 0; i < s->pointer.n; i++)
		s->pointer.at[i] = (struct sw_span_pointer){.at = s->pointer.at[i].at, .tied = (uint32_t)i};
}

/* The one that all of those tied to it have in common. */
static uint32_t first_of(const struct sw_spans *s, uint32_t pointer)
{
	while (s->pointer.at[pointer].tied != pointer)
		pointer = s->pointer.at[pointer].tied;
	return pointer;
}

static void pin_pointer(struct sw_spans *s, uint32_t pointer)
{
	if (pointer != SW_SPAN_NO_POINTER)
		s->pointer.at[first_of(s, pointer)].pinned = true;
}

static void tie_pointers(struct sw_spans *s, uint32_t x, uint32_t y)
{
	struct sw_span_pointer *p = &s->pointer.at[first_of(s, x)], *q = &s->pointer.at[first_of(s, y)];
	if (p < q) {
		struct sw_span_pointer *swap = p;
		p = q;
		q = swap;
	}
	p->tied = (uint32_t)(q - s->pointer.at);
	q->pinned |= p->pinned;
}

void sw_span_pin(struct sw_spans *s, uint32_t number)
{
	if (number < s->f->terms)
		pin_pointer(s, s->value[number].pointer);
}

static uint32_t read_parameters(struct sw_spans *s, const struct sw_term *t, uint32_t number)
{
	uint32_t pointer = s->word[number];
	int64_t lo, hi;
	if (pointer != SW_SPAN_NO_POINTER)
		s->pointer.at[pointer].read = true;
	else if (bytes_read(t, &lo, &hi))
		memset(s->read.at + lo, true, (size_t)(hi - lo) * sizeof *s->read.at);
	return pointer;
}

/* The next of several numbers, one of which it is: they move if all move with one pointer, or with several that move by
   the same. */
static void join_ways(struct sw_spans *s, uint32_t way, bool first, uint32_t *pointer)
{
	uint32_t own = s->value[way].pointer;
	if (!first && own == SW_SPAN_NO_POINTER)
		pin_pointer(s, *pointer);
	else if (!first && *pointer == SW_SPAN_NO_POINTER)
		pin_pointer(s, own);
	else if (!first)
		tie_pointers(s, own, *pointer);
	*pointer = own;
}

/* Which of them it is does not depend on where a pointer leads.  What cannot be was not bounded. */
static uint32_t choice_moves_with(struct sw_spans *s, const struct sw_term *t)
{
	const uint32_t *way = s->f->alternative + t->a, *condition = way + t->b;
	uint32_t pointer = SW_SPAN_NO_POINTER;
	bool first = true;
	if (t->op == SW_OP_SELECT) {
		struct sw_bounds which = sw_span_exact(s, t->a, 1, false);
		sw_span_pin(s, t->a);
		if (which.hi)
			join_ways(s, t->b, true, &pointer);
		if (!which.lo)
			join_ways(s, t->c, !which.hi, &pointer);
		return pointer;
	}
	for (uint32_t i = 0; i < t->b; i++) {
		if (t->imm2)
			sw_span_pin(s, condition[i]);
		if (t->imm2 && !sw_span_exact(s, condition[i], 1, false).hi)
			continue;
		join_ways(s, way[i], first, &pointer);
		first = false;
	}
	return pointer;
}

static bool asks_for_null(const struct sw_spans *s, const struct sw_term *t)
{
	const struct sw_term *term = s->f->term;
	return t->op == SW_OP_COMPARE && (t->imm == SW_EQ || t->imm == SW_NE) && t->imm2 == 64 &&
	       s->word[t->a] != SW_SPAN_NO_POINTER && term[t->b].op == SW_OP_CONST && !term[t->b].imm;
}

/* Of two operands the one with the larger number is the pointer, what is added is a number; what is subtracted, or
   added in each iteration, is one in any case. */
static uint32_t sum_moves_with(struct sw_spans *s, const struct sw_term *t)
{
	uint32_t base = t->a, offset = t->b;
	if (t->op == SW_OP_ADD && s->value[t->b].pointer != SW_SPAN_NO_POINTER &&
	    (s->value[t->a].pointer == SW_SPAN_NO_POINTER || s->value[t->a].range.lo < s->value[t->b].range.lo)) {
		base = t->b;
		offset = t->a;
	}
	sw_span_pin(s, offset);
	return s->value[base].pointer;
}

uint32_t sw_span_moves_with(struct sw_spans *s, uint32_t number)
{
	const struct sw_term *t = &s->f->term[number];
	const uint32_t operand[3] = {t->a, t->b, t->c};
	uint32_t pointer;
	switch (t->op) {
	case SW_OP_PARAM:
		return read_parameters(s, t, number);
	case SW_TERM_ELEMENT:
		read_parameters(s, t, number);
		break;
	case SW_OP_MOV:
		if (t->width == 64)
			return s->value[t->a].pointer;
		break;
	case SW_OP_ADD:
	case SW_OP_SUB:
	case SW_TERM_STEP:
		if (t->width == 64)
			return sum_moves_with(s, t);
		break;
	case SW_OP_SELECT:
	case SW_TERM_ANY:
		pointer = choice_moves_with(s, t);
		if (pointer == SW_SPAN_NO_POINTER || t->width == 64)
			return pointer;
		pin_pointer(s, pointer);
		return SW_SPAN_NO_POINTER;
	case SW_TERM_LOADED: /* whatever memory holds */
		return SW_SPAN_NO_POINTER;
	default:
		break;
	}
	for (uint32_t i = 0, n = asks_for_null(s, t) ? 0 : sw_term_operands(t); i < n; i++)
		sw_span_pin(s, operand[i]);
	return SW_SPAN_NO_POINTER;
}

static void add_bytes(struct sw_span_shape *shape, const bool *read, uint32_t n)
{
	for (uint32_t lo = 0, hi; lo < n; lo = hi + 1) {
		for (hi = lo; hi < n && read[hi];)
			hi++;
		if (hi > lo)
			*sw_vec_push(&shape->read) = (struct sw_span_bytes){lo, hi};
	}
}

struct sw_span_shape sw_span_shape_of_reads(struct sw_spans *s)
{
	struct sw_span_shape shape = {0};
	for (uint32_t i = 0; i < s->pointer.n; i++) {
		struct sw_span_pointer *p = &s->pointer.at[i];
		p->number = SW_SPAN_NO_POINTER;
		if (!p->read)
			continue;
		uint32_t first = first_of(s, i);
		if (s->pointer.at[first].pinned) {
			memset(s->read.at + p->at, true, 8 * sizeof *s->read.at);
			continue;
		}
		p->number = (uint32_t)shape.pointer.n;
		*sw_vec_push(&shape.pointer) = (struct sw_span_word){p->at, s->pointer.at[first].number};
	}
	add_bytes(&shape, s->read.at, (uint32_t)s->read.n);
	return shape;
}
