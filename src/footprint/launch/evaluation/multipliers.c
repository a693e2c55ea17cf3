/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows count is known from floating point; what they are multiplied by is solved with integers. */
#include "footprint/launch/evaluation/multipliers.h"

/* Numbers above this are not multiplied: their products may leave the range of sw_wide. */
#define LARGE ((sw_wide)1 << 62)

static sw_wide magnitude_of(sw_wide a)
{
	return a < 0 ? -a : a;
}

/* Equations for the multipliers of the tight rows: the sum vanishes in every basic variable.  One more column: the
   right side. */
struct equations {
	uint32_t rows, n;
	sw_wide at[SW_SIMPLEX_COLUMNS][SW_SIMPLEX_COLUMNS + 1];
};

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
		most = magnitude_of(row[j]) > most ? magnitude_of(row[j]) : most;
	if (most < (sw_wide)1 << 31)
		return true;
	for (uint32_t j = 0; j <= n && common != 1; j++)
		common = common_of(common, magnitude_of(row[j]));
	for (uint32_t j = 0; common > 1 && j <= n; j++)
		row[j] /= common;
	return most / common < LARGE;
}

/* Takes `column` out of every other equation. */
static bool take_out(struct equations *q, uint32_t row, uint32_t column)
{
	for (uint32_t i = 0; i < q->rows; i++) {
		sw_wide a = q->at[row][column], b = q->at[i][column];
		if (i == row || !b)
			continue;
		uint64_t common = sw_gcd((uint64_t)magnitude_of(a), (uint64_t)magnitude_of(b));
		a /= (sw_wide)common;
		b /= (sw_wide)common;
		for (uint32_t j = 0; j <= q->n; j++)
			q->at[i][j] = q->at[i][j] * a - q->at[row][j] * b;
		if (!shrink_row(q->at[i], q->n))
			return false;
	}
	return true;
}

/* Solves; the solution of column j is over[j] / under[j]. */
static bool solve_equations(struct equations *q, sw_wide *over, sw_wide *under)
{
	uint32_t done = 0;
	for (uint32_t k = 0; k < q->n; k++) {
		uint32_t row = SW_NONE, column = 0;
		for (uint32_t i = 0; i < q->rows; i++) { /* small numbers first: they keep the others small */
			for (uint32_t j = 0; j < q->n && !(done >> i & 1); j++) {
				sw_wide size = magnitude_of(q->at[i][j]);
				if (size && (row == SW_NONE || size < magnitude_of(q->at[row][column]))) {
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

static bool common_scale(const struct sw_simplex *p, sw_wide *over, sw_wide *under, struct sw_multipliers *out)
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

bool sw_multipliers_find(const struct sw_form *form, const struct sw_system *s, const struct sw_simplex *p,
			 struct sw_multipliers *out)
{
	struct equations q;
	sw_wide over[SW_SIMPLEX_COLUMNS], under[SW_SIMPLEX_COLUMNS];
	*out = (struct sw_multipliers){.scale = 1};
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
