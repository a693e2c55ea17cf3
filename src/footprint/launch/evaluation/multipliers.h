/* SPDX-License-Identifier: Apache-2.0 */
/* The multipliers with which the rows of a system bound a form.  Not thread-safe, as struct sw_eval. */
#ifndef SW_FOOTPRINT_LAUNCH_EVALUATION_MULTIPLIERS_H
#define SW_FOOTPRINT_LAUNCH_EVALUATION_MULTIPLIERS_H

#include "footprint/launch/evaluation/eval.h"
#include "footprint/launch/linear/simplex.h"

/* Of row i: of_row[i] / scale, none negative. */
struct sw_multipliers {
	sw_wide scale, of_row[SW_SYSTEM_ROWS];
};

/* From a program that was solved for `form`, whose rows and columns are those of the system.  false: the numbers get
   too large. */
bool sw_multipliers_find(const struct sw_form *form, const struct sw_system *s, const struct sw_simplex *solved,
			 struct sw_multipliers *out);

#endif
