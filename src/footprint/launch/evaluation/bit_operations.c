/* SPDX-License-Identifier: Apache-2.0 */
/* Shifts and logical operations on forms: quotients by powers of two, where a form allows them. */
#include "footprint/launch/evaluation/operate.h"
#include "footprint/rules.h"

/* *out = form modulo 2^bits, in [0, 2^bits): the form less a multiple of its quotient.  False: no form says it. */
static bool low_bits(struct sw_eval *e, const struct sw_form *form, unsigned bits, unsigned width, struct sw_form *out)
{
	struct sw_form turns;
	if (bits >= 63 || !sw_quotient(e, form, INT64_C(1) << bits, SW_WHY_NONE, &turns))
		return false;
	return sw_form_sum(out, form, &turns, -(INT64_C(1) << bits), width);
}

/* a >> b: a quotient by 2^b where b is a fixed number; with another b, at most a. */
struct sw_form sw_op_shr(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	bool is_signed = t->flags & SW_SIGNED;
	struct sw_form a = sw_eval_exact(e, t->a, t->width, is_signed), out;
	struct sw_form by = sw_eval_term(e, t->b, 0);
	struct sw_bounds x = sw_bound_ever(e, &a);
	(void)number;
	if (by.n)
		return x.lo >= 0 ? sw_term_within(e, t, 0, x.hi) : sw_term_unknown(e, t);
	/* More than the width counts as the width (PTX ISA, shr). */
	unsigned bits = by.constant < 0 || by.constant > t->width ? t->width : (unsigned)by.constant;
	if (bits == t->width && is_signed)
		bits--;
	if (!bits)
		return a;
	if (bits < 63 && sw_quotient(e, &a, INT64_C(1) << bits, SW_WHY_NONE, &out))
		return out;
	return sw_term_within(e, t, x.lo >> bits, x.hi >> bits);
}

/* a << b: a multiple where b is a fixed number; else unknown. */
struct sw_form sw_op_shl(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	struct sw_form a = sw_eval_term(e, t->a, t->width), by = sw_eval_term(e, t->b, 0);
	(void)number;
	if (by.n)
		return sw_term_unknown(e, t);
	if (by.constant < 0 || by.constant >= t->width)
		return sw_form_constant(0);
	return sw_term_scaled(e, t, &a, (sw_wide)1 << (unsigned)by.constant);
}

/* Bits of the longest field that is taken out of a number; beyond, it is a number of a narrower type. */
#define FIELD 12

/* The low `imm` bits of a, with or without sign, in the term's width. */
struct sw_form sw_op_extend(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	(void)number;
	if (t->imm >= t->width)
		return sw_eval_term(e, t->a, t->width);
	if (t->imm < 1)
		return sw_term_unknown(e, t);
	/* The low bits of a wider number: asked for, as by a mask, and no overflow. */
	if (t->imm <= FIELD && t->imm < e->f->term[t->a].width && !(t->flags & SW_SIGNED)) {
		struct sw_form a = sw_eval_term(e, t->a, (unsigned)t->imm), out;
		if (low_bits(e, &a, (unsigned)t->imm, t->width, &out))
			return out;
	}
	return sw_eval_exact(e, t->a, (unsigned)t->imm, t->flags & SW_SIGNED);
}

/* ---- bits */

/* x & mask for a fixed mask.  One run of ones, bits from .. to-1, is (x modulo 2^to) - (x modulo 2^from); of other
   masks only the range is known. */
static struct sw_form and_mask(struct sw_eval *e, const struct sw_term *t, const struct sw_form *x, uint64_t mask)
{
	struct sw_form high, low;
	unsigned from, to;
	uint64_t all = t->width == 64 ? UINT64_MAX : (UINT64_C(1) << t->width) - 1;
	mask &= all;
	if (!mask || !x->n)
		return sw_form_constant((sw_wide)((uint64_t)x->constant & mask));
	from = (unsigned)__builtin_ctzll(mask);
	uint64_t run = mask >> from;
	if (run & (run + 1)) /* several runs of ones */
		return mask > INT64_MAX ? sw_term_unknown(e, t) : sw_term_within(e, t, 0, (sw_wide)mask);
	to = from + (run == UINT64_MAX ? 64 : (unsigned)__builtin_ctzll(~run));
	high = *x;
	low = (struct sw_form){0};
	if ((to < t->width && !low_bits(e, x, to, t->width, &high)) || (from && !low_bits(e, x, from, t->width, &low)))
		return mask > INT64_MAX ? sw_term_unknown(e, t) : sw_term_within(e, t, 0, (sw_wide)mask);
	return sw_term_sum(e, t, &high, &low, -1);
}

/* How many low bits of every value of the form are zero. */
static unsigned zero_bits(const struct sw_form *form)
{
	uint64_t bits = sw_form_divisor(form) | (uint64_t)form->constant;
	return bits ? (unsigned)__builtin_ctzll(bits) : 64;
}

/* A mask of ones up to the highest bit of the larger of two numbers. */
static sw_wide bits_up_to(sw_wide a, sw_wide b)
{
	sw_wide top = a > b ? a : b, mask = 0;
	while (mask < top)
		mask = 2 * mask + 1;
	return mask;
}

/* The bits that may be set in the form's values by its bounds alone: none below the power of two that all are
   multiples of, none above the largest value.  All bits, where it may be negative or is too large. */
static uint64_t may_have_between(struct sw_eval *e, const struct sw_form *form)
{
	struct sw_bounds bounds = sw_bound_ever(e, form);
	unsigned zeros = zero_bits(form);
	if (form->n > 1) { /* quotients are tied to what they divide */
		bounds = sw_bound(e, form);
		e->case_local = true;
	}
	if (bounds.lo < 0 || bounds.hi > INT64_MAX || zeros >= 64)
		return zeros >= 64 ? 0 : UINT64_MAX;
	return (uint64_t)bits_up_to(bounds.hi, 0) & ~((UINT64_C(1) << zeros) - 1);
}

/* Splits a form into multiples of 2^bits and the rest; false: the rest does not stay below 2^bits. */
static bool split_at(struct sw_eval *e, const struct sw_form *form, unsigned bits, struct sw_form *low,
		     struct sw_form *high)
{
	*low = *form;
	*high = *form;
	low->constant = (sw_wide)((uint64_t)form->constant & ((UINT64_C(1) << bits) - 1));
	high->constant = form->constant - low->constant;
	for (uint32_t i = 0; i < form->n; i++)
		sw_form_take((uint64_t)form->by[i] & ((UINT64_C(1) << bits) - 1) ? high : low, form->var[i]);
	struct sw_bounds bounds = sw_bound(e, low);
	e->case_local = true;
	return bounds.lo >= 0 && bounds.hi < (sw_wide)1 << bits;
}

/* The bits that may be set in the form's values: a sum of a small number and of multiples of a power of two has none
   in between. */
static uint64_t may_have(struct sw_eval *e, const struct sw_form *form)
{
	uint64_t bits = may_have_between(e, form);
	for (uint32_t i = 0; form->n > 1 && i < form->n; i++) {
		unsigned at = (unsigned)__builtin_ctzll((uint64_t)form->by[i]);
		struct sw_form low, high;
		if (at && at < 63 && split_at(e, form, at, &low, &high))
			bits &= may_have_between(e, &low) | may_have_between(e, &high);
	}
	return bits;
}

/* Is every bit that b can have set in a? */
static bool covers_bits(struct sw_eval *e, const struct sw_form *a, const struct sw_form *b)
{
	struct sw_form ones = sw_form_constant(-1), unset;
	return sw_form_sum(&unset, &ones, a, -1, 0) && !(may_have(e, &unset) & may_have(e, b));
}

/* Both (AND) or one (OR) of two conditions: where the first one decides, the second is not looked at. */
static struct sw_form join_conditions(struct sw_eval *e, const struct sw_term *t)
{
	bool decides = t->op == SW_OP_OR;
	struct sw_form a = sw_eval_term(e, t->a, 1), b;
	if (!a.n && (a.constant != 0) == decides)
		return a;
	b = sw_eval_term(e, t->b, 1);
	if (!a.n || sw_form_equal(&a, &b) || (!b.n && (b.constant != 0) == decides))
		return b;
	return b.n ? sw_term_within(e, t, 0, 1) : a;
}

/* a & b: by a fixed mask, or the one whose bits the other one always has; else at most the smaller of both. */
struct sw_form sw_op_and(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	if (sw_term_joins_conditions(e, t))
		return join_conditions(e, t);
	struct sw_form a = sw_eval_term(e, t->a, t->width), b = sw_eval_term(e, t->b, t->width);
	(void)number;
	if (!b.n)
		return and_mask(e, t, &a, (uint64_t)b.constant);
	if (!a.n)
		return and_mask(e, t, &b, (uint64_t)a.constant);
	if (sw_form_equal(&a, &b) || covers_bits(e, &b, &a))
		return a;
	if (covers_bits(e, &a, &b))
		return b;
	a = sw_eval_exact(e, t->a, t->width, false);
	b = sw_eval_exact(e, t->b, t->width, false);
	struct sw_bounds x = sw_bound_ever(e, &a), y = sw_bound_ever(e, &b);
	return sw_term_within(e, t, 0, x.hi < y.hi ? x.hi : y.hi);
}

/* Runs of ones in a mask that are turned around one by one. */
#define MOST_RUNS 3

/* x ^ mask for a mask of few runs of ones: of each run, run - (x & run) takes the place of x & run.  False: there
   are too many runs, or no form says it. */
static bool turn_runs(struct sw_eval *e, const struct sw_term *t, const struct sw_form *x, uint64_t mask,
		      struct sw_form *out)
{
	struct sw_form sum = *x;
	if (SW_RULE_IS_OFF(turned_bits))
		return false;
	for (int i = 0; mask; i++) {
		unsigned from = (unsigned)__builtin_ctzll(mask), to = from;
		struct sw_form upper = *x, field;
		while (to < 64 && mask >> to & 1)
			to++;
		if (i == MOST_RUNS || to >= t->width ||
		    (from && !sw_quotient(e, x, INT64_C(1) << from, SW_WHY_NONE, &upper)) ||
		    !low_bits(e, &upper, to - from, t->width, &field))
			return false;
		uint64_t run = (UINT64_C(1) << to) - (UINT64_C(1) << from);
		struct sw_form ones = sw_form_constant((sw_wide)run);
		if (!sw_form_sum(&sum, &sum, &ones, 1, 0) || !sw_form_sum(&sum, &sum, &field, -(INT64_C(2) << from), 0))
			return false;
		mask &= ~run;
	}
	*out = sum;
	return true;
}

/* a | b and a ^ b: the sum, where they have no bit in common; by the rules for fixed masks; else a range. */
struct sw_form sw_op_or(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	if (sw_term_joins_conditions(e, t))
		return join_conditions(e, t);
	struct sw_form a = sw_eval_exact(e, t->a, t->width, false), b = sw_eval_exact(e, t->b, t->width, false);
	struct sw_bounds x = sw_bound_ever(e, &a), y = sw_bound_ever(e, &b);
	bool exclusive = t->op == SW_OP_XOR;
	(void)number;
	/* Numbers without a common bit. */
	if ((zero_bits(&a) < 64 && y.hi < (sw_wide)1 << zero_bits(&a)) ||
	    (zero_bits(&b) < 64 && x.hi < (sw_wide)1 << zero_bits(&b)) || !(may_have(e, &a) & may_have(e, &b)))
		return sw_term_sum(e, t, &a, &b, 1);
	if (sw_form_equal(&a, &b))
		return exclusive ? sw_form_constant(0) : a;
	const struct sw_form *c = a.n ? b.n ? NULL : &b : &a, *other = c == &a ? &b : &a;
	struct sw_bounds type = sw_type_range(t->width, false);
	if (!a.n && !b.n)
		return sw_form_constant(exclusive ? a.constant ^ b.constant : a.constant | b.constant);
	if (c && c->constant == 0)
		return *other;
	if (c && c->constant == type.hi) {
		struct sw_form ones = sw_form_constant(-1);
		return exclusive ? sw_term_sum(e, t, &ones, other, -1) : ones;
	}
	struct sw_form low;
	if (c && exclusive && x.lo >= 0 && y.lo >= 0 && turn_runs(e, t, other, (uint64_t)c->constant, &low))
		return low;
	/* All bits but the lowest. */
	uint64_t rest = c ? (uint64_t)(type.hi - c->constant) : 0;
	if (!exclusive && rest && !(rest & (rest + 1)) &&
	    low_bits(e, other, (unsigned)__builtin_popcountll(rest), t->width, &low))
		return sw_term_sum(e, t, c, &low, 1);
	if (bits_up_to(x.hi, y.hi) > type.hi / 2) { /* a sign: as narrow as it is here */
		e->case_local = true;
		x = sw_bound(e, &a);
		y = sw_bound(e, &b);
	}
	sw_wide lo = exclusive ? 0 : x.lo > y.lo ? x.lo : y.lo;
	return sw_term_within(e, t, lo, bits_up_to(x.hi, y.hi));
}
