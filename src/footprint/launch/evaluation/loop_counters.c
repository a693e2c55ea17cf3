/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds of a loop's counter, from the facts of the loop.
 *
 * A fact at the end of every completed iteration, G(k) >= 0 for the k of that iteration, is G(k - 1) >= 0 where the
 * counter is k >= 1.  Where it follows from the facts at the entry for k = 0 as well it holds for every k; otherwise k
 * = 0 is a case of its own.
 *
 * That a counting register does not wrap around needs induction: it starts in range, it grows by a constant, and the
 * loop continues only below a limit so far from the end of the range that one more step stays in it.
 */
#include <assert.h>
#include <stdlib.h>

#include "footprint/launch/evaluation/eval.h"

#define MAX_LOOPS 64 /* whose facts are looked at: nests are three deep, and a kernel has a handful */
#define MAX_NEST  32

uint32_t sw_eval_counter(struct sw_eval *e, uint32_t loop)
{
	struct sw_loop_info *info = &e->loop[loop];
	if (info->counter != SW_NONE)
		return info->counter;
	uint32_t at = loop;
	for (int i = 0; i < MAX_NEST && at < e->f->loops; i++, at = e->f->loop[at].parent)
		info->depends |= SW_DEPEND_LOOP(at);
	if (at < e->f->loops)
		info->depends |= SW_DEPEND_VARIES; /* deeper than anything sensible: it may vary in any loop */
	info->counter = sw_eval_variable(e, 0, SW_INFINITE, info->depends, SW_WHY_NONE);
	e->variable.at[info->counter].counter = true;
	e->variable.at[info->counter].of = loop;
	return info->counter;
}

static void enter_loop(struct sw_eval *e, uint32_t loop);

/* A term that is one of several ways through the code: its loop need not have been entered, and what holds on the way
   into that loop need not hold. */
#define PERHAPS (UINT32_C(1) << 31)
static_assert(SW_FOOTPRINT_MAX_TERMS < PERHAPS, "a bit of its own");

/* Is the term's value one of several, so that operands may not have been computed?  After `if (n > 0) for (...)
   p++;` p is a choice, and its loop was not entered for other n. */
static bool is_choice(const struct sw_term *t)
{
	return t->op == SW_OP_SELECT || (t->width == 1 && (t->op == SW_OP_OR || t->op == SW_OP_AND));
}

/* Is this operand (0: a) one of several ways of the term, so that not every thread computes it? */
static bool is_way(const struct sw_term *t, uint32_t operand)
{
	return is_choice(t) && (operand || t->op != SW_OP_SELECT);
}

/* Finds the loops whose counters go into a term: whatever way was taken, and on some ways.  Operands come first. */
static void find_loops(struct sw_eval *e, uint32_t number)
{
	const struct sw_term *t = &e->f->term[number];
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	struct sw_term_loops *own = &e->loops_of[number];
	if (t->op == SW_TERM_STEP && t->c < SW_TERM_LOOPS)
		own->always = UINT64_C(1) << t->c;
	for (uint32_t i = 0; i < n; i++) {
		if (operand[i] == SW_NO_TERM)
			continue;
		const struct sw_term_loops *of = &e->loops_of[operand[i]];
		bool chosen = is_way(t, i);
		own->always |= chosen ? 0 : of->always;
		own->perhaps |= chosen ? of->always | of->perhaps : of->perhaps;
	}
}

/* Marks the terms that lie on one of several ways: threads that take another way never computed them, and what holds
   in their loops need not hold for those. */
static void find_perhaps(struct sw_eval *e)
{
	const struct sw_footprint *f = e->f;
	e->perhaps = sw_calloc(f->terms + 1u, sizeof *e->perhaps);
	for (uint32_t i = f->terms; i-- > 0 && f->loops;) {
		const struct sw_term *t = &f->term[i];
		uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
		for (uint32_t k = 0; k < n; k++) {
			if (operand[k] != SW_NO_TERM)
				e->perhaps[operand[k]] |= e->perhaps[i] || is_way(t, k);
		}
		for (uint32_t k = 0; t->op == SW_TERM_ANY && k < (t->imm2 ? 2 : 1) * t->b; k++)
			e->perhaps[f->alternative[t->a + k]] |= e->perhaps[i];
	}
}

void sw_eval_find_counts(struct sw_eval *e)
{
	const struct sw_footprint *f = e->f;
	e->counts = sw_calloc(f->terms + 1u, sizeof *e->counts);
	find_perhaps(e);
	if (f->loops <= SW_TERM_LOOPS)
		e->loops_of = sw_calloc(f->terms + 1u, sizeof *e->loops_of);
	for (uint32_t i = 0; i < f->terms && f->loops; i++) {
		const struct sw_term *t = &f->term[i];
		uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
		e->counts[i] = t->op == SW_TERM_STEP;
		for (uint32_t k = 0; k < n; k++)
			e->counts[i] |= operand[k] != SW_NO_TERM && e->counts[operand[k]];
		if (e->loops_of)
			find_loops(e, i);
	}
}

/* Calls enter_loop() for the loops that the term depends on whatever way was taken.  Not for those on one of several
   ways: who takes one enters its loops.  whether: PERHAPS, or 0 if the term is computed for sure. */
static void enter_loops(struct sw_eval *e, uint32_t term, uint32_t whether)
{
	size_t base = e->work.n;
	if (!e->counts[term])
		return;
	*sw_vec_push(&e->work) = term | whether;
	while (e->work.n > base) {
		uint32_t item = e->work.at[--e->work.n], at = item & ~PERHAPS, perhaps = item & PERHAPS;
		const struct sw_term *t = &e->f->term[at];
		uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
		uint32_t seen = e->round - (perhaps != 0);
		if (e->stamp[at] >= seen)
			continue;
		e->stamp[at] = seen;
		if (t->op == SW_TERM_STEP && t->c < e->f->loops) {
			if (!perhaps || sw_eval_inside(e, t->c))
				enter_loop(e, t->c);
			else
				e->has_uninterpreted_fact |= whether && e->site;
		}
		for (uint32_t i = 0; i < n; i++) {
			bool chosen = is_way(t, i);
			if (operand[i] != SW_NO_TERM && e->counts[operand[i]])
				*sw_vec_push(&e->work) = operand[i] | (chosen ? PERHAPS : perhaps);
		}
	}
}

void sw_eval_enter_loops(struct sw_eval *e, uint32_t term)
{
	enter_loops(e, term, 0);
}

void sw_eval_enter_way(struct sw_eval *e, uint32_t of, uint32_t term)
{
	enter_loops(e, term, e->perhaps[of] ? PERHAPS : 0);
}

void sw_eval_take(struct sw_eval *e, uint32_t of, uint32_t term)
{
	size_t before = e->loops.n;
	sw_eval_enter_way(e, of, term);
	for (size_t i = before; i < e->loops.n && e->site; i++) {
		uint32_t loop = e->loops.at[i];
		const struct sw_variable *v = &e->variable.at[sw_eval_counter(e, loop)];
		e->has_uninterpreted_fact |= !sw_eval_inside(e, loop) && v->lo != v->hi;
	}
}

/* Do the facts of this loop hold already in this case? */
static bool is_entered(const struct sw_eval *e, uint32_t loop)
{
	for (size_t i = 0; i < e->loops.n; i++) {
		if (e->loops.at[i] == loop)
			return true;
	}
	return false;
}

/* Lets the n inequalities hold that are kept from number `from` on. */
static void hold_all(struct sw_eval *e, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct sw_form form = e->inequality.at[from + i];
		sw_eval_hold(e, &form);
	}
}

/* Lets hold what is known of the counter of a loop, and of those around it.  Inside of a loop whose facts hold for
   later iterations only, the first iteration becomes a case of its own. */
static void enter_loop(struct sw_eval *e, uint32_t loop)
{
	for (int i = 0; i < MAX_NEST && loop < e->f->loops && !is_entered(e, loop);
	     i++, loop = e->f->loop[loop].parent) {
		const struct sw_loop_info *info = &e->loop[loop];
		*sw_vec_push(&e->loops) = loop;
		sw_eval_case_changed(e);
		if (info->state != SW_LOOP_DONE)
			continue;
		e->impossible |= info->never;
		bool has_uninterpreted_fact = e->has_uninterpreted_fact;
		hold_all(e, info->always, info->n_always);
		/* The fact that ended a loop may decide questions that its own facts leave open. */
		e->has_uninterpreted_fact = has_uninterpreted_fact || info->vague;
		/* After the loop only the last value counts: its first is no case of its own. */
		if (!info->n_continued || (e->site && !sw_eval_inside(e, loop)))
			continue;
		uint32_t choice = sw_eval_case_choose(e, loop | UINT64_C(2) << 32, 2);
		if (choice == SW_NONE) {
			e->has_uninterpreted_fact = true;
			continue;
		}
		sw_eval_narrow(e, info->counter, choice, choice ? SW_INFINITE : 0);
		if (choice)
			hold_all(e, info->continued, info->n_continued);
	}
}

bool sw_eval_inside(const struct sw_eval *e, uint32_t loop)
{
	uint32_t at = e->site ? e->site->loop - 1 : SW_NONE; /* none: SW_NONE */
	for (int i = 0; i < MAX_NEST && at < e->f->loops; i++, at = e->f->loop[at].parent) {
		if (at == loop)
			return true;
	}
	return false;
}

void sw_eval_doubt_last(struct sw_eval *e, uint32_t var)
{
	const struct sw_variable *v = &e->variable.at[var];
	if (!v->counter || !e->site || sw_eval_inside(e, v->of))
		return;
	struct sw_loop_info *info = &e->loop[v->of];
	e->has_uninterpreted_fact |= v->lo != v->hi || e->choices;
	if (v->lo < 1 || info->last_round == e->round)
		return;
	info->last_round = e->round;
	hold_all(e, info->continued, info->n_continued); /* none yet while it is studied */
}

/* A loop whose counter is being bounded, and the inequalities that were found so far. */
struct back {
	struct sw_loop_info *info;
	uint32_t loop, counter;
	bool last; /* pass: what is vague in it counts */
	uint64_t bit;
	struct forms {
		struct sw_form *at;
		size_t n, room;
	} always, continued;
};

/* Adds a form, unless it is there. */
static void note_form(struct forms *forms, const struct sw_form *form)
{
	for (size_t i = 0; i < forms->n; i++) {
		if (sw_form_equal(&forms->at[i], form))
			return;
	}
	*sw_vec_push(forms) = *form;
}

/* Replaces what differs between iterations, other than the counter, by its largest value, so that form >= 0 holds in
   each iteration.  False: nothing bounds it. */
static bool freeze_others(const struct sw_eval *e, const struct back *b, struct sw_form *form)
{
	for (uint32_t i = form->n; i-- > 0;) {
		const struct sw_variable *v = &e->variable.at[form->var[i]];
		if (form->var[i] == b->counter || !(v->depends & (b->bit | SW_DEPEND_ANEW)))
			continue;
		b->info->vague |= !sw_depends_on_data_only(v->depends);
		sw_wide most = sw_wide_mul(form->by[i] > 0 ? v->hi_ever : v->lo_ever, form->by[i]);
		form->constant = sw_wide_add(form->constant, most);
		sw_form_take(form, form->var[i]);
	}
	return form->constant < SW_INFINITE && form->constant > -SW_INFINITE;
}

/* Notes form >= 0, which is known for each counter >= 1; for counter 0 as well, as it is or relaxed, as far as
   bounds say so. */
static void learn_inequality(struct sw_eval *e, struct back *b, const struct sw_form *form)
{
	struct sw_form first = *form, relaxed = *form;
	sw_form_take(&first, b->counter);
	struct sw_bounds range = sw_bound(e, &first);
	if (range.lo < 0)
		note_form(&b->continued, form);
	/* The inequality held at the end of the first iteration, too: together with the last iteration that covers all
	   in between. */
	struct sw_form second = first;
	second.constant += sw_form_by(form, b->counter);
	if (sw_form_by(form, b->counter) > 0 && sw_bound(e, &second).lo < 0)
		note_form(&b->continued, &second);
	if (range.lo <= -SW_INFINITE)
		return;
	if (range.lo < 0)
		relaxed.constant -= range.lo;
	note_form(&b->always, &relaxed);
	sw_eval_hold(e, &relaxed);
}

/* Two sides of a comparison: moving <condition> limit, where moving grows by step > 0 in each iteration. */
struct race {
	struct sw_form moving, limit;
	enum sw_condition condition;
	int64_t step;
	struct sw_bounds type;
};

/* form becomes -form.  False: the least number of 64 bits, which has no opposite, is a coefficient. */
static bool negate_form(struct sw_form *form)
{
	struct sw_form zero = {0};
	return sw_form_sum(form, &zero, form, -1, 0);
}

/* Writes a comparison that holds while the loop goes on as a race: the side with the counter moves towards a limit,
   both exact numbers of the type.  False: it is no such comparison, or the start may wrap around. */
static bool pose_race(struct sw_eval *e, const struct back *b, const struct sw_term *t, bool truth, bool is_signed,
		      struct race *out)
{
	static const uint8_t negated[] = {
		[SW_EQ] = SW_NE, [SW_NE] = SW_EQ, [SW_LT] = SW_GE, [SW_LE] = SW_GT, [SW_GT] = SW_LE, [SW_GE] = SW_LT};
	static const uint8_t turned[] = {
		[SW_EQ] = SW_EQ, [SW_NE] = SW_NE, [SW_LT] = SW_GT, [SW_LE] = SW_GE, [SW_GT] = SW_LT, [SW_GE] = SW_LE};
	unsigned width = (unsigned)t->imm2;
	struct sw_form left = sw_eval_term(e, t->a, width), right = sw_eval_term(e, t->b, width);
	bool swap = !sw_form_by(&left, b->counter);
	const struct sw_form *fixed = swap ? &left : &right;
	out->moving = swap ? right : left;
	out->step = sw_form_by(&out->moving, b->counter);
	if (!out->step || sw_form_by(fixed, b->counter) || out->step == INT64_MIN)
		return false;
	out->condition = (enum sw_condition)(truth ? t->imm : negated[t->imm]);
	if (swap)
		out->condition = (enum sw_condition)turned[out->condition];
	out->limit = sw_eval_exact(e, swap ? t->a : t->b, width, is_signed);
	out->type = sw_type_range(width, is_signed);
	struct sw_form start = out->moving;
	sw_form_take(&start, b->counter);
	if (sw_eval_depends(e, &start) & (b->bit | SW_DEPEND_ANEW))
		return false;
	/* The start must lie in the type's range, perhaps after a turn. */
	struct sw_bounds range = sw_bound(e, &start);
	sw_wide modulus = out->type.hi - out->type.lo + 1;
	sw_wide turns = sw_wide_floor(sw_wide_add(range.lo, -out->type.lo), modulus);
	if (range.lo <= -SW_INFINITE || turns != sw_wide_floor(sw_wide_add(range.hi, -out->type.lo), modulus))
		return false;
	out->moving.constant -= turns * modulus;
	if (out->step > 0)
		return true;
	out->step = -out->step;
	if (!negate_form(&out->moving) || !negate_form(&out->limit))
		return false;
	out->condition = (enum sw_condition)turned[out->condition];
	out->type = (struct sw_bounds){-out->type.hi, -out->type.lo};
	return true;
}

/* Is the limit a whole number of steps ahead, so that the moving side meets it and cannot jump over it? */
static bool meets_limit(struct sw_eval *e, const struct back *b, const struct race *r)
{
	struct sw_form ahead;
	struct sw_form start = r->moving;
	sw_form_take(&start, b->counter);
	if (!sw_form_sum(&ahead, &r->limit, &start, -1, 0) || ahead.constant % r->step)
		return false;
	return sw_form_divisor(&ahead) % (uint64_t)r->step == 0 && sw_bound(e, &ahead).lo >= 0;
}

/* Learns the inequality of a loop that continues while moving < limit (or until both are equal): as the limit is at
   least one step from the end of the type, the register does not wrap, by induction.  False: that is not sure. */
static bool run_race(struct sw_eval *e, struct back *b, struct race *r)
{
	struct sw_form ahead;
	sw_wide below = 0; /* moving <= limit - below while the loop continues */
	bool varies = sw_eval_depends(e, &r->limit) & (b->bit | SW_DEPEND_ANEW);
	if (r->condition == SW_NE && !varies && meets_limit(e, b, r))
		below = r->step;
	else if (r->condition == SW_LT || r->condition == SW_LE)
		below = r->condition == SW_LT;
	else
		return false;
	if (!freeze_others(e, b, &r->limit))
		return false;
	if (sw_wide_add(sw_bound(e, &r->limit).hi, r->step - below) > r->type.hi)
		return false;
	if (!sw_form_sum(&ahead, &r->limit, &r->moving, -1, 0))
		return false;
	ahead.constant += r->step - below; /* moving(k - 1) */
	learn_inequality(e, b, &ahead);
	return true;
}

/* Learns from one condition that holds whenever the loop goes on to another iteration.  arg: struct back. */
static void back_atom(struct sw_eval *e, uint32_t term, bool truth, void *arg)
{
	struct back *b = arg;
	const struct sw_term *t = &e->f->term[term];
	struct sw_comparison c;
	struct sw_form forms[2];
	struct race race;
	if (t->op != SW_OP_COMPARE || t->imm < SW_EQ || t->imm > SW_GE || t->imm2 < 1 || t->imm2 > 64) {
		if (b->last && !b->info->vague) {
			struct sw_form bit = sw_eval_term(e, term, 1);
			b->info->vague = !sw_depends_on_data_only(sw_eval_depends(e, &bit));
		}
		return;
	}
	if (sw_base_asks_for_null(e->f->term, t)) /* a pointer that counts down to null */
		sw_reads_pin(e->reads, t->a);
	bool is_signed = t->flags & SW_SIGNED, either_way = t->imm == SW_EQ || t->imm == SW_NE;
	for (int i = 0; i <= either_way; i++) {
		if (pose_race(e, b, t, truth, is_signed != (i == 1), &race) && run_race(e, b, &race))
			return;
	}
	bool compared = sw_eval_compare(e, term, truth, &c);
	uint32_t n = compared ? sw_comparison_forms(&c, forms) : 0;
	b->info->vague |= !n && !(compared && sw_depends_on_data_only(sw_eval_depends(e, &c.difference)));
	for (uint32_t i = 0; i < n; i++) {
		forms[i].constant -= sw_form_by(&forms[i], b->counter); /* k - 1 for k */
		if (freeze_others(e, b, &forms[i]))
			learn_inequality(e, b, &forms[i]);
	}
}

/* Keeps forms, which are >= 0, with those of the other loops. */
static void keep_inequalities(struct sw_eval *e, const struct sw_form *forms, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*sw_vec_push(&e->inequality) = forms[i];
}

/* Holds the facts on the way into a loop: those that are plain comparisons, or the others. */
static void hold_entry(struct sw_eval *e, const struct sw_loop *loop, bool plain)
{
	for (uint32_t i = loop->entries; i-- > 0 && !e->impossible;) { /* the outer ones first, as for a site */
		const struct sw_fact *fact = &e->f->fact[loop->entry + i];
		if ((e->f->term[fact->term].op == SW_OP_COMPARE) == plain)
			sw_eval_fact(e, fact->term, fact->truth);
	}
}

/* Learns from the facts on the way into the loop, which hold with the counter 0; those that other values in the loop
   go into are left out. */
static void learn_entry(struct sw_eval *e, const struct sw_loop *loop, struct back *b)
{
	size_t from = e->inequality.n;
	sw_eval_narrow(e, b->counter, 0, 0);
	e->recording = true;
	hold_entry(e, loop, true); /* they alone may say that nobody comes here */
	hold_entry(e, loop, false);
	e->recording = false;
	b->info->never = e->impossible;
	for (size_t i = from; i < e->inequality.n; i++) {
		struct sw_form form = e->inequality.at[i];
		sw_form_take(&form, b->counter);
		if (!(sw_eval_depends(e, &form) & b->bit))
			*sw_vec_push(&b->always) = form;
	}
	e->inequality.n = from;
}

/* Is form >= 0, which holds on the way into the loop, one that perhaps no thread satisfies?  Then the loop is vague:
   the site's own facts say the same, but only later, and would be taken for known by then. */
static bool is_doubtful_entry(const struct sw_eval *e, const struct back *b, const struct sw_form *form)
{
	return !sw_form_by(form, b->counter) && sw_bound_ever(e, form).lo < 0 && sw_eval_is_doubtful(e, form);
}

/* Finds the inequalities that bound the counter of a loop, after those of the loops around it.  Passes repeat
   because one fact may need another one to be understood. */
static void derive_loop_bounds(struct sw_eval *e, uint32_t number, uint32_t nest)
{
	const struct sw_loop *loop = &e->f->loop[number];
	struct sw_loop_info *info = &e->loop[number];
	struct back b = {.info = info, .loop = number, .bit = SW_DEPEND_LOOP(number)};
	if (info->state != SW_LOOP_NEW || nest == MAX_NEST)
		return;
	info->state = SW_LOOP_BUSY;
	if (loop->parent < e->f->loops) {
		derive_loop_bounds(e, loop->parent, nest + 1);
		info->never = e->loop[loop->parent].never;
	}
	b.counter = sw_eval_counter(e, number);
	/* One fact may need another one to be understood: "i < n && i < 4096", n of 64 bits. */
	int passes = loop->backs > 1 ? 3 : 2;
	for (int pass = 0; pass < passes && !info->never; pass++) {
		info->vague = false;
		b.last = pass == passes - 1;
		sw_eval_case_begin(e);
		if (loop->parent < e->f->loops)
			enter_loop(e, loop->parent);
		for (uint32_t i = 0; i < loop->entries; i++)
			sw_eval_enter_loops(e, e->f->fact[loop->entry + i].term);
		if (pass == 0) {
			learn_entry(e, loop, &b);
		} else {
			for (size_t i = 0; i < b.always.n; i++)
				sw_eval_hold(e, &b.always.at[i]);
			for (uint32_t i = 0; i < loop->backs; i++) {
				const struct sw_fact *fact = &e->f->fact[loop->back + i];
				bool all = sw_eval_atoms(e, fact->term, fact->truth, back_atom, &b);
				info->vague |= !all; /* which back_atom() sets, too */
			}
		}
		sw_eval_case_begin(e);
	}
	for (size_t i = 0; i < b.always.n; i++)
		info->vague |= is_doubtful_entry(e, &b, &b.always.at[i]);
	info->always = (uint32_t)e->inequality.n;
	info->n_always = (uint32_t)b.always.n;
	keep_inequalities(e, b.always.at, b.always.n);
	info->continued = (uint32_t)e->inequality.n;
	info->n_continued = (uint32_t)b.continued.n;
	keep_inequalities(e, b.continued.at, b.continued.n);
	info->state = SW_LOOP_DONE;
	free(b.always.at);
	free(b.continued.at);
}

void sw_eval_loops(struct sw_eval *e)
{
	e->choosing = false;
	for (uint32_t i = 0; i < e->f->loops && i < MAX_LOOPS; i++)
		derive_loop_bounds(e, i, 0);
}
