/* SPDX-License-Identifier: Apache-2.0 */
/* Measures one group of rows in a process of its own, so that a crash or a hang loses no more than the group. */
#ifndef SW_CALIBRATE_MEASURE_H
#define SW_CALIBRATE_MEASURE_H

#include "calibrate/rows.h"
#include "detect/behaviour/behaviour.h"

#define SW_CALIBRATE_REPETITIONS 3
#define SW_CALIBRATE_LIMIT_S	 30 /* a group: far above what its rows take on any GPU */

/*
 * Fills the table's head and appends the rows of the group that begins at sw_rows[first].  `driver`: path of a
 * libcuda.so.1, NULL the system's.  0; or <0 with error filled: rows that were measured before are there all the same.
 */
int sw_measure_group(struct sw_behaviour *table, size_t first, const char *driver, struct sw_error *error);

#endif
