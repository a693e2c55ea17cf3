/* SPDX-License-Identifier: Apache-2.0 */
/* What a call of cuBLAS or cuFFT reads and writes by its arguments.  Pure functions. */
#ifndef SW_DETECT_LIBRARIES_LIBRARY_OPERANDS_H
#define SW_DETECT_LIBRARIES_LIBRARY_OPERANDS_H

#include "detect/memory/access.h"
#include "detect/libraries/library_calls.h"

#define SW_LIBRARY_OPERANDS 8u

struct sw_operands {
	uint32_t n; /* 0: not known from the arguments */
	struct sw_range at[SW_LIBRARY_OPERANDS];
};
/* The same as it is kept. */
struct sw_operand_set {
	uint32_t n;
	const struct sw_range *at;
};

/* All that the call may touch of the program's memory, apart from its workspace. */
struct sw_operands sw_library_operands(const struct sw_library_open *open, const char *function);

#endif
