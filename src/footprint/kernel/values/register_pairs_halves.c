/* SPDX-License-Identifier: Apache-2.0 */
/* LOW and HIGH of a value of 64 bits (upper: HIGH), as nodes of 32 bits; halves as arithmetic. */
#include "footprint/kernel/values/register_pairs.h"

/* The half of an operand: something simpler where there is it, else LOW or HIGH of it. */
static sw_node half_of_operand(struct sw_register_pairs *p, bool upper, sw_node value)
{
	sw_node n = sw_register_pairs_half(p, upper, value);
	if (n != SW_NO_NODE)
		return n;
	return sw_graph_make(p->graph, (struct sw_making){.op = upper ? SW_OP_HIGH : SW_OP_LOW, .width = 32, .n = 1},
			     &value);
}

/* A half of a constant, a parameter or a local address; SW_NO_NODE: of something else. */
static sw_node of_leaf(struct sw_register_pairs *p, bool upper, const struct sw_value *v)
{
	switch (v->op) {
	case SW_OP_CONST:
		return sw_graph_const(p->graph, 32, (int32_t)(upper ? v->imm >> 32 : v->imm));
	case SW_OP_PARAM:
		return sw_graph_make(
			p->graph, (struct sw_making){.op = v->op, .width = 32, .imm = v->imm + (upper ? 4 : 0)}, NULL);
	case SW_OP_LOCAL_ADDRESS:
		if (upper)
			return sw_graph_const(p->graph, 32, 0);
		return sw_graph_make(
			p->graph, (struct sw_making){.op = v->op, .width = 32, .imm = v->imm, .imm2 = v->imm2}, NULL);
	default:
		return SW_NO_NODE;
	}
}

/* The lower or upper half of a number of `imm` bits that is extended to 64: where the number fits 32 bits, the upper
   half is its sign. */
static sw_node of_extended(struct sw_register_pairs *p, bool upper, const struct sw_value *v, sw_node a)
{
	struct sw_graph *g = p->graph;
	uint8_t flags = v->flags & SW_SIGNED;
	if (v->imm > 32 && v->imm < 64 && sw_register_pairs_at(p, a)->width == 64)
		return upper ? sw_graph_extend(g, 32, (uint8_t)(v->imm - 32), flags, half_of_operand(p, true, a))
			     : half_of_operand(p, false, a);
	if (v->imm > 32 || v->imm < 1)
		return SW_NO_NODE;
	sw_node low = sw_graph_extend(g, 32, (uint8_t)v->imm, flags, sw_graph_fit(g, a, 32));
	if (!upper)
		return low;
	return flags ? sw_graph_binary(g, SW_OP_SHR, 32, SW_SIGNED, low, sw_graph_const(g, 32, 31))
		     : sw_graph_const(g, 32, 0);
}

/* A half of a << by or a >> by, for a fixed `by`: one that is made from one half of a alone; else SW_NO_NODE. */
static sw_node of_shift(struct sw_register_pairs *p, bool upper, const struct sw_value *v, sw_node a, sw_node by)
{
	struct sw_graph *g = p->graph;
	bool left = v->op == SW_OP_SHL;
	uint8_t flags = v->flags & SW_SIGNED;
	int64_t n;
	if (!sw_graph_is_const(g, by, &n) || n < 0 || n > 63)
		return SW_NO_NODE;
	bool far = n >= 32;
	if (left != upper) { /* the half that nothing comes into from the other */
		sw_node own = half_of_operand(p, upper, a);
		if (!far)
			return sw_graph_binary(g, (enum sw_op)v->op, 32, flags, own, sw_graph_const(g, 32, n));
		return flags ? sw_graph_binary(g, SW_OP_SHR, 32, flags, own, sw_graph_const(g, 32, 31))
			     : sw_graph_const(g, 32, 0);
	}
	if (!far)
		return SW_NO_NODE;
	return sw_graph_binary(g, (enum sw_op)v->op, 32, flags, half_of_operand(p, !upper, a),
			       sw_graph_const(g, 32, n - 32));
}

/* The upper half of a number of at most 32 bits times 2^k: the bits that are shifted out.  Machine code makes the
   sign of x so, as the upper half of x * 2. */
static sw_node of_scaled(struct sw_register_pairs *p, const struct sw_value *v, sw_node a, sw_node by)
{
	struct sw_graph *g = p->graph;
	struct sw_value from = *sw_register_pairs_at(p, a);
	uint8_t flags = from.flags & SW_SIGNED;
	int64_t factor;
	if (v->op != SW_OP_MUL || !sw_graph_is_const(g, by, &factor) || factor < 2 || factor > UINT32_MAX ||
	    factor & (factor - 1) || from.op != SW_OP_EXTEND || from.imm < 1 || from.imm > 32)
		return SW_NO_NODE;
	sw_node low = of_extended(p, false, &from, sw_register_pairs_operand(p, a, 0));
	return sw_graph_binary(g, SW_OP_SHR, 32, flags, low,
			       sw_graph_const(g, 32, 32 - __builtin_ctzll((uint64_t)factor)));
}

/* The lower or upper half of a node of 64 bits, made from the halves of its operands; SW_NO_NODE: that is not
   possible. */
static sw_node half_of(struct sw_register_pairs *p, bool upper, sw_node value)
{
	struct sw_graph *g = p->graph;
	struct sw_value v = *sw_register_pairs_at(p, value); /* a copy: making nodes moves them */
	sw_node low, high;
	if (!*p->budget)
		return SW_NO_NODE;
	--*p->budget;
	switch (v.op) {
	case SW_OP_PAIR:
		return sw_register_pairs_operand(p, value, upper);
	case SW_OP_MOV:
		return half_of_operand(p, upper, sw_register_pairs_operand(p, value, 0));
	case SW_OP_EXTEND:
		return of_extended(p, upper, &v, sw_register_pairs_operand(p, value, 0));
	case SW_OP_SHL:
	case SW_OP_SHR:
		return of_shift(p, upper, &v, sw_register_pairs_operand(p, value, 0),
				sw_register_pairs_operand(p, value, 1));
	case SW_OP_MULWIDE:
		if (upper)
			return SW_NO_NODE;
		return sw_graph_binary(g, SW_OP_MUL, 32, 0, sw_register_pairs_operand(p, value, 0),
				       sw_register_pairs_operand(p, value, 1));
	case SW_OP_ADD:
	case SW_OP_SUB:
	case SW_OP_MUL:
		if (upper)
			return of_scaled(p, &v, sw_register_pairs_operand(p, value, 0),
					 sw_register_pairs_operand(p, value, 1));
		__attribute__((fallthrough)); /* the low half is that of the halves */
	case SW_OP_AND:
	case SW_OP_OR:
	case SW_OP_XOR:
		low = half_of_operand(p, upper, sw_register_pairs_operand(p, value, 0));
		high = half_of_operand(p, upper, sw_register_pairs_operand(p, value, 1));
		return sw_graph_binary(g, (enum sw_op)v.op, 32, 0, low, high);
	case SW_OP_NEG:
		if (upper)
			return SW_NO_NODE;
		__attribute__((fallthrough)); /* the low half is that of the halves */
	case SW_OP_NOT:
		low = half_of_operand(p, upper, sw_register_pairs_operand(p, value, 0));
		return sw_graph_unary(g, (enum sw_op)v.op, 32, low);
	case SW_OP_SELECT:
		low = half_of_operand(p, upper, sw_register_pairs_operand(p, value, 1));
		high = half_of_operand(p, upper, sw_register_pairs_operand(p, value, 2));
		return sw_graph_select(g, 32, sw_register_pairs_operand(p, value, 0), low, high);
	case SW_VALUE_PHI:
		return sw_graph_phi_halves(g, value, &low, &high) ? (upper ? high : low) : SW_NO_NODE;
	default:
		return of_leaf(p, upper, &v);
	}
}

/* half_of() as a rule that sw_register_pairs_remembered() takes. */
static sw_node lower_of(struct sw_register_pairs *p, sw_node value, sw_node unused)
{
	(void)unused;
	return half_of(p, false, value);
}

/* half_of() as a rule that sw_register_pairs_remembered() takes. */
static sw_node upper_of(struct sw_register_pairs *p, sw_node value, sw_node unused)
{
	(void)unused;
	return half_of(p, true, value);
}

sw_node sw_register_pairs_half(struct sw_register_pairs *p, bool upper, sw_node value)
{
	if (sw_register_pairs_at(p, value)->width != 64)
		return SW_NO_NODE;
	return sw_register_pairs_remembered(p, SW_PAIRS_KEY_OF_HALF(value, upper), upper ? upper_of : lower_of, value,
					    0);
}

/* ---- halves that found no whole ---------------------------------------------------------------------------------- */

/* The upper 32 bits of a value of 64, as a value of 64. */
static sw_node upper_bits(struct sw_graph *g, sw_node value)
{
	return sw_graph_binary(g, SW_OP_SHR, 64, 0, value, sw_graph_const(g, 32, 32));
}

sw_node sw_register_pairs_whole(struct sw_graph *g, const struct sw_making *m, const sw_node *o)
{
	sw_node sum = sw_graph_const(g, 64, 0), high;
	switch (m->op) {
	case SW_OP_LOW:
		return sw_graph_extend(g, 32, 32, 0, o[0]);
	case SW_OP_HIGH:
		return sw_graph_extend(g, 32, 32, 0, upper_bits(g, o[0]));
	case SW_OP_PAIR:
		high = sw_graph_binary(g, SW_OP_SHL, 64, 0, sw_graph_extend(g, 64, 32, 0, o[1]),
				       sw_graph_const(g, 32, 32));
		return sw_graph_binary(g, SW_OP_ADD, 64, 0, sw_graph_extend(g, 64, 32, 0, o[0]), high);
	case SW_OP_ADDX:
	case SW_OP_CARRY:
		for (uint32_t i = 0; i < m->n; i++)
			sum = sw_graph_binary(g, SW_OP_ADD, 64, 0, sum,
					      sw_graph_extend(g, 64, sw_graph_at(g, o[i])->width, 0, o[i]));
		if (m->op == SW_OP_ADDX)
			return sw_graph_extend(g, 32, 32, 0, sum);
		return sw_graph_compare(g, SW_GT, 64, 0, sum, sw_graph_const(g, 64, UINT32_MAX));
	default:
		return SW_NO_NODE;
	}
}
