/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/launch/reads/data_conditions.h"

#include <stdlib.h>

#include "base/memory.h"

/* By term. */
struct data_search {
	const struct sw_footprint *f;
	bool *data;   /* made from what was loaded, and constants */
	bool *counts; /* goes into something else than conditions on data */
};

static void mark_counted(const struct data_search *s, uint32_t term)
{
	if (term != SW_NO_TERM)
		s->counts[term] = true;
}

static bool is_data(const struct data_search *s, const struct sw_term *t)
{
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	if (t->op == SW_OP_CONST || (t->op == SW_OP_RANGE && t->b == SW_FROM_DATA))
		return true;
	if (!n || t->op == SW_TERM_STEP || t->op == SW_TERM_ELEMENT)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (operand[i] == SW_NO_TERM || !s->data[operand[i]])
			return false;
	return true;
}

static bool joins_bits(const struct sw_term *t)
{
	return t->width == 1 && (t->op == SW_OP_AND || t->op == SW_OP_OR || t->op == SW_OP_NOT || t->op == SW_OP_MOV);
}

/* All that uses the term was looked at. */
static void mark_operands(const struct data_search *s, uint32_t number)
{
	const struct sw_term *t = &s->f->term[number];
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	if (s->data[number] ? !s->counts[number] : joins_bits(t))
		return;
	for (uint32_t i = 0; i < n; i++)
		mark_counted(s, operand[i]);
	for (uint32_t i = 0; t->op == SW_TERM_ANY && i < (t->imm2 ? 2 : 1) * t->b; i++)
		mark_counted(s, s->f->alternative[t->a + i]);
	if (t->op == SW_TERM_LOADED)
		mark_counted(s, t->a);
}

/* Operands come first: is none of what it is made from of use elsewhere? */
static bool is_apart(const struct data_search *s, const struct sw_term *t, const bool *apart)
{
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	for (uint32_t i = 0; i < n; i++)
		if (s->f->term[operand[i]].op != SW_OP_CONST && !apart[operand[i]])
			return false;
	return true;
}

bool *sw_data_conditions_find(const struct sw_footprint *f)
{
	struct data_search s = {f, sw_calloc(f->terms + 1u, 1), sw_calloc(f->terms + 1u, 1)};
	bool *apart = sw_calloc(f->terms + 1u, 1);
	for (uint32_t i = 0; i < f->terms; i++)
		s.data[i] = is_data(&s, &f->term[i]);
	for (uint32_t i = 0; i < f->sites; i++) {
		mark_counted(&s, f->site[i].address);
		mark_counted(&s, f->site[i].size);
	}
	for (uint32_t i = f->terms; i-- > 0;)
		mark_operands(&s, i);
	for (uint32_t i = 0; i < f->terms; i++)
		apart[i] =
			s.data[i] && !s.counts[i] && f->term[i].op != SW_OP_CONST && is_apart(&s, &f->term[i], apart);
	free(s.data);
	free(s.counts);
	return apart;
}
