/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointers of the parameter block that only are added to.  Whatever they are, the addresses made from them move with
 * them and nothing else changes, so the spans of one launch serve the next one with tensors elsewhere.  A pointer that
 * is compared, masked (is it aligned?), chosen or read in halves is not one of them.
 */
#include <stdlib.h>
#include <string.h>

#include "footprint/spans/spans.h"

#define MOST_POINTERS 64u

/* No parameter block has so many bytes: a term that reads beyond it reads nothing. */
#define MOST_BYTES ((int64_t)1 << 16)

/* The bytes of the parameter block that a term reads: [*lo, *hi). */
static bool reads(const struct sw_term *t, int64_t *lo, int64_t *hi)
{
	bool table = t->op == SW_TERM_ELEMENT;
	if (!table && (t->op != SW_OP_PARAM || t->imm < 0 || t->imm >= MOST_BYTES))
		return false;
	*lo = table ? t->b : t->imm;
	*hi = table ? t->c : t->imm + (t->width + 7) / 8;
	*hi = *hi < MOST_BYTES ? *hi : MOST_BYTES;
	return *lo < *hi;
}

struct search {
	struct sw_spans *s;
	const bool *needed;
	uint32_t *from; /* by term: the pointer that it moves with, SW_SPAN_NO_POINTER: none */
	uint32_t at[MOST_POINTERS];
	bool out[MOST_POINTERS]; /* it is something else, too */
	uint32_t n;
	bool changed;
};

static void give_up(struct search *x, uint32_t pointer)
{
	if (pointer == SW_SPAN_NO_POINTER || x->out[pointer])
		return;
	x->out[pointer] = true;
	x->changed = true;
}

static uint32_t from(const struct search *x, uint32_t term)
{
	return term < x->s->f->terms ? x->from[term] : SW_SPAN_NO_POINTER;
}

static uint32_t pointer_at(const struct search *x, const struct sw_term *t)
{
	for (uint32_t i = 0; t->width == 64 && i < x->n; i++)
		if (x->at[i] == t->imm && !x->out[i])
			return i;
	return SW_SPAN_NO_POINTER;
}

/* Also read in another way, or by an index that is computed? */
static void give_up_overlapped(struct search *x, const struct sw_term *t)
{
	int64_t lo, hi;
	if (!reads(t, &lo, &hi))
		return;
	for (uint32_t i = 0; i < x->n; i++)
		if (lo < (int64_t)x->at[i] + 8 && hi > (int64_t)x->at[i] &&
		    (t->op == SW_TERM_ELEMENT || t->width != 64 || lo != x->at[i]))
			give_up(x, i);
}

static void find_pointers(struct search *x)
{
	const struct sw_footprint *f = x->s->f;
	for (uint32_t i = 0; i < f->terms && x->n < MOST_POINTERS; i++) {
		const struct sw_term *t = &f->term[i];
		if (x->needed[i] && t->op == SW_OP_PARAM && t->width == 64 && t->imm >= 0 && t->imm < UINT16_MAX &&
		    pointer_at(x, t) == SW_SPAN_NO_POINTER)
			x->at[x->n++] = (uint32_t)t->imm;
	}
	for (uint32_t i = 0; i < f->terms; i++)
		if (x->needed[i])
			give_up_overlapped(x, &f->term[i]);
}

static void give_up_operands(struct search *x, const struct sw_term *t)
{
	const uint32_t operand[3] = {t->a, t->b, t->c};
	for (uint32_t i = 0, n = sw_term_operands(t); i < n; i++)
		give_up(x, from(x, operand[i]));
	for (uint32_t i = 0; t->op == SW_TERM_ANY && i < (t->imm2 ? 2 : 1) * t->b; i++)
		give_up(x, from(x, x->s->f->alternative[t->a + i]));
}

static uint32_t moves_with(struct search *x, const struct sw_term *t)
{
	uint32_t a = from(x, t->a), b = from(x, t->b);
	if (t->op == SW_OP_PARAM)
		return pointer_at(x, t);
	if (t->width == 64 && t->op == SW_OP_MOV)
		return a;
	/* One of two operands, and not the one that is subtracted, or added in each iteration. */
	if (t->width == 64 && b == SW_SPAN_NO_POINTER &&
	    (t->op == SW_OP_ADD || t->op == SW_OP_SUB || t->op == SW_TERM_STEP))
		return a;
	if (t->width == 64 && a == SW_SPAN_NO_POINTER && t->op == SW_OP_ADD)
		return b;
	give_up_operands(x, t);
	return SW_SPAN_NO_POINTER;
}

static void follow(struct search *x)
{
	struct sw_spans *s = x->s;
	for (uint32_t i = 0; i < s->f->terms; i++)
		if (x->needed[i]) {
			uint32_t pointer = moves_with(x, &s->f->term[i]);
			x->changed |= pointer != x->from[i];
			x->from[i] = pointer;
		}
	for (size_t i = 0; i < s->fact.n; i++)
		give_up(x, from(x, s->fact.at[i]));
	for (size_t i = 0; i < s->site.n; i++)
		give_up(x, from(x, s->site.at[i].size));
}

/* ---- the rest of the parameter block ----------------------------------------------------------------------------- */

/* What bounds depend on, pointers aside: seeds of random numbers, say, change from launch to launch. */
static void find_read(struct sw_spans *s, const bool *needed)
{
	const struct sw_footprint *f = s->f;
	int64_t lo, hi, end = 0;
	for (uint32_t i = 0; i < f->terms; i++)
		if (needed[i] && reads(&f->term[i], &lo, &hi) && hi > end)
			end = hi;
	bool *read = sw_calloc((size_t)end + 1, sizeof *read);
	for (uint32_t i = 0; i < f->terms; i++)
		if (needed[i] && reads(&f->term[i], &lo, &hi))
			memset(read + lo, true, (size_t)(hi - lo));
	for (size_t i = 0; i < s->pointer.n; i++)
		for (lo = s->pointer.at[i]; lo < s->pointer.at[i] + 8 && lo < end; lo++)
			read[lo] = false;
	for (lo = 0; lo < end; lo = hi + 1) {
		for (hi = lo; read[hi];)
			hi++;
		if (hi > lo)
			*sw_vec_push(&s->read) = (struct sw_span_bytes){(uint32_t)lo, (uint32_t)hi};
	}
	free(read);
}

void sw_spans_find_pointers(struct sw_spans *s, const bool *needed)
{
	struct search x = {.s = s, .needed = needed, .from = sw_alloc((s->f->terms + 1u) * sizeof *x.from)};
	uint32_t number[MOST_POINTERS];
	for (uint32_t i = 0; i < s->f->terms; i++)
		x.from[i] = SW_SPAN_NO_POINTER;
	find_pointers(&x);
	do {
		x.changed = false;
		follow(&x);
	} while (x.changed);
	for (uint32_t i = 0; i < x.n; i++) {
		number[i] = (uint32_t)s->pointer.n;
		if (!x.out[i])
			*sw_vec_push(&s->pointer) = x.at[i];
	}
	for (size_t i = 0; i < s->site.n; i++) {
		uint32_t pointer = from(&x, s->site.at[i].address);
		s->site.at[i].pointer = pointer == SW_SPAN_NO_POINTER ? pointer : number[pointer];
	}
	free(x.from);
	find_read(s, needed);
}
