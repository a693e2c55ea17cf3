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
#include "footprint/launch/linear/simplex.h"
#include "footprint/rules.h"

/* ---- multipliers: which rows count is known from floating point; their factors are solved with integers */

/* Row i is multiplied by of_row[i] / scale, which is not negative. */
struct multipliers {
	sw_wide scale, of_row[SW_SYSTEM_ROWS];
};

/* Numbers above this are not multiplied: their products may leave the range of sw_wide. */
#define LARGE ((sw_wide)1 << 62)

/* Equations for the multipliers of the tight rows: the sum vanishes in every basic variable.  One more column: the
   right side. */
struct equations {
	uint32_t rows, n;
	sw_wide at[SW_SIMPLEX_COLUMNS][SW_SIMPLEX_COLUMNS + 1];
};

/* Greatest common divisor of two numbers that are not negative: steps of Euclid until 64 bits suffice. */
static sw_wide common_of(sw_wide a, sw_wide b)
{
	while (b > (sw_wide)UINT64_MAX || (b && a > (sw_wide)UINT64_MAX)) {
		sw_wide rest = a % b;
		a = b;
		b = rest;
	}
	return b ? (sw_wide)sw_gcd((uint64_t)a, (uint64_t)b) : a;
}

/* Divides a row by what its numbers have in common; false: they are too large all the same. */
static bool shrink_row(sw_wide *row, uint32_t n)
{
	sw_wide common = 0, most = 0;
	for (uint32_t j = 0; j <= n; j++)
		most = sw_wide_magnitude(row[j]) > most ? sw_wide_magnitude(row[j]) : most;
	if (most < (sw_wide)1 << 31)
		return true;
	for (uint32_t j = 0; j <= n && common != 1; j++)
		common = common_of(common, sw_wide_magnitude(row[j]));
	for (uint32_t j = 0; common > 1 && j <= n; j++)
		row[j] /= common;
	return most / common < LARGE;
}

/* Eliminates the unknown of this column from all equations but `row`.  False: the numbers get too large. */
static bool take_out(struct equations *q, uint32_t row, uint32_t column)
{
	for (uint32_t i = 0; i < q->rows; i++) {
		sw_wide a = q->at[row][column], b = q->at[i][column];
		if (i == row || !b)
			continue;
		uint64_t common = sw_gcd((uint64_t)sw_wide_magnitude(a), (uint64_t)sw_wide_magnitude(b));
		a /= (sw_wide)common;
		b /= (sw_wide)common;
		for (uint32_t j = 0; j <= q->n; j++)
			q->at[i][j] = q->at[i][j] * a - q->at[row][j] * b;
		if (!shrink_row(q->at[i], q->n))
			return false;
	}
	return true;
}

/* Solves the equations by elimination with integers; the solution of unknown j is over[j] / under[j].  False: they
   have none, or the numbers get too large. */
static bool solve_equations(struct equations *q, sw_wide *over, sw_wide *under)
{
	uint32_t done = 0;
	for (uint32_t k = 0; k < q->n; k++) {
		uint32_t row = SW_NONE, column = 0;
		for (uint32_t i = 0; i < q->rows; i++) { /* small numbers first: they keep the others small */
			for (uint32_t j = 0; j < q->n && !(done >> i & 1); j++) {
				sw_wide size = sw_wide_magnitude(q->at[i][j]);
				if (size && (row == SW_NONE || size < sw_wide_magnitude(q->at[row][column]))) {
					row = i;
					column = j;
				}
			}
		}
		if (row == SW_NONE || !take_out(q, row, column))
			return false;
		done |= 1u << row;
	}
	for (uint32_t i = 0; i < q->rows; i++) {
		if (!(done >> i & 1) && q->at[i][q->n])
			return false; /* more equations than unknowns, and they do not agree */
		for (uint32_t j = 0; j < q->n; j++) {
			if (!q->at[i][j])
				continue;
			sw_wide sign = q->at[i][j] < 0 ? -1 : 1;
			over[j] = sign * q->at[i][q->n];
			under[j] = sign * q->at[i][j];
		}
	}
	return true;
}

/* Writes the multipliers over[k] / under[k] of the tight rows with one denominator, out->scale.  Negative ones
   become 0: a row times a negative number proves nothing.  False: the denominator gets too large. */
static bool common_scale(const struct sw_simplex *p, sw_wide *over, sw_wide *under, struct multipliers *out)
{
	for (uint32_t k = 0; k < p->tight; k++) {
		if (over[k] <= 0)
			continue;
		sw_wide common = (sw_wide)sw_gcd((uint64_t)over[k], (uint64_t)under[k]);
		over[k] /= common;
		under[k] /= common;
		out->scale *= under[k] / (sw_wide)sw_gcd((uint64_t)under[k], (uint64_t)out->scale);
		if (out->scale > (sw_wide)UINT64_MAX)
			return false;
	}
	for (uint32_t k = 0; k < p->tight; k++) {
		if (over[k] > 0)
			out->of_row[p->tight_row[k]] += over[k] * (out->scale / under[k]);
	}
	return true;
}

/* Computes the exact multipliers of the rows that a linear program, solved for `form` with the rows and columns of
   the system, found to be tight.  False: the numbers get too large. */
static bool find_multipliers(const struct sw_form *form, const struct sw_system *s, const struct sw_simplex *p,
			     struct multipliers *out)
{
	struct equations q;
	sw_wide over[SW_SIMPLEX_COLUMNS], under[SW_SIMPLEX_COLUMNS];
	*out = (struct multipliers){.scale = 1};
	bool of_row = p->contradicts && p->contradiction >= s->n;
	q.n = p->tight;
	q.rows = p->basics;
	for (uint32_t k = 0; k < q.rows; k++) {
		uint32_t var = s->var[p->basic[k]];
		for (uint32_t j = 0; j < q.n; j++)
			q.at[k][j] = sw_form_by(s->row[p->tight_row[j]], var);
		sw_wide goal = sw_form_by(form, var);
		if (of_row)
			goal += sw_form_by(s->row[p->contradiction - s->n], var);
		else if (p->contradicts && p->contradiction == p->basic[k])
			goal += p->contradicts;
		q.at[k][q.n] = -goal;
	}
	if (!solve_equations(&q, over, under) || !common_scale(p, over, under, out))
		return false;
	if (of_row)
		out->of_row[p->contradiction - s->n] += out->scale;
	return true;
}

/* ---- a bound that some point attains */

/*
 * Is the bound that the intervals give a form reached?  A point of the case that reaches it proves that no inequality
 * makes it smaller, for a small part of what a linear program costs; most bounds are such.
 */

/* Beyond it nothing is tried: sums of products would leave the range of sw_wide. */
#define POINT_FAR ((sw_wide)1 << 62)

/* Has the variable a value in the point that is being tried?  A variable of only one value always has. */
static bool is_set(const struct sw_eval *e, uint32_t var)
{
	const struct sw_variable *v = &e->variable.at[var];
	return v->lo == v->hi || v->point_round == e->point_round;
}

/* The value of a variable that is_set(). */
static sw_wide point_of(const struct sw_eval *e, uint32_t var)
{
	const struct sw_variable *v = &e->variable.at[var];
	return v->lo == v->hi ? v->lo : v->point;
}

/* Gives a variable its value in the point; false: it is too far away to compute with. */
static bool set_point(struct sw_eval *e, uint32_t var, sw_wide value)
{
	struct sw_variable *v = &e->variable.at[var];
	v->point_round = e->point_round;
	v->point = value;
	return value < POINT_FAR && value > -POINT_FAR;
}

static sw_wide clamp_to(sw_wide value, sw_wide lo, sw_wide hi)
{
	return value < lo ? lo : value > hi ? hi : value;
}

/* Tries to give the variables of a quotient's dividend that have no value yet such values that the quotient has this
   one.  Greedy, so true does not say that it has: the caller checks the rows that define the quotient.  False: a value
   is too far away to compute with. */
static bool place_dividend(struct sw_eval *e, const struct sw_quotient *q, sw_wide value)
{
	sw_wide rest = value * q->divisor - q->x.constant, hi = 0;
	uint32_t todo = 0;
	for (uint32_t i = 0; i < q->x.n; i++) {
		const struct sw_variable *v = &e->variable.at[q->x.var[i]];
		sw_wide by = q->x.by[i];
		if (is_set(e, q->x.var[i])) {
			rest -= by * point_of(e, q->x.var[i]);
			continue;
		}
		if (v->lo <= -POINT_FAR)
			return false;
		todo |= 1u << i;
		hi += by * (by > 0 ? clamp_to(v->hi, -POINT_FAR, POINT_FAR) : v->lo);
	}
	while (todo) { /* the largest coefficient first, as digits of a number */
		uint32_t best = (uint32_t)__builtin_ctz(todo);
		for (uint32_t i = best + 1; i < q->x.n; i++) {
			sw_wide size = q->x.by[i] < 0 ? -(sw_wide)q->x.by[i] : q->x.by[i];
			sw_wide most = q->x.by[best] < 0 ? -(sw_wide)q->x.by[best] : q->x.by[best];
			if ((todo >> i & 1) && size > most)
				best = i;
		}
		const struct sw_variable *v = &e->variable.at[q->x.var[best]];
		sw_wide by = q->x.by[best], far = clamp_to(v->hi, -POINT_FAR, POINT_FAR);
		todo &= ~(1u << best);
		hi -= by * (by > 0 ? far : v->lo);
		/* The smallest part with which the others can still make up the rest. */
		sw_wide at = by > 0 ? -sw_wide_floor(hi - rest, by) : sw_wide_floor(hi - rest, -by);
		at = clamp_to(at, v->lo, far);
		rest -= by * at;
		if (!set_point(e, q->x.var[best], at))
			return false;
	}
	return true;
}

/* Does the point satisfy row >= 0? */
static bool row_holds(const struct sw_eval *e, const struct sw_form *row)
{
	sw_wide sum = row->constant;
	for (uint32_t i = 0; i < row->n; i++)
		sum += point_of(e, row->var[i]) * row->by[i];
	return sum >= 0;
}

/* Gives each variable of the form the end of its interval at which the form is largest; false: that is too far away. */
static bool set_form(struct sw_eval *e, const struct sw_form *form)
{
	for (uint32_t i = 0; i < form->n; i++) {
		const struct sw_variable *v = &e->variable.at[form->var[i]];
		if (v->lo != v->hi && !set_point(e, form->var[i], form->by[i] > 0 ? v->hi : v->lo))
			return false;
	}
	return true;
}

/* Gives the variables of a system that have no value yet their lowest one; quotients follow from their dividends.
   False: there is no room. */
static bool set_others(struct sw_eval *e, const struct sw_system *s)
{
	for (uint32_t j = 0; j < s->n; j++) {
		uint32_t var = s->var[s->order[j]];
		const struct sw_variable *v = &e->variable.at[var];
		sw_wide value = v->lo;
		if (is_set(e, var))
			continue;
		if (v->quotient) {
			const struct sw_quotient *q = &e->quotient.at[v->of];
			value = q->x.constant;
			for (uint32_t i = 0; i < q->x.n; i++) {
				if (!is_set(e, q->x.var[i]) &&
				    !set_point(e, q->x.var[i], e->variable.at[q->x.var[i]].lo))
					return false;
				value += q->x.by[i] * point_of(e, q->x.var[i]);
			}
			value = clamp_to(sw_wide_floor(value, q->divisor), v->lo, v->hi);
		}
		if (!set_point(e, var, value))
			return false;
	}
	return true;
}

/* Does some point of the case, by the system's inequalities, reach the upper bound that the variables' intervals
   give the form?  False: none was found. */
static bool bound_is_attained(struct sw_eval *e, const struct sw_form *form, const struct sw_system *s)
{
	if (SW_RULE_IS_OFF(attained_bound))
		return false;
	e->point_round++;
	if (!set_form(e, form))
		return false;
	for (uint32_t j = s->n; j-- > 0;) {
		uint32_t var = s->var[s->order[j]];
		const struct sw_variable *v = &e->variable.at[var];
		if (v->quotient && is_set(e, var) && !place_dividend(e, &e->quotient.at[v->of], v->point))
			return false;
	}
	if (!set_others(e, s))
		return false;
	for (uint32_t i = 0; i < s->rows; i++) {
		if (!row_holds(e, s->row[i]))
			return false;
	}
	return true;
}

/* The best upper (lower) bound that the variable's interval and any one row give it. */
static sw_wide by_one_row(const struct sw_eval *e, uint32_t var, bool upper, const struct sw_system *s)
{
	const struct sw_variable *v = &e->variable.at[var];
	sw_wide best = upper ? v->hi : v->lo;
	for (uint32_t i = 0; i < s->rows; i++) {
		int64_t by = sw_form_by(s->row[i], var);
		if (!by || by == INT64_MIN || (by < 0) != upper)
			continue;
		/* row = by * var + rest, and the rest is this at most. */
		sw_wide most = sw_bound_plain(e, s->row[i]).hi;
		if (most >= SW_INFINITE)
			continue;
		most -= by * (upper ? v->lo : v->hi);
		sw_wide at = upper ? sw_wide_floor(most, -(sw_wide)by) : -sw_wide_floor(most, by);
		best = upper ? (at < best ? at : best) : (at > best ? at : best);
	}
	return best;
}

/* For a form that is one variable, up or down: *highest is the bound that one row gives it.  True if some point reaches
   that, so that no other row makes it smaller.  False: none was found, and *highest may be set all the same. */
static bool variable_bound_attained(struct sw_eval *e, const struct sw_form *form, const struct sw_system *s,
				    sw_wide *highest)
{
	if (form->n != 1 || (form->by[0] != 1 && form->by[0] != -1))
		return false;
	bool upper = form->by[0] > 0;
	struct sw_variable *v = &e->variable.at[form->var[0]];
	struct sw_variable before = *v;
	if (v->lo <= -POINT_FAR || v->hi >= POINT_FAR)
		return false;
	sw_wide best = by_one_row(e, form->var[0], upper, s);
	if (best == (upper ? v->hi : v->lo) || best < v->lo || best > v->hi)
		return false;
	/* Between the bounds, so that it stays a variable. */
	*(upper ? &v->hi : &v->lo) = best;
	bool reached = v->lo != v->hi && bound_is_attained(e, form, s);
	v->lo = before.lo;
	v->hi = before.hi;
	*highest = upper ? best : -best;
	return reached;
}

/* ---- bounds */

/* Are the bounds and the factor so small that sums of their products need no test for overflow? (SW_FORM_VARS
   products of 94 bits fit.) */
static bool is_small(const struct sw_form *form, uint32_t k, sw_wide lo, sw_wide hi)
{
	return lo == (int64_t)lo && hi == (int64_t)hi && form->by[k] == (int32_t)form->by[k];
}

/* bound_by_intervals() for numbers of 64 bits, without tests for overflow; false: some are larger. */
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

/* Bounds a form by its variables' intervals: of this case, or (ever) those that hold whatever the facts. */
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

/* Has the system, which is the one that was numbered last, this variable? */
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

/* Has the form a variable of the system? */
static bool system_touches(const struct sw_eval *e, const struct sw_system *s, const struct sw_form *form)
{
	for (uint32_t i = 0; i < form->n; i++) {
		if (system_has(e, s, form->var[i]))
			return true;
	}
	return false;
}

/* Do the intervals alone imply row >= 0?  *state keeps the answer until an interval changes. */
static bool is_implied(const struct sw_eval *e, const struct sw_form *row, struct sw_row_state *state)
{
	if (state->round != e->interval_round + 1) {
		state->round = e->interval_round + 1;
		state->implied = bound_by_intervals(e, row, false).lo >= 0;
	}
	return state->implied;
}

/* Adds an inequality to a linear program, unless it holds anyway or is there already; s->cut: the program is full. */
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

/* Orders the variables by number in s->order: a quotient has a larger number than what it divides. */
static void system_sort(struct sw_system *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t j = i;
		for (; j && s->var[s->order[j - 1]] > s->var[i]; j--)
			s->order[j] = s->order[j - 1];
		s->order[j] = (uint8_t)i;
	}
}

/* Adds all inequalities that are connected with the system by a variable: the definitions of its quotients, and
   those that hold in this case. */
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

/* Makes the system of inequalities that may bound the form: its variables, and all that is connected with them. */
static void system_collect(const struct sw_eval *e, const struct sw_form *form, struct sw_system *out)
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

/* The upper bound of the form that multipliers p of the rows prove: scale * form + sum of multiplier * row, bounded
   by the intervals and divided by the scale. */
static sw_wide proven_bound(const struct sw_eval *e, const struct sw_form *form, const struct sw_system *s,
			    const struct multipliers *p)
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

/* Numbers of 64 bits are converted by one instruction, larger ones by a slow function. */
static double as_real(sw_wide x)
{
	return x == (int64_t)x ? (double)(int64_t)x : (double)x;
}

/* As good as no bound: nothing of interest is that large. */
#define FAR ((sw_wide)1 << 59)

/* Writes a system and the form to maximise as a linear program of real numbers. */
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

/* Cells of a linear program's table that take as long as a term; and how many terms the least program takes. */
#define CELLS_OF_A_TERM	   24
#define LEAST_PROGRAM_WORK 20

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

/* An upper bound of the form by a linear program, SW_INFINITE if that gives none.  *work: its cost, of the budget. */
static sw_wide solve_program(const struct sw_eval *e, const struct sw_form *form, const struct sw_system *s,
			     uint64_t *work)
{
	struct sw_simplex p;
	struct multipliers proof;
	sw_system_number(e, s);
	pose_program(e, form, s, &p);
	bool any = sw_simplex_solve(&p) && find_multipliers(form, s, &p, &proof);
	*work = LEAST_PROGRAM_WORK + p.work / CELLS_OF_A_TERM;
	return any ? proven_bound(e, form, s, &proof) : SW_INFINITE;
}

/* The upper bound of the form in this system: `plain`, which the intervals give, where a point attains it; else the
   one that a linear program proves. */
static struct sw_known_bound compute_bound(struct sw_eval *e, const struct sw_form *form, const struct sw_system *s,
					   sw_wide plain)
{
	struct sw_known_bound bound = {.highest = plain};
	if (bound_is_attained(e, form, s) || variable_bound_attained(e, form, s, &bound.highest))
		return bound;
	sw_wide hi = solve_program(e, form, s, &bound.work);
	/* The form takes only multiples of what its coefficients have in common. */
	uint64_t step = sw_form_divisor(form);
	bound.highest = hi >= plain ? plain : step ? sw_wide_floor(hi, step) * (sw_wide)step : hi;
	return bound;
}

/* compute_bound(), unless an earlier evaluation of the kernel posed the same program. */
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

/* The upper bound of a form without constant in this system, remembered for this evaluation.  plain: the one that
   the intervals give, which is the answer where there is no budget for more. */
static sw_wide highest_value(struct sw_eval *e, const struct sw_form *form, struct sw_system *s, sw_wide plain)
{
	uint64_t hash[2];
	if (e->budget < LEAST_PROGRAM_WORK || e->interval_bounds_only)
		return plain;
	hash_of(e, form, s, hash);
	uint64_t *known = sw_map_put(&e->bound_of, hash[0]);
	e->budget--;
	if (*known && e->outcome.at[*known - 1].check == hash[1])
		return e->outcome.at[*known - 1].highest;
	struct sw_known_bound bound = e->known && !SW_RULE_IS_OFF(known_bounds) ? known_bound(e, form, s, plain)
										: compute_bound(e, form, s, plain);
	e->budget -= bound.work < e->budget ? bound.work : e->budget;
	*sw_vec_push(&e->outcome) = (struct sw_outcome){hash[1], bound.highest};
	*known = e->outcome.n;
	return bound.highest;
}

/* Turns all signs of a form, none of whose coefficients is INT64_MIN. */
static void negate_form(struct sw_form *out, const struct sw_form *form)
{
	*out = *form;
	out->constant = -out->constant;
	for (uint32_t i = 0; i < out->n; i++)
		out->by[i] = -out->by[i];
}

/* Has each variable a finite lower bound?  The simplex method needs one. */
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
	system_collect(e, form, &s);
	return sw_bound_in(e, form, &s);
}

/* Do the inequalities contradict each other?  Then they prove that even 0 is less than 0. */
static bool is_contradictory(struct sw_eval *e, struct sw_system *s)
{
	struct sw_form nothing = {0};
	return s->rows > 1 && is_solvable(e, s) && highest_value(e, &nothing, s, 0) < 0;
}

/* Bounds each variable of the system by its inequalities; not numbers of threads and blocks, whose values are all
   taken.  Returns the index in e->range where the bounds begin, in the order of the system. */
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
		system_collect(e, form, s);
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
		system_collect(e, form, s);
	if (!e->impossible && is_contradictory(e, s))
		e->impossible = true;
	return !e->impossible;
}
