/* SPDX-License-Identifier: Apache-2.0 */
/* A case: which facts hold and which of several possibilities is looked at. */
#include "footprint/eval/eval.h"

void sw_eval_case_begin(struct sw_eval *e)
{
	e->holds.n = e->hold_state.n = e->loops.n = 0;
	e->blind = e->impossible = false;
	e->fleeting = false;
	e->round += 2; /* a mark of the round before is less than both of this one */
}

void sw_eval_case_end(struct sw_eval *e)
{
	for (size_t i = 0; i < e->narrowed.n; i++) {
		struct sw_variable *v = &e->variable.at[e->narrowed.at[i]];
		v->lo = v->lo_ever;
		v->hi = v->hi_ever;
		sw_eval_mark(v);
	}
	e->interval_round += e->narrowed.n != 0;
	e->narrowed.n = 0;
	for (size_t i = 0; i < e->forget.n; i++) {
		struct sw_term_value *v = &e->value.at[e->value_of[e->forget.at[i]] - 1];
		v->known &= v->lasting;
		for (int j = 0; j < 2; j++)
			if (v->exact[j]) {
				struct sw_exact *x = &e->exact.at[v->exact[j] - 1];
				x->known &= x->lasting && v->known;
			}
	}
	e->forget.n = 0;
}

void sw_eval_doubt(struct sw_eval *e, uint32_t term)
{
	size_t base = e->work.n;
	*sw_vec_push(&e->work) = term;
	while (e->work.n > base) {
		uint32_t at = e->work.at[--e->work.n];
		const struct sw_term *t = &e->f->term[at];
		uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
		if (e->perhaps[at])
			continue;
		e->perhaps[at] = true;
		for (uint32_t k = 0; k < n; k++)
			if (operand[k] != SW_NO_TERM)
				*sw_vec_push(&e->work) = operand[k];
		for (uint32_t k = 0; t->op == SW_TERM_ANY && k < (t->imm2 ? 2 : 1) * t->b; k++)
			*sw_vec_push(&e->work) = e->f->alternative[t->a + k];
	}
}
