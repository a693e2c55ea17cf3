/* SPDX-License-Identifier: Apache-2.0 */
/* Which code of an image the footprint of a kernel is made from. */
#ifndef SW_FOOTPRINT_KERNEL_STORE_CODE_CHOICE_H
#define SW_FOOTPRINT_KERNEL_STORE_CODE_CHOICE_H

#include "footprint/kernel/store/containers.h"

struct sw_code_choice {
	struct sw_footprint *footprint; /* NULL: why */
	char *why;
	bool ran;
	uint32_t arch;
	uint64_t code_bytes; /* analysed for it: machine code of the kernel, its share of the PTX */
};

/*
 * Reads and analyses the kernel's code (order: library.h).  An outcome that is wild gives way to the next choice; if
 * all are wild, the one with the fewest accesses of unknown roots stays, of equal ones the first.  Thread-safe; the
 * content must be loaded.  arch 0: that of the newest machine code in the container, else of its newest PTX.
 *
 * A kernel counts in the first container that has it: another that follows may have one of the same name (an instance
 * of a template), which is not what the program loaded.
 */
void sw_code_choose(struct sw_containers *containers, uint32_t arch, const char *kernel, struct sw_code_choice *out);

#endif
