/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the area of an address simple (area.h): quotients become digits, variables that the address lacks go. */
#include <stddef.h>
#include <string.h>

#include "footprint/launch/evaluation/area.h"
#include "footprint/rules.h"

/* The least value that the row takes by the intervals of its variables. */
static sw_wide least_of_row(const struct sw_area *p, const struct sw_area_row *row)
{
	sw_wide sum = row->constant;
	for (uint32_t i = 0; i < p->n; i++)
		sum = sw_wide_add(sum, sw_wide_mul(row->by[i], row->by[i] > 0 ? p->lo[i] : p->hi[i]));
	return sum;
}

/* The variables that occur in a row, as a bit set. */
static uint32_t variables_of(const struct sw_area *p, const struct sw_area_row *row)
{
	uint32_t set = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		if (row->by[i])
			set |= 1u << i;
	}
	return set;
}

/* The last row takes its place: loops that drop rows run downwards. */
static void drop_row(struct sw_area *p, uint32_t at)
{
	p->row[at] = p->row[--p->rows];
}

/* Are the row's terms in the variables of x a multiple of x?  *factor: by how much, 0 if the row has none of them. */
static bool is_multiple(const struct sw_area *p, const struct sw_area_row *row, const struct sw_area_row *x,
			sw_wide *factor)
{
	*factor = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		if (x->by[i] && row->by[i]) {
			if (row->by[i] % x->by[i])
				return false;
			*factor = row->by[i] / x->by[i];
			break;
		}
	}
	for (uint32_t i = 0; i < p->n; i++) {
		if (x->by[i] && row->by[i] != *factor * x->by[i])
			return false;
	}
	return true;
}

/* Does x take every value between its bounds?  It does if the coefficients begin with 1 and none is larger than what
   the smaller ones span, and one more. */
static bool is_dense(const struct sw_area *p, const struct sw_area_row *x, sw_wide *lo, sw_wide *hi)
{
	uint32_t left = variables_of(p, x);
	sw_wide span = 0;
	*lo = *hi = x->constant;
	while (left) {
		int best = -1;
		for (uint32_t i = 0; i < p->n; i++) {
			if ((left >> i & 1) &&
			    (best < 0 || sw_wide_magnitude(x->by[i]) < sw_wide_magnitude(x->by[best])))
				best = (int)i;
		}
		sw_wide by = x->by[best], size = sw_wide_magnitude(by);
		if (size > span + 1)
			return false;
		span = sw_wide_add(span, sw_wide_mul(size, p->hi[best] - p->lo[best]));
		*lo = sw_wide_add(*lo, sw_wide_mul(by, by > 0 ? p->lo[best] : p->hi[best]));
		*hi = sw_wide_add(*hi, sw_wide_mul(by, by > 0 ? p->hi[best] : p->lo[best]));
		left &= ~(1u << best);
	}
	return true;
}

/* Replaces factor * x in a row by factor * (divisor * q + r), the quotient and the remainder of x. */
static void substitute_digits(struct sw_area *p, struct sw_area_row *row, const struct sw_area_row *x, sw_wide divisor,
			      int q, int r)
{
	sw_wide factor;
	is_multiple(p, row, x, &factor);
	for (uint32_t i = 0; i < p->n; i++) {
		if (x->by[i])
			row->by[i] = 0;
	}
	row->constant -= factor * x->constant;
	row->by[q] += factor * divisor;
	row->by[r] += factor;
}

/* Is the row one of the two that define variable q as floor(x / divisor): x - divisor * q >= 0, or divisor * q +
   divisor - 1 - x >= 0? */
static bool is_definition(const struct sw_area *p, const struct sw_area_row *row, const struct sw_area_row *x,
			  sw_wide divisor, int q)
{
	sw_wide sign = row->by[q] == -divisor ? 1 : row->by[q] == divisor ? -1 : 0;
	sw_wide constant = sign > 0 ? x->constant : divisor - 1 - x->constant;
	if (!sign || row->constant != constant)
		return false;
	for (uint32_t i = 0; i < p->n; i++) {
		if ((int)i != q && row->by[i] != sign * x->by[i])
			return false;
	}
	return true;
}

/* The quotient that variable i stands for; NULL: it is none. */
static const struct sw_quotient *quotient_of(const struct sw_area *p, uint32_t i)
{
	const struct sw_eval *e = p->eval;
	const struct sw_variable *v = p->var[i] == SW_NONE ? NULL : &e->variable.at[p->var[i]];
	return v && v->quotient ? &e->quotient.at[v->of] : NULL;
}

/* A number and what it is divided by. */
struct division {
	struct sw_area_row x;
	sw_wide divisor;
};

/* Writes a quotient's dividend in the area's variables.  False: some of these are not in the area, or were replaced
   by digits. */
static bool division_of(const struct sw_area *p, const struct sw_quotient *quotient, struct division *out)
{
	*out = (struct division){.x.constant = quotient->x.constant, .divisor = quotient->divisor};
	for (uint32_t i = 0; i < quotient->x.n; i++) {
		const struct sw_variable *v = &p->eval->variable.at[quotient->x.var[i]];
		int at = sw_area_local(p, quotient->x.var[i]);
		if (v->lo == v->hi)
			out->x.constant += v->lo * quotient->x.by[i];
		else if (at < 0)
			return false;
		else
			out->x.by[at] = quotient->x.by[i];
	}
	return true;
}

/* Another quotient of the same number, by the largest divisor that divides this one's; -1: there is none. The groups
   of blocks, x / 24, are a sixth of their rows, x / 4. */
static int finer_quotient(const struct sw_area *p, uint32_t q)
{
	const struct sw_quotient *own = quotient_of(p, q), *best = NULL;
	int found = -1;
	if (SW_RULE_IS_OFF(chained_quotients))
		return -1;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct sw_quotient *other = quotient_of(p, i);
		if (i == q || !other || own->divisor % other->divisor || own->divisor == other->divisor ||
		    !sw_form_equal(&own->x, &other->x) || (best && other->divisor <= best->divisor))
			continue;
		best = other;
		found = (int)i;
	}
	return found;
}

/* Defines quotients by finer ones of the same number where there are any; by[q]: the finer one, or -1. False: there
   is no room for the rows. */
static bool chain_quotients(struct sw_area *p, int by[SW_AREA_VARS])
{
	for (uint32_t q = 0; q < p->n; q++) {
		struct division old;
		by[q] = quotient_of(p, q) ? finer_quotient(p, q) : -1;
		if (by[q] < 0 || !division_of(p, quotient_of(p, q), &old))
			continue;
		for (uint32_t i = p->rows; i-- > 0;) {
			if (is_definition(p, &p->row[i], &old.x, old.divisor, (int)q))
				drop_row(p, i);
		}
		if (p->rows + 2 > SW_AREA_ROWS)
			return false;
		sw_wide ratio = old.divisor / quotient_of(p, (uint32_t)by[q])->divisor;
		struct sw_area_row *least_row = &p->row[p->rows++], *most_row = &p->row[p->rows++];
		*least_row = (struct sw_area_row){0};
		least_row->by[by[q]] = 1;
		least_row->by[q] = -ratio;
		*most_row = (struct sw_area_row){.constant = ratio - 1};
		most_row->by[by[q]] = -1;
		most_row->by[q] = ratio;
	}
	return true;
}

/* Writes the dividend x of quotient q as divisor * q + r, in the address and in all rows; the remainder r is a new
   variable.  by: the finer quotient that x is, or -1.  *done: it could be done; x may have to be replaced in parts
   first. False: there is no room. */
static bool split_quotient(struct sw_area *p, int q, int by, bool *done)
{
	struct division of;
	sw_wide factor, lo, hi;
	*done = false;
	if (by >= 0 && !quotient_of(p, (uint32_t)by))
		return true; /* replaced by other digits */
	if (by >= 0) {
		of = (struct division){0};
		of.x.by[by] = 1;
		of.divisor = quotient_of(p, (uint32_t)q)->divisor / quotient_of(p, (uint32_t)by)->divisor;
	} else if (!division_of(p, quotient_of(p, (uint32_t)q), &of)) {
		return true;
	}
	struct sw_area_row x = of.x;
	sw_wide d = of.divisor;
	if (!is_dense(p, &x, &lo, &hi) || !is_multiple(p, &p->address, &x, &factor))
		return true;
	for (uint32_t i = 0; i < p->rows; i++) {
		if (!is_definition(p, &p->row[i], &x, d, q) && !is_multiple(p, &p->row[i], &x, &factor))
			return true;
	}
	if (p->n == SW_AREA_VARS || p->rows + 2 > SW_AREA_ROWS || lo <= -SW_INFINITE)
		return false;
	int r = (int)p->n++;
	p->var[r] = SW_NONE;
	p->lo[r] = 0;
	p->hi[r] = d - 1;
	for (uint32_t i = p->rows; i-- > 0;) {
		if (is_definition(p, &p->row[i], &x, d, q))
			drop_row(p, i);
		else
			substitute_digits(p, &p->row[i], &x, d, q, r);
	}
	substitute_digits(p, &p->address, &x, d, q, r);
	struct sw_area_row *least_row = &p->row[p->rows++];
	*least_row = (struct sw_area_row){.constant = -lo};
	least_row->by[q] = d;
	least_row->by[r] = 1;
	if (hi < SW_INFINITE) {
		struct sw_area_row *most_row = &p->row[p->rows++];
		*most_row = (struct sw_area_row){.constant = hi};
		most_row->by[q] = -d;
		most_row->by[r] = -1;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		if (x.by[i])
			p->var[i] = SW_NONE; /* gone: in no row any more */
	}
	*done = true;
	return true;
}

/* Does the quotient's dividend contain a quotient that was not split yet?  Splitting this one first would remove
   that. */
static bool must_wait(const struct sw_area *p, uint32_t q, int by, uint32_t split_already)
{
	const struct sw_quotient *own = quotient_of(p, q);
	bool any = by >= 0 && !(split_already >> by & 1);
	for (uint32_t i = 0; by < 0 && i < own->x.n; i++) {
		int at = sw_area_local(p, own->x.var[i]);
		any |= at >= 0 && quotient_of(p, (uint32_t)at) && !(split_already >> at & 1);
	}
	return any;
}

/* Replaces the dividends of all quotients by quotient and remainder, those inside of others first as long as that
   gets on.  False: some cannot be replaced. */
static bool split_quotients(struct sw_area *p)
{
	bool again = true, left = true, inner_first = true;
	uint32_t split_already = 0;
	const uint32_t chained = p->n; /* remainders get variables */
	int by[SW_AREA_VARS];
	if (!chain_quotients(p, by))
		return false;
	while (left && (again || inner_first)) {
		inner_first &= again;
		again = left = false;
		for (uint32_t i = 0; i < p->n; i++) {
			bool done = false;
			int finer_one = i < chained ? by[i] : -1;
			if ((split_already >> i & 1) || !quotient_of(p, i))
				continue;
			if (!(inner_first && must_wait(p, i, finer_one, split_already)) &&
			    !split_quotient(p, (int)i, finer_one, &done))
				return false;
			split_already |= (uint32_t)done << i;
			again |= done;
			left |= !done;
		}
	}
	return !left;
}

/* Divides a row by what its coefficients have in common.  The variables are whole numbers, so the constant is
   rounded down: 4 * x + 2 * y >= 3 is 2 * x + y >= 2. */
static void divide_row(struct sw_area *p, struct sw_area_row *row)
{
	uint64_t divisor = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		if (sw_wide_magnitude(row->by[i]) > INT64_MAX)
			return;
		divisor = sw_gcd(divisor, (uint64_t)sw_wide_magnitude(row->by[i]));
	}
	if (divisor < 2)
		return;
	row->constant = sw_wide_floor(row->constant, (sw_wide)divisor);
	for (uint32_t i = 0; i < p->n; i++)
		row->by[i] /= (sw_wide)divisor;
}

/* Have two rows opposite coefficients, so that one bounds from above what the other bounds from below? */
static bool are_opposite(const struct sw_area *p, const struct sw_area_row *x, const struct sw_area_row *y)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (x->by[i] != -y->by[i])
			return false;
	}
	return true;
}

/* Does no point satisfy the rows: is an interval empty, or do two opposite rows leave nothing between them? */
static bool is_empty(const struct sw_area *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->lo[i] > p->hi[i])
			return true;
	}
	for (uint32_t i = 0; i < p->rows; i++) {
		for (uint32_t j = 0; j <= i; j++) {
			if (are_opposite(p, &p->row[i], &p->row[j]) &&
			    sw_wide_add(p->row[i].constant, p->row[j].constant) < 0)
				return true;
		}
	}
	return false;
}

/* Shortens the intervals of the variables by rows of one variable alone, and drops rows that always hold. True: some
   interval became shorter. */
static bool shorten_intervals(struct sw_area *p)
{
	bool changed = false;
	for (uint32_t i = 0; i < p->rows; i++)
		divide_row(p, &p->row[i]);
	for (uint32_t i = p->rows; i-- > 0;) {
		uint32_t set = variables_of(p, &p->row[i]);
		if (least_of_row(p, &p->row[i]) >= 0) {
			drop_row(p, i);
			continue;
		}
		if (!set || (set & (set - 1)))
			continue;
		int at = __builtin_ctz(set);
		sw_wide by = p->row[i].by[at], constant = p->row[i].constant;
		if (by > 0)
			p->lo[at] = -sw_wide_floor(constant, by);
		else
			p->hi[at] = sw_wide_floor(constant, -by);
		drop_row(p, i);
		changed = true;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->lo[i] != p->hi[i])
			continue;
		p->address.constant += p->address.by[i] * p->lo[i];
		p->address.by[i] = 0;
		for (uint32_t j = 0; j < p->rows; j++) {
			p->row[j].constant += p->row[j].by[i] * p->lo[i];
			p->row[j].by[i] = 0;
		}
	}
	return changed;
}

/* Merges variable j into i, if all rows add them up in one proportion and the sum takes every value, as tid + 256 *
   ctaid does.  The address has neither of them.  False: nothing was changed. */
static bool merge_hidden(struct sw_area *p, uint32_t i, uint32_t j)
{
	sw_wide ratio = 0;
	if (SW_RULE_IS_OFF(merged_hidden))
		return false;
	for (uint32_t r = 0; r < p->rows; r++) {
		sw_wide x = p->row[r].by[i], y = p->row[r].by[j];
		if (!x && !y)
			continue;
		if (!x || !y || y % x || (ratio && y / x != ratio))
			return false;
		ratio = y / x;
	}
	sw_wide size = sw_wide_magnitude(ratio);
	if (!ratio || (p->hi[i] < SW_INFINITE && size > p->hi[i] - p->lo[i] + 1))
		return false;
	p->lo[i] = sw_wide_add(p->lo[i], sw_wide_mul(ratio, ratio > 0 ? p->lo[j] : p->hi[j]));
	p->hi[i] = sw_wide_add(p->hi[i], sw_wide_mul(ratio, ratio > 0 ? p->hi[j] : p->lo[j]));
	for (uint32_t r = 0; r < p->rows; r++)
		p->row[r].by[j] = 0;
	p->lo[j] = p->hi[j] = 0;
	return true;
}

/* Adds a row, unless it always holds.  False: there is no room, or its constant left the range of numbers. */
static bool add_row(struct sw_area *p, const struct sw_area_row *row)
{
	if (row->constant >= SW_INFINITE)
		return true;
	if (row->constant <= -SW_INFINITE || p->rows == SW_AREA_ROWS)
		return false;
	p->row[p->rows++] = *row;
	return true;
}

/* Adds the inequality that the variable's lower bound by one row is at most its upper bound by the other.  False:
   that is not exact for whole numbers, or its numbers get too large. */
static bool combine_rows(struct sw_area *p, const struct sw_area_row *lower, const struct sw_area_row *upper,
			 uint32_t var)
{
	sw_wide a = lower->by[var], b = -upper->by[var];
	struct sw_area_row sum = {
		.constant = sw_wide_add(sw_wide_mul(lower->constant, b), sw_wide_mul(upper->constant, a))};
	if (a != 1 && b != 1)
		return false; /* there may be no whole number in between */
	for (uint32_t i = 0; i < p->n; i++) {
		sum.by[i] = i == var ? 0 : sw_wide_add(sw_wide_mul(lower->by[i], b), sw_wide_mul(upper->by[i], a));
		if (sum.by[i] > INT64_MAX || sum.by[i] < INT64_MIN)
			return false;
	}
	return add_row(p, &sum);
}

/* Replaces the rows that have the variable by rows without it which say that some value lies between its bounds:
   every lower one is at most every upper one (Fourier and Motzkin; exact for whole numbers where one of the two
   coefficients is 1).  False: that is not exact here. */
static bool eliminate_variable(struct sw_area *p, uint32_t var)
{
	struct sw_area old;
	struct sw_area_row one;
	memcpy(&old, p, offsetof(struct sw_area, row) + p->rows * sizeof *p->row);
	p->rows = 0;
	for (uint32_t i = 0; i < old.rows; i++) {
		const struct sw_area_row *x = &old.row[i];
		if (x->by[var]) { /* with the variable's own interval */
			one = *x;
			one.by[var] = 0;
			one.constant = sw_wide_add(one.constant,
						   sw_wide_mul(x->by[var], x->by[var] > 0 ? old.hi[var] : old.lo[var]));
		}
		if (!add_row(p, x->by[var] ? &one : x))
			return false;
		for (uint32_t j = 0; x->by[var] > 0 && j < old.rows; j++) {
			if (old.row[j].by[var] < 0 && !combine_rows(p, x, &old.row[j], var))
				return false;
		}
	}
	return true;
}

/* Shortens intervals as far as the rows allow; false: nothing is left. */
static bool settle_intervals(struct sw_area *p)
{
	while (shorten_intervals(p))
		;
	p->empty = is_empty(p);
	return !p->empty;
}

/* Drops the variables that the address lacks from the rows, by merging and eliminating them.  False: not exactly. */
static bool drop_hidden(struct sw_area *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		for (uint32_t j = 0; j < p->n; j++) {
			if (i != j && !p->address.by[i] && !p->address.by[j])
				merge_hidden(p, i, j);
		}
	}
	for (uint32_t i = 0; i < p->n; i++) {
		bool used = false;
		for (uint32_t j = 0; j < p->rows; j++)
			used |= p->row[j].by[i] != 0;
		if (used && !p->address.by[i] && !eliminate_variable(p, i))
			return false;
		if (!settle_intervals(p))
			return true;
	}
	return true;
}

bool sw_area_simplify(struct sw_area *p)
{
	if (!settle_intervals(p))
		return true;
	if (!split_quotients(p))
		return false;
	if (!settle_intervals(p))
		return true;
	if (!drop_hidden(p))
		return false;
	/* A row over variables that the address lacks ties its variables together in a way that boxes can't say. */
	for (uint32_t j = 0; j < p->rows && !p->empty; j++) {
		if (variables_of(p, &p->row[j]) & ~variables_of(p, &p->address))
			return false;
	}
	return true;
}
