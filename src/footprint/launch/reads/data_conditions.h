/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions on nothing but what was loaded, where that decides nothing else: no address is made from it, nothing that
 * is chosen by it, and it is compared with no number of the launch or of a thread.  Such a condition may hold for any
 * thread, and whether it does bounds no access.  Found once an evaluation, from the terms.
 */
#ifndef SW_FOOTPRINT_LAUNCH_READS_DATA_CONDITIONS_H
#define SW_FOOTPRINT_LAUNCH_READS_DATA_CONDITIONS_H

#include "footprint/footprint.h"

/* By term: is it made from such data alone?  malloc'ed. */
bool *sw_data_conditions_find(const struct sw_footprint *footprint);

#endif
