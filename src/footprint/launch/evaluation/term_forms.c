/* SPDX-License-Identifier: Apache-2.0 */
/* Terms to forms: each once, in an order that needs no recursion. */
#include "base/hash.h"
#include "footprint/launch/evaluation/digits.h"

uint32_t sw_eval_variable(struct sw_eval *e, sw_wide lo, sw_wide hi, uint64_t depends, enum sw_why why)
{
	*sw_vec_push(&e->variable) = (struct sw_variable){
		.lo = lo, .hi = hi, .lo_ever = lo, .hi_ever = hi, .depends = depends, .why = (uint8_t)why};
	sw_eval_mark(&e->variable.at[e->variable.n - 1]);
	return (uint32_t)e->variable.n - 1;
}

void sw_eval_mark(struct sw_variable *v)
{
	uint64_t lo = (uint64_t)v->lo ^ sw_hash_u64((uint64_t)(v->lo >> 64) + 1);
	uint64_t hi = (uint64_t)v->hi ^ sw_hash_u64((uint64_t)(v->hi >> 64) + 2);
	v->mark = sw_hash_u64(lo + 3 * sw_hash_u64(hi));
}

/* Narrows the variable's interval in this case, and keeps the old one to take that back. */
static void narrow_variable(struct sw_eval *e, uint32_t var, sw_wide lo, sw_wide hi)
{
	struct sw_variable *v = &e->variable.at[var];
	*sw_vec_push(&e->narrowed) = (struct sw_narrowed){var, v->lo, v->hi};
	sw_eval_case_changed(e);
	if (lo > v->lo)
		v->lo = lo;
	if (hi < v->hi)
		v->hi = hi;
	if (v->lo > v->hi) {
		e->impossible = true;
		v->hi = v->lo;
	}
	sw_eval_mark(v);
	e->interval_round++;
}

void sw_eval_narrow(struct sw_eval *e, uint32_t var, sw_wide lo, sw_wide hi)
{
	for (int level = 0; level < 64; level++) { /* a quotient of a quotient of ... */
		const struct sw_variable *v = &e->variable.at[var];
		if (lo <= v->lo && hi >= v->hi)
			return;
		narrow_variable(e, var, lo, hi);
		if (!v->quotient || e->impossible)
			return;
		/* The dividend lies in a narrower interval too. */
		const struct sw_quotient *q = &e->quotient.at[v->of];
		struct sw_form above = q->x, below, zero = {0};
		above.constant = sw_wide_add(above.constant, -sw_wide_mul(v->lo, q->divisor));
		if (!sw_form_sum(&below, &zero, &q->x, -1, 0))
			return;
		below.constant =
			sw_wide_add(below.constant, sw_wide_add(sw_wide_mul(v->hi, q->divisor), q->divisor - 1));
		if (q->x.n != 1 || (q->x.by[0] != 1 && q->x.by[0] != -1)) {
			if (above.constant > -SW_INFINITE && above.constant < SW_INFINITE)
				sw_eval_hold_row(e, &above);
			if (below.constant < SW_INFINITE && below.constant > -SW_INFINITE)
				sw_eval_hold_row(e, &below);
			return;
		}
		var = q->x.var[0];
		lo = q->x.by[0] > 0 ? -above.constant : -below.constant;
		hi = q->x.by[0] > 0 ? below.constant : above.constant;
	}
}

uint64_t sw_eval_depends(const struct sw_eval *e, const struct sw_form *form)
{
	uint64_t depends = 0;
	for (uint32_t i = 0; i < form->n; i++)
		depends |= e->variable.at[form->var[i]].depends;
	return depends;
}

enum sw_why sw_eval_why(const struct sw_eval *e, const struct sw_form *form)
{
	for (uint32_t i = 0; i < form->n; i++) {
		const struct sw_variable *v = &e->variable.at[form->var[i]];
		if (v->why && v->lo != v->hi)
			return (enum sw_why)v->why;
	}
	return SW_WHY_NONE;
}

struct sw_form sw_eval_opaque(struct sw_eval *e, sw_wide lo, sw_wide hi, uint64_t depends, enum sw_why why)
{
	return lo >= hi ? sw_form_constant(lo) : sw_form_variable(sw_eval_variable(e, lo, hi, depends, why));
}

struct sw_bounds sw_type_range(unsigned width, bool is_signed)
{
	sw_wide half = (sw_wide)1 << (width - 1);
	return is_signed ? (struct sw_bounds){-half, half - 1} : (struct sw_bounds){0, 2 * half - 1};
}

struct sw_form sw_eval_unknown(struct sw_eval *e, unsigned width, uint64_t depends, enum sw_why why)
{
	struct sw_bounds range = sw_type_range(width, false);
	return sw_eval_opaque(e, range.lo, range.hi, depends, why);
}

/* Moves a form by a multiple of 2^width into the type's range.  False: its bounds do not fit there as a whole, and it
   stays as it was. */
static bool shift_into(struct sw_form *form, struct sw_bounds bounds, struct sw_bounds type)
{
	sw_wide modulus = type.hi - type.lo + 1;
	sw_wide turns = sw_wide_floor(sw_wide_add(bounds.lo, -type.lo), modulus);
	if (bounds.lo <= -SW_INFINITE || turns != sw_wide_floor(sw_wide_add(bounds.hi, -type.lo), modulus))
		return false;
	form->constant -= turns * modulus;
	return true;
}

/* As shift_into(), for the form of `term` (SW_NONE: of a part of one).  Records as well how far the word that
   the term is made from may move: until the term would be shifted by another multiple. */
static bool shift_term(struct sw_eval *e, uint32_t term, struct sw_form *form, struct sw_bounds bounds,
		       struct sw_bounds type)
{
	sw_wide constant = form->constant;
	bool any = type.hi > INT64_MAX && bounds.lo == type.lo && bounds.hi == type.hi; /* wherever a base lies */
	if (!shift_into(form, bounds, type))
		return false;
	if (e->reads && term != SW_NONE && !any)
		sw_reads_between(e->reads, term, bounds.lo + form->constant - constant,
				 bounds.hi + form->constant - constant, type.lo, type.hi);
	return true;
}

/* Records, of a term that may wrap around between these bounds, that it does so as long as the end of the type's
   range lies between them. */
static void read_wrap(struct sw_eval *e, uint32_t term, struct sw_bounds bounds, struct sw_bounds type)
{
	sw_wide modulus = type.hi - type.lo + 1;
	if (!e->reads || term == SW_NONE || sw_wide_add(bounds.hi, -bounds.lo) >= modulus)
		return;
	sw_wide end = type.lo + modulus * sw_wide_floor(bounds.hi - type.lo, modulus);
	if (type.hi > INT64_MAX && bounds.hi - bounds.lo == modulus - 1) /* any number, and something that is added */
		sw_reads_avoid(e->reads, term, type.lo - bounds.lo);
	else if (type.hi > INT64_MAX)
		sw_reads_between(e->reads, term, bounds.hi, bounds.lo, end, end - 1);
	else /* how often it wraps is a number that its constant goes into */
		sw_reads_pin(e->reads, term);
}

/* The number that a form modulo 2^width stands for, read as the type says.  term: whose it is; SW_NONE: of a part. */
static struct sw_form exact_form(struct sw_eval *e, uint32_t term, struct sw_form form, unsigned width, bool is_signed)
{
	struct sw_bounds type = sw_type_range(width, is_signed), bounds, digits;
	struct sw_form turns;
	if (shift_term(e, term, &form, sw_bound_ever(e, &form), type))
		return form;
	e->case_local = true;
	bounds = sw_bound(e, &form);
	if (shift_term(e, term, &form, bounds, type))
		return form;
	digits = sw_digits_bound(e, &form);
	if (shift_term(e, term, &form, digits, type))
		return form;
	read_wrap(e, term, bounds, type);
	read_wrap(e, term, digits, type);
	/* The value may wrap. How often is a quotient, which later facts can pin down. */
	struct sw_form moved = form;
	moved.constant -= type.lo;
	if (width < 63 && sw_quotient(e, &moved, INT64_C(1) << width, SW_WHY_WRAPS, &turns) &&
	    sw_form_sum(&form, &form, &turns, -(INT64_C(1) << width), 0))
		return form;
	enum sw_why why = sw_eval_why(e, &form);
	return sw_eval_opaque(e, type.lo, type.hi, sw_eval_depends(e, &form), why ? why : SW_WHY_WRAPS);
}

/* The term's computed value, which may not hold in this case; NULL: there is none. */
static struct sw_term_value *value_at(const struct sw_eval *e, uint32_t term)
{
	return e->value_of[term] ? &e->value.at[e->value_of[term] - 1] : NULL;
}

/* The place for the term's value. */
static struct sw_term_value *value_new(struct sw_eval *e, uint32_t term)
{
	if (!e->value_of[term]) {
		*sw_vec_push(&e->value) = (struct sw_term_value){.width = e->f->term[term].width};
		e->value_of[term] = (uint32_t)e->value.n;
	}
	return &e->value.at[e->value_of[term] - 1];
}

/* Stores the term's value, where it holds, and forgets the exact numbers made from the old one. */
static void value_set(struct sw_eval *e, uint32_t term, const struct sw_form *form, struct sw_validity valid)
{
	struct sw_term_value *v = value_new(e, term);
	v->form = *form;
	v->valid = valid;
	for (int j = 0; j < 2; j++) {
		if (v->exact[j])
			e->exact.at[v->exact[j] - 1].valid.known = false;
	}
}

/* Notes, for the value that is being computed from this one, that it holds no longer than this one. */
static void read_validity(struct sw_eval *e, const struct sw_validity *valid)
{
	e->case_local |= !valid->lasting;
	e->assumed_fact = valid->assumed_fact > e->assumed_fact ? valid->assumed_fact : e->assumed_fact;
}

/* Has the term a value that holds in this case? */
static bool is_known(const struct sw_eval *e, uint32_t term)
{
	struct sw_term_value *v = value_at(e, term);
	return v ? sw_eval_is_valid(e, &v->valid) : e->f->term[term].op == SW_OP_CONST;
}

/* Pushes the conditions of alternatives that are not known yet; true: there are some. */
static bool push_conditions(struct sw_eval *e, const struct sw_term *t)
{
	size_t before = e->work.n;
	for (uint32_t i = 0; t->imm2 && i < t->b; i++) {
		uint32_t condition = e->f->alternative[t->a + t->b + i];
		if (!is_known(e, condition))
			*sw_vec_push(&e->work) = condition;
	}
	return e->work.n > before;
}

/* May alternative i of the term be chosen in this case?  The conditions of alternatives follow them, if there are any.
 */
static bool is_possible(struct sw_eval *e, const struct sw_term *t, uint32_t i)
{
	return !t->imm2 || sw_eval_truth(e, e->f->alternative[t->a + t->b + i]) != 0;
}

uint32_t sw_eval_pick(struct sw_eval *e, uint32_t number)
{
	const struct sw_term *t = &e->f->term[number];
	uint32_t n = 0, first = SW_NONE;
	for (uint32_t i = t->b; i-- > 0;) {
		if (is_possible(e, t, i)) {
			first = i;
			n++;
		}
	}
	/* The loops that it depends on are entered again in each case, and what is left open counts in each. */
	e->case_local |= n != 1 || t->imm != SW_WHY_NONE || e->counts[e->f->alternative[t->a + first]];
	if (n == 1)
		return first;
	uint32_t choice = sw_eval_case_choose(e, number, t->b);
	if (choice == SW_NONE)
		return choice;
	e->has_uninterpreted_fact = true; /* it is unknown when it is this one */
	if (!n || is_possible(e, t, choice))
		return choice;
	e->impossible = true;
	return first;
}

uint32_t sw_eval_plain_way(struct sw_eval *e, const struct sw_term *t)
{
	int truth = sw_eval_truth(e, t->a);
	uint32_t way = truth ? t->b : t->c;
	return truth < 0 || e->counts[way] ? SW_NONE : way;
}

/* Pushes the operands that are needed in this case and not known yet; true: there are some. */
static bool push_operands(struct sw_eval *e, uint32_t number)
{
	const struct sw_term *t = &e->f->term[number];
	size_t before = e->work.n;
	uint32_t operand[3] = {t->a, t->b, t->c};
	if (t->op == SW_TERM_ANY) {
		if (push_conditions(e, t))
			return true;
		/* Where one alternative is evaluated, the others need not even have been computed. */
		uint32_t choice = sw_eval_pick(e, number);
		if (choice != SW_NONE)
			sw_eval_enter_way(e, number, e->f->alternative[t->a + choice]);
		for (uint32_t i = 0; i < t->b; i++) {
			if (choice != SW_NONE && i != choice)
				continue;
			if (choice == SW_NONE)
				sw_eval_doubt(e, e->f->alternative[t->a + i]);
			if (!is_known(e, e->f->alternative[t->a + i]))
				*sw_vec_push(&e->work) = e->f->alternative[t->a + i];
		}
		return e->work.n > before;
	}
	uint32_t n = sw_term_operands(t);
	if (t->op == SW_OP_SELECT) { /* what is not chosen need not be computed */
		uint32_t way = is_known(e, t->a) ? sw_eval_plain_way(e, t) : t->a;
		if (way != SW_NONE) {
			if (!is_known(e, way))
				*sw_vec_push(&e->work) = way;
			return e->work.n > before;
		}
	}
	if (sw_term_joins_conditions(e, t)) {
		bool first = is_known(e, t->a);
		if (!first || (sw_eval_truth(e, t->a) != (t->op == SW_OP_OR) && !is_known(e, t->b)))
			*sw_vec_push(&e->work) = first ? t->b : t->a;
		return e->work.n > before;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (operand[i] != SW_NO_TERM && !is_known(e, operand[i]))
			*sw_vec_push(&e->work) = operand[i];
	}
	return e->work.n > before;
}

/* Evaluates a term after its operands, without recursion: terms may be thousands deep. */
static void evaluate_term(struct sw_eval *e, uint32_t term)
{
	size_t base = e->work.n;
	bool case_local = e->case_local;
	uint32_t assumed_fact = e->assumed_fact;
	*sw_vec_push(&e->work) = term;
	while (e->work.n > base) {
		uint32_t at = e->work.at[e->work.n - 1];
		if (is_known(e, at) || !push_operands(e, at)) {
			e->work.n--;
			if (is_known(e, at))
				continue;
			e->case_local = false;
			e->assumed_fact = 0;
			e->budget -= e->budget != 0;
			sw_reads_follow(e->reads, e->f->term, at);
			struct sw_form form = sw_eval_operate(e, at);
			value_set(e, at, &form, sw_eval_valid_now(e));
		}
	}
	e->case_local = case_local;
	e->assumed_fact = assumed_fact;
}

struct sw_form sw_eval_term(struct sw_eval *e, uint32_t term, unsigned width)
{
	const struct sw_term *t = &e->f->term[term];
	if (t->op == SW_OP_CONST)
		return sw_form_constant(sw_wide_wrap(t->imm, width ? width : t->width));
	if (!is_known(e, term))
		evaluate_term(e, term);
	if (width > t->width)
		return sw_eval_exact(e, term, t->width, false);
	const struct sw_term_value *v = value_at(e, term);
	struct sw_form form = v->form;
	read_validity(e, &v->valid);
	if (width && width < t->width)
		sw_form_wrap(&form, width);
	return form;
}

/* The place for the exact number of a term, signed or not.  Valid until the next one is asked for. */
static struct sw_exact *exact_at(struct sw_eval *e, uint32_t term, bool is_signed)
{
	struct sw_term_value *v = value_at(e, term);
	if (!v->exact[is_signed]) {
		*sw_vec_push(&e->exact) = (struct sw_exact){.valid = {.known = false}};
		v->exact[is_signed] = (uint32_t)e->exact.n;
	}
	return &e->exact.at[v->exact[is_signed] - 1];
}

struct sw_form sw_eval_exact(struct sw_eval *e, uint32_t term, unsigned width, bool is_signed)
{
	const struct sw_term *t = &e->f->term[term];
	struct sw_form form = sw_eval_term(e, term, width);
	if (t->op == SW_OP_CONST || t->width != width)
		return exact_form(e, SW_NONE, form, width, is_signed);
	struct sw_exact *x = exact_at(e, term, is_signed);
	if (!sw_eval_is_valid(e, &x->valid)) {
		bool case_local = e->case_local;
		uint32_t assumed_fact = e->assumed_fact;
		e->case_local = false;
		e->assumed_fact = 0;
		read_validity(e, &value_at(e, term)->valid);
		form = exact_form(e, term, form, width, is_signed);
		x = exact_at(e, term, is_signed);
		*x = (struct sw_exact){form, sw_eval_valid_now(e)};
		e->case_local |= case_local;
		e->assumed_fact = assumed_fact > e->assumed_fact ? assumed_fact : e->assumed_fact;
	}
	read_validity(e, &x->valid);
	return x->form;
}

int sw_eval_truth(struct sw_eval *e, uint32_t term)
{
	struct sw_form form = sw_eval_term(e, term, 1);
	return form.n ? -1 : form.constant != 0;
}

void sw_eval_settle(struct sw_eval *e, uint32_t term, int64_t constant)
{
	struct sw_form form = sw_form_constant(constant);
	value_set(e, term, &form, sw_eval_valid_as_assumed(e));
}

/* A choice adds to what holds in the case. */
static uint32_t take_choice(struct sw_eval *e, uint32_t taken)
{
	sw_eval_case_changed(e);
	return taken;
}

uint32_t sw_eval_case_choose(struct sw_eval *e, uint64_t key, uint32_t options)
{
	uint32_t product = options;
	e->case_local = true;
	for (uint32_t i = 0; i < e->choices; i++) {
		if (e->choice[i].key == key)
			return take_choice(e, e->choice[i].taken);
		product *= e->choice[i].options;
	}
	if (!e->choosing || e->choices == SW_MAX_CHOICES || options > SW_MAX_CASES || product > SW_MAX_CASES)
		return SW_NONE;
	e->choice[e->choices++] = (struct sw_choice){key, 0, options};
	return take_choice(e, 0);
}
