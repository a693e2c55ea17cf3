/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses that no evaluation bounds: a pointer plus a number of 64 bits of which nothing is known, such as one that a
 * loop moves in a way that is not followed.  All that a launch touches there is open, so it lies in the allocations
 * that its pointers lead to.
 *
 * The number must go nowhere but into such sums: a condition on it, or bits of it, might bound it after all.
 */
#include <stdlib.h>

#include "footprint/launch/spans/spans.h"

struct search {
	const struct sw_footprint *f;
	bool *endless; /* by term */
	bool *spoiled; /* by term: something else is made from it, too */
};

static bool is_any_number(const struct sw_term *t)
{
	return t->op == SW_OP_RANGE && t->width == 64 && !(t->flags & SW_SIGNED) && t->imm == 0 && t->imm2 == -1;
}

static bool is_endless(const struct search *x, uint32_t term)
{
	return term < x->f->terms && x->endless[term];
}

static bool all_endless(const struct search *x, const uint32_t *term, uint32_t n)
{
	uint32_t i = 0;
	while (i < n && is_endless(x, term[i]))
		i++;
	return n && i == n;
}

/* A sum with one such number, or nothing but such numbers to choose from.  What is multiplied or read in parts is not.
 */
static bool stays_endless(const struct search *x, const struct sw_term *t)
{
	const uint32_t way[2] = {t->b, t->c};
	bool a = is_endless(x, t->a), b = is_endless(x, t->b);
	if (t->width != 64)
		return false;
	switch (t->op) {
	case SW_OP_MOV:
		return a;
	case SW_OP_EXTEND:
		return a && t->imm == 64;
	case SW_OP_ADD:
	case SW_OP_SUB:
		return a != b;
	case SW_TERM_STEP:
		return a && !b;
	case SW_OP_SELECT:
		return !a && all_endless(x, way, 2);
	case SW_TERM_ANY:
		return all_endless(x, x->f->alternative + t->a, t->b);
	default:
		return false;
	}
}

static void find_endless(const struct search *x)
{
	for (uint32_t i = 0; i < x->f->terms; i++) {
		const struct sw_term *t = &x->f->term[i];
		x->endless[i] = (is_any_number(t) && !x->spoiled[i]) || stays_endless(x, t);
	}
}

static void spoil_term(const struct search *x, uint32_t term, bool by)
{
	if (by && is_endless(x, term))
		x->spoiled[term] = true;
}

/* Users first: what one of them does to a number counts for all that it was made of. */
static void spoil_operands(const struct search *x)
{
	for (uint32_t i = x->f->terms; i-- > 0;) {
		const struct sw_term *t = &x->f->term[i];
		const uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
		bool by = !x->endless[i] || x->spoiled[i];
		for (uint32_t k = 0; k < n; k++)
			spoil_term(x, operand[k], by);
		for (uint32_t k = 0; t->op == SW_TERM_ANY && k < (t->imm2 ? 2 : 1) * t->b; k++)
			spoil_term(x, x->f->alternative[t->a + k], by || k >= t->b);
		if (t->op == SW_TERM_LOADED)
			spoil_term(x, t->a, true);
	}
}

bool *sw_spans_endless(const struct sw_footprint *f)
{
	struct search x = {.f = f,
			   .endless = sw_calloc(f->terms + 1u, sizeof *x.endless),
			   .spoiled = sw_calloc(f->terms + 1u, sizeof *x.spoiled)};
	find_endless(&x);
	for (uint32_t i = 0; i < f->sites; i++)
		spoil_term(&x, f->site[i].size, true);
	for (uint32_t i = 0; i < f->facts; i++)
		spoil_term(&x, f->fact[i].term, true);
	spoil_operands(&x);
	find_endless(&x);
	free(x.spoiled);
	return x.endless;
}
