/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that come without code, as far as they are known. */
#ifndef SW_FOOTPRINT_KERNEL_FLOW_EXTERN_FUNCTIONS_H
#define SW_FOOTPRINT_KERNEL_FLOW_EXTERN_FUNCTIONS_H

#include "footprint/code.h"

enum sw_extern { SW_EXTERN_UNKNOWN, SW_EXTERN_NUMBER, SW_EXTERN_MEMORY, SW_EXTERN_NEVER };

/* The kind of function that a call by name, to no code, calls; SW_EXTERN_UNKNOWN for all others. */
enum sw_extern sw_extern_of(const struct sw_program_call *call);

#endif
