/* SPDX-License-Identifier: Apache-2.0 */
/* Module variables of a launch: their addresses, and the placeholders used while a kernel is evaluated. */
#ifndef SW_DETECT_KERNELS_LAUNCH_VARIABLES_H
#define SW_DETECT_KERNELS_LAUNCH_VARIABLES_H

#include "detect/detect.h"

struct sw_model;

/* Stands for the variable while a kernel is evaluated: what is remembered of that serves each module with this code
   (cuFFT loads one a plan), wherever the driver put its variables.  For struct sw_geometry. */
uint64_t sw_variable_stand_in(void *arg, const char *name);
/* Where the variable of the current launch lies; 0: not known, as of constants without names, which are all of bank
   3. */
uint64_t sw_variable_address(struct sw_model *m, const struct sw_trace_function *function, const char *name,
			     uint64_t bytes);
/* Where the byte really lies that is evaluated at this address in place of a variable's; 0: not known. */
uint64_t sw_variable_byte(struct sw_model *m, const struct sw_trace_function *function,
			  const struct sw_footprint *footprint, uint64_t address);

#endif
