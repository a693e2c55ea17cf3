/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the forms of operands.  A result that fits no form becomes an opaque variable. */
#include "footprint/launch/evaluation/operate.h"
#include "footprint/rules.h"

#include <string.h>

/* All that the operands depend on (SW_DEPEND_*). */
static uint64_t depends_on(struct sw_eval *e, const struct sw_term *t)
{
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	uint64_t depends = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct sw_form form = sw_eval_term(e, operand[i], 0);
		depends |= sw_eval_depends(e, &form);
	}
	return depends;
}

/* Why the operands' values may not all be taken; SW_WHY_COMPUTED if nothing else is known. */
static enum sw_why why_of(struct sw_eval *e, const struct sw_term *t)
{
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	for (uint32_t i = 0; i < n; i++) {
		struct sw_form form = sw_eval_term(e, operand[i], 0);
		enum sw_why why = sw_eval_why(e, &form);
		if (why)
			return why;
	}
	return SW_WHY_COMPUTED;
}

struct sw_form sw_term_within(struct sw_eval *e, const struct sw_term *t, sw_wide lo, sw_wide hi)
{
	struct sw_bounds type = sw_type_range(t->width, lo < 0);
	if (lo < type.lo || hi > type.hi) {
		lo = type.lo;
		hi = type.hi;
	}
	return sw_eval_opaque(e, lo, hi, depends_on(e, t), why_of(e, t));
}

/* A new variable for a result that has too many variables for a form: any number of the type, wherever a base lies. */
static struct sw_form term_overfull(struct sw_eval *e, const struct sw_term *t)
{
	return sw_eval_unknown(e, t->width, depends_on(e, t), why_of(e, t));
}

struct sw_form sw_term_unknown(struct sw_eval *e, const struct sw_term *t)
{
	sw_reads_pin(e->reads, (uint32_t)(t - e->f->term));
	return term_overfull(e, t);
}

/* An operation that is not understood. */
static struct sw_form op_anything(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	(void)number;
	return sw_eval_unknown(e, t->width, SW_DEPEND_VARIES, SW_WHY_COMPUTED);
}

/* The address of memory of the driver's own, which any kernel may use: a condition on it is like one on data. */
static struct sw_form op_environment(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	(void)number;
	return sw_eval_unknown(e, t->width, SW_DEPEND_DATA, SW_WHY_COMPUTED);
}

/* A constant. */
static struct sw_form op_const(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	(void)e, (void)number;
	return sw_form_constant(sw_wide_wrap(t->imm, t->width));
}

/* A word of the parameter block, which is a known number at a launch. */
static struct sw_form op_param(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	uint32_t bytes = (t->width + 7u) / 8;
	uint64_t word = 0;
	if (t->imm < 0 || t->imm > e->g->param_bytes || e->g->param_bytes - (uint64_t)t->imm < bytes)
		return sw_eval_unknown(e, t->width, SW_DEPEND_OTHER, SW_WHY_COMPUTED);
	memcpy(&word, (const char *)e->g->params + t->imm, bytes);
	sw_reads_param(e->reads, number, (uint32_t)t->imm, bytes, word);
	return sw_form_constant(sw_wide_wrap((sw_wide)word, t->width));
}

struct sw_form sw_term_range(struct sw_eval *e, const struct sw_term *t)
{
	enum sw_why why = sw_term_why(t);
	struct sw_bounds type = sw_type_range(t->width, t->flags & SW_SIGNED);
	sw_wide lo = t->flags & SW_SIGNED ? t->imm : (sw_wide)(uint64_t)t->imm;
	sw_wide hi = t->flags & SW_SIGNED ? t->imm2 : (sw_wide)(uint64_t)t->imm2;
	if (lo > hi || lo < type.lo || hi > type.hi) {
		lo = type.lo;
		hi = type.hi;
	}
	static const uint64_t depends[] = {
		[SW_FROM_DATA] = SW_DEPEND_DATA, [SW_NO_DATA] = SW_DEPEND_OTHER, [SW_FROM_ANYTHING] = SW_DEPEND_VARIES};
	return sw_eval_opaque(e, lo, hi, depends[t->b <= SW_FROM_ANYTHING ? t->b : SW_FROM_ANYTHING],
			      why && why < SW_WHYS ? why : SW_WHY_COMPUTED);
}

/* A number that nothing computes, between bounds. */
static struct sw_form op_range(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	(void)number;
	return sw_term_range(e, t);
}

/* The address of a module variable, where the launch knows it. */
static struct sw_form op_symbol(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	(void)number;
	uint64_t address = t->imm >= 0 && t->imm < e->f->symbols ? sw_eval_symbol(e, (uint32_t)t->imm) : 0;
	if (!address)
		return sw_eval_unknown(e, t->width, SW_DEPEND_OTHER, SW_WHY_COMPUTED);
	return sw_form_constant(sw_wide_wrap((sw_wide)address + t->imm2, t->width));
}

/* ---- arithmetic */

/* Sums, products and quotients of forms. */

struct sw_form sw_term_sum(struct sw_eval *e, const struct sw_term *t, const struct sw_form *a, const struct sw_form *b,
			   int64_t by)
{
	struct sw_form out;
	return sw_form_sum(&out, a, b, by, t->width) ? out : term_overfull(e, t);
}

/* A copy. */
static struct sw_form op_mov(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	(void)number;
	return sw_eval_term(e, t->a, t->width);
}

/* a + b or a - b. */
static struct sw_form op_add(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	struct sw_form a = sw_eval_term(e, t->a, t->width), b = sw_eval_term(e, t->b, t->width);
	(void)number;
	return sw_term_sum(e, t, &a, &b, t->op == SW_OP_SUB ? -1 : 1);
}

/* -a; or ~a, which is -1 - a. */
static struct sw_form op_neg(struct sw_eval *e, const struct sw_term *t, uint32_t number)
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

/* A product of two forms that both vary: no form, but it lies in the product of their bounds. */
static struct sw_form product_of_bounds(struct sw_eval *e, const struct sw_term *t, const struct sw_form *a,
					const struct sw_form *b)
{
	struct sw_bounds x = sw_bound_ever(e, a), y = sw_bound_ever(e, b);
	struct sw_bounds all = sw_bounds_product(x, y);
	return sw_term_within(e, t, all.lo, all.hi);
}

/* Replaces a form by a number if its variables have one value each in this case, as the size of the last group of
   blocks has, which is another than that of the others. */
static void fix_form(struct sw_eval *e, struct sw_form *form)
{
	sw_wide sum = form->constant;
	if (SW_RULE_IS_OFF(fixed_factor))
		return;
	for (uint32_t i = 0; i < form->n; i++) {
		if (!sw_eval_fixed(e, form->var[i]))
			return;
		sum = sw_wide_add(sum, sw_wide_mul(form->by[i], e->variable.at[form->var[i]].lo));
	}
	e->case_local |= form->n != 0;
	*form = sw_form_constant(sum);
}

/* a * b: a form where one of both is a fixed number in this case. */
static struct sw_form op_mul(struct sw_eval *e, const struct sw_term *t, uint32_t number)
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

/* The product of two numbers of half the width, which cannot overflow. */
static struct sw_form op_mulwide(struct sw_eval *e, const struct sw_term *t, uint32_t number)
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

/* Finds the fraction that a multiplication by a magic number stands for: floor(x * magic / 2^64), for all x in [lo,
   hi], as a division by a number that is not rounded (Granlund and Montgomery, PLDI 1994).  With excess = magic * d
   - 2^(64 + s) it is floor(x * 2^s / d) where 0 <= excess and excess * x < 2^64, and floor((x * 2^s - 1) / d) where
   excess < 0, 0 < x and -excess * x <= 2^64.  False: it is none. */
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

/* floor(x * magic / 2^64) as the quotient that it stands for; false: none within the bounds of x. */
static bool divide_by_magic(struct sw_eval *e, const struct sw_form *x, sw_wide magic, struct sw_form *out)
{
	struct sw_bounds range = sw_bound_ever(e, x);
	struct sw_form zero = {0}, whole;
	struct fraction f;
	if (SW_RULE_IS_OFF(magic_product))
		return false;
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

/* The upper half of a product: exact where one factor is a constant (a quotient of the product, or the division that a
   magic number stands for), else bounds. */
static struct sw_form op_mulhi(struct sw_eval *e, const struct sw_term *t, uint32_t number)
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

/* The quotient a / b or the remainder.  Code rounds to zero, sw_quotient() down: both agree where no number is
   negative. */
static struct sw_form op_div(struct sw_eval *e, const struct sw_term *t, uint32_t number)
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

/* ---- special registers */

/* On the thread's number, on the block's number, along any axis. */
#define DEPEND_ANY_TID	 (SW_DEPEND_TID(0) | SW_DEPEND_TID(1) | SW_DEPEND_TID(2))
#define DEPEND_ANY_CTAID (SW_DEPEND_CTAID(0) | SW_DEPEND_CTAID(1) | SW_DEPEND_CTAID(2))

/* The variable of a special register, made when it is first wanted. */
static uint32_t special_variable(struct sw_eval *e, int64_t which, sw_wide lo, sw_wide hi, uint64_t depends,
				 enum sw_why why)
{
	if (!e->special[which])
		e->special[which] = sw_eval_variable(e, lo, hi, depends, why) + 1;
	return e->special[which] - 1;
}

/* The thread's number in its block along an axis. */
static struct sw_form thread_number(struct sw_eval *e, int axis)
{
	uint32_t size = e->g->block[axis];
	if (size <= 1)
		return sw_form_constant(0);
	return sw_form_variable(
		special_variable(e, SW_TID_X + axis, 0, (sw_wide)size - 1, SW_DEPEND_TID(axis), SW_WHY_NONE));
}

/* The number of the block along an axis, of those blocks that are evaluated. */
static struct sw_form block_number(struct sw_eval *e, int axis)
{
	uint32_t lo = e->blocks.lo[axis], hi = e->blocks.hi[axis];
	if (lo == hi)
		return sw_form_constant(lo);
	return sw_form_variable(special_variable(e, SW_CTAID_X + axis, lo, hi, SW_DEPEND_CTAID(axis), SW_WHY_NONE));
}

/* The thread's number in its block, modulo 32: how warps are formed (CUDA programming guide, "Thread hierarchy"). */
static struct sw_form lane_number(struct sw_eval *e)
{
	struct sw_form number = {0}, turns;
	int64_t by = 1;
	for (int i = 0; i < 3; i++) {
		struct sw_form tid = thread_number(e, i);
		sw_form_sum(&number, &number, &tid, by, 0);
		by *= e->g->block[i] ? e->g->block[i] : 1;
	}
	if (sw_quotient(e, &number, 32, SW_WHY_NONE, &turns) && sw_form_sum(&number, &number, &turns, -32, 0))
		return number;
	return sw_eval_opaque(e, 0, 31, 7, SW_WHY_COMPUTED);
}

/* A special register: numbers of threads and blocks are variables, sizes are fixed. */
static struct sw_form op_special(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	const struct sw_geometry *g = e->g;
	int64_t which = t->imm;
	(void)number;
	if (which >= SW_TID_X && which <= SW_TID_Z)
		return thread_number(e, (int)(which - SW_TID_X));
	if (which >= SW_CTAID_X && which <= SW_CTAID_Z)
		return block_number(e, (int)(which - SW_CTAID_X));
	if (which >= SW_NTID_X && which <= SW_NTID_Z)
		return sw_form_constant(g->block[which - SW_NTID_X]);
	if (which >= SW_NCTAID_X && which <= SW_NCTAID_Z)
		return sw_form_constant(g->grid[which - SW_NCTAID_X]);
	uint32_t cluster = g->cluster ? g->cluster : 1;
	switch (which) {
	case SW_LANEID:
		return lane_number(e);
	case SW_WARPID: /* "may change", says the PTX ISA: no function of the thread's number */
		return sw_form_variable(special_variable(e, which, 0, 31, DEPEND_ANY_TID, SW_WHY_COMPUTED));
	case SW_CLUSTER_BLOCKS:
		return sw_form_constant(cluster);
	case SW_CLUSTER_RANK:
		if (cluster == 1)
			return sw_form_constant(0);
		return sw_form_variable(special_variable(e, which, 0, cluster - 1, DEPEND_ANY_CTAID, SW_WHY_COMPUTED));
	case SW_SHARED_BYTES:
		return sw_form_constant(g->shared_bytes);
	default:
		return sw_eval_unknown(e, t->width, SW_DEPEND_OTHER, SW_WHY_COMPUTED);
	}
}

/* ---- one of several */

/* Some number between the least and the largest value of two. */
static struct sw_form hull_of(struct sw_eval *e, const struct sw_term *t, struct sw_bounds x, struct sw_bounds y)
{
	return sw_term_within(e, t, x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi);
}

/* The larger (or smaller) of two forms: one of them where bounds decide, else each is a case. */
static struct sw_form larger_of(struct sw_eval *e, const struct sw_term *t, uint32_t number, const struct sw_form *a,
				const struct sw_form *b, bool smaller)
{
	struct sw_form difference, other = sw_form_constant(-1);
	struct sw_bounds x = sw_bound_ever(e, a), y = sw_bound_ever(e, b);
	bool fits = sw_form_sum(&difference, a, b, -1, 0) && sw_form_sum(&other, &other, &difference, -1, 0);
	if (!fits)
		return hull_of(e, t, x, y);
	struct sw_bounds range = sw_bound_ever(e, &difference);
	if (range.lo < 0 && range.hi > 0) {
		e->case_local = true;
		range = sw_bound(e, &difference);
	}
	if (range.lo >= 0 || range.hi <= 0)
		return (range.lo >= 0) != smaller ? *a : *b;
	uint32_t choice = sw_eval_case_choose(e, number, 2);
	if (choice == SW_NONE && smaller)
		return sw_term_within(e, t, x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi);
	if (choice == SW_NONE)
		return sw_term_within(e, t, x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi);
	sw_eval_hold(e, choice ? &other : &difference);
	return (choice == 0) != smaller ? *a : *b;
}

/* The smaller or larger of two numbers. */
static struct sw_form op_min(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	bool is_signed = t->flags & SW_SIGNED;
	struct sw_form a = sw_eval_exact(e, t->a, t->width, is_signed);
	struct sw_form b = sw_eval_exact(e, t->b, t->width, is_signed);
	return larger_of(e, t, number, &a, &b, t->op == SW_OP_MIN);
}

/* |a|, the larger of a and -a. */
static struct sw_form op_abs(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	struct sw_form a = sw_eval_exact(e, t->a, t->width, true), zero = {0}, negative;
	if (!sw_form_sum(&negative, &zero, &a, -1, 0))
		return sw_term_unknown(e, t);
	return larger_of(e, t, number, &a, &negative, false);
}

/* One of two values by a condition: where this is known, the value that it selects; else each is a case. */
static struct sw_form op_select(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	uint32_t way = sw_eval_plain_way(e, t);
	const uint32_t both[2] = {t->b, t->c};
	if (way != SW_NONE) {
		sw_reads_choose(e->reads, number, way);
		return sw_eval_term(e, way, t->width);
	}
	struct sw_form a = sw_eval_term(e, t->b, t->width), b = sw_eval_term(e, t->c, t->width), apart;
	if (sw_form_equal(&a, &b)) {
		sw_reads_mix(e->reads, number, both, 2);
		return a;
	}
	/* With other pointers it may be the same, whichever it is. */
	if (sw_form_sum(&apart, &a, &b, -1, 0) && !apart.n)
		sw_reads_differ(e->reads, t->b, t->c, apart.constant);
	int truth = sw_eval_truth(e, t->a);
	uint32_t choice = truth >= 0 ? !truth : sw_eval_case_choose(e, number, 2);
	e->case_local = true; /* the loops that it depends on are entered again in each case */
	if (choice != SW_NONE) {
		if (truth < 0)
			sw_eval_fact(e, t->a, choice == 0);
		sw_reads_choose(e->reads, number, both[choice]);
		sw_eval_take(e, number, both[choice]);
		return choice ? b : a;
	}
	sw_reads_mix(e->reads, number, both, 2);
	sw_reads_pin(e->reads, number);
	struct sw_form x = sw_eval_exact(e, t->b, t->width, true), y = sw_eval_exact(e, t->c, t->width, true);
	return hull_of(e, t, sw_bound_ever(e, &x), sw_bound_ever(e, &y));
}

/* One of several alternatives: the only one that is possible, or each in a case of its own; with too many for that,
   something between the least and the largest of all. */
static struct sw_form op_any(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	const uint32_t *from = e->f->alternative + t->a;
	if (!t->b)
		return sw_term_unknown(e, t);
	uint32_t choice = sw_eval_pick(e, number);
	e->has_uninterpreted_fact |=
		t->imm != SW_WHY_NONE; /* an index may select one, and then the others are not touched */
	if (choice != SW_NONE) {
		sw_reads_choose(e->reads, number, from[choice]);
		return sw_eval_term(e, from[choice], t->width);
	}
	sw_reads_mix(e->reads, number, from, t->b);
	sw_reads_pin(e->reads, number);
	struct sw_bounds all = {SW_INFINITE, -SW_INFINITE};
	uint64_t depends = 0;
	enum sw_why why = SW_WHY_NONE;
	for (uint32_t i = 0; i < t->b; i++) {
		struct sw_form x = sw_eval_exact(e, from[i], t->width, t->width < 64);
		struct sw_bounds range = sw_bound_ever(e, &x);
		all.lo = range.lo < all.lo ? range.lo : all.lo;
		all.hi = range.hi > all.hi ? range.hi : all.hi;
		depends |= sw_eval_depends(e, &x);
		why = why ? why : sw_eval_why(e, &x);
	}
	return sw_eval_opaque(e, all.lo, all.hi, depends, why ? why : SW_WHY_COMPLEX);
}

/* Does the comparison of the difference, which lies in d, with 0 hold?  1, 0, or -1: it may or may not. */
static int decide_comparison(const struct sw_comparison *c, struct sw_bounds d)
{
	bool yes, no;
	switch (c->condition) {
	case SW_LT:
		yes = d.hi < 0, no = d.lo >= 0;
		break;
	case SW_LE:
		yes = d.hi <= 0, no = d.lo > 0;
		break;
	default:
		yes = d.lo == 0 && d.hi == 0, no = d.lo > 0 || d.hi < 0;
	}
	return yes || no ? (c->condition == SW_NE) != yes : -1;
}

/* A comparison: 1 or 0 where bounds decide it. */
static struct sw_form op_compare(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	struct sw_comparison c;
	if (!sw_eval_compare(e, number, true, &c)) {
		e->case_local = true;
		return sw_eval_opaque(e, 0, 1, depends_on(e, t), why_of(e, t));
	}
	struct sw_bounds d = sw_bound_ever(e, &c.difference);
	/* For equality, a difference modulo 2^width counts as long as it makes no turn. */
	sw_wide turn = (sw_wide)1 << t->imm2;
	bool whole = c.condition == SW_LT || c.condition == SW_LE || (d.lo > -turn && d.hi < turn);
	int answer = whole ? decide_comparison(&c, d) : -1;
	if (answer < 0) {
		e->case_local = true; /* facts may decide it */
		answer = decide_comparison(&c, sw_bound(e, &c.difference));
	}
	return answer < 0 ? sw_eval_opaque(e, 0, 1, sw_eval_depends(e, &c.difference), SW_WHY_COMPUTED)
			  : sw_form_constant(answer);
}

/* A value that grows by a fixed step in each iteration: start + step * counter of the loop. */
static struct sw_form op_step(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	struct sw_form start = sw_eval_term(e, t->a, t->width), step = sw_eval_term(e, t->b, t->width);
	if (!step.n && !step.constant)
		return start;
	if (step.n || t->c >= e->f->loops) {
		sw_reads_pin(e->reads, number);
		return sw_eval_unknown(e, t->width, SW_DEPEND_VARIES, SW_WHY_LOOP);
	}
	struct sw_form counter = sw_form_variable(sw_eval_counter(e, t->c));
	return sw_term_sum(e, t, &start, &counter, (int64_t)step.constant);
}

struct sw_form sw_eval_operate(struct sw_eval *e, uint32_t number)
{
	static sw_operation *const table[] = {
		[SW_OP_CONST] = op_const,
		[SW_OP_ENVIRONMENT] = op_environment,
		[SW_OP_PARAM] = op_param,
		[SW_OP_SPECIAL] = op_special,
		[SW_OP_RANGE] = op_range,
		[SW_OP_SYMBOL_ADDRESS] = op_symbol,
		[SW_OP_MOV] = op_mov,
		[SW_OP_ADD] = op_add,
		[SW_OP_SUB] = op_add,
		[SW_OP_MUL] = op_mul,
		[SW_OP_MULHI] = op_mulhi,
		[SW_OP_MULWIDE] = op_mulwide,
		[SW_OP_DIV] = op_div,
		[SW_OP_REM] = op_div,
		[SW_OP_MIN] = op_min,
		[SW_OP_MAX] = op_min,
		[SW_OP_NEG] = op_neg,
		[SW_OP_ABS] = op_abs,
		[SW_OP_AND] = sw_op_and,
		[SW_OP_OR] = sw_op_or,
		[SW_OP_XOR] = sw_op_or,
		[SW_OP_NOT] = op_neg,
		[SW_OP_SHL] = sw_op_shl,
		[SW_OP_SHR] = sw_op_shr,
		[SW_OP_EXTEND] = sw_op_extend,
		[SW_OP_SELECT] = op_select,
		[SW_OP_COMPARE] = op_compare,
		[SW_TERM_STEP] = op_step,
		[SW_TERM_ANY] = op_any,
		[SW_TERM_ELEMENT] = sw_eval_table_value,
		[SW_TERM_LOADED] = sw_eval_memory_value,
	};
	const struct sw_term *t = &e->f->term[number];
	sw_operation *run = t->op < sizeof table / sizeof *table ? table[t->op] : NULL;
	struct sw_form form = (run ? run : op_anything)(e, t, number);
	sw_form_wrap(&form, t->width);
	return form;
}
