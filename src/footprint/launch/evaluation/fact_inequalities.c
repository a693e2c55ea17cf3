/* SPDX-License-Identifier: Apache-2.0 */
/* Facts to inequalities. */
#include <stdlib.h>

#include "base/memory.h"
#include "footprint/footprint.h"
#include "footprint/launch/evaluation/eval.h"
#include "footprint/rules.h"

/*
 * Conditions on nothing but what was loaded, where that decides nothing else: no address is made from it, nothing that
 * is chosen by it, and it is compared with no number of the launch or of a thread.  Such a condition may hold for any
 * thread, and whether it does bounds no access.  Found once an evaluation, from the terms.
 */

/* ---- data conditions */

/* By term. */
struct data_search {
	const struct sw_footprint *f;
	bool *data;   /* made from what was loaded, and constants */
	bool *counts; /* goes into something else than conditions on data */
};

/* Notes that the term (SW_NO_TERM: none) goes into something else than conditions on data. */
static void mark_counted(const struct data_search *s, uint32_t term)
{
	if (term != SW_NO_TERM)
		s->counts[term] = true;
}

/* Is the term made from loaded values and constants alone?  Its operands are known. */
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

/* Does the term only join conditions, so that it adds no use to them? */
static bool joins_bits(const struct sw_term *t)
{
	return t->width == 1 && (t->op == SW_OP_AND || t->op == SW_OP_OR || t->op == SW_OP_NOT || t->op == SW_OP_MOV);
}

/* Marks the operands of a term as counted, i.e. used for more than conditions on data: if the term is counted
   itself, or is not made from data and does more than join conditions.  The users of the term come first. */
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

/* Is no part of the term used elsewhere?  apart: the answer for its operands. */
static bool is_apart(const struct data_search *s, const struct sw_term *t, const bool *apart)
{
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	for (uint32_t i = 0; i < n; i++)
		if (s->f->term[operand[i]].op != SW_OP_CONST && !apart[operand[i]])
			return false;
	return true;
}

/* By term, malloc'ed: is it made from loaded data that decides nothing else, as described above? */
static bool *find_data_conditions(const struct sw_footprint *f)
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

/* ---- facts */

#define MAX_ATOMS 64 /* of one fact */

/* Adds form >= 0 to the inequalities that hold.  doubtful: it may hold for no thread (sw_eval_is_doubtful()). */
static void hold_row(struct sw_eval *e, const struct sw_form *form, bool doubtful)
{
	*sw_vec_push(&e->holds) = *form;
	*sw_vec_push(&e->hold_state) = (struct sw_row_state){.hash = sw_form_hash(form), .doubtful = doubtful};
	sw_eval_case_changed(e);
}

void sw_eval_hold_row(struct sw_eval *e, const struct sw_form *form)
{
	hold_row(e, form, false);
}

/* Quotients of quotients that are looked through. */
#define MAX_QUOTIENTS 8

/* Is the variable, or a number that it is a quotient of, computed in unknown ways?  It may in fact never satisfy a
   fact. */
static bool is_doubtful(const struct sw_eval *e, uint32_t var, int depth)
{
	const struct sw_variable *v = &e->variable.at[var];
	if (!v->quotient)
		return v->why && !sw_depends_on_data_only(v->depends);
	const struct sw_form *x = &e->quotient.at[v->of].x;
	bool any = depth == MAX_QUOTIENTS;
	for (uint32_t i = 0; i < x->n && !any; i++)
		any = is_doubtful(e, x->var[i], depth + 1);
	return any;
}

bool sw_eval_is_doubtful(const struct sw_eval *e, const struct sw_form *form)
{
	bool any = false;
	for (uint32_t i = 0; i < form->n; i++)
		any |= is_doubtful(e, form->var[i], 0);
	return any;
}

bool sw_eval_rests_on_doubt(const struct sw_eval *e)
{
	for (size_t i = 0; i < e->holds.n; i++) {
		const struct sw_form *row = &e->holds.at[i];
		sw_wide least = row->constant;
		for (uint32_t k = 0; k < row->n && e->hold_state.at[i].doubtful; k++) {
			const struct sw_variable *v = &e->variable.at[row->var[k]];
			bool ever = is_doubtful(e, row->var[k], 0);
			sw_wide end = row->by[k] > 0 ? (ever ? v->lo_ever : v->lo) : ever ? v->hi_ever : v->hi;
			least = sw_wide_add(least, sw_wide_mul(end, row->by[k]));
		}
		if (e->hold_state.at[i].doubtful && least < 0)
			return true;
	}
	return false;
}

/* Divides form >= 0 by what its coefficients have in common, rounding down, as variables are whole numbers: with x
   fixed to 0, x + 4 * k >= 7 is k >= 2. */
static void in_whole_numbers(const struct sw_eval *e, struct sw_form *form)
{
	struct sw_form row = *form;
	if (SW_RULE_IS_OFF(whole_numbers))
		return;
	for (uint32_t i = row.n; i-- > 0;) {
		const struct sw_variable *v = &e->variable.at[row.var[i]];
		if (v->lo == v->hi)
			row.constant = sw_wide_add(row.constant, sw_wide_mul(v->lo, sw_form_take(&row, row.var[i])));
	}
	uint64_t divisor = sw_form_divisor(&row);
	if (!divisor || divisor > INT64_MAX || row.constant >= SW_INFINITE || row.constant <= -SW_INFINITE)
		return;
	row.constant = sw_wide_floor(row.constant, (sw_wide)divisor);
	for (uint32_t i = 0; i < row.n; i++)
		row.by[i] /= (int64_t)divisor;
	*form = row;
}

void sw_eval_hold(struct sw_eval *e, const struct sw_form *whole)
{
	struct sw_form row = *whole, *form = &row;
	struct sw_bounds range = sw_bound_plain(e, form);
	if (e->recording)
		*sw_vec_push(&e->inequality) = *form;
	if (range.hi < 0)
		e->impossible = true;
	if (range.lo >= 0 || range.hi < 0)
		return;
	bool doubtful = sw_eval_is_doubtful(e, form);
	e->has_uninterpreted_fact |= doubtful;
	in_whole_numbers(e, form);
	if (form->n == 1) {
		sw_wide by = form->by[0];
		if (doubtful)
			hold_row(e, form, true);
		if (by > 0)
			sw_eval_narrow(e, form->var[0], -sw_wide_floor(form->constant, by), SW_INFINITE);
		else
			sw_eval_narrow(e, form->var[0], -SW_INFINITE, sw_wide_floor(form->constant, -by));
		sw_eval_doubt_last(e, form->var[0]);
		return;
	}
	hold_row(e, form, doubtful);
	/* How often a number wrapped may follow now: (unsigned)(x - 1) < n says that x - 1 did not. */
	for (uint32_t i = 0; i < form->n; i++) {
		const struct sw_variable *v = &e->variable.at[form->var[i]];
		if (v->quotient && v->why == SW_WHY_WRAPS && v->lo != v->hi) {
			struct sw_system s;
			sw_system_narrow(e, form, &s);
			return;
		}
	}
}

/* The condition that holds where this one does not. */
static enum sw_condition negated_condition(enum sw_condition c)
{
	static const uint8_t table[] = {
		[SW_EQ] = SW_NE, [SW_NE] = SW_EQ, [SW_LT] = SW_GE, [SW_LE] = SW_GT, [SW_GT] = SW_LE, [SW_GE] = SW_LT};
	return (enum sw_condition)table[c];
}

/* Notes that the highest value made from a base lies on this side of a turn of 64 bits, which bounds rest on. */
static void read_turn(struct sw_eval *e, uint32_t term, sw_wide highest)
{
	const sw_wide turn = (sw_wide)1 << 64;
	if (highest < turn)
		sw_reads_between(e->reads, term, highest, highest, -SW_INFINITE, turn - 1);
	else if (highest < SW_INFINITE)
		sw_reads_between(e->reads, term, highest, highest, turn, SW_INFINITE);
}

/* A pointer is compared with null, which in this case lies between these bounds: as it is where that is less than a
   turn.  The answer stays the same as long as what is made from the base stays above 0. */
static void read_null_test(struct sw_eval *e, uint32_t term, const struct sw_form *form, struct sw_bounds now)
{
	struct sw_bounds ever = sw_bound_ever(e, form);
	bool turns = now.hi > UINT64_MAX;
	if (ever.lo <= 0 || (!turns && now.hi > INT64_MAX)) {
		sw_reads_pin(e->reads, term);
		return;
	}
	sw_reads_between(e->reads, term, ever.lo, turns ? ever.lo : now.hi, 1, INT64_MAX);
	read_turn(e, term, now.hi);
	read_turn(e, term, ever.hi);
}

/* x in place of x ^ c, c known and not negative, where only the sign is asked for: machine code does so to find the
   sign of a quotient. */
static uint32_t with_same_sign(struct sw_eval *e, uint32_t term, unsigned width)
{
	const struct sw_term *t = &e->f->term[term];
	const uint32_t side[2] = {t->a, t->b};
	if (SW_RULE_IS_OFF(sign_of_xor))
		return term;
	for (int i = 0; t->op == SW_OP_XOR && t->width == width && i < 2; i++) {
		struct sw_form c = sw_eval_exact(e, side[i], width, true);
		if (!c.n && c.constant >= 0)
			return side[!i];
	}
	return term;
}

/* Is the term the constant 0? */
static bool is_zero(const struct sw_eval *e, uint32_t term)
{
	return e->f->term[term].op == SW_OP_CONST && !e->f->term[term].imm;
}

bool sw_eval_compare(struct sw_eval *e, uint32_t term, bool truth, struct sw_comparison *out)
{
	const struct sw_term *t = &e->f->term[term];
	unsigned width = (unsigned)t->imm2;
	if (t->imm < SW_EQ || t->imm > SW_GE || t->imm2 < 1 || t->imm2 > 64)
		return false;
	enum sw_condition condition = (enum sw_condition)t->imm;
	out->condition = truth ? condition : negated_condition(condition);
	if (out->condition == SW_EQ || out->condition == SW_NE) {
		struct sw_form a = sw_eval_term(e, t->a, width), b = sw_eval_term(e, t->b, width);
		if (sw_form_sum(&out->difference, &a, &b, -1, width)) {
			struct sw_bounds range = sw_bound(e, &out->difference);
			sw_wide turn = (sw_wide)1 << width;
			if (sw_base_asks_for_null(e->f->term, t))
				read_null_test(e, t->a, &a, range);
			if (range.lo > -turn && range.hi < turn)
				return true;
		}
	}
	bool is_signed = t->flags & SW_SIGNED;
	bool first = is_signed && is_zero(e, t->b) && (condition == SW_LT || condition == SW_GE),
	     second = is_signed && is_zero(e, t->a) && (condition == SW_GT || condition == SW_LE);
	struct sw_form a = sw_eval_exact(e, first ? with_same_sign(e, t->a, width) : t->a, width, is_signed),
		       b = sw_eval_exact(e, second ? with_same_sign(e, t->b, width) : t->b, width, is_signed);
	/* A pointer that may turn around is any number, unless it was bounded in another way. */
	if (sw_base_asks_for_null(e->f->term, t) && (a.n != 1 || a.constant))
		sw_reads_pin(e->reads, t->a);
	if (out->condition == SW_GT || out->condition == SW_GE) {
		out->condition = out->condition == SW_GT ? SW_LT : SW_LE;
		return sw_form_sum(&out->difference, &b, &a, -1, 0);
	}
	return sw_form_sum(&out->difference, &a, &b, -1, 0);
}

uint32_t sw_comparison_forms(const struct sw_comparison *c, struct sw_form out[2])
{
	struct sw_form start = sw_form_constant(c->condition == SW_LT ? -1 : 0);
	if (c->condition == SW_NE || !sw_form_sum(&out[0], &start, &c->difference, -1, 0))
		return 0;
	out[1] = c->difference;
	return c->condition == SW_EQ ? 2 : 1;
}

bool sw_eval_atoms(struct sw_eval *e, uint32_t term, bool truth,
		   void (*atom)(struct sw_eval *e, uint32_t term, bool truth, void *arg), void *arg)
{
	struct {
		uint32_t term;
		bool truth;
	} todo[MAX_ATOMS] = {{term, truth}};
	uint32_t n = 1, seen = 0;
	bool all = true;
	while (n && seen++ < MAX_ATOMS) {
		uint32_t at = todo[--n].term;
		bool want = todo[n].truth;
		const struct sw_term *t = &e->f->term[at];
		bool both = (t->op == SW_OP_AND && want) || (t->op == SW_OP_OR && !want);
		bool bit = t->width == 1;
		if (bit && both && n + 2 > MAX_ATOMS) {
			all = false;
		} else if (bit && both) {
			todo[n].term = t->b;
			todo[n++].truth = want;
			todo[n].term = t->a;
			todo[n++].truth = want;
		} else if (bit && (t->op == SW_OP_NOT || t->op == SW_OP_MOV)) {
			todo[n].term = t->a;
			todo[n++].truth = want == (t->op == SW_OP_MOV);
		} else {
			atom(e, at, want, arg);
		}
	}
	return all && !n;
}

/* A difference is not 0: it is above or below. Where both are possible, each becomes a case. */
static void hold_unequal(struct sw_eval *e, uint32_t term, const struct sw_form *difference)
{
	struct sw_bounds range = sw_bound(e, difference);
	struct sw_form one = sw_form_constant(-1), above, below;
	if (range.lo > 0 || range.hi < 0)
		return;
	if (range.lo == 0 && range.hi == 0) {
		e->impossible = true;
		return;
	}
	if (!sw_form_sum(&above, &one, difference, 1, 0) || !sw_form_sum(&below, &one, difference, -1, 0))
		return;
	bool data = sw_depends_on_data_only(sw_eval_depends(e, difference));
	uint32_t choice = range.lo == 0 ? 0 : range.hi == 0 ? 1 : SW_NONE;
	if (choice == SW_NONE && !data)
		choice = sw_eval_case_choose(e, term | UINT64_C(1) << 32, 2);
	if (choice != SW_NONE)
		sw_eval_hold(e, choice ? &below : &above);
	else if (!data)
		e->has_uninterpreted_fact = true;
}

/* Parts of a condition that are looked at. */
#define MOST_PARTS 64

/* Is whether it holds decided by data alone, which bounds nothing?  What is known of its parts does not count. */
static bool is_up_to_data(struct sw_eval *e, uint32_t term)
{
	uint32_t todo[MOST_PARTS] = {term}, n = 1, seen = 0;
	if (SW_RULE_IS_OFF(data_conditions))
		return false;
	if (!e->data_only)
		e->data_only = find_data_conditions(e->f);
	while (n) {
		uint32_t at = todo[--n];
		const struct sw_term *t = &e->f->term[at];
		if (e->data_only[at] || (seen && sw_eval_truth(e, at) >= 0))
			continue;
		if (t->width != 1 || (t->op != SW_OP_AND && t->op != SW_OP_OR) || ++seen == MOST_PARTS ||
		    n + 2 > MOST_PARTS)
			return false;
		todo[n++] = t->a;
		todo[n++] = t->b;
	}
	return true;
}

/* Holds that one of two is so: a, or else not a and b.  Which of them becomes a choice of cases. */
static void hold_one_of(struct sw_eval *e, uint32_t term, uint32_t a, uint32_t b, bool want)
{
	int left = sw_eval_truth(e, a), right = sw_eval_truth(e, b);
	if (left == want || right == want)
		return;
	if ((left < 0 && is_up_to_data(e, a)) || (right < 0 && is_up_to_data(e, b)))
		return; /* that may be so for every thread: which of the two it is says nothing */
	uint32_t choice = left >= 0 ? 1 : right >= 0 ? 0 : sw_eval_case_choose(e, term | UINT64_C(1) << 32, 2);
	if (choice == SW_NONE) {
		struct sw_form x = sw_eval_term(e, a, 1), y = sw_eval_term(e, b, 1);
		e->has_uninterpreted_fact |= !sw_depends_on_data_only(sw_eval_depends(e, &x) | sw_eval_depends(e, &y));
		return;
	}
	if (want) /* which of several ways was taken: its loops were entered */
		sw_eval_take(e, term, choice ? b : a);
	sw_eval_fact(e, a, choice == 0 ? want : !want);
	if (choice)
		sw_eval_fact(e, b, want);
}

/* Holds a | b == 0, as compilers write a == 0 && b == 0, as two inequalities.  False: the condition is not that, or not
   both could be written. */
static bool hold_zeroes(struct sw_eval *e, const struct sw_term *t, bool truth)
{
	struct sw_form zero = {0};
	const struct sw_term *either_bit = &e->f->term[t->a];
	if (SW_RULE_IS_OFF(zero_or))
		return false;
	if (t->op != SW_OP_COMPARE || t->imm != (truth ? SW_EQ : SW_NE) || either_bit->op != SW_OP_OR ||
	    t->imm2 != either_bit->width)
		return false;
	struct sw_form right = sw_eval_term(e, t->b, either_bit->width);
	if (right.n || right.constant)
		return false;
	const uint32_t operand[2] = {either_bit->a, either_bit->b};
	for (int i = 0; i < 2; i++) {
		struct sw_form form = sw_eval_exact(e, operand[i], either_bit->width, false), negative;
		if (!sw_form_sum(&negative, &zero, &form, -1, 0))
			return false;
		sw_eval_hold(e, &negative);
	}
	return true;
}

/* Makes a condition that is no AND or OR of others true or false: as inequalities of forms where it is a comparison;
   else it counts as a fact that was not interpreted. */
static void hold_atom(struct sw_eval *e, uint32_t term, bool truth, void *arg)
{
	uint32_t *depth = arg;
	const struct sw_term *t = &e->f->term[term];
	struct sw_comparison c;
	struct sw_form form = sw_eval_term(e, term, 1), forms[2];
	if (!form.n) {
		e->impossible |= (form.constant != 0) != truth;
		return;
	}
	if (hold_zeroes(e, t, truth)) {
		/* said already, and better */
	} else if (t->op == SW_OP_COMPARE && sw_eval_compare(e, term, truth, &c)) {
		uint32_t n = sw_comparison_forms(&c, forms);
		for (uint32_t i = 0; i < n; i++)
			sw_eval_hold(e, &forms[i]);
		if (!n)
			hold_unequal(e, term, &c.difference);
	} else if (t->width == 1 && (t->op == SW_OP_AND || t->op == SW_OP_OR) && *depth < 8) {
		++*depth;
		hold_one_of(e, term, t->a, t->b, truth);
		--*depth;
	} else {
		e->has_uninterpreted_fact |= !sw_depends_on_data_only(sw_eval_depends(e, &form));
	}
	sw_eval_settle(e, term, truth);
}

void sw_eval_fact(struct sw_eval *e, uint32_t term, bool truth)
{
	bool all = sw_eval_atoms(e, term, truth, hold_atom, &e->depth);
	e->has_uninterpreted_fact |= !all; /* which hold_atom() sets, too */
}
