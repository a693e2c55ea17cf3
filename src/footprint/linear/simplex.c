/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dual method with bounded variables.  It starts where the intervals alone put the largest goal, and moves only as
 * far as the rows make it: most programs need no step, since what the guards say is far from the end that is looked at.
 */
#include "footprint/linear/simplex.h"

#include <math.h>
#include <string.h>

#define TINY	   1e-13L
#define MAX_PIVOTS 80 /* ordinary programs need fewer than ten */

/* Stands for no bound: a goal that ends there has none, which the exact proof finds. */
#define FAR 1e18L

/* Dictionary: basic[i] = constant[i] + sum row[i][j] * free[j].  Variables: 0 .. columns-1, then the slacks of the
   rows. high: the free variable is at its upper bound, else at its lower one. */
struct state {
	const struct sw_simplex *p;
	long double row[SW_SIMPLEX_ROWS][SW_SIMPLEX_COLUMNS], constant[SW_SIMPLEX_ROWS], goal[SW_SIMPLEX_COLUMNS];
	uint32_t basic[SW_SIMPLEX_ROWS], free[SW_SIMPLEX_COLUMNS];
	bool high[SW_SIMPLEX_COLUMNS];
	long double at[SW_SIMPLEX_COLUMNS]; /* value of the free variable */
};

static long double low_of(const struct state *s, uint32_t variable)
{
	return variable < s->p->columns ? s->p->lo[variable] : 0;
}

static long double high_of(const struct state *s, uint32_t variable)
{
	return variable < s->p->columns && s->p->hi[variable] < FAR ? s->p->hi[variable] : FAR;
}

/* How large the numbers are that a row's value is a sum of: as many times that it is wrong, by rounding. */
static long double size_of(const struct state *s, uint32_t row)
{
	long double size = fabsl(s->constant[row]);
	for (uint32_t j = 0; j < s->p->columns; j++)
		size += fabsl(s->row[row][j] * s->at[j]);
	return size;
}

/* The basic variable that is farthest outside of its bounds; UINT32_MAX: none is. */
static uint32_t leaving(const struct state *s, bool *below)
{
	const struct sw_simplex *p = s->p;
	uint32_t worst = UINT32_MAX, column[SW_SIMPLEX_COLUMNS], columns = 0;
	long double most = 0;
	for (uint32_t j = 0; j < p->columns; j++) {
		if (s->at[j] != 0)
			column[columns++] = j;
	}
	for (uint32_t i = 0; i < p->rows; i++) {
		long double value = s->constant[i];
		for (uint32_t k = 0; k < columns; k++)
			value += s->row[i][column[k]] * s->at[column[k]];
		long double low = low_of(s, s->basic[i]) - value, high = value - high_of(s, s->basic[i]);
		long double out = low > high ? low : high;
		if (out > most && out > 1e-13L && out > 1e-19L * size_of(s, i) + 1e-13L) {
			worst = i;
			most = out;
			*below = low > high;
		}
	}
	return worst;
}

/* Which free variable can move the row's towards its bound at the least loss; UINT32_MAX: none can. */
static uint32_t entering(const struct state *s, uint32_t row, bool below)
{
	uint32_t best = UINT32_MAX;
	long double least = 0;
	for (uint32_t j = 0; j < s->p->columns; j++) {
		long double by = s->row[row][j];
		bool up = (by > 0) == below;
		if (fabsl(by) <= TINY || up == s->high[j] || low_of(s, s->free[j]) == high_of(s, s->free[j]))
			continue;
		long double loss = fabsl(s->goal[j] / by);
		if (best == UINT32_MAX || loss < least || (loss == least && fabsl(by) > fabsl(s->row[row][best]))) {
			best = j;
			least = loss;
		}
	}
	return best;
}

/* What is not zero of a row. */
struct sparse_row {
	uint32_t n, column[SW_SIMPLEX_COLUMNS];
};

static void add_row(long double *to, const long double *from, const struct sparse_row *sparse, uint32_t in)
{
	long double by = to[in];
	to[in] = 0;
	for (uint32_t k = 0; k < sparse->n; k++)
		to[sparse->column[k]] += by * from[sparse->column[k]];
}

static void pivot(struct state *s, uint32_t out, uint32_t in, bool below)
{
	uint32_t rows = s->p->rows, columns = s->p->columns, variable = s->basic[out];
	long double by = 1 / s->row[out][in];
	struct sparse_row sparse = {.n = 0};
	for (uint32_t j = 0; j < columns; j++) {
		if (s->row[out][j] == 0)
			continue;
		s->row[out][j] = j == in ? by : -s->row[out][j] * by;
		sparse.column[sparse.n++] = j;
	}
	s->constant[out] *= -by;
	for (uint32_t i = 0; i < rows; i++) {
		long double factor = s->row[i][in];
		if (i == out || factor == 0)
			continue;
		add_row(s->row[i], s->row[out], &sparse, in);
		s->constant[i] += factor * s->constant[out];
	}
	add_row(s->goal, s->row[out], &sparse, in);
	s->basic[out] = s->free[in];
	s->free[in] = variable;
	s->high[in] = !below;
	s->at[in] = below ? low_of(s, variable) : high_of(s, variable);
}

/* A row whose part in the goal is that small, of the largest there was, has none: rounding left it. */
#define PART 1e-15L

static long double largest(const long double *x, uint32_t n)
{
	long double most = 0;
	for (uint32_t j = 0; j < n; j++)
		most = fabsl(x[j]) > most ? fabsl(x[j]) : most;
	return most;
}

/* Which rows bound the goal: those whose slack is free and matters to it. */
static void tell(const struct state *s, struct sw_simplex *p)
{
	long double goal = largest(p->goal, p->columns);
	p->tight = p->basics = 0;
	for (uint32_t j = 0; j < p->columns; j++) {
		uint32_t row = s->free[j] - p->columns;
		if (s->free[j] >= p->columns &&
		    (p->contradicts || fabsl(s->goal[j]) * largest(p->row[row], p->columns) > PART * goal))
			p->tight_row[p->tight++] = row;
	}
	for (uint32_t i = 0; i < p->rows; i++) {
		if (s->basic[i] < p->columns)
			p->basic[p->basics++] = s->basic[i];
	}
}

static void start(struct state *s, struct sw_simplex *p)
{
	s->p = p;
	for (uint32_t j = 0; j < p->columns; j++) {
		s->free[j] = j;
		s->goal[j] = p->goal[j];
		s->high[j] = p->goal[j] > 0;
		s->at[j] = s->high[j] ? high_of(s, j) : p->lo[j];
	}
	for (uint32_t i = 0; i < p->rows; i++) {
		s->basic[i] = p->columns + i;
		s->constant[i] = p->constant[i];
		memcpy(s->row[i], p->row[i], p->columns * sizeof *p->row[i]);
	}
}

bool sw_simplex_solve(struct sw_simplex *p)
{
	struct state s;
	uint32_t out, in = 0, round = 0;
	bool below = true;
	start(&s, p);
	p->work = 0;
	p->contradicts = p->tight = 0;
	while ((out = leaving(&s, &below)) != UINT32_MAX && round++ < MAX_PIVOTS) {
		in = entering(&s, out, below);
		if (in == UINT32_MAX)
			break;
		pivot(&s, out, in, below);
		p->work += p->rows * p->columns;
	}
	if (!round)
		return false;
	if (out != UINT32_MAX && in == UINT32_MAX) {
		p->contradicts = below ? 1 : -1;
		p->contradiction = s.basic[out];
	}
	tell(&s, p);
	return true;
}
