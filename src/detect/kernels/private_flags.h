/* SPDX-License-Identifier: Apache-2.0 */
/* Flags that no other launch can see. */
#ifndef SW_DETECT_KERNELS_PRIVATE_FLAGS_H
#define SW_DETECT_KERNELS_PRIVATE_FLAGS_H

#include "footprint/footprint.h"

/* Does the reach lie in the workspace that the driver gives a cooperative launch for its barriers? */
bool sw_flag_is_private(const struct sw_footprint *footprint, const struct sw_reach *reach);

#endif
