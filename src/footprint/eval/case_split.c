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
