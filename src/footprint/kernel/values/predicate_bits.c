/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicates that machine code keeps as bits of a register: "@P2 LOP3 R80 = R80 | 0x4000 ... LOP3 P5, RZ, R80 &
 * 0x4000". Kernels of cuBLAS keep thirty of them so; the bit is the predicate again.
 */
#include "footprint/kernel/values/simplify.h"

/* Operations looked through: three for each bit.  Compared with the path through a register's history a look is short.
 */
#define MAX_HISTORY 128
#define MAX_ASIDE   6

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

/* Both ways of an operation that are looked at, in all. */
#define MAX_FORKS 24

struct look {
	struct sw_graph *g;
	uint32_t forks; /* left */
};

static sw_node bit_of(struct look *l, sw_node node, uint32_t bit, uint32_t depth);

/* "condition ? yes : no", where yes is mostly no with a bit more; or a logical operation on masks: CUTLASS puts the
   guards of a tile's rows together so. */
static sw_node of_two(struct look *l, const struct sw_value *v, uint32_t bit)
{
	bool select = v->op == SW_OP_SELECT;
	if (!l->forks || v->width == 1)
		return SW_NO_NODE;
	l->forks--;
	sw_node a = bit_of(l, v->operand[select], bit, MAX_ASIDE);
	sw_node b = a == SW_NO_NODE ? a : bit_of(l, v->operand[select + 1], bit, MAX_ASIDE);
	if (b == SW_NO_NODE)
		return SW_NO_NODE;
	return select ? sw_graph_select(l->g, 1, v->operand[0], a, b)
		      : sw_graph_binary(l->g, (enum sw_op)v->op, 1, 0, a, b);
}

/* What the bit is in another number, which is a shift of this one or has its bits turned around; false: it is none. */
static bool step_aside(const struct sw_graph *g, sw_node *node, uint32_t *bit, bool *turned)
{
	const struct sw_value *v = sw_graph_at(g, *node), *inner = sw_graph_at(g, v->n ? v->operand[0] : *node);
	int64_t c;
	if (v->op == SW_OP_MUL && sw_graph_is_const(g, v->operand[1], &c) && c > 0 && !(c & (c - 1)) &&
	    (uint32_t)__builtin_ctzll((uint64_t)c) <= *bit) {
		*bit -= (uint32_t)__builtin_ctzll((uint64_t)c);
		*node = v->operand[0];
		return true;
	}
	/* -x - 1 */
	if (v->op == SW_OP_ADD && inner->op == SW_OP_NEG && sw_graph_is_const(g, v->operand[1], &c) && c == -1) {
		*node = inner->operand[0];
	} else if (v->op == SW_OP_NOT && v->width > 1) {
		*node = v->operand[0];
	} else if (v->op == SW_OP_SUB && sw_graph_is_const(g, v->operand[0], &c) && c == -1) {
		*node = v->operand[1];
	} else {
		return false;
	}
	*turned = !*turned;
	return true;
}

/* A multiple of a power of two above the bit. */
static bool is_above(const struct sw_graph *g, sw_node node, uint32_t bit)
{
	const struct sw_value *v = sw_graph_at(g, node);
	return v->op == SW_OP_MUL && sw_known_zeros(g, node, 1) > bit;
}

static sw_node straight_bit_of(struct look *l, sw_node node, uint32_t bit, uint32_t depth, bool *turned)
{
	struct sw_graph *g = l->g;
	for (; depth; depth--) {
		const struct sw_value v = *sw_graph_at(g, node);
		uint64_t bits;
		int64_t c;
		sw_node x;
		if (v.op == SW_OP_CONST)
			return sw_graph_const(g, 1, v.imm >> bit & 1);
		if ((v.op == SW_OP_EXTEND && bit >= v.imm && !(v.flags & SW_SIGNED)) || is_above(g, node, bit))
			return sw_graph_const(g, 1, 0);
		if (v.op == SW_OP_EXTEND && sw_graph_at(g, v.operand[0])->width == 1)
			return v.operand[0];
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
		} else if (v.op == SW_OP_SELECT || v.op == SW_OP_AND || v.op == SW_OP_OR) {
			return of_two(l, &v, bit);
		} else if (!step_aside(g, &node, &bit, turned)) {
			return SW_NO_NODE;
		}
	}
	return SW_NO_NODE;
}

static sw_node bit_of(struct look *l, sw_node node, uint32_t bit, uint32_t depth)
{
	bool turned = false;
	sw_node is = straight_bit_of(l, node, bit, depth, &turned);
	return turned && is != SW_NO_NODE ? sw_graph_unary(l->g, SW_OP_NOT, 1, is) : is;
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
	struct look look = {g, MAX_FORKS};
	sw_node is = bit_of(&look, v.operand[0], (uint32_t)__builtin_ctzll(bits), MAX_HISTORY);
	return is == SW_NO_NODE || m->imm == SW_NE ? is : sw_graph_unary(g, SW_OP_NOT, 1, is);
}
