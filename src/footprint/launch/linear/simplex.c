/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dual method with bounded variables.  It starts where the intervals alone put the largest goal, and moves only as
 * far as the rows make it: most programs need no step, since what the guards say is far from the end that is looked at.
 *
 * Variables without an upper bound may be at infinity.  Numbers are therefore pairs: so many infinities, and what is
 * finite.  A large number in place of infinity would swallow the finite part in 53 bits.
 */
#include "footprint/launch/linear/simplex.h"

#include <math.h>
#include <string.h>

#define TINY	   1e-12
#define MAX_PIVOTS 80 /* ordinary programs need fewer than ten */

/* Rounding, as a part of the numbers that were added. */
#define ROUNDING 4e-15

/* A number that may be infinite: so many infinities, and what is finite. */
struct number {
	double infinities, finite;
};

/* Rows that are computed at a time; loops over a multiple of it need no rest. */
#define VECTOR 4u

/* Dictionary: basic[i] = constant[i] + sum by[j][i] * free[j].  Variables: 0 .. columns-1, then the slacks of the rows.
   high: the free variable is at its upper bound, else at its lower one.  Column by column, padded with zeros to whole
   vectors: what is computed of all rows is computed of several at a time. */
struct state {
	const struct sw_simplex *p;
	uint32_t vectors; /* of rows */
	double by[SW_SIMPLEX_COLUMNS][SW_SIMPLEX_ROWS], constant[SW_SIMPLEX_ROWS], goal[SW_SIMPLEX_COLUMNS];
	uint32_t basic[SW_SIMPLEX_ROWS], free[SW_SIMPLEX_COLUMNS];
	bool high[SW_SIMPLEX_COLUMNS];
	struct number at[SW_SIMPLEX_COLUMNS]; /* value of the free variable */
};

/* The lower bound of a variable; 0 for a slack. */
static double low_of(const struct state *s, uint32_t variable)
{
	return variable < s->p->columns ? s->p->lo[variable] : 0;
}

/* The upper bound of a variable; infinite for a slack. */
static double high_of(const struct state *s, uint32_t variable)
{
	return variable < s->p->columns ? s->p->hi[variable] : INFINITY;
}

/* x as a pair; INFINITY is one infinity. */
static struct number number_of(double x)
{
	return x < INFINITY ? (struct number){0, x} : (struct number){1, 0};
}

/* The sums of the rows, and how large the numbers were that were added. */
struct sums {
	double finite[SW_SIMPLEX_ROWS], size[SW_SIMPLEX_ROWS];
	double infinities[SW_SIMPLEX_ROWS], most[SW_SIMPLEX_ROWS];
	bool infinite; /* some free variables are */
};

/* Adds by[i] * value to all sums, and how large these numbers are to the sizes. */
static void add_column(double *restrict sum, double *restrict size, const double *restrict by, double value,
		       uint32_t vectors)
{
	for (uint32_t i = 0; i < VECTOR * vectors; i++) {
		double part = by[i] * value;
		sum[i] += part;
		size[i] += fabs(part);
	}
}

/* Computes the value of each basic variable from those of the free ones. */
static void add_up(const struct state *s, struct sums *sums)
{
	sums->infinite = false;
	for (uint32_t i = 0; i < VECTOR * s->vectors; i++) {
		sums->finite[i] = s->constant[i];
		sums->size[i] = fabs(s->constant[i]);
	}
	for (uint32_t j = 0; j < s->p->columns; j++) {
		if (s->at[j].finite != 0)
			add_column(sums->finite, sums->size, s->by[j], s->at[j].finite, s->vectors);
		if (s->at[j].infinities == 0)
			continue;
		for (uint32_t i = 0; i < VECTOR * s->vectors && !sums->infinite; i++)
			sums->infinities[i] = sums->most[i] = 0;
		sums->infinite = true;
		add_column(sums->infinities, sums->most, s->by[j], s->at[j].infinities, s->vectors);
	}
}

/* By how far a basic variable is outside of its bounds, more than rounding explains; 0: it is not.  *below: under
   the lower one. */
static double outside_by(const struct state *s, uint32_t row, const struct sums *sums, bool *below)
{
	if (sums->infinite && fabs(sums->infinities[row]) > ROUNDING * sums->most[row]) {
		*below = sums->infinities[row] < 0;
		bool bounded = *below || high_of(s, s->basic[row]) < INFINITY;
		return bounded ? 1e18 * fabs(sums->infinities[row]) : 0;
	}
	double low = low_of(s, s->basic[row]) - sums->finite[row], high = sums->finite[row] - high_of(s, s->basic[row]);
	*below = low > high;
	double out = *below ? low : high;
	return out > ROUNDING * sums->size[row] + TINY ? out : 0;
}

/* The basic variable that is farthest outside of its bounds; UINT32_MAX: none is. */
static uint32_t leaving_row(const struct state *s, bool *below)
{
	struct sums sums;
	uint32_t worst = UINT32_MAX;
	double most = 0;
	add_up(s, &sums);
	for (uint32_t i = 0; i < s->p->rows; i++) {
		bool under;
		double out = outside_by(s, i, &sums, &under);
		if (out > most) {
			worst = i;
			most = out;
			*below = under;
		}
	}
	return worst;
}

/* Which free variable can move the row's towards its bound at the least loss; UINT32_MAX: none can. */
static uint32_t entering_column(const struct state *s, uint32_t row, bool below)
{
	uint32_t best = UINT32_MAX;
	double least = 0;
	for (uint32_t j = 0; j < s->p->columns; j++) {
		double by = s->by[j][row];
		bool up = (by > 0) == below;
		if (fabs(by) <= TINY || up == s->high[j] || low_of(s, s->free[j]) == high_of(s, s->free[j]))
			continue;
		double loss = fabs(s->goal[j] / by);
		if (best == UINT32_MAX || loss < least || (loss == least && fabs(by) > fabs(s->by[best][row]))) {
			best = j;
			least = loss;
		}
	}
	return best;
}

/* to += of * by, for all rows. */
static void add_multiple(double *restrict to, const double *restrict of, double by, uint32_t vectors)
{
	for (uint32_t i = 0; i < VECTOR * vectors; i++)
		to[i] += of[i] * by;
}

/* Exchanges the basic variable of row `out` and the free variable `in`; what was basic then stands at its lower
   (below) or upper bound. */
static void pivot_on(struct state *s, uint32_t out, uint32_t in, bool below)
{
	uint32_t variable = s->basic[out];
	double factor[SW_SIMPLEX_ROWS], by = 1 / s->by[in][out], goal = s->goal[in];
	memcpy(factor, s->by[in], VECTOR * s->vectors * sizeof *factor);
	factor[out] = 0;
	for (uint32_t j = 0; j < s->p->columns; j++) {
		double part = j == in ? by : s->by[j][out] * -by;
		if (j == in)
			memset(s->by[j], 0, VECTOR * s->vectors * sizeof *s->by[j]);
		if (part != 0)
			add_multiple(s->by[j], factor, part, s->vectors);
		s->by[j][out] = part;
		s->goal[j] = (j == in ? 0 : s->goal[j]) + goal * part;
	}
	double constant = s->constant[out] * -by;
	add_multiple(s->constant, factor, constant, s->vectors);
	s->constant[out] = constant;
	s->basic[out] = s->free[in];
	s->free[in] = variable;
	s->high[in] = !below;
	s->at[in] = number_of(below ? low_of(s, variable) : high_of(s, variable));
}

/* A row whose part in the goal is that small, of the largest there was, has none: rounding left it. */
#define PART 1e-13

/* The largest of n numbers, without their signs. */
static double largest_of(const double *x, uint32_t n)
{
	double most = 0;
	for (uint32_t j = 0; j < n; j++)
		most = fabs(x[j]) > most ? fabs(x[j]) : most;
	return most;
}

/* Lists the rows that bound the goal, those whose slack is free and matters to it, and the variables that are basic. */
static void find_tight_rows(const struct state *s, struct sw_simplex *p)
{
	double goal = largest_of(p->goal, p->columns);
	p->tight = p->basics = 0;
	for (uint32_t j = 0; j < p->columns; j++) {
		uint32_t row = s->free[j] - p->columns;
		if (s->free[j] >= p->columns &&
		    (p->contradicts || fabs(s->goal[j]) * largest_of(p->row[row], p->columns) > PART * goal))
			p->tight_row[p->tight++] = row;
	}
	for (uint32_t i = 0; i < p->rows; i++) {
		if (s->basic[i] < p->columns)
			p->basic[p->basics++] = s->basic[i];
	}
}

/* Begins where the intervals alone put the largest goal: all variables free, all slacks basic. */
static void start_table(struct state *s, struct sw_simplex *p)
{
	s->p = p;
	s->vectors = (p->rows + VECTOR - 1) / VECTOR;
	for (uint32_t i = 0; i < VECTOR * s->vectors; i++) {
		s->basic[i] = p->columns + i;
		s->constant[i] = i < p->rows ? p->constant[i] : 0;
	}
	for (uint32_t j = 0; j < p->columns; j++) {
		s->free[j] = j;
		s->goal[j] = p->goal[j];
		s->high[j] = p->goal[j] > 0;
		s->at[j] = number_of(s->high[j] ? p->hi[j] : p->lo[j]);
		for (uint32_t i = 0; i < VECTOR * s->vectors; i++)
			s->by[j][i] = i < p->rows ? p->row[i][j] : 0;
	}
}

bool sw_simplex_solve(struct sw_simplex *p)
{
	struct state s;
	uint32_t out, in = 0, round = 0;
	bool below = true;
	start_table(&s, p);
	p->work = 0;
	p->contradicts = p->tight = 0;
	while ((out = leaving_row(&s, &below)) != UINT32_MAX && round++ < MAX_PIVOTS) {
		in = entering_column(&s, out, below);
		if (in == UINT32_MAX)
			break;
		pivot_on(&s, out, in, below);
		p->work += p->rows * p->columns;
	}
	if (!round)
		return false;
	if (out != UINT32_MAX && in == UINT32_MAX) {
		p->contradicts = below ? 1 : -1;
		p->contradiction = s.basic[out];
	}
	find_tight_rows(&s, p);
	return true;
}
