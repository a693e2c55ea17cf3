/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites that differ in numbers that are added or compared with alone: what an unrolled loop makes of one access, and
 * the rows that a thread copies.  They go through the same pointers, under conditions that are alike, too.  Mostly the
 * same is found of them.
 */
#ifndef SW_FOOTPRINT_LAUNCH_READS_ALIKE_SITES_H
#define SW_FOOTPRINT_LAUNCH_READS_ALIKE_SITES_H

#include "footprint/footprint.h"

/* By site: the first one that is like it.  malloc'ed. */
uint32_t *sw_alike_sites_find(const struct sw_footprint *footprint);

#endif
