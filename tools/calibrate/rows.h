/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that calibrate measures. */
#ifndef SW_CALIBRATE_ROWS_H
#define SW_CALIBRATE_ROWS_H

#include "calibrate/bench.h"

struct sw_row {
	const char *name; /* NULL: a group begins here */
	const char *group;
	CUstream (*own)(struct sw_bench *bench); /* whose end is watched; may give NULL */
	CUresult (*prepare)(struct sw_bench *bench);
	CUresult (*call)(struct sw_bench *bench);
	CUresult (*end)(struct sw_bench *bench);
};

extern const struct sw_row sw_rows[];
extern const size_t sw_rows_n;

#endif
