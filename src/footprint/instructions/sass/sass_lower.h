/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each kind of machine instruction: sw_sass_lower_<lowering> of sass_ops.def. */
#ifndef SW_FOOTPRINT_INSTRUCTIONS_SASS_SASS_LOWER_H
#define SW_FOOTPRINT_INSTRUCTIONS_SASS_SASS_LOWER_H

#include "footprint/instructions/sass/sass.h"

/* Lowers an instruction that the table does not know: all that it may read counts; each register that it may write
   holds an unknown value or its old one. */
void sw_sass_lower_unknown(struct sw_sass *s);

/* Bits 73-75 of loads and stores: elements and their bytes, and whether the sign fills the rest of the register. */
struct sw_sass_size {
	uint8_t bytes, count, is_signed;
};
extern const struct sw_sass_size sw_sass_sizes[8];
/* Emits an instruction under the guard of the machine instruction in hand, for the caller to complete. */
struct sw_insn *sw_sass_guarded(struct sw_sass *s, enum sw_op op, unsigned width, unsigned space);
/* Writes the predicate that an instruction gives besides its result, if it has one, as an unknown number that some
   thread has. */
void sw_sass_give_predicate(struct sw_sass *s);
/* The register as an operand; the constant 0 for SW_NO_REG. */
struct sw_operand sw_sass_or_zero(sw_reg reg);
/* The address of a global or generic access.  uniform_at: where its uniform register stands, which may be a
   descriptor. */
struct sw_operand sw_sass_global_address(struct sw_sass *s, unsigned uniform_at, bool descriptor);

/* Remembers that a register holds this constant from here on in straight code (`constant`; else forgets what it
   held), so that addresses made of constants are found. */
void sw_sass_know(struct sw_sass *s, sw_reg reg, bool constant, int64_t value);

#define SW_SASS_ROW(code, mask, first, last, name, lowering, words, flags)                                             \
	void sw_sass_lower_##lowering(struct sw_sass *s);
#include "footprint/instructions/sass/sass_ops.def"

#endif
