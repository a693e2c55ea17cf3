/* SPDX-License-Identifier: Apache-2.0 */
/* Can an unbounded address fall below its base pointer? */
#include "footprint/eval/eval.h"

/* What is loaded or rounded is taken for an index from its pointer on, though its type would let it be negative. */
static bool is_index(const struct sw_variable *v)
{
	return v->why == SW_WHY_LOADED || v->why == SW_WHY_SHARED || v->why == SW_WHY_ATOMIC || v->why == SW_WHY_FLOAT;
}

struct sw_descent sw_descent_of(struct sw_eval *e, uint32_t term)
{
	struct sw_form address = sw_eval_term(e, term, 64);
	struct sw_descent d = {.least = address.constant};
	/* As a signed number it must not turn around. */
	sw_reads_between(e->reads, term, address.constant, address.constant, 0, INT64_MAX);
	for (uint32_t i = 0; i < address.n; i++) {
		const struct sw_variable *v = &e->variable.at[address.var[i]];
		bool turns = v->quotient && v->why == SW_WHY_WRAPS;
		if (turns || (is_index(v) && address.by[i] > 0))
			continue;
		sw_wide part = sw_wide_mul(address.by[i] > 0 ? v->lo : v->hi, address.by[i]);
		d.least = sw_wide_add(d.least, part);
		d.falls |= part < 0;
	}
	return d;
}
