/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Division rounded down.  What divides evenly is taken out, so that only a small rest needs a variable of its own, and
 * equal rests share one: i / 16 and i % 16 of one i are then known to belong together.
 */
#include "footprint/launch/evaluation/eval.h"
#include "footprint/rules.h"

/* form = divisor * *even + *rest, with a constant rest in [0, divisor). */
static void split_even(struct sw_form form, int64_t divisor, struct sw_form *even, struct sw_form *rest)
{
	*even = *rest = (struct sw_form){0};
	even->constant = sw_wide_floor(form.constant, divisor);
	rest->constant = form.constant - even->constant * divisor;
	for (uint32_t i = 0; i < form.n; i++) {
		struct sw_form *to = form.by[i] % divisor ? rest : even;
		to->var[to->n] = form.var[i];
		to->by[to->n++] = to == even ? form.by[i] / divisor : form.by[i];
	}
}

/* Divides dividend and divisor by what the divisor and the coefficients have in common; rounding the constant down
   leaves the quotient the same. */
static void cancel_common(struct sw_form *form, int64_t *divisor)
{
	uint64_t common = sw_gcd(sw_form_divisor(form), (uint64_t)*divisor);
	if (common <= 1)
		return;
	form->constant = sw_wide_floor(form->constant, common);
	for (uint32_t i = 0; i < form->n; i++)
		form->by[i] /= (int64_t)common;
	*divisor /= (int64_t)common;
}

/* Factors from there on are worth a look at the facts: smaller ones are sizes and strides. */
#define RECIPROCAL (UINT64_C(1) << 31)

/* Turns a product with a rounded reciprocal, by which compilers divide, back into the division: floor(g * y / D) is
   floor(y / d) for d = ceil(D / g) where 0 <= y and (g * d - D) * y < D  (Granlund and Montgomery, PLDI 1994). form
   and divisor: g * y and D, then y and d; unchanged where that is not so. */
static void undo_reciprocal(struct sw_eval *e, struct sw_form *form, int64_t *divisor)
{
	uint64_t g = sw_form_divisor(form);
	if (SW_RULE_IS_OFF(reciprocal))
		return;
	if (g <= 1 || g > INT64_MAX || form->constant % (sw_wide)g)
		return;
	struct sw_form y = *form;
	y.constant /= (sw_wide)g;
	for (uint32_t i = 0; i < y.n; i++)
		y.by[i] /= (int64_t)g;
	sw_wide d = sw_wide_floor((sw_wide)*divisor + g - 1, g), excess = (sw_wide)g * d - *divisor;
	struct sw_bounds range = sw_bound_ever(e, &y);
	if ((range.lo < 0 || sw_wide_mul(excess, range.hi) >= *divisor) && g >= RECIPROCAL) {
		range = sw_bound(e, &y);
		e->case_local = true;
	}
	if (range.lo < 0 || sw_wide_mul(excess, range.hi) >= *divisor)
		return;
	*form = y;
	*divisor = (int64_t)d;
}

/* A quotient of a quotient is one quotient, if that undoes a multiplication by a reciprocal. */
static void flatten_quotient(struct sw_eval *e, struct sw_form *form, int64_t *divisor)
{
	int64_t product;
	if (SW_RULE_IS_OFF(flattened_quotient))
		return;
	if (form->n != 1 || form->by[0] != 1 || form->constant || !e->variable.at[form->var[0]].quotient)
		return;
	const struct sw_quotient *inner = &e->quotient.at[e->variable.at[form->var[0]].of];
	struct sw_form x = inner->x;
	if (__builtin_mul_overflow(inner->divisor, *divisor, &product))
		return;
	int64_t reduced = product;
	cancel_common(&x, &reduced);
	undo_reciprocal(e, &x, &reduced);
	if (reduced == product)
		return;
	*form = x;
	*divisor = reduced;
}

/* (x - q) / 2 + q of a quotient q is two of them. */
#define MAX_NESTS 2

/*
 * Rewrites (y + floor(x / d)) / divisor as (d * y + x) / (d * divisor): *form / *divisor is one quotient then.  False:
 * it is not like that, or numbers get too large; both are as they were.  Such quotients come from the division by
 * (x + mulhi(x, magic)) >> shift, as libraries divide by numbers that they know at the launch (PyTorch,
 * IntegerDivider.cuh), and by (((x - q) >> 1) + q) >> shift with q = mulhi(x, magic), as compilers do where the magic
 * number has a bit too many.
 */
static bool unnest_quotient(struct sw_eval *e, struct sw_form *form, int64_t *divisor, int nests)
{
	struct sw_form zero = {0}, whole;
	if (SW_RULE_IS_OFF(unnested_quotient))
		return false;
	for (uint32_t i = 0; i < form->n && nests; i++) {
		const struct sw_variable *v = &e->variable.at[form->var[i]];
		int64_t product;
		if (form->by[i] != 1 || !v->quotient || v->lo == v->hi)
			continue;
		const struct sw_quotient *inner = &e->quotient.at[v->of];
		struct sw_form y = *form;
		sw_form_take(&y, form->var[i]);
		if (__builtin_mul_overflow(inner->divisor, *divisor, &product) ||
		    !sw_form_sum(&whole, &zero, &y, inner->divisor, 0) || !sw_form_sum(&whole, &whole, &inner->x, 1, 0))
			continue;
		int64_t reduced = product;
		undo_reciprocal(e, &whole, &reduced);
		if (reduced == product && !unnest_quotient(e, &whole, &reduced, nests - 1))
			continue;
		*form = whole;
		*divisor = reduced;
		return true;
	}
	return false;
}

/* The quotient of x by the largest number that divides `divisor`, if it has a variable already: x / divisor is a
   quotient of that one.  NULL: there is none. */
static const struct sw_quotient *coarser_quotient(const struct sw_eval *e, const struct sw_form *x, int64_t divisor)
{
	const struct sw_quotient *best = NULL;
	uint32_t at = (uint32_t)sw_map_get(&e->quotient_of, sw_form_hash(x)) - 1; /* none: SW_NONE */
	for (const struct sw_quotient *q; at != SW_NONE; at = q->next) {
		q = &e->quotient.at[at];
		if (SW_RULE_IS_OFF(coarser_quotient) && q->divisor != divisor)
			continue;
		if (divisor % q->divisor == 0 && (!best || q->divisor > best->divisor) && sw_form_equal(&q->x, x))
			best = q;
	}
	return best;
}

/* Makes a variable for floor(x / divisor), with the two inequalities that define it.  False: x has no lower bound,
   or the inequalities do not fit a form. */
static bool create_quotient(struct sw_eval *e, const struct sw_form *x, int64_t divisor, enum sw_why why, uint32_t *var)
{
	struct sw_bounds range = sw_bound_ever(e, x);
	struct sw_quotient q = {.x = *x, .divisor = divisor};
	enum sw_why inner = sw_eval_why(e, x);
	struct sw_form one;
	if (range.lo <= -SW_INFINITE)
		return false;
	sw_wide lo = sw_wide_floor(range.lo, divisor), hi = sw_wide_floor(range.hi, divisor);
	*var = sw_eval_variable(e, lo, hi, sw_eval_depends(e, x), inner ? inner : why);
	one = sw_form_variable(*var);
	struct sw_form top = sw_form_constant((sw_wide)divisor - 1);
	if (!sw_form_sum(&q.least, x, &one, -divisor, 0) || !sw_form_sum(&q.most, &top, &q.least, -1, 0))
		return false; /* the variable stays, unused */
	q.var = *var;
	q.least_state.hash = sw_form_hash(&q.least);
	q.most_state.hash = sw_form_hash(&q.most);
	e->variable.at[*var].quotient = true;
	e->variable.at[*var].of = (uint32_t)e->quotient.n;
	uint64_t *last = sw_map_put(&e->quotient_of, sw_form_hash(x));
	q.next = (uint32_t)*last - 1;
	*sw_vec_push(&e->quotient) = q;
	*last = e->quotient.n;
	return true;
}

bool sw_quotient(struct sw_eval *e, const struct sw_form *form, int64_t divisor, enum sw_why why, struct sw_form *out)
{
	struct sw_form x = *form, even, sum = {0};
	unnest_quotient(e, &x, &divisor, MAX_NESTS);
	for (int level = 0; level < 64; level++) { /* each level halves the divisor at least */
		split_even(x, divisor, &even, &x);
		if (!sw_form_sum(&sum, &sum, &even, 1, 0))
			return false;
		cancel_common(&x, &divisor);
		flatten_quotient(e, &x, &divisor);
		undo_reciprocal(e, &x, &divisor);
		struct sw_bounds range = sw_bound_ever(e, &x);
		sw_wide lo = sw_wide_floor(range.lo, divisor);
		/* The sign of a number: what the facts say of it is worth a look. */
		if (lo == -1 && range.hi >= 0 && range.hi < divisor) {
			e->case_local = true;
			range = sw_bound(e, &x);
			lo = sw_wide_floor(range.lo, divisor);
		}
		if (lo == sw_wide_floor(range.hi, divisor)) {
			sum.constant += lo;
			*out = sum;
			return true;
		}
		const struct sw_quotient *known = coarser_quotient(e, &x, divisor);
		uint32_t var = known ? known->var : 0;
		if (!known && !create_quotient(e, &x, divisor, why, &var))
			return false;
		if (!known || known->divisor == divisor) {
			struct sw_form one = sw_form_variable(var);
			return sw_form_sum(out, &sum, &one, 1, 0);
		}
		divisor /= known->divisor;
		x = sw_form_variable(var);
	}
	return false;
}
