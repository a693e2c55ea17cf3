/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small linear program: maximise goal . y where row . y <= limit and y >= 0.
 *
 * Only its multipliers (one per row, >= 0) are wanted.  They need not be right: whoever uses them proves the bound
 * again with exact integers, so that rounding here can cost precision but never soundness.
 */
#ifndef SW_FOOTPRINT_EVAL_SIMPLEX_H
#define SW_FOOTPRINT_EVAL_SIMPLEX_H

#include <stdbool.h>
#include <stdint.h>

#define SW_SIMPLEX_COLUMNS 16
#define SW_SIMPLEX_ROWS	   56

struct sw_simplex {
	uint32_t rows, columns;
	long double row[SW_SIMPLEX_ROWS][SW_SIMPLEX_COLUMNS + 1]; /* one column more: the start's artificial variable */
	long double limit[SW_SIMPLEX_ROWS];
	long double goal[SW_SIMPLEX_COLUMNS + 1];
	long double multiplier[SW_SIMPLEX_ROWS]; /* out */
	uint32_t work;				 /* out: cells of the table that were computed */
};

/* The multipliers bound the goal, or (no y is possible) prove that nothing is possible.  Destroys the input. */
void sw_simplex_solve(struct sw_simplex *program);

#endif
