/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the graph: what a node may be made of instead. */
#ifndef SW_FOOTPRINT_KERNEL_VALUES_SIMPLIFY_H
#define SW_FOOTPRINT_KERNEL_VALUES_SIMPLIFY_H

#include "footprint/kernel/values/value_graph.h"

/* A number of `width` bits in the form that CONST keeps: sign-extended; 0 or 1 for one bit. */
static inline int64_t sw_fold_canonical(int64_t imm, uint32_t width)
{
	if (width >= 64)
		return imm;
	if (width == 1)
		return imm & 1;
	return (int64_t)((uint64_t)imm << (64 - width)) >> (64 - width);
}
/* An immediate of `width` bits without a sign. */
static inline uint64_t sw_fold_unsigned(int64_t imm, uint32_t width)
{
	return width >= 64 ? (uint64_t)imm : (uint64_t)imm & ((1ull << width) - 1);
}

/* Trailing zero bits that a value certainly has; looks `depth` nodes deep. */
uint32_t sw_known_zeros(const struct sw_graph *graph, sw_node node, uint32_t depth);
/* The number n for which the value is certainly below 2^n, as an unsigned number; looks `depth` nodes deep. */
uint32_t sw_known_bits(const struct sw_graph *graph, sw_node node, uint32_t depth);

/* The result of an operation on constants (canonical, of the operands' own widths); false: not defined (division by 0)
   or not an operation on numbers. */
bool sw_fold(const struct sw_making *making, const int64_t *imm, int64_t *result);

/* "condition ? n + 1 : n", or "? rest - b : rest", with which a division by a reciprocal ends (operands of a SELECT of
   32 bits): DIV or REM; SW_NO_NODE: it is none. */
sw_node sw_reciprocal_division(struct sw_graph *graph, const sw_node *operands);

/* The quotient or rest of 64 bits whose computation by a reciprocal ends with a SELECT of these operands.  The SELECT
   has `width` bits, and where these are fewer than 64 it gives the low ones.  SW_NO_NODE: it is none. */
sw_node sw_wide_division(struct sw_graph *graph, uint8_t width, const sw_node *operands);

/* A simpler node for what is to be made, SW_NO_NODE if there is none.  May reorder operands and change *making into an
   equal operation. */
sw_node sw_simplify(struct sw_graph *graph, struct sw_making *making, sw_node *operands);

#endif
