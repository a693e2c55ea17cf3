/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicates that machine code keeps as bits of a register: "@P2 LOP3 R80 = R80 | 0x4000 ... LOP3 P5, RZ, R80 &
 * 0x4000". Kernels of cuBLAS keep thirty of them so; the bit is the predicate again.
 */
#include "footprint/values/simplify.h"

/* Operations looked through: three for each bit.  Compared with the path through a register's history a look is short.
 */
#define MAX_HISTORY 128
#define MAX_ASIDE   4

/* Are these bits of the number 0, for it was masked so? */
static bool has_cleared(const struct sw_graph *g, sw_node node, uint64_t bits)
{
	const struct sw_value *v = sw_graph_at(g, node);
	int64_t mask;
	if (v->op == SW_OP_EXTEND) /* that of the uppermost bit */
		return !(v->flags & SW_SIGNED) && v->imm < 64 && !(bits & ((UINT64_C(1) << v->imm) - 1));
	return v->op == SW_OP_AND && sw_graph_is_const(g, v->operand[1], &mask) && !((uint64_t)mask & bits);
}

/* "x | bits", also as a sum of numbers without a common bit. */
static bool is_or(const struct sw_graph *g, sw_node node, sw_node *x, uint64_t *bits)
{
	const struct sw_value *v = sw_graph_at(g, node);
	int64_t c;
	if ((v->op != SW_OP_OR && v->op != SW_OP_ADD) || !sw_graph_is_const(g, v->operand[1], &c))
		return false;
	if (v->op == SW_OP_ADD && !has_cleared(g, v->operand[0], sw_fold_unsigned(c, v->width)))
		return false;
	*x = v->operand[0];
	*bits = (uint64_t)c;
	return true;
}

static sw_node bit_of(struct sw_graph *g, sw_node node, uint32_t bit, uint32_t depth);

/* "condition ? yes : no", where yes is mostly no with a bit more. */
static sw_node of_choice(struct sw_graph *g, const struct sw_value *v, uint32_t bit)
{
	sw_node yes = bit_of(g, v->operand[1], bit, MAX_ASIDE), no = bit_of(g, v->operand[2], bit, MAX_ASIDE);
	return yes == SW_NO_NODE || no == SW_NO_NODE ? SW_NO_NODE : sw_graph_select(g, 1, v->operand[0], yes, no);
}

static sw_node bit_of(struct sw_graph *g, sw_node node, uint32_t bit, uint32_t depth)
{
	for (; depth; depth--) {
		const struct sw_value v = *sw_graph_at(g, node);
		uint64_t bits;
		int64_t c;
		sw_node x;
		if (v.op == SW_OP_CONST)
			return sw_graph_const(g, 1, v.imm >> bit & 1);
		if (v.op == SW_OP_EXTEND && bit >= v.imm && !(v.flags & SW_SIGNED))
			return sw_graph_const(g, 1, 0);
		if (v.op == SW_OP_EXTEND) {
			bit = bit >= v.imm ? (uint32_t)v.imm - 1 : bit;
			node = v.operand[0];
		} else if (is_or(g, node, &x, &bits)) {
			if (bits >> bit & 1)
				return sw_graph_const(g, 1, 1);
			node = x;
		} else if (v.op == SW_OP_AND && sw_graph_is_const(g, v.operand[1], &c)) {
			if (!(c >> bit & 1))
				return sw_graph_const(g, 1, 0);
			node = v.operand[0];
		} else if (v.op == SW_OP_SELECT && is_or(g, v.operand[1], &x, &bits) && x == v.operand[2] &&
			   !(bits >> bit & 1)) {
			node = x;
		} else {
			return v.op == SW_OP_SELECT ? of_choice(g, &v, bit) : SW_NO_NODE;
		}
	}
	return SW_NO_NODE;
}

sw_node sw_predicate_bit_test(struct sw_graph *g, const struct sw_making *m, const sw_node *o)
{
	const struct sw_value v = *sw_graph_at(g, o[0]);
	int64_t with, mask = 1;
	if ((m->imm != SW_EQ && m->imm != SW_NE) || !sw_graph_is_const(g, o[1], &with) || with)
		return SW_NO_NODE;
	if (v.op == SW_OP_EXTEND ? v.imm != 1 || v.flags & SW_SIGNED || sw_graph_at(g, v.operand[0])->width == 1
				 : v.op != SW_OP_AND || !sw_graph_is_const(g, v.operand[1], &mask))
		return SW_NO_NODE;
	uint64_t bits = sw_fold_unsigned(mask, v.width);
	if (!bits || bits & (bits - 1))
		return SW_NO_NODE;
	sw_node is = bit_of(g, v.operand[0], (uint32_t)__builtin_ctzll(bits), MAX_HISTORY);
	return is == SW_NO_NODE || m->imm == SW_NE ? is : sw_graph_unary(g, SW_OP_NOT, 1, is);
}
