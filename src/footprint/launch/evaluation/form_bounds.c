/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds of a form.
 *
 * For any multipliers m >= 0 of inequalities g >= 0, form <= form + sum m * g, and the right side is bounded by the
 * variables' intervals alone.  A linear program in floating point proposes multipliers; they are made rational and the
 * bound is computed with integers, so that a bad proposal costs precision only.
 */
#include <math.h>

#include "base/hash.h"
#include "footprint/launch/evaluation/eval.h"
#include "footprint/launch/evaluation/multipliers.h"

/* Where nothing comes near to infinity sums need no care; SW_FORM_VARS products of 94 bits. */
static bool is_small(const struct sw_form *form, uint32_t k, sw_wide lo, sw_wide hi)
{
	return lo == (int64_t)lo && hi == (int64_t)hi && form->by[k] == (int32_t)form->by[k];
}

static bool bound_small(const struct sw_eval *e, const struct sw_form *form, bool ever, struct sw_bounds *out)
{
	sw_wide lo = form->constant, hi = form->constant;
	if (lo != (int64_t)lo)
		return false;
	for (uint32_t i = 0; i < form->n; i++) {
		const struct sw_variable *v = &e->variable.at[form->var[i]];
		sw_wide from = ever ? v->lo_ever : v->lo, to = ever ? v->hi_ever : v->hi;
		if (!is_small(form, i, from, to))
			return false;
		sw_wide a = (sw_wide)(int64_t)from * form->by[i], b = (sw_wide)(int64_t)to * form->by[i];
		lo += form->by[i] > 0 ? a : b;
		hi += form->by[i] > 0 ? b : a;
	}
	*out = (struct sw_bounds){lo, hi};
	return true;
}

static struct sw_bounds bound_by_intervals(const struct sw_eval *e, const struct sw_form *form, bool ever)
{
	struct sw_bounds sum;
	if (bound_small(e, form, ever, &sum))
		return sum;
	sum = (struct sw_bounds){form->constant, form->constant};
	for (uint32_t i = 0; i < form->n; i++) {
		const struct sw_variable *v = &e->variable.at[form->var[i]];
		sw_wide lo = ever ? v->lo_ever : v->lo, hi = ever ? v->hi_ever : v->hi;
		sum.lo = sw_wide_add(sum.lo, sw_wide_mul(form->by[i] > 0 ? lo : hi, form->by[i]));
		sum.hi = sw_wide_add(sum.hi, sw_wide_mul(form->by[i] > 0 ? hi : lo, form->by[i]));
	}
	return sum;
}

struct sw_bounds sw_bound_ever(const struct sw_eval *e, const struct sw_form *form)
{
	return bound_by_intervals(e, form, true);
}

struct sw_bounds sw_bound_plain(const struct sw_eval *e, const struct sw_form *form)
{
	return bound_by_intervals(e, form, false);
}

/* The system is the one that is collected: its variables know where they stand. */
static bool system_has(const struct sw_eval *e, const struct sw_system *s, uint32_t var)
{
	uint32_t column = e->variable.at[var].column;
	return column < s->n && s->var[column] == var;
}

/* Adds the variables of a form that are not fixed; false: no room, nothing was added. */
static bool system_extend(const struct sw_eval *e, struct sw_system *s, const struct sw_form *form)
{
	uint32_t n = s->n;
	for (uint32_t i = 0; i < form->n; i++) {
		if (sw_eval_fixed(e, form->var[i]) || system_has(e, s, form->var[i]))
			continue;
		if (s->n == sizeof s->var / sizeof *s->var) {
			s->n = n;
			return false;
		}
		e->variable.at[form->var[i]].column = s->n;
		s->var[s->n++] = form->var[i];
	}
	return true;
}

static bool system_touches(const struct sw_eval *e, const struct sw_system *s, const struct sw_form *form)
{
	for (uint32_t i = 0; i < form->n; i++) {
		if (system_has(e, s, form->var[i]))
			return true;
	}
	return false;
}

static bool is_implied(const struct sw_eval *e, const struct sw_form *row, struct sw_row_state *state)
{
	if (state->round != e->interval_round + 1) {
		state->round = e->interval_round + 1;
		state->implied = bound_by_intervals(e, row, false).lo >= 0;
	}
	return state->implied;
}

static void system_add(const struct sw_eval *e, struct sw_system *s, const struct sw_form *row,
		       struct sw_row_state *state)
{
	if (is_implied(e, row, state))
		return;
	for (uint32_t i = 0; i < s->rows; i++) {
		if (s->row[i] == row)
			return;
	}
	if (s->rows == SW_SYSTEM_ROWS || !system_extend(e, s, row)) {
		s->cut = true;
		return;
	}
	s->row[s->rows++] = row;
	uint64_t hash = state->hash;
	for (uint32_t k = 0; k < row->n; k++)
		hash = (hash ^ e->variable.at[row->var[k]].mark) * UINT64_C(0x9e3779b97f4a7c15);
	s->hash = sw_hash_u64(s->hash ^ hash);
	s->check = s->check * 5 + sw_hash_u64(hash + s->rows);
}

/* Variables by number: quotients have larger ones than what they divide. */
static void system_sort(struct sw_system *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t j = i;
		for (; j && s->var[s->order[j - 1]] > s->var[i]; j--)
			s->order[j] = s->order[j - 1];
		s->order[j] = (uint8_t)i;
	}
}

/* Closes the system over what is connected with it. */
static void system_close(const struct sw_eval *e, struct sw_system *s)
{
	uint32_t rows, n, looked_at = 0;
	uint64_t tried = 0; /* of the first 64 that hold: they are in, or imply nothing */
	s->has_shape = false;
	do {
		rows = s->rows;
		n = s->n;
		for (; looked_at < s->n; looked_at++) {
			const struct sw_variable *v = &e->variable.at[s->var[looked_at]];
			if (!v->quotient)
				continue;
			struct sw_quotient *q = &e->quotient.at[v->of];
			system_add(e, s, &q->least, &q->least_state);
			system_add(e, s, &q->most, &q->most_state);
		}
		for (size_t i = 0; i < e->holds.n; i++) {
			if ((i < 64 && tried >> i & 1) || !system_touches(e, s, &e->holds.at[i]))
				continue;
			system_add(e, s, &e->holds.at[i], &e->hold_state.at[i]);
			tried |= i < 64 ? UINT64_C(1) << i : 0;
		}
	} while (rows != s->rows || n != s->n);
	system_sort(s);
}

void sw_system_collect(const struct sw_eval *e, const struct sw_form *form, struct sw_system *out)
{
	out->n = out->rows = 0;
	out->hash = out->check = SW_FNV_START;
	out->cut = !system_extend(e, out, form);
	system_close(e, out);
}

void sw_system_complete(const struct sw_eval *e, struct sw_system *s)
{
	sw_system_number(e, s);
	for (size_t i = 0; i < e->holds.n; i++) {
		if (!sw_depends_on_data_only(sw_eval_depends(e, &e->holds.at[i])))
			system_add(e, s, &e->holds.at[i], &e->hold_state.at[i]);
	}
	system_close(e, s);
}

void sw_system_number(const struct sw_eval *e, const struct sw_system *s)
{
	for (uint32_t j = 0; j < s->n; j++)
		e->variable.at[s->var[j]].column = j;
}

/* scale * form + sum multiplier * row, bounded from above by the intervals, divided by the scale. */
static sw_wide proven_bound(const struct sw_eval *e, const struct sw_form *form, const struct sw_system *s,
			    const struct sw_multipliers *p)
{
	sw_wide sum = 0, by[16];
	for (uint32_t j = 0; j < s->n; j++)
		by[j] = 0;
	const struct sw_form *part = form;
	for (uint32_t i = 0; i <= s->rows; i++) {
		sw_wide m = i ? p->of_row[i - 1] : p->scale;
		part = i ? s->row[i - 1] : form;
		if (!m)
			continue;
		sum = sw_wide_add(sum, sw_wide_mul(part->constant, m));
		for (uint32_t k = 0; k < part->n; k++) {
			const struct sw_variable *v = &e->variable.at[part->var[k]];
			if (v->lo == v->hi) {
				sum = sw_wide_add(sum, sw_wide_mul(sw_wide_mul(v->lo, part->by[k]), m));
				continue;
			}
			if (system_has(e, s, part->var[k]))
				by[v->column] = sw_wide_add(by[v->column], sw_wide_mul(part->by[k], m));
		}
	}
	for (uint32_t j = 0; j < s->n; j++) {
		const struct sw_variable *v = &e->variable.at[s->var[j]];
		if (by[j])
			sum = sw_wide_add(sum, sw_wide_mul(by[j] > 0 ? v->hi : v->lo, by[j]));
	}
	/* An infinity of the wrong sign is an overflow of opposite infinities: no bound. */
	return sum <= -SW_INFINITE ? SW_INFINITE : sw_wide_floor(sum, p->scale);
}

static double as_real(sw_wide x)
{
	return x == (int64_t)x ? (double)(int64_t)x : (double)x;
}

/* As good as no bound: nothing of interest is that large. */
#define FAR ((sw_wide)1 << 59)

static void pose_program(const struct sw_eval *e, const struct sw_form *form, const struct sw_system *s,
			 struct sw_simplex *p)
{
	p->columns = s->n;
	p->rows = s->rows;
	for (uint32_t i = 0; i < s->rows; i++) {
		const struct sw_form *row = s->row[i];
		p->constant[i] = as_real(row->constant);
		for (uint32_t j = 0; j < s->n; j++)
			p->row[i][j] = 0;
		for (uint32_t k = 0; k < row->n; k++) {
			const struct sw_variable *v = &e->variable.at[row->var[k]];
			if (v->lo == v->hi)
				p->constant[i] += as_real(v->lo) * (double)row->by[k];
			else if (system_has(e, s, row->var[k]))
				p->row[i][v->column] = (double)row->by[k];
		}
	}
	for (uint32_t j = 0; j < s->n; j++) {
		const struct sw_variable *v = &e->variable.at[s->var[j]];
		p->goal[j] = 0;
		p->lo[j] = as_real(v->lo);
		p->hi[j] = v->hi >= FAR ? INFINITY : as_real(v->hi);
	}
	for (uint32_t k = 0; k < form->n; k++)
		if (system_has(e, s, form->var[k]))
			p->goal[e->variable.at[form->var[k]].column] = (double)form->by[k];
}

/* Cells of a linear program's table that take as long as a term. */
#define CELLS_OF_A_TERM 24

/* Two hashes of what the bound follows from: the form, the rows, and the intervals of their variables. */
static void hash_of(const struct sw_eval *e, const struct sw_form *form, const struct sw_system *s, uint64_t hash[2])
{
	uint64_t own = form->n;
	for (uint32_t k = 0; k < form->n; k++) {
		const struct sw_variable *v = &e->variable.at[form->var[k]];
		own = sw_hash_u64(own ^ (uint64_t)form->by[k]) + form->var[k] * UINT64_C(0x9e3779b97f4a7c15) + v->mark;
	}
	hash[0] = sw_hash_u64(s->hash ^ own);
	hash[1] = s->check + sw_hash_u64(own + 1);
}

static sw_wide solve_program(const struct sw_eval *e, const struct sw_form *form, const struct sw_system *s,
			     uint64_t *work)
{
	struct sw_simplex p;
	struct sw_multipliers proof;
	sw_system_number(e, s);
	pose_program(e, form, s, &p);
	bool any = sw_simplex_solve(&p) && sw_multipliers_find(form, s, &p, &proof);
	*work = 20 + p.work / CELLS_OF_A_TERM;
	return any ? proven_bound(e, form, s, &proof) : SW_INFINITE;
}

static struct sw_known_bound compute_bound(struct sw_eval *e, const struct sw_form *form, const struct sw_system *s,
					   sw_wide plain)
{
	struct sw_known_bound bound = {.highest = plain};
	if (sw_corner_reached(e, form, s) || sw_corner_of_variable(e, form, s, &bound.highest))
		return bound;
	sw_wide hi = solve_program(e, form, s, &bound.work);
	/* The form takes only multiples of what its coefficients have in common. */
	uint64_t step = sw_form_divisor(form);
	bound.highest = hi >= plain ? plain : step ? sw_wide_floor(hi, step) * (sw_wide)step : hi;
	return bound;
}

/* Of this evaluation or an earlier one. */
static struct sw_known_bound known_bound(struct sw_eval *e, const struct sw_form *form, struct sw_system *s,
					 sw_wide plain)
{
	uint64_t hash[2];
	sw_system_hash(e, s, form, hash);
	const struct sw_known_bound *before = sw_known_bounds_find(e->known, hash);
	if (before)
		return *before;
	struct sw_known_bound bound = compute_bound(e, form, s, plain);
	bound.hash[0] = hash[0];
	bound.hash[1] = hash[1];
	sw_known_bounds_keep(e->known, &bound);
	return bound;
}

/* form has no constant. */
static sw_wide highest_value(struct sw_eval *e, const struct sw_form *form, struct sw_system *s, sw_wide plain)
{
	uint64_t hash[2];
	if (e->budget < 20 || e->interval_bounds_only)
		return plain;
	hash_of(e, form, s, hash);
	uint64_t *known = sw_map_put(&e->bound_of, hash[0]);
	e->budget--;
	if (*known && e->outcome.at[*known - 1].check == hash[1])
		return e->outcome.at[*known - 1].highest;
	struct sw_known_bound bound = e->known ? known_bound(e, form, s, plain) : compute_bound(e, form, s, plain);
	e->budget -= bound.work < e->budget ? bound.work : e->budget;
	*sw_vec_push(&e->outcome) = (struct sw_outcome){hash[1], bound.highest};
	*known = e->outcome.n;
	return bound.highest;
}

static void negate_form(struct sw_form *out, const struct sw_form *form)
{
	*out = *form;
	out->constant = -out->constant;
	for (uint32_t i = 0; i < out->n; i++)
		out->by[i] = -out->by[i]; /* INT64_MIN stays: such a form has no bounds worth having */
}

static bool is_solvable(const struct sw_eval *e, const struct sw_system *s)
{
	for (uint32_t j = 0; j < s->n; j++) {
		if (e->variable.at[s->var[j]].lo <= -SW_INFINITE)
			return false;
	}
	return true;
}

/* The form's constant is added in the end: forms that differ in it alone pose the same programs. */
struct sw_bounds sw_bound_in(struct sw_eval *e, const struct sw_form *whole, struct sw_system *s)
{
	struct sw_bounds plain = bound_by_intervals(e, whole, false), best = plain;
	struct sw_form parts = *whole, *form = &parts;
	struct sw_form negative;
	if (!s->rows || !is_solvable(e, s))
		return plain;
	for (uint32_t i = 0; i < form->n; i++) {
		if (form->by[i] == INT64_MIN)
			return plain;
	}
	parts.constant = 0;
	best.hi = sw_wide_add(highest_value(e, form, s, sw_wide_add(plain.hi, -whole->constant)), whole->constant);
	negate_form(&negative, form);
	best.lo =
		sw_wide_add(-highest_value(e, &negative, s, sw_wide_add(whole->constant, -plain.lo)), whole->constant);
	return best;
}

struct sw_bounds sw_bound(struct sw_eval *e, const struct sw_form *form)
{
	struct sw_system s;
	sw_system_collect(e, form, &s);
	return sw_bound_in(e, form, &s);
}

/* Do the inequalities contradict each other? */
static bool is_contradictory(struct sw_eval *e, struct sw_system *s)
{
	struct sw_form nothing = {0};
	return s->rows > 1 && is_solvable(e, s) && highest_value(e, &nothing, s, 0) < 0;
}

/* Bounds of all variables of the system, in its order, where integrality is tighter than the inequalities, and where
   the width decides. */
static size_t ranges_of(struct sw_eval *e, struct sw_system *s)
{
	uint64_t hash = s->hash, check = s->check;
	for (uint32_t j = 0; j < s->n; j++) {
		hash = sw_hash_u64(hash ^ (s->var[j] + e->variable.at[s->var[j]].mark));
		check = check * 3 + hash;
	}
	uint64_t *known = sw_map_put(&e->narrowing_of, hash);
	if (*known && e->narrowing.at[*known - 1].check == check)
		return e->narrowing.at[*known - 1].from;
	size_t from = e->range.n;
	for (uint32_t j = 0; j < s->n; j++) {
		const struct sw_variable *v = &e->variable.at[s->var[j]];
		struct sw_form one = sw_form_variable(s->var[j]);
		struct sw_bounds range = v->quotient || v->counter || v->why ? sw_bound_in(e, &one, s)
									     : (struct sw_bounds){v->lo, v->hi};
		*sw_vec_push(&e->range) = range;
	}
	*sw_vec_push(&e->narrowing) = (struct sw_narrowing){check, from};
	*known = e->narrowing.n;
	return from;
}

bool sw_system_narrow(struct sw_eval *e, const struct sw_form *form, struct sw_system *s)
{
	uint32_t counter[3 * sizeof s->var / sizeof *s->var], counters = 0;
	uint64_t collected = 0;
	for (int round = 0; round < 3 && !e->impossible && !e->interval_bounds_only; round++) {
		bool better = false;
		sw_system_collect(e, form, s);
		collected = e->state;
		if (!s->rows) /* counters that were narrowed before are still in doubt */
			break;
		size_t from = ranges_of(e, s); /* all before the first is used: narrowing may add rows */
		for (uint32_t j = 0; j < s->n && !e->impossible; j++) {
			const struct sw_variable *v = &e->variable.at[s->var[j]];
			const struct sw_bounds *range = &e->range.at[from + j];
			bool narrower = range->lo > v->lo || range->hi < v->hi;
			better |= (v->quotient || v->counter) && narrower;
			if (v->counter && narrower)
				counter[counters++] = s->var[j];
			sw_eval_narrow(e, s->var[j], range->lo, range->hi);
		}
		if (!better)
			break;
	}
	for (uint32_t i = 0; i < counters; i++)
		sw_eval_doubt_last(e, counter[i]);
	if (collected != e->state || !collected)
		sw_system_collect(e, form, s);
	if (!e->impossible && is_contradictory(e, s))
		e->impossible = true;
	return !e->impossible;
}
