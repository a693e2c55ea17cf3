/* SPDX-License-Identifier: Apache-2.0 */
/* Machine instructions that add, multiply, shift and compare. */
#include "footprint/instructions/sass/sass_lower.h"

#define SRC(...)                                                                                                       \
	(struct sw_operand[])                                                                                          \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}

/* ---- the smaller or the larger of numbers ------------------------------------------------------------------------ */

/* Gives the predicates that the instruction sets besides its result (which operand it chose, say) unknown values. */
static void give_predicates(struct sw_sass *s)
{
	for (unsigned at = SW_AT_OUT; at <= SW_AT_OUT2; at += SW_AT_OUT2 - SW_AT_OUT)
		if (sw_sass_predicate_out(s, at) != SW_NO_REG)
			sw_sass_set(s, sw_sass_predicate_out(s, at), 1, sw_sass_anything(s, 1));
}

/* Gives Rd the smaller or the larger of a and b, as the predicate at 87 says. */
static void least_of(struct sw_sass *s, unsigned width, bool is_signed, struct sw_operand a, struct sw_operand b)
{
	struct sw_operand smaller = sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT), v;
	unsigned flags = is_signed ? SW_SIGNED : 0;
	if (smaller.reg == SW_NO_REG) {
		v = sw_sass_value(s, smaller.imm ? SW_OP_MIN : SW_OP_MAX, width, flags, 2, SRC(a, b));
	} else {
		struct sw_operand min = sw_sass_value(s, SW_OP_MIN, width, flags, 2, SRC(a, b));
		struct sw_operand max = sw_sass_value(s, SW_OP_MAX, width, flags, 2, SRC(a, b));
		v = sw_sass_value(s, SW_OP_SELECT, width, 0, 3, SRC(smaller, min, max));
	}
	if (width == 64)
		sw_sass_result64(s, v);
	else
		sw_sass_result(s, v);
}

/* least_of() for the first two operands of the instruction. */
static void lower_least(struct sw_sass *s, unsigned width, bool is_signed)
{
	struct sw_operand a = width == 64 ? sw_sass_wide(s, SW_SASS_A) : sw_sass_operand(s, SW_SASS_A);
	struct sw_operand b = width == 64 ? sw_sass_wide(s, SW_SASS_B) : sw_sass_operand(s, SW_SASS_B);
	least_of(s, width, is_signed, a, b);
}

/* IMNMX: minimum or maximum.  74: 64 bits, from sm_100 on; those with a predicate at 77, seen only as !PT, are not
   known. */
void sw_sass_lower_imnmx(struct sw_sass *s)
{
	bool newer = s->cubin->arch >= 100;
	if (newer && !sw_sass_is(sw_sass_predicate(s, SW_AT_IN2, SW_AT_IN2_NOT), 0))
		sw_sass_result64(s, sw_sass_value(s, SW_OP_MIX, 64, 0, 2,
						  SRC(sw_sass_wide(s, SW_SASS_A), sw_sass_wide(s, SW_SASS_B))));
	else
		lower_least(s, newer && sw_sass_bit(s, 74) ? 64 : 32, sw_sass_bit(s, 73));
	if (newer)
		give_predicates(s);
}

/* VIMNMX: minimum or maximum.  73 and 74: two numbers of 16 bits, and other forms.  72, elsewhere the sign of the
   first operand, means signed. */
void sw_sass_lower_vimnmx(struct sw_sass *s)
{
	if (sw_sass_bits(s, 73, 2))
		sw_sass_lower_number(s);
	else
		least_of(s, 32, sw_sass_bit(s, 72), sw_sass_plain(s, SW_SASS_A), sw_sass_operand(s, SW_SASS_B));
	if (s->cubin->arch >= 100 && !sw_sass_uniform(s))
		give_predicates(s);
}

/* VIADDMNMX: a + b, and then the smaller (or larger) of that and c.  72: signed; 73-74: other forms. */
void sw_sass_lower_viaddmnmx(struct sw_sass *s)
{
	if (sw_sass_bits(s, 73, 2)) {
		sw_sass_lower_number(s);
		return;
	}
	struct sw_operand a = sw_sass_plain(s, SW_SASS_A), b = sw_sass_operand(s, SW_SASS_B);
	struct sw_operand c = sw_sass_plain(s, SW_SASS_C);
	least_of(s, 32, sw_sass_bit(s, 72), sw_sass_is(b, 0) ? a : sw_sass_binary(s, SW_OP_ADD, 32, a, b), c);
}

/* VIMNMX3: the least or largest of three numbers. */
void sw_sass_lower_vimnmx3(struct sw_sass *s)
{
	struct sw_operand least = sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT);
	if (sw_sass_bits(s, 73, 2) || least.reg != SW_NO_REG || sw_sass_negated(s, SW_SASS_C)) {
		sw_sass_lower_number(s);
		return;
	}
	enum sw_op op = least.imm ? SW_OP_MIN : SW_OP_MAX;
	unsigned flags = sw_sass_bit(s, 72) ? SW_SIGNED : 0;
	struct sw_operand a = sw_sass_plain(s, SW_SASS_A), b = sw_sass_operand(s, SW_SASS_B);
	struct sw_operand v = sw_sass_value(s, op, 32, flags, 2, SRC(a, b)), c = sw_sass_plain(s, SW_SASS_C);
	sw_sass_result(s, sw_sass_value(s, op, 32, flags, 2, SRC(v, c)));
}

/* a + b, without an instruction where one of both is 0. */
static struct sw_operand add_values(struct sw_sass *s, struct sw_operand a, struct sw_operand b)
{
	if (sw_sass_is(a, 0))
		return b;
	if (sw_sass_is(b, 0))
		return a;
	return sw_sass_binary(s, SW_OP_ADD, 32, a, b);
}

/* The sum of a, b and a carry in of 1 bit. */
static struct sw_operand add_with_carry(struct sw_sass *s, struct sw_operand a, struct sw_operand b,
					struct sw_operand carry)
{
	if (sw_sass_is(carry, 0))
		return add_values(s, a, b);
	return sw_sass_value(s, SW_OP_ADDX, 32, 0, 3, SRC(a, b, carry));
}

/* The carry out of a + b + carry. */
static struct sw_operand carry_of(struct sw_sass *s, struct sw_operand a, struct sw_operand b, struct sw_operand carry)
{
	return sw_sass_value(s, SW_OP_CARRY, 1, 0, sw_sass_is(carry, 0) ? 2 : 3, SRC(a, b, carry));
}

/* An operand of an addition that keeps count of carries: -x is ~x and a carry in. */
static struct sw_operand inverted_operand(struct sw_sass *s, enum sw_sass_operand which)
{
	struct sw_operand v = sw_sass_plain(s, which);
	return sw_sass_negated(s, which) ? sw_sass_unary(s, SW_OP_NOT, 32, v) : v;
}

/* A sum of 32 bits and the carry out of it. */
struct sum {
	struct sw_operand value, carry;
};
/* The sum of a, b and a carry in, and if wanted its carry out.  a_negated: a stands for -a, of which the carry takes
   ~a and 1 more. */
static struct sum sum_of(struct sw_sass *s, struct sw_operand a, bool a_negated, struct sw_operand b, bool b_negated,
			 struct sw_operand in, bool want_carry)
{
	struct sum sum = {.carry = sw_operand_imm(0)};
	struct sw_operand not_a = a, not_b = b;
	if (want_carry && a_negated)
		not_a = sw_sass_unary(s, SW_OP_NOT, 32, a);
	if (want_carry && b_negated)
		not_b = sw_sass_unary(s, SW_OP_NOT, 32, b);
	if (want_carry)
		sum.carry = carry_of(s, not_a, not_b, a_negated || b_negated ? sw_operand_imm(1) : in);
	if (a_negated && b_negated)
		sum.value = sw_sass_unary(s, SW_OP_NEG, 32, add_values(s, a, b));
	else if (a_negated)
		sum.value = sw_sass_binary(s, SW_OP_SUB, 32, b, a);
	else if (b_negated)
		sum.value = sw_sass_binary(s, SW_OP_SUB, 32, a, b);
	else
		sum.value = add_with_carry(s, a, b, in);
	return sum;
}

/* IADD3, with carries in if `extended`.  Two predicates take the carries of (a + b) and of that + c.  With only one
   predicate, either no more than two operands are not RZ, and it takes the carry of their sum; or the compiler knows
   that only one of the two sums can carry, and it takes the OR of both carries. */
static void lower_sum(struct sw_sass *s, bool extended)
{
	struct sw_operand a, b, c, in0 = sw_operand_imm(0), in1 = in0;
	bool neg[3] = {0};
	sw_reg out0 = sw_sass_predicate_out(s, SW_AT_OUT), out1 = sw_sass_predicate_out(s, SW_AT_OUT2);
	if (extended) {
		a = inverted_operand(s, SW_SASS_A);
		b = inverted_operand(s, SW_SASS_B);
		c = inverted_operand(s, SW_SASS_C);
		in0 = sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT);
		in1 = sw_sass_predicate(s, SW_AT_IN2, SW_AT_IN2_NOT);
	} else {
		a = sw_sass_plain(s, SW_SASS_A);
		b = sw_sass_plain(s, SW_SASS_B);
		c = sw_sass_plain(s, SW_SASS_C);
		for (int k = 0; k < 3; k++)
			neg[k] = sw_sass_negated(s, (enum sw_sass_operand)k);
	}
	bool carries = out0 != SW_NO_REG || out1 != SW_NO_REG, last = !sw_sass_is(c, 0) || !sw_sass_is(in1, 0);
	if (last && sw_sass_is(b, 0) && sw_sass_is(in1, 0)) { /* two operands that matter are the first two */
		b = c;
		neg[1] = neg[2];
		last = false;
	} else if (last && sw_sass_is(a, 0) && sw_sass_is(in1, 0)) {
		a = c;
		neg[0] = neg[2];
		last = false;
	}
	struct sum first = sum_of(s, a, neg[0], b, neg[1], in0, carries);
	struct sum second = {.value = first.value, .carry = sw_operand_imm(0)};
	if (last)
		second = sum_of(s, first.value, false, c, neg[2], in1, carries);
	if (last && out1 == SW_NO_REG && carries) /* whichever carries */
		first.carry = sw_sass_binary(s, SW_OP_OR, 1, first.carry, second.carry);
	sw_sass_result(s, second.value);
	sw_sass_set(s, out0, 1, first.carry);
	sw_sass_set(s, out1, 1, second.carry);
}

/* IADD3: a + b + c; 74, .X: with carries in. */
void sw_sass_lower_iadd3(struct sw_sass *s)
{
	lower_sum(s, sw_sass_bit(s, 74));
}

/* VIADD: a + b without carries. */
void sw_sass_lower_viadd(struct sw_sass *s)
{
	struct sw_operand a = sw_sass_operand(s, SW_SASS_A), b = sw_sass_operand(s, SW_SASS_B);
	sw_sass_result(s, add_values(s, a, b));
}

/* Gives a predicate that is not followed (carries of 64 bits and others) an unknown value. */
static void give_predicate(struct sw_sass *s, unsigned at)
{
	sw_reg out = sw_sass_predicate_out(s, at);
	if (out != SW_NO_REG)
		sw_sass_set(s, out, 1, sw_sass_anything(s, 1));
}

/* UIADD3.64: a sum of three numbers of 64 bits. */
void sw_sass_lower_uiadd3_64(struct sw_sass *s)
{
	struct sw_operand a = sw_sass_wide(s, SW_SASS_A), b = sw_sass_wide(s, SW_SASS_B);
	struct sw_operand sum = sw_sass_binary(s, SW_OP_ADD, 64, a, b);
	sw_sass_result64(s, sw_sass_binary(s, SW_OP_ADD, 64, sum, sw_sass_wide(s, SW_SASS_C)));
	give_predicate(s, SW_AT_OUT);
	give_predicate(s, SW_AT_OUT2);
}

/* IADD, since sm_100: a sum of two.  73: 64 bits, 74: .X, with a carry in. */
void sw_sass_lower_iadd(struct sw_sass *s)
{
	bool extended = sw_sass_bit(s, 74);
	struct sw_operand in = extended ? sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT) : sw_operand_imm(0);
	sw_reg out = sw_sass_predicate_out(s, SW_AT_OUT);
	if (sw_sass_bit(s, 73)) {
		struct sw_operand a = sw_sass_wide(s, SW_SASS_A), b = sw_sass_wide(s, SW_SASS_B);
		struct sw_operand sum = sw_sass_binary(s, SW_OP_ADD, 64, a, b);
		if (extended)
			sum = sw_sass_binary(s, SW_OP_ADD, 64, sum, sw_sass_extend(s, 64, 1, false, in));
		sw_sass_result64(s, sum);
		give_predicate(s, SW_AT_OUT);
		return;
	}
	struct sw_operand a = extended ? inverted_operand(s, SW_SASS_A) : sw_sass_plain(s, SW_SASS_A);
	struct sw_operand b = extended ? inverted_operand(s, SW_SASS_B) : sw_sass_plain(s, SW_SASS_B);
	bool not_a = !extended && sw_sass_negated(s, SW_SASS_A), not_b = !extended && sw_sass_negated(s, SW_SASS_B);
	struct sum sum = sum_of(s, a, not_a, b, not_b, in, out != SW_NO_REG);
	sw_sass_result(s, sum.value);
	sw_sass_set(s, out, 1, sum.carry);
}

/* The product of the first two operands, without an instruction where it is 0 or one of both. */
static struct sw_operand product_of(struct sw_sass *s)
{
	struct sw_operand a = sw_sass_plain(s, SW_SASS_A), b = sw_sass_operand(s, SW_SASS_B);
	if (sw_sass_is(a, 0) || sw_sass_is(b, 0))
		return sw_operand_imm(0);
	if (sw_sass_is(b, 1))
		return a;
	return sw_sass_binary(s, SW_OP_MUL, 32, a, b);
}

/* IMAD: a * b + c; also as IMAD.MOV (0 * 0 + c), IMAD.IADD (a * 1 + c), IMAD.SHL (a * 2^n + 0). */
void sw_sass_lower_imad(struct sw_sass *s)
{
	struct sw_operand p = product_of(s);
	if (sw_sass_bit(s, 74)) { /* .X */
		sw_sass_result(s, add_with_carry(s, p, inverted_operand(s, SW_SASS_C),
						 sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT)));
		return;
	}
	struct sw_operand sum;
	if (sw_sass_negated(s, SW_SASS_C))
		sum = sw_sass_binary(s, SW_OP_SUB, 32, p, sw_sass_plain(s, SW_SASS_C));
	else
		sum = add_values(s, p, sw_sass_plain(s, SW_SASS_C));
	bool constant = sum.reg == SW_NO_REG && s->guard == SW_NO_REG;
	sw_reg reg = sw_sass_reg(s, 16, sw_sass_uniform(s)), out = sw_sass_predicate_out(s, SW_AT_OUT);
	sw_sass_result(s, sum);
	sw_sass_know(s, reg, constant, sum.imm);
	if (out != SW_NO_REG)
		sw_sass_set(s, out, 1, sw_sass_anything(s, 1));
}

/* a * b + {Rc+1, Rc} in 64 bits; *carry: the carry out, if the instruction gives it. */
static struct sw_operand wide_sum(struct sw_sass *s, struct sw_operand *carry)
{
	struct sw_operand a = sw_sass_plain(s, SW_SASS_A), b = sw_sass_operand(s, SW_SASS_B);
	struct sw_operand p = sw_operand_imm(0);
	if (!sw_sass_is(a, 0) && !sw_sass_is(b, 0))
		p = sw_sass_value(s, SW_OP_MULWIDE, 64, sw_sass_bit(s, 73) ? SW_SIGNED : 0, 2, SRC(a, b));
	struct sw_operand c = sw_sass_wide(s, SW_SASS_C);
	struct sw_operand sum = sw_sass_is(c, 0) ? p : sw_sass_binary(s, SW_OP_ADD, 64, p, c);
	if (sw_sass_predicate_out(s, SW_AT_OUT) == SW_NO_REG)
		;
	else if (sw_sass_bit(s, 74) || sw_sass_bit(s, 73))
		*carry = sw_sass_anything(s, 1);
	else /* the sum is less than what was added */
		*carry = sw_sass_compare(s, SW_LT, 64, false, sum, c);
	if (sw_sass_bit(s, 74))
		sum = sw_sass_binary(s, SW_OP_ADD, 64, sum,
				     sw_sass_extend(s, 64, 1, false, sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT)));
	return sum;
}

/* IMAD.WIDE: a * b + {Rc+1, Rc} in 64 bits. */
void sw_sass_lower_imad_wide(struct sw_sass *s)
{
	struct sw_operand carry = sw_operand_imm(0), sum = wide_sum(s, &carry);
	sw_reg out = sw_sass_predicate_out(s, SW_AT_OUT);
	sw_sass_result64(s, sum);
	if (out != SW_NO_REG)
		sw_sass_set(s, out, 1, carry);
}

/* IMAD.HI: the upper half of a * b + {Rc+1, Rc}: the sequences for division count on it. */
void sw_sass_lower_imad_hi(struct sw_sass *s)
{
	sw_reg out = sw_sass_predicate_out(s, SW_AT_OUT);
	struct sw_operand carry = sw_operand_imm(0), sum = wide_sum(s, &carry);
	sw_sass_result(s, sw_sass_unary(s, SW_OP_HIGH, 32, sum));
	if (out != SW_NO_REG)
		sw_sass_set(s, out, 1, carry);
}

/*
 * LEA: (a << n) + b.  LEA.HI: the upper half of ({c, a} << n), + b; .SX32: c is a's sign.  .X: with a carry in.
 */
void sw_sass_lower_lea(struct sw_sass *s)
{
	bool high = sw_sass_bit(s, 80), extended = sw_sass_bit(s, 74), sign = sw_sass_bit(s, 73);
	unsigned n = (unsigned)sw_sass_bits(s, 75, 5);
	struct sw_operand a = sw_sass_plain(s, SW_SASS_A), b = sw_sass_plain(s, SW_SASS_B), shifted;
	bool b_negated = sw_sass_negated(s, SW_SASS_B);
	if (sw_sass_bit(s, 72))
		a = sw_sass_unary(s, SW_OP_NEG, 32, a);
	if (high) {
		struct sw_operand wide = sign ? sw_sass_extend(s, 64, 32, true, a)
					      : sw_sass_binary(s, SW_OP_PAIR, 64, a, sw_sass_plain(s, SW_SASS_C));
		wide = sw_sass_binary(s, SW_OP_SHL, 64, wide, sw_operand_imm(n));
		shifted = sw_sass_unary(s, SW_OP_HIGH, 32, wide);
	} else {
		shifted = n ? sw_sass_binary(s, SW_OP_SHL, 32, a, sw_operand_imm(n)) : a;
	}
	struct sw_operand in = extended ? sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT) : sw_operand_imm(0);
	if (extended && b_negated) {
		b = sw_sass_unary(s, SW_OP_NOT, 32, b);
		b_negated = false;
	}
	sw_reg out = sw_sass_predicate_out(s, SW_AT_OUT);
	struct sum sum = sum_of(s, shifted, false, b, b_negated, in, out != SW_NO_REG);
	sw_sass_result(s, sum.value);
	sw_sass_set(s, out, 1, sum.carry);
}

/* SHF: {high, low} moved left (76: right); 80: the upper half of it; 73-74: 64 or 32 bits, signed or not; 75: count
   modulo. */
void sw_sass_lower_shf(struct sw_sass *s)
{
	unsigned type = (unsigned)sw_sass_bits(s, 73, 2);
	bool is_signed = type == 0 || type == 2, right = sw_sass_bit(s, 76), upper = sw_sass_bit(s, 80);
	struct sw_operand low = sw_sass_plain(s, SW_SASS_A), n = sw_sass_plain(s, SW_SASS_B),
			  high = sw_sass_plain(s, SW_SASS_C), v;
	int64_t limit = type < 2 ? 63 : 32;
	if (sw_sass_bit(s, 75))
		n = sw_sass_binary(s, SW_OP_AND, 32, n, sw_operand_imm(type < 2 ? 63 : 31));
	else if (n.reg == SW_NO_REG && (uint32_t)n.imm > limit)
		n.imm = limit;
	if (!right && !upper) {
		v = sw_sass_binary(s, SW_OP_SHL, 32, low, n);
	} else if (right && upper && type >= 2) {
		v = sw_sass_value(s, SW_OP_SHR, 32, is_signed ? SW_SIGNED : 0, 2, SRC(high, n));
	} else {
		struct sw_operand wide = sw_sass_binary(s, SW_OP_PAIR, 64, low, high);
		wide = sw_sass_value(s, right ? SW_OP_SHR : SW_OP_SHL, 64, right && is_signed ? SW_SIGNED : 0, 2,
				     SRC(wide, n));
		v = sw_sass_unary(s, upper ? SW_OP_HIGH : SW_OP_LOW, 32, wide);
	}
	sw_sass_result(s, v);
}

/* The predicate v combined with another: how: 0 and, 1 or, 2 xor. */
static struct sw_operand combine_predicate(struct sw_sass *s, unsigned how, struct sw_operand v, struct sw_operand with)
{
	static const uint8_t op[4] = {SW_OP_AND, SW_OP_OR, SW_OP_XOR, SW_OP_AND};
	if ((how == 0 && sw_sass_is(with, 1)) || (how == 1 && sw_sass_is(with, 0)))
		return v;
	return sw_sass_binary(s, (enum sw_op)op[how], 1, v, with);
}

/* Bits 76-78. */
enum { COMPARE_NEVER, COMPARE_LT, COMPARE_EQ, COMPARE_LE, COMPARE_GT, COMPARE_NE, COMPARE_GE, COMPARE_ALWAYS };
static const uint8_t condition_of[8] = {[COMPARE_LT] = SW_LT, [COMPARE_EQ] = SW_EQ, [COMPARE_LE] = SW_LE,
					[COMPARE_GT] = SW_GT, [COMPARE_NE] = SW_NE, [COMPARE_GE] = SW_GE};

/*
 * .EX is the upper half of a comparison of 64 bits, whose lower half is in the predicate at 68: where the halves are
 * equal that one decides, elsewhere the strict comparison.  register_pairs.c makes one comparison of it.
 */
static struct sw_operand upper_half(struct sw_sass *s, unsigned compare, bool is_signed, struct sw_operand a,
				    struct sw_operand b)
{
	struct sw_operand lower = sw_sass_predicate(s, 68, 71), strict;
	if (compare == COMPARE_EQ)
		return combine_predicate(s, 0, sw_sass_compare(s, SW_EQ, 32, false, a, b), lower);
	if (compare == COMPARE_NE)
		return combine_predicate(s, 1, sw_sass_compare(s, SW_NE, 32, false, a, b), lower);
	enum sw_condition way = compare == COMPARE_LT || compare == COMPARE_LE ? SW_LT : SW_GT;
	strict = sw_sass_compare(s, way, 32, is_signed, a, b);
	struct sw_operand equal = sw_sass_compare(s, SW_EQ, 32, false, a, b);
	return sw_sass_value(s, SW_OP_SELECT, 1, 0, 3, SRC(equal, lower, strict));
}

/* ISETP: a comparison, combined with another predicate; the second result is the inverse.  72, .EX: the upper half
   of one of 64 bits. */
void sw_sass_lower_isetp(struct sw_sass *s)
{
	bool upper = sw_sass_bit(s, 72), is_signed = sw_sass_bit(s, 73);
	bool wide = s->cubin->arch >= 100 && sw_sass_bit(s, 80);
	unsigned how = (unsigned)sw_sass_bits(s, 74, 2), compare = (unsigned)sw_sass_bits(s, 76, 3);
	struct sw_operand with = sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT), v;
	struct sw_operand a = wide ? sw_sass_wide(s, SW_SASS_A) : sw_sass_plain(s, SW_SASS_A);
	struct sw_operand b = wide ? sw_sass_wide(s, SW_SASS_B) : sw_sass_operand(s, SW_SASS_B);
	if (compare == COMPARE_NEVER || compare == COMPARE_ALWAYS)
		v = sw_operand_imm(compare == COMPARE_ALWAYS);
	else if (upper)
		v = upper_half(s, compare, is_signed, a, b);
	else
		v = sw_sass_compare(s, (enum sw_condition)condition_of[compare], wide ? 64 : 32, is_signed, a, b);
	sw_reg out0 = sw_sass_predicate_out(s, SW_AT_OUT), out1 = sw_sass_predicate_out(s, SW_AT_OUT2);
	struct sw_operand other = sw_operand_imm(0);
	if (out1 != SW_NO_REG)
		other = combine_predicate(s, how, sw_sass_unary(s, SW_OP_NOT, 1, v), with);
	v = combine_predicate(s, how, v, with);
	sw_sass_set(s, out0, 1, v);
	sw_sass_set(s, out1, 1, other);
}

/* IABS: |b|. */
void sw_sass_lower_iabs(struct sw_sass *s)
{
	sw_sass_result(s, sw_sass_unary(s, SW_OP_ABS, 32, sw_sass_operand(s, SW_SASS_B)));
}

/* SGXT: the low n bits of a, with sign or zeros, for a fixed n. */
void sw_sass_lower_sgxt(struct sw_sass *s)
{
	struct sw_operand n = sw_sass_plain(s, SW_SASS_B), a = sw_sass_plain(s, SW_SASS_A);
	if (n.reg != SW_NO_REG || n.imm < 1 || n.imm > 32)
		sw_sass_lower_mix(s);
	else
		sw_sass_result(s, sw_sass_extend(s, 32, (unsigned)n.imm, sw_sass_bit(s, 73), a));
}
