/* SPDX-License-Identifier: Apache-2.0 */
/* Logic, shifts and bit fields (PTX ISA 9.0, 9.7.1 and 9.7.8), taken apart into what the data flow follows. */
#include "footprint/instructions/ptx/ptx_reader.h"

/* The type that an instruction works on: its last one, 32 bits where it names none. */
static struct sw_ptx_type type_of(const struct sw_ptx_reader *r)
{
	return r->op->types ? r->op->type[r->op->types - 1] : (struct sw_ptx_type){32, SW_PTX_BITS};
}

/* Is the operand's value known? */
static bool is_constant(struct sw_operand o)
{
	return o.reg == SW_NO_REG;
}

/* A mask of the low `bits` bits. */
static uint64_t mask_of(unsigned bits)
{
	return bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
}

/* and, or, xor, not: d = a op b.  arg: the operation. */
void sw_ptx_logic(struct sw_ptx_reader *r, int arg)
{
	unsigned width = type_of(r).bits;
	struct sw_operand a = sw_ptx_value(r, 1);
	if (width > 64) {
		sw_ptx_set_mix(r, sw_ptx_at(r, 0), a);
		return;
	}
	sw_ptx_set(r, sw_ptx_at(r, 0),
		   arg == SW_OP_NOT ? sw_ptx_op1(SW_OP_NOT, width, a)
				    : sw_ptx_op2((enum sw_op)arg, width, a, sw_ptx_value(r, 2)));
}

/* cnot d, a: a == 0 ? 1 : 0. */
void sw_ptx_cnot(struct sw_ptx_reader *r, int arg)
{
	unsigned width = type_of(r).bits;
	(void)arg;
	struct sw_operand zero =
		sw_ptx_temp(r, sw_ptx_compare(SW_EQ, width, false, sw_ptx_value(r, 1), sw_operand_imm(0)));
	sw_ptx_set(r, sw_ptx_at(r, 0), sw_ptx_extend(width, zero, 1, false));
}

/* shl, shr.  Amounts above the width shift everything out (PTX ISA, "shl", "shr").  arg: the operation. */
void sw_ptx_shift(struct sw_ptx_reader *r, int arg)
{
	struct sw_ptx_type type = type_of(r);
	bool sign = type.class == SW_PTX_SIGNED && arg == SW_OP_SHR;
	struct sw_operand a = sw_ptx_value(r, 1), by = sw_ptx_value(r, 2);
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	uint64_t amount = (uint64_t)by.imm & UINT32_MAX;
	if (is_constant(by) && amount >= type.bits) {
		if (!sign) {
			sw_ptx_set(r, dst, (struct sw_ptx_insn){.op = SW_OP_CONST, .width = (uint8_t)type.bits});
			return;
		}
		by.imm = type.bits - 1;
	}
	sw_ptx_set(r, dst, sw_ptx_signed(sw_ptx_op2((enum sw_op)arg, type.bits, a, by), sign));
}

/* shf.l and shf.r d, low, high, by: 32 bits of a pair, shifted by a fixed amount; with another amount unknown. */
void sw_ptx_funnel(struct sw_ptx_reader *r, int arg)
{
	struct sw_operand low = sw_ptx_value(r, 1), high = sw_ptx_value(r, 2), by = sw_ptx_value(r, 3);
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	(void)arg;
	if (!is_constant(by)) {
		sw_ptx_mix(r, 0);
		return;
	}
	uint64_t amount = (uint64_t)by.imm & UINT32_MAX;
	amount = sw_ptx_has(r->op, "wrap") ? amount & 31 : amount > 32 ? 32 : amount;
	if (sw_ptx_has(r->op, "l"))
		amount = 32 - amount;
	struct sw_operand pair = sw_ptx_temp(r, sw_ptx_op2(SW_OP_PAIR, 64, low, high));
	if (amount)
		pair = sw_ptx_temp(r, sw_ptx_op2(SW_OP_SHR, 64, pair, sw_operand_imm((int64_t)amount)));
	sw_ptx_set(r, dst, sw_ptx_op1(SW_OP_LOW, 32, pair));
}

/* bfe d, a, from, count: the field of `count` bits of a from bit `from` on, extended as the type says; unknown where
   the place of the field is not fixed. */
void sw_ptx_bfe(struct sw_ptx_reader *r, int arg)
{
	struct sw_ptx_type type = type_of(r);
	bool sign = type.class == SW_PTX_SIGNED;
	struct sw_operand a = sw_ptx_value(r, 1), from = sw_ptx_value(r, 2), count = sw_ptx_value(r, 3);
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	(void)arg;
	if (!is_constant(from) || !is_constant(count)) {
		sw_ptx_mix(r, 0);
		return;
	}
	unsigned at = (unsigned)from.imm & 255, bits = (unsigned)count.imm & 255;
	if (!bits || (at >= type.bits && !sign)) {
		sw_ptx_set(r, dst, (struct sw_ptx_insn){.op = SW_OP_CONST, .width = (uint8_t)type.bits});
		return;
	}
	if (at >= type.bits)
		at = type.bits - 1u;
	struct sw_ptx_insn shifted = sw_ptx_signed(sw_ptx_op2(SW_OP_SHR, type.bits, a, sw_operand_imm(at)), sign);
	if (at + bits >= type.bits)
		sw_ptx_set(r, dst, shifted);
	else
		sw_ptx_set(r, dst, sw_ptx_extend(type.bits, at ? sw_ptx_temp(r, shifted) : a, bits, sign));
}

/* bfi f, a, b, from, count: b, with `count` low bits of a put in at bit `from`. */
void sw_ptx_bfi(struct sw_ptx_reader *r, int arg)
{
	unsigned width = type_of(r).bits;
	struct sw_operand a = sw_ptx_value(r, 1), b = sw_ptx_value(r, 2);
	struct sw_operand from = sw_ptx_value(r, 3), count = sw_ptx_value(r, 4);
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	(void)arg;
	if (!is_constant(from) || !is_constant(count)) {
		sw_ptx_mix(r, 0);
		return;
	}
	unsigned at = (unsigned)from.imm & 255, bits = (unsigned)count.imm & 255;
	if (!bits || at >= width) {
		sw_ptx_set(r, dst, sw_ptx_op1(SW_OP_MOV, width, b));
		return;
	}
	uint64_t field = mask_of(bits) << at & mask_of(width);
	struct sw_operand hole =
		sw_ptx_temp(r, sw_ptx_op2(SW_OP_AND, width, b, sw_operand_imm((int64_t)(~field & mask_of(width)))));
	struct sw_operand cut =
		bits >= width ? a
			      : sw_ptx_temp(r, sw_ptx_op2(SW_OP_AND, width, a, sw_operand_imm((int64_t)mask_of(bits))));
	if (at)
		cut = sw_ptx_temp(r, sw_ptx_op2(SW_OP_SHL, width, cut, sw_operand_imm(at)));
	sw_ptx_set(r, dst, sw_ptx_op2(SW_OP_OR, width, hole, cut));
}

/* szext d, a, b: the low b bits of a, extended; .wrap takes b modulo 32, .clamp cuts it at 32. */
void sw_ptx_szext(struct sw_ptx_reader *r, int arg)
{
	struct sw_operand a = sw_ptx_value(r, 1), count = sw_ptx_value(r, 2);
	uint64_t bits = (uint64_t)count.imm & UINT32_MAX;
	(void)arg;
	bits = sw_ptx_has(r->op, "wrap") ? bits & 31 : bits > 32 ? 32 : bits;
	if (!is_constant(count))
		sw_ptx_mix(r, 1);
	else if (!bits)
		sw_ptx_set(r, sw_ptx_at(r, 0), (struct sw_ptx_insn){.op = SW_OP_CONST, .width = 32});
	else
		sw_ptx_set(r, sw_ptx_at(r, 0), sw_ptx_extend(32, a, (unsigned)bits, type_of(r).class == SW_PTX_SIGNED));
}

/* popc and clz give 0 to the width; bfind (arg -1) all ones where there is no bit. */
void sw_ptx_counted(struct sw_ptx_reader *r, int arg)
{
	unsigned bits = type_of(r).bits;
	sw_ptx_set(r, sw_ptx_at(r, 0), arg ? sw_ptx_between(32, -1, bits - 1) : sw_ptx_between(32, 0, bits));
}

/* ---- lop3 ---- */

/* A logical operation, as the neutral form names it and as a function of truth tables. */
struct gate {
	enum sw_op op;
	uint8_t (*of)(uint8_t a, uint8_t b);
};
static uint8_t gate_and(uint8_t a, uint8_t b)
{
	return a & b;
}
static uint8_t gate_or(uint8_t a, uint8_t b)
{
	return a | b;
}
static uint8_t gate_xor(uint8_t a, uint8_t b)
{
	return a ^ b;
}
static const struct gate gates[] = {{SW_OP_AND, gate_and}, {SW_OP_OR, gate_or}, {SW_OP_XOR, gate_xor}};
/* Columns of the truth table (PTX ISA, "lop3"): those of the operands a, b, c; nothing; everything. */
static const uint8_t inputs[] = {0xf0, 0xcc, 0xaa, 0x00, 0xff};

enum { SIMPLE = 8 }; /* the five, and the complements of a, b and c */

/* The truth table of simple input k: a, b, c, nothing, everything, and from 5 on NOT a, b, c. */
static uint8_t truth_table(unsigned k)
{
	return k < 5 ? inputs[k] : (uint8_t)~inputs[k - 5];
}

/* The value of simple input k. */
static struct sw_operand table_input(struct sw_ptx_reader *r, unsigned k)
{
	if (k == 3 || k == 4)
		return sw_operand_imm(k == 4 ? 0xffffffff : 0);
	struct sw_operand value = sw_ptx_value(r, k % 5 + 1);
	return k < 5 ? value : sw_ptx_temp(r, sw_ptx_op1(SW_OP_NOT, 32, value));
}

/* Sets dst to one operation on two simple inputs that has this truth table; false: there is none. */
static bool find_gate(struct sw_ptx_reader *r, uint8_t lut, const struct sw_ptx_node *dst)
{
	for (unsigned x = 0; x < SIMPLE; x++)
		for (unsigned y = x + 1; y < SIMPLE; y++)
			for (unsigned g = 0; g < 3; g++)
				if (gates[g].of(truth_table(x), truth_table(y)) == lut) {
					struct sw_operand a = table_input(r, x), b = table_input(r, y);
					sw_ptx_set(r, dst, sw_ptx_op2(gates[g].op, 32, a, b));
					return true;
				}
	return false;
}

/* Sets dst to ((x inner y) outer z) of simple inputs, if some such has this truth table: with find_gate() most of
   the tables that compilers make.  False: none has. */
static bool find_two_gates(struct sw_ptx_reader *r, uint8_t lut, const struct sw_ptx_node *dst)
{
	for (unsigned z = 0; z < SIMPLE; z++)
		for (unsigned g = 0; g < 9; g++)
			for (unsigned xy = 0; xy < SIMPLE * SIMPLE; xy++) {
				const struct gate *inner = &gates[g % 3], *outer = &gates[g / 3];
				unsigned x = xy / SIMPLE, y = xy % SIMPLE;
				if (outer->of(inner->of(truth_table(x), truth_table(y)), truth_table(z)) != lut)
					continue;
				struct sw_operand a = table_input(r, x), b = table_input(r, y), c = table_input(r, z);
				struct sw_operand in = sw_ptx_temp(r, sw_ptx_op2(inner->op, 32, a, b));
				sw_ptx_set(r, dst, sw_ptx_op2(outer->op, 32, in, c));
				return true;
			}
	return false;
}

/* lop3.b32 d, a, b, c, table; lop3.BoolOp.b32 d|p, a, b, c, table, q */
void sw_ptx_lop3(struct sw_ptx_reader *r, int arg)
{
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0), *lut = sw_ptx_at(r, 4);
	struct sw_ptx_node alone;
	(void)arg;
	if (!dst || !lut)
		return;
	if (dst->other != SW_PTX_NO_NODE)
		sw_ptx_set_range(r, &r->nodes.at[dst->other]);
	alone = *dst;
	alone.other = SW_PTX_NO_NODE;
	if (lut->kind == SW_PTX_NUMBER &&
	    (find_gate(r, (uint8_t)lut->imm, &alone) || find_two_gates(r, (uint8_t)lut->imm, &alone)))
		return;
	struct sw_ptx_insn mix = sw_ptx_op3(SW_OP_MIX, 32, sw_ptx_value(r, 1), sw_ptx_value(r, 2), sw_ptx_value(r, 3));
	sw_ptx_set(r, &alone, mix);
}

/* ---- prmt ---- */

/* A run of bytes that stay side by side: `bytes` from byte `from` of a (0-3) or b (4-7) to byte `to`. */
static struct sw_operand move_bytes(struct sw_ptx_reader *r, unsigned from, unsigned to, unsigned bytes)
{
	struct sw_operand x = sw_ptx_value(r, from < 4 ? 1 : 2);
	from %= 4;
	if (from)
		x = sw_ptx_temp(r, sw_ptx_op2(SW_OP_SHR, 32, x, sw_operand_imm(from * 8)));
	if (bytes < 4 && from + bytes < 4)
		x = sw_ptx_temp(r, sw_ptx_op2(SW_OP_AND, 32, x, sw_operand_imm((int64_t)mask_of(bytes * 8))));
	if (to)
		x = sw_ptx_temp(r, sw_ptx_op2(SW_OP_SHL, 32, x, sw_operand_imm(to * 8)));
	return x;
}

/* prmt d, a, b, selector: each byte of d is one of a and b.  Selections of at most two runs are worked out, others
   mixed. */
void sw_ptx_prmt(struct sw_ptx_reader *r, int arg)
{
	struct sw_operand a = sw_ptx_value(r, 1), b = sw_ptx_value(r, 2), selector = sw_ptx_value(r, 3);
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	uint64_t s = (uint64_t)selector.imm;
	unsigned runs = 0, start[4] = {0}, bytes[4] = {0}, source[4] = {0};
	bool plain = is_constant(selector) && !(s & 0x8888) && r->op->parts == 2;
	(void)arg;
	for (unsigned i = 0; plain && i < 4; i++) {
		unsigned byte = s >> i * 4 & 7;
		struct sw_operand from = byte < 4 ? a : b;
		if (is_constant(from) && !from.imm)
			continue;
		if (runs && start[runs - 1] + bytes[runs - 1] == i && source[runs - 1] + bytes[runs - 1] == byte &&
		    byte != 4) {
			bytes[runs - 1]++;
			continue;
		}
		start[runs] = i;
		source[runs] = byte;
		bytes[runs++] = 1;
	}
	if (!plain || runs > 2) {
		sw_ptx_set(r, dst, sw_ptx_op2(SW_OP_MIX, 32, a, b));
		return;
	}
	struct sw_operand first = runs ? move_bytes(r, source[0], start[0], bytes[0]) : sw_operand_imm(0);
	if (runs < 2)
		sw_ptx_set(r, dst, sw_ptx_op1(SW_OP_MOV, 32, first));
	else
		sw_ptx_set(r, dst, sw_ptx_op2(SW_OP_OR, 32, first, move_bytes(r, source[1], start[1], bytes[1])));
}
