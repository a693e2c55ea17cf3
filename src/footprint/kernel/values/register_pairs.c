/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of 64 bits put together from two registers of 32.  A join_*() rule gets the nodes of both halves and gives the
 * value of 64 bits that they are halves of, or SW_NO_NODE.
 */
#include "footprint/kernel/values/register_pairs.h"
#include "footprint/rules.h"

/* {x >> (32 - k), x << k}, as machine code has it, as x * 2^k of 64 bits; SW_NO_NODE: it is not that. */
static sw_node register_pairs_shifted(struct sw_register_pairs *p, sw_node low, sw_node high)
{
	struct sw_graph *g = p->graph;
	struct sw_value v = *sw_register_pairs_at(p, high);
	int64_t by;
	if (v.op != SW_OP_SHR || v.width != 32 || !sw_graph_is_const(g, sw_register_pairs_operand(p, high, 1), &by) ||
	    by < 1 || by > 31)
		return SW_NO_NODE;
	sw_node x = sw_register_pairs_operand(p, high, 0);
	sw_node k = sw_graph_const(g, 32, 32 - by);
	if (sw_graph_binary(g, SW_OP_SHL, 32, 0, x, k) != low)
		return SW_NO_NODE;
	return sw_graph_binary(g, SW_OP_SHL, 64, 0, sw_graph_extend(g, 64, 32, v.flags & SW_SIGNED, x), k);
}

static bool constant_of(const struct sw_register_pairs *p, sw_node n, int64_t *imm)
{
	return sw_graph_is_const(p->graph, n, imm);
}

static bool is_constant(const struct sw_register_pairs *p, sw_node n, int64_t imm)
{
	int64_t v;
	return constant_of(p, n, &v) && v == imm;
}

sw_node sw_register_pairs_joined(struct sw_register_pairs *p, sw_node low, sw_node high)
{
	sw_node n = sw_register_pairs_join(p, low, high);
	if (n != SW_NO_NODE)
		return n;
	return sw_graph_make(p->graph, (struct sw_making){.op = SW_OP_PAIR, .width = 64, .n = 2},
			     (sw_node[]){low, high});
}

/* ---- leaves ----------------------------------------------------------------------------------------------------- */

/* Joins two constants, two words of parameters that follow each other, the halves of an address of shared or local
   memory, or two PHIs of one block. */
static sw_node join_leaves(struct sw_register_pairs *p, sw_node low, sw_node high)
{
	const struct sw_value *l = sw_register_pairs_at(p, low), *h = sw_register_pairs_at(p, high);
	int64_t a, b;
	if (constant_of(p, low, &a) && constant_of(p, high, &b))
		return sw_graph_const(p->graph, 64, (int64_t)((uint64_t)b << 32 | (uint32_t)a));
	if (l->op == SW_OP_PARAM && h->op == SW_OP_PARAM && l->width == 32 && h->width == 32 && h->imm == l->imm + 4)
		return sw_graph_make(p->graph, (struct sw_making){.op = SW_OP_PARAM, .width = 64, .imm = l->imm}, NULL);
	/* Windows: the upper half of a generic address gives the space. That of local memory is assumed to be 0. */
	if (h->op == SW_OP_SHARED_ADDRESS || l->op == SW_OP_SHARED_ADDRESS)
		return sw_graph_make(p->graph, (struct sw_making){.op = SW_OP_SHARED_ADDRESS, .width = 64}, NULL);
	if (l->op == SW_OP_LOCAL_ADDRESS && is_constant(p, high, 0))
		return sw_graph_make(
			p->graph, (struct sw_making){.op = l->op, .width = 64, .imm = l->imm, .imm2 = l->imm2}, NULL);
	if (l->op == SW_VALUE_PHI && h->op == SW_VALUE_PHI && l->imm == h->imm && l->width == 32 && h->width == 32)
		return sw_graph_phi_pair(p->graph, low, high);
	return SW_NO_NODE;
}

/* Joins a number and its sign, or zeros, as an extension to 64 bits. */
static sw_node join_extended(struct sw_register_pairs *p, sw_node low, sw_node high)
{
	if (is_constant(p, high, 0))
		return sw_graph_extend(p->graph, 64, 32, 0, low);
	if (sw_register_pairs_is(p, high, SW_OP_SHR, 32) && sw_register_pairs_at(p, high)->flags & SW_SIGNED &&
	    sw_register_pairs_operand(p, high, 0) == low && is_constant(p, sw_register_pairs_operand(p, high, 1), 31))
		return sw_graph_extend(p->graph, 64, 32, SW_SIGNED, low);
	/* Some upper bits are cleared: those of a size in elements, say. */
	const struct sw_value *h = sw_register_pairs_at(p, high);
	int64_t bits = h->imm;
	if (h->op == SW_OP_EXTEND && h->width == 32 && !(h->flags & SW_SIGNED) && bits >= 1 && bits < 32 &&
	    sw_register_pairs_at(p, sw_register_pairs_operand(p, high, 0))->width == 32) {
		sw_node n = sw_register_pairs_join(p, low, sw_register_pairs_operand(p, high, 0));
		return n == SW_NO_NODE ? n : sw_graph_extend(p->graph, 64, (uint8_t)(32 + bits), 0, n);
	}
	return SW_NO_NODE;
}

/* Is the node the upper half of `whole`?  That of a number shifted right is a shift of the upper half before. */
static bool is_upper_half(struct sw_register_pairs *p, sw_node high, sw_node whole)
{
	sw_node by, of = whole;
	if (sw_register_pairs_half(p, true, whole) == high)
		return true;
	if (!sw_register_pairs_is(p, whole, SW_OP_SHR, 64) || !sw_register_pairs_is(p, high, SW_OP_SHR, 32) ||
	    sw_register_pairs_at(p, whole)->flags != sw_register_pairs_at(p, high)->flags)
		return false;
	by = sw_register_pairs_operand(p, whole, 1);
	of = sw_register_pairs_operand(p, whole, 0);
	sw_node low = sw_register_pairs_half(p, false, of);
	int64_t n;
	return by == sw_register_pairs_operand(p, high, 1) && constant_of(p, by, &n) && n < 32 && low != SW_NO_NODE &&
	       sw_register_pairs_join(p, low, sw_register_pairs_operand(p, high, 0)) == of;
}

/* The value that low and high are the halves of.  Only one may be taken from it, if the other equals its other half. */
static sw_node join_halves(struct sw_register_pairs *p, sw_node low, sw_node high)
{
	bool l = sw_register_pairs_is(p, low, SW_OP_LOW, 32), h = sw_register_pairs_is(p, high, SW_OP_HIGH, 32);
	sw_node whole;
	if (h) {
		whole = sw_register_pairs_operand(p, high, 0);
		if ((l && sw_register_pairs_operand(p, low, 0) == whole) ||
		    sw_register_pairs_half(p, false, whole) == low)
			return whole;
	}
	if (l) {
		whole = sw_register_pairs_operand(p, low, 0);
		if (is_upper_half(p, high, whole))
			return whole;
	}
	return SW_NO_NODE;
}

/* ---- bits ------------------------------------------------------------------------------------------------------- */

/* Joins two halves as NOT of the number that is made of their inverses. */
static sw_node wide_complement(struct sw_register_pairs *p, sw_node low, sw_node high)
{
	sw_node l = sw_graph_unary(p->graph, SW_OP_NOT, 32, low), h = sw_graph_unary(p->graph, SW_OP_NOT, 32, high);
	sw_node n = sw_register_pairs_join(p, l, h);
	return n == SW_NO_NODE ? n : sw_graph_unary(p->graph, SW_OP_NOT, 64, n);
}

/* Joins halves that are made by the same logical operation or choice: it becomes one of 64 bits. */
static sw_node join_bits(struct sw_register_pairs *p, sw_node low, sw_node high)
{
	unsigned op = sw_register_pairs_at(p, low)->op, high_op = sw_register_pairs_at(p, high)->op;
	int64_t mask;
	if (op == SW_OP_NOT || (high_op == SW_OP_NOT && constant_of(p, low, &mask)))
		return wide_complement(p, low, high);
	if (op == high_op && (op == SW_OP_AND || op == SW_OP_OR || op == SW_OP_XOR)) {
		for (uint32_t cross = 0; cross < 2; cross++) {
			sw_node a = sw_register_pairs_join(p, sw_register_pairs_operand(p, low, 0),
							   sw_register_pairs_operand(p, high, cross));
			sw_node b = a == SW_NO_NODE
					    ? a
					    : sw_register_pairs_join(p, sw_register_pairs_operand(p, low, 1),
								     sw_register_pairs_operand(p, high, !cross));
			if (b != SW_NO_NODE)
				return sw_graph_binary(p->graph, (enum sw_op)op, 64, 0, a, b);
		}
	}
	if (op == SW_OP_AND &&
	    constant_of(p, sw_register_pairs_operand(p, low, 1), &mask)) { /* alignment touches the lower half only */
		sw_node a = sw_register_pairs_join(p, sw_register_pairs_operand(p, low, 0), high);
		int64_t wide = (int64_t)(UINT64_C(0xffffffff00000000) | (uint32_t)mask);
		if (a != SW_NO_NODE)
			return sw_graph_binary(p->graph, SW_OP_AND, 64, 0, a, sw_graph_const(p->graph, 64, wide));
	}
	if (op == SW_OP_SELECT && high_op == SW_OP_SELECT &&
	    sw_register_pairs_operand(p, low, 0) == sw_register_pairs_operand(p, high, 0)) {
		sw_node condition = sw_register_pairs_operand(p, low, 0);
		sw_node yes = sw_register_pairs_joined(p, sw_register_pairs_operand(p, low, 1),
						       sw_register_pairs_operand(p, high, 1));
		sw_node no = sw_register_pairs_joined(p, sw_register_pairs_operand(p, low, 2),
						      sw_register_pairs_operand(p, high, 2));
		return sw_graph_select(p->graph, 64, condition, yes, no);
	}
	return SW_NO_NODE;
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

/* a + b, and 1 with a carry in; since -y is ~y + 1, a sum with ~y and a carry is a difference. */
static sw_node wide_sum(struct sw_register_pairs *p, sw_node a, sw_node b, bool carry_in)
{
	if (!carry_in)
		return sw_graph_binary(p->graph, SW_OP_ADD, 64, 0, a, b);
	for (int swap = 0; swap < 2; swap++) {
		sw_node x = swap ? b : a, y = swap ? a : b;
		if (sw_register_pairs_is(p, y, SW_OP_NOT, 64))
			return sw_graph_binary(p->graph, SW_OP_SUB, 64, 0, x, sw_register_pairs_operand(p, y, 0));
	}
	sw_node sum = sw_graph_binary(p->graph, SW_OP_ADD, 64, 0, a, b);
	return sw_graph_binary(p->graph, SW_OP_ADD, 64, 0, sum, sw_graph_const(p->graph, 64, 1));
}

/* The sum {ah, a} + {bh, b} of 64 bits.  With the upper halves exchanged it is the same: whichever makes fewer bare
   pairs.  SW_NO_NODE: fewer than `least` are joined. */
static sw_node sum_of_pairs(struct sw_register_pairs *p, sw_node a, sw_node b, sw_node ah, sw_node bh, bool carry_in,
			    unsigned least)
{
	sw_node straight[2] = {sw_register_pairs_join(p, a, ah), sw_register_pairs_join(p, b, bh)};
	unsigned found = (straight[0] != SW_NO_NODE) + (straight[1] != SW_NO_NODE);
	if (found < 2) {
		sw_node crossed[2] = {sw_register_pairs_join(p, a, bh), sw_register_pairs_join(p, b, ah)};
		unsigned other = (crossed[0] != SW_NO_NODE) + (crossed[1] != SW_NO_NODE);
		if (other > found && other >= least)
			return wide_sum(p, crossed[0] != SW_NO_NODE ? crossed[0] : sw_register_pairs_joined(p, a, bh),
					crossed[1] != SW_NO_NODE ? crossed[1] : sw_register_pairs_joined(p, b, ah),
					carry_in);
	}
	if (found < least)
		return SW_NO_NODE;
	return wide_sum(p, straight[0] != SW_NO_NODE ? straight[0] : sw_register_pairs_joined(p, a, ah),
			straight[1] != SW_NO_NODE ? straight[1] : sw_register_pairs_joined(p, b, bh), carry_in);
}

/* Is it the carry of a sum whose result is `low`?  *in: the sum has a carry in. */
static bool is_carry_into(struct sw_register_pairs *p, sw_node carry, sw_node low, bool *in)
{
	const struct sw_value *c = sw_register_pairs_at(p, carry);
	if (c->op != SW_OP_CARRY || c->n < 2 || c->n > 3)
		return false;
	*in = c->n == 3;
	if (*in && !is_constant(p, sw_register_pairs_operand(p, carry, 2), 1))
		return false;
	sw_node a = sw_register_pairs_operand(p, carry, 0), b = sw_register_pairs_operand(p, carry, 1);
	sw_node sum = sw_graph_binary(p->graph, SW_OP_ADD, 32, 0, a, b);
	if (*in)
		sum = sw_graph_binary(p->graph, SW_OP_ADD, 32, 0, sum, sw_graph_const(p->graph, 32, 1));
	if (*in && sum != low) { /* a + ~b + 1 was said as a - b */
		for (int swap = 0; swap < 2 && sum != low; swap++) {
			sw_node x = swap ? b : a, y = sw_graph_unary(p->graph, SW_OP_NOT, 32, swap ? a : b);
			sum = sw_graph_binary(p->graph, SW_OP_SUB, 32, 0, x, y);
		}
	}
	return sum == low;
}

/* Is it a sum of two numbers of 32 bits and a carry? */
static bool is_sum(const struct sw_register_pairs *p, sw_node n)
{
	return sw_register_pairs_is(p, n, SW_OP_ADDX, 32) && sw_register_pairs_at(p, n)->n == 3;
}

/* {ah, a} + {bh, b}; the lower halves a and b are the operands of `carry`. */
static sw_node join_sum(struct sw_register_pairs *p, sw_node carry, sw_node ah, sw_node bh, bool in, unsigned least)
{
	return sum_of_pairs(p, sw_register_pairs_operand(p, carry, 0), sw_register_pairs_operand(p, carry, 1), ah, bh,
			    in, least);
}

/* Joins the sum of three numbers.  It has two carries, and either may come first: the upper half, (x + y + its
   carry) + z + the inner carry, is put in the order of the lower one. */
static sw_node join_inner_carry(struct sw_register_pairs *p, sw_node low, sw_node high)
{
	bool in;
	for (uint32_t k = 0; k < 2; k++) {
		sw_node inner = sw_register_pairs_operand(p, high, k);
		if (!is_sum(p, inner) || !is_carry_into(p, sw_register_pairs_operand(p, inner, 2), low, &in))
			continue;
		sw_node other[2] = {sw_register_pairs_operand(p, high, !k), sw_register_pairs_operand(p, high, 2)};
		sw_node carry = sw_register_pairs_operand(p, inner, 2);
		for (uint32_t i = 0; i < 2; i++) {
			sw_node sum =
				sw_graph_make(p->graph, (struct sw_making){.op = SW_OP_ADDX, .width = 32, .n = 3},
					      (sw_node[]){sw_register_pairs_operand(p, inner, i), other[0], other[1]});
			sw_node n = join_sum(p, carry, sum, sw_register_pairs_operand(p, inner, !i), in, 2);
			if (n != SW_NO_NODE)
				return n;
		}
	}
	return SW_NO_NODE;
}

/* Joins the halves of a sum: low is a + b, high is ah + bh and the carry of that. */
static sw_node join_carry(struct sw_register_pairs *p, sw_node low, sw_node high)
{
	bool in;
	if (!is_sum(p, high))
		return SW_NO_NODE;
	sw_node carry = sw_register_pairs_operand(p, high, 2);
	if (!is_carry_into(p, carry, low, &in))
		return join_inner_carry(p, low, high);
	return join_sum(p, carry, sw_register_pairs_operand(p, high, 0), sw_register_pairs_operand(p, high, 1), in, 0);
}

/*
 * The terms of an upper half: one of them makes a pair with the lower half, the others are added at bit 32.  So come
 * products of 64 bits: {xh, xl} * {yh, yl} = xl * yl + ((xl * yh + xh * yl) << 32).
 */
#define MAX_TERMS 6
struct terms {
	sw_node at[MAX_TERMS];
	unsigned n;
};
/* Appends the terms of a sum of 32 bits; differences have a negative term. */
static void flatten_sum(struct sw_register_pairs *p, sw_node n, struct terms *t, unsigned depth)
{
	bool minus = sw_register_pairs_is(p, n, SW_OP_SUB, 32);
	if ((minus || sw_register_pairs_is(p, n, SW_OP_ADD, 32)) && depth < MAX_TERMS && t->n + 2 <= MAX_TERMS) {
		sw_node a = sw_register_pairs_operand(p, n, 0), b = sw_register_pairs_operand(p, n, 1);
		flatten_sum(p, a, t, depth + 1);
		flatten_sum(p, minus ? sw_graph_unary(p->graph, SW_OP_NEG, 32, b) : b, t, depth + 1);
	} else if (t->n < MAX_TERMS) {
		t->at[t->n++] = n;
	}
}

/* Where the term is `factor` times a value (also as a shift or a sign): that value; else SW_NO_NODE. */
static sw_node factor_over(struct sw_register_pairs *p, sw_node term, sw_node factor)
{
	int64_t f, shift;
	if (sw_register_pairs_is(p, term, SW_OP_MUL, 32)) {
		for (uint32_t k = 0; k < 2; k++)
			if (sw_register_pairs_operand(p, term, k) == factor)
				return sw_register_pairs_operand(p, term, !k);
	}
	if (sw_register_pairs_is(p, term, SW_OP_NEG, 32) && sw_register_pairs_operand(p, term, 0) == factor)
		return sw_graph_const(p->graph, 32, -1);
	if (sw_register_pairs_is(p, term, SW_OP_SHL, 32) && constant_of(p, factor, &f) &&
	    constant_of(p, sw_register_pairs_operand(p, term, 1), &shift) && shift >= 0 && shift < 32 &&
	    (uint32_t)f == UINT32_C(1) << shift)
		return sw_register_pairs_operand(p, term, 0);
	return SW_NO_NODE;
}

/* The number of 32 bits, without a sign, that a factor of 64 was made from; SW_NO_NODE: it is longer. */
static sw_node narrow_factor(struct sw_register_pairs *p, sw_node n)
{
	int64_t v;
	if (constant_of(p, n, &v))
		return v >= 0 && v <= UINT32_MAX ? sw_graph_const(p->graph, 32, (int32_t)v) : SW_NO_NODE;
	const struct sw_value *e = sw_register_pairs_at(p, n);
	if (e->op != SW_OP_EXTEND || e->flags & SW_SIGNED || e->imm != 32)
		return SW_NO_NODE;
	sw_node inner = sw_register_pairs_operand(p, n, 0);
	return sw_register_pairs_at(p, inner)->width == 32 ? inner : SW_NO_NODE;
}

/* xl * yl of 64 bits as machine code computes it, or as the graph has simplified it: xl and yl, of 32 bits and without
   a sign; false: it is no such product. */
static bool take_factors(struct sw_register_pairs *p, sw_node wide, sw_node x[2])
{
	bool multiplies =
		sw_register_pairs_is(p, wide, SW_OP_MULWIDE, 64) && !(sw_register_pairs_at(p, wide)->flags & SW_SIGNED);
	if (!multiplies && !sw_register_pairs_is(p, wide, SW_OP_MUL, 64))
		return false;
	for (uint32_t k = 0; k < 2; k++)
		x[k] = multiplies ? sw_register_pairs_operand(p, wide, k)
				  : narrow_factor(p, sw_register_pairs_operand(p, wide, k));
	return x[0] != SW_NO_NODE && x[1] != SW_NO_NODE;
}

/* ---- the upper half of a product of 128 bits */

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

/* The factors, of 32 bits, of a product. */
struct factors {
	sw_node a, b;
};

/* take_factors() as a struct. */
static bool factors_of(struct sw_register_pairs *p, sw_node n, struct factors *out)
{
	sw_node x[2];
	if (!take_factors(p, n, x))
		return false;
	*out = (struct factors){x[0], x[1]};
	return true;
}

/* Are the factors these two, in either order? */
static bool is_product_of(const struct factors *f, sw_node a, sw_node b)
{
	return (f->a == a && f->b == b) || (f->a == b && f->b == a);
}

/* The one bit that the number is made of, which is 0 or 1; SW_NO_NODE: it is another number. */
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

/* Is the bit the carry of this sum of 64 bits: is the sum less than one of its sides? */
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

/* Finds xl * yl (above): its upper half and the lower half of `cross` are added to give the carry. */
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

/* The upper half of the product x * y, as above, from xh * yh, from the pair of what cross carries and its upper
   half, and from the last carry; SW_NO_NODE: these do not fit. */
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

/* a + b as the upper half of a product of 64 bits; SW_NO_NODE: it is none. */
static sw_node register_pairs_high_product(struct sw_register_pairs *p, sw_node a, sw_node b)
{
	if (SW_RULE_IS_OFF(high_product))
		return SW_NO_NODE;
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

/* ADDX of operands as the upper half of a product of 32 and 64 bits; SW_NO_NODE: it is none. */
static sw_node short_high_product(struct sw_register_pairs *p, const sw_node *operand, unsigned n)
{
	struct factors high, low;
	sw_node upper = only_summand(p, operand, n - 1);
	if (SW_RULE_IS_OFF(short_high_product))
		return SW_NO_NODE;
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

/* Completes the product whose lower halves `wide` multiplies (xl * yl) by terms of the upper half, which are taken
   out of the list.  SW_NO_NODE: none of them belongs to it. */
static sw_node wide_product(struct sw_register_pairs *p, sw_node wide, struct terms *t)
{
	sw_node x[2], upper[2] = {SW_NO_NODE, SW_NO_NODE}, factor[2];
	if (!take_factors(p, wide, x))
		return SW_NO_NODE;
	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < t->n && upper[k] == SW_NO_NODE; i++)
			if ((upper[k] = factor_over(p, t->at[i], x[!k])) != SW_NO_NODE)
				t->at[i] = t->at[--t->n];
	if (upper[0] == SW_NO_NODE && upper[1] == SW_NO_NODE)
		return SW_NO_NODE;
	for (unsigned k = 0; k < 2; k++)
		factor[k] = upper[k] == SW_NO_NODE ? sw_graph_extend(p->graph, 64, 32, 0, x[k])
						   : sw_register_pairs_joined(p, x[k], upper[k]);
	return sw_graph_binary(p->graph, SW_OP_MUL, 64, 0, factor[0], factor[1]);
}

/* A sum of 64 bits with its products completed; SW_NO_NODE: no term belongs to one. */
static sw_node complete_pair(struct sw_register_pairs *p, sw_node wide, struct terms *t, unsigned depth)
{
	sw_node n = wide_product(p, wide, t);
	if (n != SW_NO_NODE || !sw_register_pairs_is(p, wide, SW_OP_ADD, 64) || depth == MAX_TERMS)
		return n;
	sw_node side[2] = {sw_register_pairs_operand(p, wide, 0), sw_register_pairs_operand(p, wide, 1)};
	bool any = false;
	for (unsigned k = 0; k < 2 && t->n; k++) {
		sw_node full = complete_pair(p, side[k], t, depth + 1);
		if (full != SW_NO_NODE) {
			side[k] = full;
			any = true;
		}
	}
	return any ? sw_graph_binary(p->graph, SW_OP_ADD, 64, 0, side[0], side[1]) : SW_NO_NODE;
}

/* The sum `wide` with products completed, and what is left of the terms at bit 32. */
static sw_node with_terms(struct sw_register_pairs *p, sw_node wide, struct terms *t)
{
	sw_node n = complete_pair(p, wide, t, 0);
	if (n == SW_NO_NODE)
		n = wide;
	for (unsigned i = 0; i < t->n; i++) {
		sw_node term = sw_graph_extend(p->graph, 64, 32, 0, t->at[i]);
		term = sw_graph_binary(p->graph, SW_OP_SHL, 64, 0, term, sw_graph_const(p->graph, 32, 32));
		n = sw_graph_binary(p->graph, SW_OP_ADD, 64, 0, n, term);
	}
	return n;
}

/* Joins halves of which the upper one is a sum: one of its terms is the upper half of a product, the others come
   from the upper halves of the factors. */
static sw_node join_terms(struct sw_register_pairs *p, sw_node low, sw_node high)
{
	struct terms t = {{0}, 0};
	if (!sw_register_pairs_is(p, high, SW_OP_ADD, 32) && !sw_register_pairs_is(p, high, SW_OP_SUB, 32))
		return SW_NO_NODE;
	flatten_sum(p, high, &t, 0);
	for (unsigned i = 0; i < t.n; i++) {
		unsigned op = sw_register_pairs_at(p, t.at[i])->op;
		if (op != SW_OP_HIGH && op != SW_OP_ADDX)
			continue;
		sw_node wide = sw_register_pairs_join(p, low, t.at[i]);
		if (wide == SW_NO_NODE)
			continue;
		t.at[i] = t.at[--t.n];
		return with_terms(p, wide, &t);
	}
	return SW_NO_NODE;
}

/* Tries the rules that put two halves together, one after the other, until one fits or the budget ends. */
static sw_node join_as_pair(struct sw_register_pairs *p, sw_node low, sw_node high)
{
	static sw_node (*const rules[])(struct sw_register_pairs *, sw_node, sw_node) = {
		join_leaves, join_extended, register_pairs_shifted, join_halves, join_carry, join_bits, join_terms,
	};
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		if (!*p->budget)
			return SW_NO_NODE;
		--*p->budget;
		sw_node n = rules[i](p, low, high);
		if (n != SW_NO_NODE)
			return n;
	}
	return SW_NO_NODE;
}

sw_node sw_register_pairs_join(struct sw_register_pairs *p, sw_node low, sw_node high)
{
	return sw_register_pairs_remembered(p, SW_PAIRS_KEY_OF_JOIN(low, high), join_as_pair, low, high);
}

sw_node sw_register_pairs_remembered(struct sw_register_pairs *p, uint64_t key, sw_register_pairs_rule *rule, sw_node a,
				     sw_node b)
{
	const uint64_t *found = sw_map_find(&p->graph->joined, key);
	if (found)
		return (sw_node)*found;
	*sw_map_put(&p->graph->joined, key) = SW_NO_NODE;
	sw_node n = rule(p, a, b);
	if (n != SW_NO_NODE || *p->budget)
		*sw_map_put(&p->graph->joined, key) = n;
	else /* there may be something, another time */
		sw_map_delete(&p->graph->joined, key);
	return n;
}

/* ---- one bit ---------------------------------------------------------------------------------------------------- */

/* The carry out of a sum that is certain: of constants, or where all but one operand are 0; else SW_NO_NODE. */
static sw_node carry_of(struct sw_register_pairs *p, const sw_node *operand, unsigned n)
{
	uint64_t sum = 0;
	unsigned unknown = 0;
	for (unsigned i = 0; i < n; i++) {
		int64_t v;
		if (constant_of(p, operand[i], &v))
			sum += (uint32_t)v;
		else
			unknown++;
	}
	if (!unknown)
		return sw_graph_const(p->graph, 1, sum >> 32 != 0);
	return unknown == 1 && sum == 0 ? sw_graph_const(p->graph, 1, 0) : SW_NO_NODE;
}

/* A sum of 32 bits with a carry in as plain sums, where the carry is known, or as the upper half of a product;
   SW_NO_NODE: neither. */
static sw_node addx_of(struct sw_register_pairs *p, const sw_node *operand, unsigned n)
{
	int64_t carry;
	if (n < 2)
		return SW_NO_NODE;
	if (!constant_of(p, operand[n - 1], &carry))
		return short_high_product(p, operand, n);
	sw_node sum = sw_graph_const(p->graph, 32, carry & 1);
	for (unsigned i = 0; i + 1 < n; i++)
		sum = sw_graph_binary(p->graph, SW_OP_ADD, 32, 0, sum, operand[i]);
	return sum;
}

/* Simplifies operations on halves of 64-bit values: what machine code computes in two registers becomes one node again.
 */
static sw_node simplify_half(struct sw_register_pairs p, const struct sw_making *making, const sw_node *operands)
{
	switch (making->op) {
	case SW_OP_PAIR:
		return sw_register_pairs_join(&p, operands[0], operands[1]);
	case SW_OP_LOW:
	case SW_OP_HIGH:
		return sw_register_pairs_half(&p, making->op == SW_OP_HIGH, operands[0]);
	case SW_OP_CARRY:
		return carry_of(&p, operands, making->n);
	case SW_OP_ADDX:
		return addx_of(&p, operands, making->n);
	case SW_OP_ADD:
		return making->width == 64 ? register_pairs_high_product(&p, operands[0], operands[1]) : SW_NO_NODE;
	case SW_OP_SELECT:
		return making->width == 1 ? sw_register_pairs_select(&p, operands[0], operands[1], operands[2])
					  : SW_NO_NODE;
	case SW_OP_AND:
		return making->width == 1 ? sw_register_pairs_both(&p, operands[0], operands[1]) : SW_NO_NODE;
	case SW_OP_OR:
		return making->width == 1 ? sw_register_pairs_either(&p, operands[0], operands[1]) : SW_NO_NODE;
	default:
		return SW_NO_NODE;
	}
}

sw_node sw_register_pairs_simplify(struct sw_graph *graph, const struct sw_making *making, const sw_node *operands)
{
	unsigned own = SW_PAIRS_BUDGET, *outer = graph->pairs_budget;
	if (!outer)
		graph->pairs_budget = &own;
	sw_node n = simplify_half((struct sw_register_pairs){graph, graph->pairs_budget}, making, operands);
	graph->pairs_budget = outer;
	return n;
}
