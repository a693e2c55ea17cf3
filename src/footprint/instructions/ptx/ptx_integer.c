/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic (PTX ISA 9.0, 9.7.1 and 9.7.2).  Of floating point nothing is kept but that it is no address. */
#include "footprint/instructions/ptx/ptx_reader.h"

/* The type that says how an instruction works: the last, of "cvt.u64.u32" and "mad.wide.u32" alike. */
static struct sw_ptx_type type_of(const struct sw_ptx_reader *r)
{
	return r->op->types ? r->op->type[r->op->types - 1] : (struct sw_ptx_type){32, SW_PTX_BITS};
}

/* An instruction that touches no memory and whose result holds no address, such as arithmetic of floats. */
void sw_ptx_any_result(struct sw_ptx_reader *r, int arg)
{
	const struct sw_ptx_node *first = r->operands ? sw_ptx_at(r, 0) : NULL;
	(void)arg;
	if (first && first->kind != SW_PTX_MEMORY)
		sw_ptx_set_range(r, first);
}

/* elect.sync d|p, mask: the leader's number and whether this thread is it.  Some thread is, so a condition on it can
   hold: MIX without operands (ops.def). */
void sw_ptx_elect(struct sw_ptx_reader *r, int arg)
{
	const struct sw_ptx_node *dst = r->operands ? sw_ptx_at(r, 0) : NULL;
	(void)arg;
	for (; dst; dst = dst->other == SW_PTX_NO_NODE ? NULL : &r->nodes.at[dst->other])
		if (sw_ptx_is_register(dst) && dst->thing.bits <= 64)
			sw_ptx_into(r, dst->thing.a,
				    (struct sw_ptx_insn){.op = SW_OP_MIX, .width = (uint8_t)dst->thing.bits});
}

/* A function of the operands that is not modelled.  arg 1: of the first only (lanes and masks follow it); 2: the
   first one as it is in another thread. */
void sw_ptx_mix(struct sw_ptx_reader *r, int arg)
{
	struct sw_ptx_insn insn = {.op = SW_OP_MIX, .width = 64};
	for (uint32_t i = 1; i < r->operands && i <= (arg ? 1u : 4u); i++) {
		const struct sw_ptx_node *node = sw_ptx_at(r, i);
		if (node->kind == SW_PTX_VALUE || node->kind == SW_PTX_NUMBER)
			insn.src[insn.n++] = sw_ptx_use(r, node);
	}
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	if (dst && dst->other == SW_PTX_NO_NODE && sw_ptx_is_register(dst) && dst->thing.bits <= 64) {
		insn.width = (uint8_t)dst->thing.bits;
		insn.imm = arg == 2;
		sw_ptx_into(r, dst->thing.a, insn);
	} else {
		sw_ptx_set_mix(r, dst, sw_ptx_temp(r, insn));
	}
}

/* ---- carries ---- */

/* NOT a, in `width` bits. */
static struct sw_operand complement_of(struct sw_ptx_reader *r, struct sw_operand a, unsigned width)
{
	return sw_ptx_temp(r, sw_ptx_op1(SW_OP_NOT, width, a));
}

/* The register that stands for CC.CF, the carry flag. */
static sw_reg carry_flag(struct sw_ptx_reader *r)
{
	if (r->carry == SW_NO_REG)
		r->carry = sw_ptx_new(r, 1);
	return r->carry;
}

/*
 * d = a + b or a - b with a carry in (addc, subc), out (.cc) or both.  CC.CF after a subtraction is the borrow (PTX
 * ISA, "sub.cc"), which is the opposite of the carry out of a + ~b + 1.
 */
static void carry_sum(struct sw_ptx_reader *r, const struct sw_ptx_node *dst, enum sw_op op, bool in,
		      struct sw_operand a, struct sw_operand b)
{
	unsigned width = type_of(r).bits;
	bool minus = op == SW_OP_SUB, out = sw_ptx_has(r->op, "cc");
	struct sw_operand flag = in ? sw_operand_reg(carry_flag(r)) : sw_operand_imm(0);
	struct sw_ptx_insn sum = sw_ptx_op2(op, width, a, b), carry;
	if (minus && width == 32) {
		b = complement_of(r, b, 32);
		flag = in ? complement_of(r, flag, 1) : sw_operand_imm(1);
	}
	if (width != 32) { /* 64 bits need no halves put together; the carry of their sum is then of no use to us */
		if (in) {  /* one after the other: compilers differ in the order of arguments */
			struct sw_operand wide = sw_ptx_temp(r, sw_ptx_extend(width, flag, 1, false));
			sum = sw_ptx_op2(op, width, sw_ptx_temp(r, sum), wide);
		}
		carry = sw_ptx_any(1);
	} else {
		if (in)
			sum = sw_ptx_op3(SW_OP_ADDX, 32, a, b, flag);
		carry = in || minus ? sw_ptx_op3(SW_OP_CARRY, 1, a, b, flag) : sw_ptx_op2(SW_OP_CARRY, 1, a, b);
	}
	/* dst may be an operand */
	struct sw_operand carried = out ? sw_ptx_temp(r, carry) : flag;
	if (out && minus && width == 32)
		carried = complement_of(r, carried, 1);
	sw_ptx_set(r, dst, sum);
	if (out)
		sw_ptx_into(r, carry_flag(r), sw_ptx_op1(SW_OP_MOV, 1, carried));
}

/* addc, subc: a sum with a carry in.  arg: SW_OP_ADD or SW_OP_SUB. */
void sw_ptx_with_carry(struct sw_ptx_reader *r, int arg)
{
	struct sw_operand a = sw_ptx_value(r, 1), b = sw_ptx_value(r, 2);
	carry_sum(r, sw_ptx_at(r, 0), (enum sw_op)arg, true, a, b);
}

/* ---- sums, products ---- */

/* Is it integer arithmetic that is modelled?  add.sat, add.u16x2 and similar instructions are not. */
static bool is_plain(const struct sw_ptx_reader *r)
{
	return type_of(r).class != SW_PTX_PACKED && !sw_ptx_has(r->op, "sat");
}

/* add, sub, div, rem, min, max, neg, abs of integers.  arg: the operation. */
void sw_ptx_arithmetic(struct sw_ptx_reader *r, int arg)
{
	struct sw_ptx_type type = type_of(r);
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	if (type.class == SW_PTX_FLOAT) {
		sw_ptx_any_result(r, 0);
		return;
	}
	if (!is_plain(r)) {
		sw_ptx_mix(r, 0);
		return;
	}
	struct sw_ptx_insn insn = sw_ptx_op1((enum sw_op)arg, type.bits, sw_ptx_value(r, 1));
	if (arg != SW_OP_NEG && arg != SW_OP_ABS) {
		insn.src[1] = sw_ptx_value(r, 2);
		insn.n = 2;
	}
	if (sw_ptx_has(r->op, "cc")) {
		carry_sum(r, dst, (enum sw_op)arg, false, insn.src[0], insn.src[1]);
		return;
	}
	insn = sw_ptx_signed(insn, type.class == SW_PTX_SIGNED);
	if (sw_ptx_has(r->op, "relu"))
		insn = sw_ptx_signed(sw_ptx_op2(SW_OP_MAX, type.bits, sw_ptx_temp(r, insn), sw_operand_imm(0)), true);
	sw_ptx_set(r, dst, insn);
}

/* mul, mad and madc, of integers.  arg: 0 mul, 1 mad, 2 madc. */
void sw_ptx_multiply(struct sw_ptx_reader *r, int arg)
{
	struct sw_ptx_type type = type_of(r);
	bool sign = type.class == SW_PTX_SIGNED;
	if (type.class == SW_PTX_FLOAT) {
		sw_ptx_any_result(r, 0);
		return;
	}
	if (!is_plain(r)) {
		sw_ptx_mix(r, 0);
		return;
	}
	bool wide = sw_ptx_has(r->op, "wide");
	unsigned width = wide ? type.bits * 2u : type.bits;
	enum sw_op op = wide ? SW_OP_MULWIDE : sw_ptx_has(r->op, "hi") ? SW_OP_MULHI : SW_OP_MUL;
	struct sw_operand a = sw_ptx_value(r, 1), b = sw_ptx_value(r, 2);
	struct sw_ptx_insn product = sw_ptx_signed(sw_ptx_op2(op, width > 64 ? 64 : width, a, b), sign);
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	if (width > 64) { /* mul.wide.u64 into 128 bits */
		sw_ptx_set_mix(r, dst, sw_ptx_temp(r, sw_ptx_op2(SW_OP_MIX, 64, a, b)));
		return;
	}
	if (!arg) {
		sw_ptx_set(r, dst, product);
		return;
	}
	struct sw_operand p = sw_ptx_temp(r, product), c = sw_ptx_value(r, 3);
	if (arg == 2 || sw_ptx_has(r->op, "cc"))
		carry_sum(r, dst, SW_OP_ADD, arg == 2, p, c);
	else
		sw_ptx_set(r, dst, sw_ptx_signed(sw_ptx_op2(SW_OP_ADD, width, p, c), sign));
}

/* mul24 (arg 0) and mad24 (1): products of numbers of 24 bits. */
void sw_ptx_multiply24(struct sw_ptx_reader *r, int arg)
{
	bool sign = type_of(r).class == SW_PTX_SIGNED;
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	if (!is_plain(r) || sw_ptx_has(r->op, "hi")) {
		sw_ptx_mix(r, 0);
		return;
	}
	struct sw_operand a = sw_ptx_temp(r, sw_ptx_extend(32, sw_ptx_value(r, 1), 24, sign));
	struct sw_operand b = sw_ptx_temp(r, sw_ptx_extend(32, sw_ptx_value(r, 2), 24, sign));
	struct sw_ptx_insn product = sw_ptx_signed(sw_ptx_op2(SW_OP_MUL, 32, a, b), sign);
	if (arg)
		product = sw_ptx_signed(sw_ptx_op2(SW_OP_ADD, 32, sw_ptx_temp(r, product), sw_ptx_value(r, 3)), sign);
	sw_ptx_set(r, dst, product);
}

/* sad d, a, b, c: |a - b| + c. */
void sw_ptx_sad(struct sw_ptx_reader *r, int arg)
{
	struct sw_ptx_type type = type_of(r);
	bool sign = type.class == SW_PTX_SIGNED;
	struct sw_operand a = sw_ptx_value(r, 1), b = sw_ptx_value(r, 2), c = sw_ptx_value(r, 3);
	(void)arg;
	struct sw_operand most = sw_ptx_temp(r, sw_ptx_signed(sw_ptx_op2(SW_OP_MAX, type.bits, a, b), sign));
	struct sw_operand least = sw_ptx_temp(r, sw_ptx_signed(sw_ptx_op2(SW_OP_MIN, type.bits, a, b), sign));
	struct sw_operand apart = sw_ptx_temp(r, sw_ptx_op2(SW_OP_SUB, type.bits, most, least));
	sw_ptx_set(r, sw_ptx_at(r, 0), sw_ptx_op2(SW_OP_ADD, type.bits, apart, c));
}
