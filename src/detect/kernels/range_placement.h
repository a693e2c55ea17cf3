/* SPDX-License-Identifier: Apache-2.0 */
/* The allocations that a computed range belongs to. */
#ifndef SW_DETECT_KERNELS_RANGE_PLACEMENT_H
#define SW_DETECT_KERNELS_RANGE_PLACEMENT_H

#include "detect/kernels/launch_plan.h"

struct sw_model;

/* The current launch touches a range that its code computed: cut to the allocations that it may belong to. False: there
   is none. */
bool sw_place_touch(struct sw_model *m, const struct sw_access *what, const struct sw_plan_touch *touch);

#endif
