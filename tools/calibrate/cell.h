/* SPDX-License-Identifier: Apache-2.0 */
/* One call during one spinning kernel, several times. */
#ifndef SW_CALIBRATE_CELL_H
#define SW_CALIBRATE_CELL_H

#include "calibrate/rows.h"
#include "detect/behaviour/behaviour.h"

/* Time of the call with nothing pending. */
CUresult sw_cell_idle(struct sw_bench *bench, const struct sw_row *row, uint64_t *ns);
/* `idle_ns`: of sw_cell_idle(). */
CUresult sw_cell_measure(struct sw_bench *bench, const struct sw_row *row, enum sw_spinner where, uint64_t idle_ns,
			 struct sw_waits *out);

#endif
