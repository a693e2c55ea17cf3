/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, products and quotients of forms. */
#include "footprint/launch/evaluation/operate.h"

struct sw_form sw_term_sum(struct sw_eval *e, const struct sw_term *t, const struct sw_form *a, const struct sw_form *b,
			   int64_t by)
{
	struct sw_form out;
	return sw_form_sum(&out, a, b, by, t->width) ? out : sw_term_overfull(e, t);
}

struct sw_form sw_op_mov(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	(void)number;
	return sw_eval_term(e, t->a, t->width);
}

struct sw_form sw_op_add(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	struct sw_form a = sw_eval_term(e, t->a, t->width), b = sw_eval_term(e, t->b, t->width);
	(void)number;
	return sw_term_sum(e, t, &a, &b, t->op == SW_OP_SUB ? -1 : 1);
}

struct sw_form sw_op_neg(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	struct sw_form a = sw_eval_term(e, t->a, t->width), start = sw_form_constant(t->op == SW_OP_NOT ? -1 : 0);
	(void)number;
	return sw_term_sum(e, t, &start, &a, -1);
}

struct sw_form sw_term_scaled(struct sw_eval *e, const struct sw_term *t, const struct sw_form *a, sw_wide by)
{
	struct sw_form zero = {0};
	return sw_term_sum(e, t, &zero, a, (int64_t)sw_wide_wrap(by, 64));
}

static struct sw_form product_of_bounds(struct sw_eval *e, const struct sw_term *t, const struct sw_form *a,
					const struct sw_form *b)
{
	struct sw_bounds x = sw_bound_ever(e, a), y = sw_bound_ever(e, b);
	struct sw_bounds all = sw_bounds_product(x, y);
	return sw_term_within(e, t, all.lo, all.hi);
}

/* A form whose variables have one value each in this case is that number: the last group of blocks, of another size. */
static void fix_form(struct sw_eval *e, struct sw_form *form)
{
	sw_wide sum = form->constant;
	for (uint32_t i = 0; i < form->n; i++) {
		if (!sw_eval_fixed(e, form->var[i]))
			return;
		sum = sw_wide_add(sum, sw_wide_mul(form->by[i], e->variable.at[form->var[i]].lo));
	}
	e->case_local |= form->n != 0;
	*form = sw_form_constant(sum);
}

struct sw_form sw_op_mul(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	struct sw_form a = sw_eval_term(e, t->a, t->width), b = sw_eval_term(e, t->b, t->width);
	(void)number;
	fix_form(e, &b);
	if (!b.n)
		return sw_term_scaled(e, t, &a, b.constant);
	fix_form(e, &a);
	if (!a.n)
		return sw_term_scaled(e, t, &b, a.constant);
	a = sw_eval_exact(e, t->a, t->width, true);
	b = sw_eval_exact(e, t->b, t->width, true);
	return product_of_bounds(e, t, &a, &b);
}

struct sw_form sw_op_mulwide(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	bool is_signed = t->flags & SW_SIGNED;
	struct sw_form a = sw_eval_exact(e, t->a, t->width / 2u, is_signed);
	struct sw_form b = sw_eval_exact(e, t->b, t->width / 2u, is_signed);
	(void)number;
	if (!b.n)
		return sw_term_scaled(e, t, &a, b.constant);
	if (!a.n)
		return sw_term_scaled(e, t, &b, a.constant);
	return product_of_bounds(e, t, &a, &b);
}

/* x * 2^shift + add, divided by `divisor`. */
struct fraction {
	int64_t divisor, add;
	unsigned shift;
};

/*
 * floor(x * magic / 2^64) for x in [lo, hi] as a division by a number that is not rounded (Granlund and Montgomery,
 * PLDI 1994).  With excess = magic * d - 2^(64 + s) it is floor(x * 2^s / d)        where 0 <= excess and excess * x <
 * 2^64 floor((x * 2^s - 1) / d)  where excess < 0, 0 < x and -excess * x <= 2^64.
 */
static bool undo_magic(sw_wide magic, sw_wide lo, sw_wide hi, struct fraction *out)
{
	const sw_wide turn = (sw_wide)1 << 64;
	if (lo < 0 || hi >= (sw_wide)1 << 62 || magic < (sw_wide)1 << 34) /* the divisor has less than 62 bits */
		return false;
	for (unsigned s = 0; s < 32; s++) {
		sw_wide whole = turn << s, d = sw_wide_floor(whole + magic / 2, magic), excess = magic * d - whole;
		bool up = excess >= 0 && sw_wide_mul(excess, hi) < turn;
		bool down = excess < 0 && lo > 0 && sw_wide_mul(-excess, hi) <= turn;
		*out = (struct fraction){(int64_t)d, down ? -1 : 0, s};
		if (up || down)
			return true;
	}
	return false;
}

static bool divide_by_magic(struct sw_eval *e, const struct sw_form *x, sw_wide magic, struct sw_form *out)
{
	struct sw_bounds range = sw_bound_ever(e, x);
	struct sw_form zero = {0}, whole;
	struct fraction f;
	if (!undo_magic(magic, range.lo, range.hi, &f)) {
		range = sw_bound(e, x);
		e->case_local = true;
		if (!undo_magic(magic, range.lo, range.hi, &f))
			return false;
	}
	if (!sw_form_sum(&whole, &zero, x, INT64_C(1) << f.shift, 0))
		return false;
	whole.constant += f.add;
	return sw_quotient(e, &whole, f.divisor, SW_WHY_NONE, out);
}

struct sw_form sw_op_mulhi(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	bool is_signed = t->flags & SW_SIGNED;
	struct sw_form a = sw_eval_exact(e, t->a, t->width, is_signed), zero = {0}, whole, out;
	struct sw_form b = sw_eval_exact(e, t->b, t->width, is_signed);
	const struct sw_form *x = b.n ? &b : &a, *c = b.n ? &a : &b;
	(void)number;
	if (!x->n && (is_signed || t->width < 64))
		return sw_form_constant((x->constant * c->constant) >> t->width);
	if (!c->n && t->width <= 32 && sw_form_sum(&whole, &zero, x, (int64_t)c->constant, 0) &&
	    sw_quotient(e, &whole, INT64_C(1) << t->width, SW_WHY_NONE, &out)) {
		sw_form_wrap(&out, t->width);
		return out;
	}
	if (!c->n && t->width == 64 && !is_signed && divide_by_magic(e, x, c->constant, &out))
		return out;
	struct sw_bounds p = sw_bound_ever(e, &a), q = sw_bound_ever(e, &b);
	if (p.lo >= 0 && q.lo >= 0)
		return sw_term_within(e, t, sw_wide_mul(p.lo, q.lo) >> t->width,
				      sw_wide_mul(p.hi, q.hi) >= SW_INFINITE ? p.hi : (p.hi * q.hi) >> t->width);
	return sw_term_unknown(e, t);
}

/* ---- quotients */

/* a / b rounded to zero, and the rest: only where no number is negative are they what sw_quotient() gives. */
struct sw_form sw_op_div(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	bool is_signed = t->flags & SW_SIGNED, rest = t->op == SW_OP_REM;
	struct sw_form a = sw_eval_exact(e, t->a, t->width, is_signed), q;
	struct sw_form b = sw_eval_exact(e, t->b, t->width, is_signed);
	struct sw_bounds x = sw_bound_ever(e, &a), y = sw_bound_ever(e, &b);
	(void)number;
	if (x.lo < 0 || y.lo <= 0) {
		x = sw_bound(e, &a);
		y = sw_bound(e, &b);
		e->case_local = true;
	}
	if (!a.n && !b.n && b.constant) /* C rounds to zero as well */
		return sw_form_constant(rest ? a.constant % b.constant : a.constant / b.constant);
	fix_form(e, &b);
	if (y.lo <= 0)
		return sw_term_unknown(e, t);
	if (x.lo < 0)
		return rest ? sw_term_within(e, t, x.lo < -y.hi ? 1 - y.hi : x.lo,
					     x.hi < y.hi ? x.hi > 0 ? x.hi : 0 : y.hi - 1)
			    : sw_term_within(e, t, x.lo, x.hi > 0 ? x.hi : 0);
	if (!b.n && b.constant <= INT64_MAX && sw_quotient(e, &a, (int64_t)b.constant, SW_WHY_NONE, &q))
		return rest ? sw_term_sum(e, t, &a, &q, -(int64_t)b.constant) : q;
	return rest ? sw_term_within(e, t, 0, x.hi < y.hi ? x.hi : y.hi - 1)
		    : sw_term_within(e, t, sw_wide_floor(x.lo, y.hi), sw_wide_floor(x.hi, y.lo));
}
