/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SW_FOOTPRINT_KERNEL_STORE_VALIDATE_H
#define SW_FOOTPRINT_KERNEL_STORE_VALIDATE_H

#include "footprint/footprint.h"

/* Is every index in bounds, every operand before its user, every number one of its kind, and no loop its own ancestor?
   0, or SW_E_FORMAT with error naming the first that is not.  What passes can be evaluated and printed safely. */
int sw_footprint_check(const struct sw_footprint *footprint, struct sw_error *error);

#endif
