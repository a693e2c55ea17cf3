/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/eval/simplex.h"

#include <math.h>
#include <string.h>

#define TINY	   1e-13L
#define MAX_PIVOTS 80 /* ordinary programs need fewer than ten */

/* Dictionary: basic[i] = limit[i] - sum row[i][j] * free[j].  Variables: 0.. columns-1, then the slacks of the rows;
   the artificial one is last. */
struct state {
	struct sw_simplex *p;
	uint32_t columns; /* with the artificial one */
	uint32_t basic[SW_SIMPLEX_ROWS], free[SW_SIMPLEX_COLUMNS + 1];
};

static void pivot(struct state *s, uint32_t out, uint32_t in)
{
	struct sw_simplex *p = s->p;
	long double by = 1 / p->row[out][in];
	p->work += p->rows * s->columns;
	for (uint32_t j = 0; j < s->columns; j++)
		p->row[out][j] = j == in ? by : p->row[out][j] * by;
	p->limit[out] *= by;
	for (uint32_t i = 0; i < p->rows; i++) {
		long double factor = p->row[i][in];
		if (i == out || factor == 0)
			continue;
		p->row[i][in] = 0;
		for (uint32_t j = 0; j < s->columns; j++)
			p->row[i][j] -= factor * p->row[out][j];
		p->limit[i] -= factor * p->limit[out];
	}
	long double factor = p->goal[in];
	p->goal[in] = 0;
	for (uint32_t j = 0; j < s->columns; j++)
		p->goal[j] -= factor * p->row[out][j];
	uint32_t variable = s->basic[out];
	s->basic[out] = s->free[in];
	s->free[in] = variable;
}

/* Largest coefficient first; the lowest number (Bland's rule, which cannot cycle) when that takes long. */
static uint32_t entering(const struct state *s, uint32_t round)
{
	uint32_t best = UINT32_MAX;
	for (uint32_t j = 0; j < s->columns; j++) {
		long double c = s->p->goal[j];
		if (c <= TINY)
			continue;
		if (best == UINT32_MAX || (round < MAX_PIVOTS / 2 ? c > s->p->goal[best] : s->free[j] < s->free[best]))
			best = j;
	}
	return best;
}

static uint32_t leaving(const struct state *s, uint32_t in)
{
	const struct sw_simplex *p = s->p;
	uint32_t best = UINT32_MAX;
	long double least = 0;
	for (uint32_t i = 0; i < p->rows; i++) {
		if (p->row[i][in] <= TINY)
			continue;
		long double ratio = p->limit[i] / p->row[i][in];
		if (best == UINT32_MAX || ratio < least || (ratio == least && s->basic[i] < s->basic[best])) {
			best = i;
			least = ratio;
		}
	}
	return best;
}

static void climb(struct state *s)
{
	for (uint32_t round = 0; round < MAX_PIVOTS; round++) {
		uint32_t in = entering(s, round);
		uint32_t out = in == UINT32_MAX ? UINT32_MAX : leaving(s, in);
		if (out == UINT32_MAX)
			return;
		pivot(s, out, in);
	}
}

static void take_multipliers(struct state *s, uint32_t columns)
{
	struct sw_simplex *p = s->p;
	for (uint32_t j = 0; j < s->columns; j++) {
		uint32_t slack = s->free[j] - columns;
		if (s->free[j] >= columns && slack < p->rows && p->goal[j] < 0)
			p->multiplier[slack] = -p->goal[j];
	}
}

/* Finds a possible y.  false: there is none (the multipliers prove it). */
static bool start(struct state *s, uint32_t lowest)
{
	struct sw_simplex *p = s->p;
	uint32_t columns = p->columns, artificial = columns + p->rows;
	long double goal[SW_SIMPLEX_COLUMNS];
	memcpy(goal, p->goal, columns * sizeof *goal);
	memset(p->goal, 0, sizeof p->goal);
	p->goal[columns] = -1;
	s->columns = columns + 1;
	s->free[columns] = artificial;
	for (uint32_t i = 0; i < p->rows; i++)
		p->row[i][columns] = -1;
	pivot(s, lowest, columns);
	climb(s);
	uint32_t at = 0;
	while (at < s->columns && s->free[at] != artificial)
		at++;
	if (at == s->columns) {
		uint32_t row = 0, in = 0;
		while (s->basic[row] != artificial)
			row++;
		if (p->limit[row] > 1e-9L) {
			take_multipliers(s, columns);
			return false;
		}
		for (uint32_t j = 1; j < s->columns; j++) {
			if (fabsl(p->row[row][j]) > fabsl(p->row[row][in]))
				in = j;
		}
		if (fabsl(p->row[row][in]) <= TINY)
			return false;
		pivot(s, row, in);
		at = in;
	}
	/* The artificial variable is 0 from here on: its column goes. */
	s->columns = columns;
	s->free[at] = s->free[columns];
	for (uint32_t i = 0; i < p->rows; i++)
		p->row[i][at] = p->row[i][columns];
	memset(p->goal, 0, sizeof p->goal);
	for (uint32_t j = 0; j < columns; j++) {
		if (s->free[j] < columns)
			p->goal[j] += goal[s->free[j]];
	}
	for (uint32_t i = 0; i < p->rows; i++) {
		if (s->basic[i] >= columns)
			continue;
		for (uint32_t j = 0; j < columns; j++)
			p->goal[j] -= goal[s->basic[i]] * p->row[i][j];
	}
	return true;
}

void sw_simplex_solve(struct sw_simplex *p)
{
	struct state s = {.p = p, .columns = p->columns};
	memset(p->multiplier, 0, sizeof p->multiplier);
	p->work = 0;
	uint32_t columns = p->columns, lowest = 0;
	for (uint32_t j = 0; j < columns; j++)
		s.free[j] = j;
	for (uint32_t i = 0; i < p->rows; i++) {
		s.basic[i] = columns + i;
		if (p->limit[i] < p->limit[lowest])
			lowest = i;
	}
	if (p->rows && p->limit[lowest] < 0 && !start(&s, lowest))
		return;
	climb(&s);
	take_multipliers(&s, columns);
}
