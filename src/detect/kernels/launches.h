/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches. */
#ifndef SW_DETECT_KERNELS_LAUNCHES_H
#define SW_DETECT_KERNELS_LAUNCHES_H

#include <stdbool.h>

#include "hb/hb.h"

struct sw_deferred;
struct sw_model;
struct sw_record;

/* Touches what a deferred launch touches (sw_deferrals_new). */
void sw_launch_work_out(struct sw_model *m, const struct sw_deferred *deferred);

/* Waits and triggers of a launch, for the kernels before and after it, as far as its code says. */
struct sw_hb_grid sw_launch_grid(struct sw_model *m, const struct sw_record *launch);
/* The current record is a kernel node of a graph that follows pointers in memory, run by the current access: touches
   all that it touches now; false: not all of the pointers are known, and nothing was touched. perhaps: it may not
   run. */
bool sw_launch_follow(struct sw_model *m, bool perhaps);

#endif
