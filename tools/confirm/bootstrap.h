/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SW_TOOLS_CONFIRM_BOOTSTRAP_H
#define SW_TOOLS_CONFIRM_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#define SW_BOOTSTRAP_MOST 256u

struct sw_interval {
	int64_t middle, low, high;
};

/* The median of n numbers, 1 to SW_BOOTSTRAP_MOST, and its 95 % interval by resampling: the same numbers give the same
   interval. */
struct sw_interval sw_bootstrap_median(const int64_t *numbers, size_t n);

#endif
