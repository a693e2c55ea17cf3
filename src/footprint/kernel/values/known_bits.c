/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the bits of a value, looking a few nodes deep. */
#include "footprint/kernel/values/simplify.h"

uint32_t sw_known_zeros(const struct sw_graph *g, sw_node node, uint32_t depth)
{
	const struct sw_value *v = sw_graph_at(g, node);
	uint32_t a, b;
	switch (v->op) {
	case SW_OP_CONST:
		return v->imm ? (uint32_t)__builtin_ctzll((uint64_t)v->imm) : v->width;
	case SW_OP_MUL:
		a = depth ? sw_known_zeros(g, v->operand[0], depth - 1) + sw_known_zeros(g, v->operand[1], depth - 1)
			  : 0;
		return a < v->width ? a : v->width;
	case SW_OP_ADD:
		a = depth ? sw_known_zeros(g, v->operand[0], depth - 1) : 0;
		b = depth ? sw_known_zeros(g, v->operand[1], depth - 1) : 0;
		return a < b ? a : b;
	default:
		return 0;
	}
}

uint32_t sw_known_bits(const struct sw_graph *g, sw_node node, uint32_t depth)
{
	const struct sw_value *v = sw_graph_at(g, node);
	int64_t c;
	uint32_t a, b;
	switch (v->op) {
	case SW_OP_CONST:
		return v->imm < 0 ? v->width : v->imm ? 64 - (uint32_t)__builtin_clzll((uint64_t)v->imm) : 0;
	case SW_OP_SPECIAL: /* a block has at most 1024 threads, 32 warps of 32 lanes */
		return v->imm <= SW_TID_Z			    ? 10
		       : v->imm <= SW_NTID_Z			    ? 11
		       : v->imm == SW_LANEID || v->imm == SW_WARPID ? 5
								    : v->width;
	case SW_OP_EXTEND:
		return v->flags & SW_SIGNED ? v->width : (uint32_t)v->imm < v->width ? (uint32_t)v->imm : v->width;
	case SW_OP_AND:
		a = depth ? sw_known_bits(g, v->operand[0], depth - 1) : v->width;
		b = depth ? sw_known_bits(g, v->operand[1], depth - 1) : v->width;
		return a < b ? a : b;
	case SW_OP_SHR:
		if (v->flags & SW_SIGNED || !sw_graph_is_const(g, v->operand[1], &c) || c < 0)
			return v->width;
		a = depth ? sw_known_bits(g, v->operand[0], depth - 1) : v->width;
		return c >= a ? 0 : a - (uint32_t)c;
	case SW_OP_MIX: /* of another thread: bits that are zero in all of them */
		return v->imm && depth ? sw_known_bits(g, v->operand[0], depth - 1) : v->width;
	case SW_VALUE_LOADED:
		return v->flags & SW_SIGNED || v->bytes * 8u > v->width ? v->width : v->bytes * 8u;
	default:
		return v->width;
	}
}
