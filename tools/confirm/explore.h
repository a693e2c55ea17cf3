/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SW_TOOLS_CONFIRM_EXPLORE_H
#define SW_TOOLS_CONFIRM_EXPLORE_H

#include "confirm/trial.h"

/*
 * Runs the program with holds that the seeds `seed`, `seed` + 1 ... choose, and prints a line for each that changes
 * what leaves the device.  hold_ns: the longest hold, 0 the default.  *found: how many.  SW_EXIT_OK, or a status after
 * one line.
 */
int sw_explore(struct sw_experiments *experiments, uint64_t runs, uint64_t seed, uint64_t hold_ns, uint64_t *found);

#endif
