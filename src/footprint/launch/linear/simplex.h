/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small linear program: maximise goal . x where row . x + constant >= 0 and lo <= x <= hi.
 *
 * The result is which rows bound it. It need not be right: the caller computes the rows' multipliers and proves the
 * bound with exact integers, so rounding here costs precision but never soundness.
 */
#ifndef SW_FOOTPRINT_LAUNCH_LINEAR_SIMPLEX_H
#define SW_FOOTPRINT_LAUNCH_LINEAR_SIMPLEX_H

#include <stdbool.h>
#include <stdint.h>

#define SW_SIMPLEX_COLUMNS 16
#define SW_SIMPLEX_ROWS	   40

struct sw_simplex {
	uint32_t rows, columns;
	double row[SW_SIMPLEX_ROWS][SW_SIMPLEX_COLUMNS];
	double constant[SW_SIMPLEX_ROWS];
	double lo[SW_SIMPLEX_COLUMNS], hi[SW_SIMPLEX_COLUMNS]; /* lo is finite; hi may be INFINITY */
	double goal[SW_SIMPLEX_COLUMNS];

	/* Out: the goal with these rows added, times what makes it vanish in the basic variables, is bounded by the
	   intervals of the others. */
	uint32_t tight, tight_row[SW_SIMPLEX_COLUMNS], basics, basic[SW_SIMPLEX_COLUMNS];
	/* 0: none.  Else no x is possible: `contradiction` (a variable, or columns + a row) stays below its lower bound
	   (1) or above its upper one (-1) wherever the rows hold. */
	int contradicts;
	uint32_t contradiction;
	uint32_t work; /* cells of the table that were computed */
};

/* false: the intervals alone bound the goal as well as with the rows. */
bool sw_simplex_solve(struct sw_simplex *program);

#endif
