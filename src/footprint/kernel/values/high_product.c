/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The upper 64 bits of a product of 128: divisions of 64 bits by constants and magic numbers.
 *
 * With x = {xh, xl} and y = {yh, yl}, machine code adds up four products:
 *
 *     cross = xl * yh + xh * yl                       64 bits, and what it carries
 *     carry = carry out of low(cross) + high(xl * yl)
 *     upper = xh * yh + {what cross carries, high(cross)} + carry
 *
 * which is floor(x * y / 2^64): (cross * 2^32 + xl * yl) / 2^64 has no other part from below.
 *
 * Where x has 32 bits, two products are enough: high(x * yh) + carry out of low(x * yh) + high(x * yl).  nvcc 13.5
 * divides 32 bits so on sm_100 and later, whose IMAD.HI is slow.
 */
#include "footprint/kernel/values/register_pairs.h"

struct factors {
	sw_node a, b;
};

static bool factors_of(struct sw_register_pairs *p, sw_node n, struct factors *out)
{
	sw_node x[2];
	if (!sw_register_pairs_factors(p, n, x))
		return false;
	*out = (struct factors){x[0], x[1]};
	return true;
}

static bool is_product_of(const struct factors *f, sw_node a, sw_node b)
{
	return (f->a == a && f->b == b) || (f->a == b && f->b == a);
}

/* The bit that a number is made of; SW_NO_NODE. */
static sw_node bit_of(const struct sw_register_pairs *p, sw_node n)
{
	const struct sw_value *v = sw_register_pairs_at(p, n);
	int64_t a, b;
	sw_node bit = SW_NO_NODE;
	if (v->op == SW_OP_EXTEND && !(v->flags & SW_SIGNED))
		bit = sw_register_pairs_operand(p, n, 0);
	else if (v->op == SW_OP_ADDX && v->n == 3 &&
		 sw_graph_is_const(p->graph, sw_register_pairs_operand(p, n, 0), &a) && !a &&
		 sw_graph_is_const(p->graph, sw_register_pairs_operand(p, n, 1), &b) && !b)
		bit = sw_register_pairs_operand(p, n, 2);
	return bit != SW_NO_NODE && sw_register_pairs_at(p, bit)->width == 1 ? bit : SW_NO_NODE;
}

/* Is the bit what a sum of 64 bits carries: is the sum less than one of its sides? */
static bool is_carry_of(const struct sw_register_pairs *p, sw_node bit, sw_node sum)
{
	const struct sw_value *c = sw_register_pairs_at(p, bit);
	if (c->op != SW_OP_COMPARE || c->imm2 != 64 || c->flags & SW_SIGNED || (c->imm != SW_LT && c->imm != SW_GT))
		return false;
	sw_node less = sw_register_pairs_operand(p, bit, c->imm == SW_GT),
		more = sw_register_pairs_operand(p, bit, c->imm == SW_LT);
	return less == sum &&
	       (more == sw_register_pairs_operand(p, sum, 0) || more == sw_register_pairs_operand(p, sum, 1));
}

/* xl * yl: its upper half and the lower half of `cross` are added to give the carry. */
static bool lower_product(struct sw_register_pairs *p, sw_node carry, sw_node cross, struct factors *out)
{
	sw_node low = sw_register_pairs_half(p, false, cross);
	const struct sw_value *c = sw_register_pairs_at(p, carry);
	if (c->op != SW_OP_CARRY || c->n != 2 || low == SW_NO_NODE)
		return false;
	for (uint32_t k = 0; k < 2; k++) {
		sw_node high = sw_register_pairs_operand(p, carry, !k);
		if (sw_register_pairs_operand(p, carry, k) == low && sw_register_pairs_is(p, high, SW_OP_HIGH, 32) &&
		    factors_of(p, sw_register_pairs_operand(p, high, 0), out))
			return true;
	}
	return false;
}

static sw_node high_product(struct sw_register_pairs *p, sw_node upper, sw_node pair, sw_node carry)
{
	struct factors low, high, side[2];
	if (!sw_register_pairs_is(p, pair, SW_OP_PAIR, 64) || !factors_of(p, upper, &high))
		return SW_NO_NODE;
	sw_node middle = sw_register_pairs_operand(p, pair, 0), over = bit_of(p, sw_register_pairs_operand(p, pair, 1));
	if (over == SW_NO_NODE || !sw_register_pairs_is(p, middle, SW_OP_HIGH, 32))
		return SW_NO_NODE;
	sw_node cross = sw_register_pairs_operand(p, middle, 0);
	if (!sw_register_pairs_is(p, cross, SW_OP_ADD, 64) || !is_carry_of(p, over, cross) ||
	    !lower_product(p, carry, cross, &low))
		return SW_NO_NODE;
	for (uint32_t k = 0; k < 2; k++) {
		if (!factors_of(p, sw_register_pairs_operand(p, cross, k), &side[k]))
			return SW_NO_NODE;
	}
	for (uint32_t k = 0; k < 4; k++) { /* which factor of each is x's */
		sw_node xl = k & 1 ? low.b : low.a, yl = k & 1 ? low.a : low.b;
		sw_node xh = k & 2 ? high.b : high.a, yh = k & 2 ? high.a : high.b;
		for (uint32_t i = 0; i < 2; i++) {
			if (!is_product_of(&side[i], xl, yh) || !is_product_of(&side[!i], xh, yl))
				continue;
			sw_node x = sw_register_pairs_joined(p, xl, xh), y = sw_register_pairs_joined(p, yl, yh);
			return sw_graph_binary(p->graph, SW_OP_MULHI, 64, 0, x, y);
		}
	}
	return SW_NO_NODE;
}

sw_node sw_register_pairs_high_product(struct sw_register_pairs *p, sw_node a, sw_node b)
{
	for (int swap = 0; swap < 2; swap++) {
		sw_node sum = swap ? b : a, carry = bit_of(p, swap ? a : b);
		if (carry == SW_NO_NODE || !sw_register_pairs_is(p, sum, SW_OP_ADD, 64))
			continue;
		for (uint32_t k = 0; k < 2; k++) {
			sw_node n = high_product(p, sw_register_pairs_operand(p, sum, k),
						 sw_register_pairs_operand(p, sum, !k), carry);
			if (n != SW_NO_NODE)
				return n;
		}
	}
	return SW_NO_NODE;
}

/* The only summand that is not 0; SW_NO_NODE: there are several. */
static sw_node only_summand(const struct sw_register_pairs *p, const sw_node *operand, unsigned n)
{
	sw_node only = SW_NO_NODE;
	int64_t imm;
	for (unsigned i = 0; i < n; i++) {
		if (sw_graph_is_const(p->graph, operand[i], &imm) && !imm)
			continue;
		if (only != SW_NO_NODE)
			return SW_NO_NODE;
		only = operand[i];
	}
	return only;
}

sw_node sw_register_pairs_short_high_product(struct sw_register_pairs *p, const sw_node *operand, unsigned n)
{
	struct factors high, low;
	sw_node upper = only_summand(p, operand, n - 1);
	if (upper == SW_NO_NODE || !sw_register_pairs_is(p, upper, SW_OP_HIGH, 32) ||
	    !factors_of(p, sw_register_pairs_operand(p, upper, 0), &high) ||
	    !lower_product(p, operand[n - 1], sw_register_pairs_operand(p, upper, 0), &low))
		return SW_NO_NODE;
	for (uint32_t k = 0; k < 4; k++) { /* which factor of each is x */
		sw_node x = k & 1 ? high.b : high.a, yh = k & 1 ? high.a : high.b;
		if (x != (k & 2 ? low.b : low.a))
			continue;
		sw_node y = sw_register_pairs_joined(p, k & 2 ? low.a : low.b, yh);
		sw_node wide = sw_graph_extend(p->graph, 64, 32, 0, x);
		return sw_graph_unary(p->graph, SW_OP_LOW, 32, sw_graph_binary(p->graph, SW_OP_MULHI, 64, 0, wide, y));
	}
	return SW_NO_NODE;
}
