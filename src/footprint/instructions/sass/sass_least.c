/* SPDX-License-Identifier: Apache-2.0 */
/* Machine instructions that take the smaller or the larger of numbers. */
#include "footprint/instructions/sass/sass_lower.h"

#define SRC(...)                                                                                                       \
	(struct sw_operand[])                                                                                          \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}

/* Predicates that say which one it was are not followed. */
static void give_predicates(struct sw_sass *s)
{
	for (unsigned at = 81; at <= 84; at += 3)
		if (sw_sass_predicate_out(s, at) != SW_NO_REG)
			sw_sass_set(s, sw_sass_predicate_out(s, at), 1, sw_sass_anything(s, 1));
}

static void least_of(struct sw_sass *s, unsigned width, bool is_signed, struct sw_operand a, struct sw_operand b)
{
	struct sw_operand smaller = sw_sass_predicate(s, 87, 90), v;
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

static void lower_least(struct sw_sass *s, unsigned width, bool is_signed)
{
	struct sw_operand a = width == 64 ? sw_sass_wide(s, SW_SASS_A) : sw_sass_operand(s, SW_SASS_A);
	struct sw_operand b = width == 64 ? sw_sass_wide(s, SW_SASS_B) : sw_sass_operand(s, SW_SASS_B);
	least_of(s, width, is_signed, a, b);
}

/* 74: 64 bits, from sm_100 on; those with a predicate at 77, seen only as !PT, are not known. */
void sw_sass_lower_imnmx(struct sw_sass *s)
{
	bool newer = s->cubin->arch >= 100;
	if (newer && !sw_sass_is(sw_sass_predicate(s, 77, 80), 0))
		sw_sass_result64(s, sw_sass_value(s, SW_OP_MIX, 64, 0, 2,
						  SRC(sw_sass_wide(s, SW_SASS_A), sw_sass_wide(s, SW_SASS_B))));
	else
		lower_least(s, newer && sw_sass_bit(s, 74) ? 64 : 32, sw_sass_bit(s, 73));
	if (newer)
		give_predicates(s);
}

/* 73 and 74: two numbers of 16 bits, and other forms.  72, elsewhere the sign of the first operand, means signed. */
void sw_sass_lower_vimnmx(struct sw_sass *s)
{
	if (sw_sass_bits(s, 73, 2))
		sw_sass_lower_number(s);
	else
		least_of(s, 32, sw_sass_bit(s, 72), sw_sass_plain(s, SW_SASS_A), sw_sass_operand(s, SW_SASS_B));
	if (s->cubin->arch >= 100 && !sw_sass_uniform(s))
		give_predicates(s);
}

/* a + b, and then the smaller (or larger) of that and c.  72: signed; 73-74: other forms. */
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

void sw_sass_lower_vimnmx3(struct sw_sass *s)
{
	struct sw_operand least = sw_sass_predicate(s, 87, 90);
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
