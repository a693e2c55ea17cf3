/* SPDX-License-Identifier: Apache-2.0 */
/* Machine instructions that move and pick bits. */
#include "footprint/instructions/sass/sass_lower.h"

#define SRC(...)                                                                                                       \
	(struct sw_operand[])                                                                                          \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}

void sw_sass_know(struct sw_sass *s, sw_reg reg, bool constant, int64_t value)
{
	if (reg < 512)
		s->known[reg] = (struct sw_sass_known){s->stamp, constant ? SW_KNOWN_CONST : SW_KNOWN_NOTHING, value};
}

/* MOV and UMOV of 32 bits; since sm_120 MOV.64: with 2 in bits 9-11 an immediate of 64 bits in bits 24-87, else with
   bit 80 a pair of registers.  nvdisasm 13.0 rejects the immediate form up to sm_110, and ignores bit 80 there. */
void sw_sass_lower_mov(struct sw_sass *s)
{
	const bool has_wide = s->cubin->arch >= 120;
	sw_reg reg = sw_sass_reg(s, 16, sw_sass_uniform(s));
	if (has_wide && sw_sass_bits(s, 9, 3) == 2) {
		sw_sass_result64(s, sw_operand_imm((int64_t)sw_sass_bits(s, 24, 64)));
	} else if (has_wide && sw_sass_bit(s, 80)) {
		sw_sass_result64(s, sw_sass_wide(s, SW_SASS_B));
	} else {
		struct sw_operand v = sw_sass_plain(s, SW_SASS_B);
		sw_sass_result(s, v);
		sw_sass_know(s, reg, v.reg == SW_NO_REG && s->guard == SW_NO_REG, v.imm);
	}
}

/* Gives Rd a where the predicate at 87 holds, else b. */
static void select_of(struct sw_sass *s, unsigned width, struct sw_operand a, struct sw_operand b)
{
	struct sw_operand p = sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT);
	struct sw_operand v =
		p.reg == SW_NO_REG ? (p.imm ? a : b) : sw_sass_value(s, SW_OP_SELECT, width, 0, 3, SRC(p, a, b));
	if (width == 64)
		sw_sass_result64(s, v);
	else
		sw_sass_result(s, v);
}

/* SEL: p ? a : b. */
void sw_sass_lower_sel(struct sw_sass *s)
{
	struct sw_operand a = sw_sass_operand(s, SW_SASS_A), b = sw_sass_operand(s, SW_SASS_B);
	select_of(s, 32, a, b);
}

/* SEL.64 has its two sources where the form with registers has them, unless bits 9-11 are 2 (an immediate) or 7
 * (uniform registers). */
void sw_sass_lower_sel64(struct sw_sass *s)
{
	bool uniform = sw_sass_uniform(s);
	struct sw_operand a = sw_sass_pair(s, sw_sass_reg(s, 24, uniform));
	struct sw_operand b = sw_operand_imm(sw_sass_signed(s, 32, 32));
	if (sw_sass_bits(s, 9, 3) != 2)
		b = sw_sass_pair(s, sw_sass_reg(s, 32, uniform || sw_sass_bits(s, 9, 3) == 7));
	select_of(s, 64, a, b);
}

/* FSEL, which also selects integers.  Bits 72-73 and 62-63: signs and absolute values of floating-point numbers. */
void sw_sass_lower_fsel(struct sw_sass *s)
{
	bool imm = sw_sass_bits(s, 9, 3) == 4;
	if (sw_sass_bits(s, 72, 2) || (!imm && sw_sass_bits(s, 62, 2)))
		sw_sass_lower_number(s);
	else
		select_of(s, 32, sw_sass_plain(s, SW_SASS_A), sw_sass_plain(s, SW_SASS_B));
}

/* HADD2, HFMA2 and others of half precision: numbers that hold no address; but -0 * 0 + immediate is how compilers
   keep the floating-point pipe busy with loading constants. */
void sw_sass_lower_half(struct sw_sass *s)
{
	bool fma = (s->low & 0x1ff) != 0x030, imm = sw_sass_bits(s, 9, 3) == 2;
	if (fma && imm && sw_sass_reg(s, 24, false) == SW_NO_REG && sw_sass_reg(s, 64, false) == SW_NO_REG) {
		struct sw_operand v = sw_operand_imm(sw_sass_signed(s, 32, 32));
		sw_sass_result(s, v);
		sw_sass_know(s, sw_sass_reg(s, 16, false), s->guard == SW_NO_REG, v.imm);
	} else {
		sw_sass_lower_number(s);
	}
}

/* A function of two bits by its table (bit 2a + b): nothing but 0, 1, a, b, and, or, xor and their inversions. */
static struct sw_operand of_two(struct sw_sass *s, unsigned table, unsigned width, struct sw_operand a,
				struct sw_operand b)
{
	static const struct {
		uint8_t op, not_a, not_b, not ;
	} how[16] = {
		[0x1] = {SW_OP_AND, 1, 1, 0}, [0x2] = {SW_OP_AND, 1, 0, 0}, [0x3] = {SW_OP_MOV, 1, 0, 0},
		[0x4] = {SW_OP_AND, 0, 1, 0}, [0x5] = {SW_OP_MOV, 0, 1, 1}, [0x6] = {SW_OP_XOR, 0, 0, 0},
		[0x7] = {SW_OP_AND, 0, 0, 1}, [0x8] = {SW_OP_AND, 0, 0, 0}, [0x9] = {SW_OP_XOR, 0, 0, 1},
		[0xa] = {SW_OP_MOV, 0, 0, 1}, [0xb] = {SW_OP_OR, 1, 0, 0},  [0xc] = {SW_OP_MOV, 0, 0, 0},
		[0xd] = {SW_OP_OR, 0, 1, 0},  [0xe] = {SW_OP_OR, 0, 0, 0},
	};
	if (table == 0 || table == 0xf)
		return sw_operand_imm(table ? -1 : 0);
	if (table == 0xa || table == 0x5)
		return table == 0xa ? b : sw_sass_unary(s, SW_OP_NOT, width, b);
	if (table == 0xc || table == 0x3)
		return table == 0xc ? a : sw_sass_unary(s, SW_OP_NOT, width, a);
	if (how[table].not_a)
		a = sw_sass_unary(s, SW_OP_NOT, width, a);
	if (how[table].not_b)
		b = sw_sass_unary(s, SW_OP_NOT, width, b);
	struct sw_operand v = sw_sass_binary(s, (enum sw_op)how[table].op, width, a, b);
	return how[table].not ? sw_sass_unary(s, SW_OP_NOT, width, v) : v;
}

/* The table `lut` with operand k fixed at `bit`, as a table of the other two in their order. */
static unsigned fix_operand(unsigned lut, unsigned k, unsigned bit)
{
	unsigned table = 0, shift = 2 - k, below = (1u << shift) - 1;
	for (unsigned i = 0; i < 4; i++) {
		unsigned at = (i & ~below) << 1 | bit << shift | (i & below);
		table |= (lut >> at & 1) << i;
	}
	return table;
}

/* A function of three bits by its table lut (bit 4a + 2b + c), written with as few operations as this finds. */
static struct sw_operand of_three(struct sw_sass *s, unsigned lut, unsigned width, const struct sw_operand x[3])
{
	for (unsigned k = 0; k < 3; k++) { /* an operand that does not matter or is a constant 0 (or 1, -1) */
		unsigned table[2] = {fix_operand(lut, k, 0), fix_operand(lut, k, 1)};
		struct sw_operand a = x[k == 0], b = x[k == 2 ? 1 : 2];
		bool ones = x[k].reg == SW_NO_REG && (width == 1 ? x[k].imm & 1 : x[k].imm == -1);
		if (table[0] == table[1] || sw_sass_is(x[k], 0) || ones)
			return of_two(s, table[ones], width, a, b);
	}
	for (unsigned k = 0; k < 3;
	     k++) { /* g(h(the other two), x[k]): h and its inverse, or constants, for x[k] 0 and 1 */
		unsigned table[2] = {fix_operand(lut, k, 0), fix_operand(lut, k, 1)}, h = table[0];
		if (h == 0 || h == 0xf)
			h = table[1];
		if ((table[0] != h && table[0] != (~h & 0xf) && table[0] != 0 && table[0] != 0xf) ||
		    (table[1] != h && table[1] != (~h & 0xf) && table[1] != 0 && table[1] != 0xf))
			continue;
		unsigned g = 0;
		for (unsigned i = 0; i < 4; i++) { /* i: 2h + x[k] */
			unsigned t = table[i & 1];
			g |= (t == 0xf || (t == h && i >> 1) || (t == (~h & 0xf) && !(i >> 1)) ? 1u : 0u) << i;
		}
		return of_two(s, g, width, of_two(s, h, width, x[k == 0], x[k == 2 ? 1 : 2]), x[k]);
	}
	struct sw_operand one = of_two(s, fix_operand(lut, 0, 1), width, x[1], x[2]);
	struct sw_operand zero = of_two(s, fix_operand(lut, 0, 0), width, x[1], x[2]);
	one = sw_sass_binary(s, SW_OP_AND, width, x[0], one);
	zero = sw_sass_binary(s, SW_OP_AND, width, sw_sass_unary(s, SW_OP_NOT, width, x[0]), zero);
	return sw_sass_binary(s, SW_OP_OR, width, one, zero);
}

/* LOP3: any function of three numbers, bit by bit.  The predicate says whether any bit is set; it is or'ed (80:
   and'ed) with the one at 87. */
void sw_sass_lower_lop3(struct sw_sass *s)
{
	struct sw_operand x[3] = {sw_sass_plain(s, SW_SASS_A), sw_sass_plain(s, SW_SASS_B),
				  sw_sass_plain(s, SW_SASS_C)};
	struct sw_operand v = of_three(s, (unsigned)sw_sass_bits(s, 72, 8), 32, x), p = v;
	sw_reg out = sw_sass_predicate_out(s, SW_AT_OUT);
	if (out != SW_NO_REG) {
		struct sw_operand with = sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT);
		p = sw_sass_compare(s, SW_NE, 32, false, v, sw_operand_imm(0));
		if (!sw_sass_is(with, sw_sass_bit(s, 80)))
			p = sw_sass_binary(s, sw_sass_bit(s, 80) ? SW_OP_AND : SW_OP_OR, 1, p, with);
	}
	sw_sass_result(s, v);
	sw_sass_set(s, out, 1, p);
}

/* PLOP3: two functions of three predicates, each by its table. */
void sw_sass_lower_plop3(struct sw_sass *s)
{
	struct sw_operand x[3] = {sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT),
				  sw_sass_predicate(s, SW_AT_IN2, SW_AT_IN2_NOT), sw_sass_predicate(s, 68, 71)};
	if (!sw_sass_uniform(s) && sw_sass_bit(s, 67) && sw_sass_bits(s, 68, 3) != 7) {
		x[2] = sw_operand_reg(SW_SASS_UP + (uint32_t)sw_sass_bits(s, 68, 3)); /* UP among P */
		if (sw_sass_bit(s, 71))
			x[2] = sw_sass_unary(s, SW_OP_NOT, 1, x[2]);
	}
	unsigned lut = (unsigned)(sw_sass_bits(s, 72, 5) << 3 | sw_sass_bits(s, 64, 3));
	sw_reg out0 = sw_sass_predicate_out(s, SW_AT_OUT), out1 = sw_sass_predicate_out(s, SW_AT_OUT2);
	struct sw_operand first = of_three(s, lut, 1, x), second = sw_operand_imm(0);
	if (out1 != SW_NO_REG)
		second = of_three(s, (unsigned)sw_sass_bits(s, 16, 8), 1, x);
	first.imm &= 1;
	second.imm &= 1;
	sw_sass_set(s, out0, 1, first);
	sw_sass_set(s, out1, 1, second);
}

/* Bytes from..from+n of a register of 32 bits, at byte `to` of the result; the last one's sign may fill the rest. */
static struct sw_operand byte_run(struct sw_sass *s, struct sw_operand v, unsigned from, unsigned to, unsigned n)
{
	if (from)
		v = sw_sass_binary(s, SW_OP_SHR, 32, v, sw_operand_imm(8 * from));
	if (from + n < 4)
		v = sw_sass_extend(s, 32, 8 * n, false, v);
	return to ? sw_sass_binary(s, SW_OP_SHL, 32, v, sw_operand_imm(8 * to)) : v;
}

/* PRMT: the 4 digits of the second operand pick bytes of the first (0-3) and the third (4-7); 8 more: only their
   sign. */
void sw_sass_lower_prmt(struct sw_sass *s)
{
	struct sw_operand a = sw_sass_plain(s, SW_SASS_A), digits = sw_sass_plain(s, SW_SASS_B),
			  b = sw_sass_plain(s, SW_SASS_C), v = sw_operand_imm(0);
	uint32_t d = (uint32_t)digits.imm;
	if (digits.reg != SW_NO_REG || sw_sass_bits(s, 72, 3) || (d & 0x8888 && d != 0x8880 && d != 0x9910)) {
		sw_sass_lower_mix(s);
		return;
	}
	if (d & 0x8888) { /* the low byte or half with its sign */
		sw_sass_result(s, sw_sass_extend(s, 32, d == 0x9910 ? 16 : 8, true, a));
		return;
	}
	for (unsigned to = 0, n; to < 4; to += n) {
		unsigned digit = d >> 4 * to & 7;
		for (n = 1; to + n < 4 && (digit & 3) + n < 4 && (d >> 4 * (to + n) & 7) == digit + n; n++)
			;
		struct sw_operand source = digit < 4 ? a : b;
		if (sw_sass_is(source, 0))
			continue;
		struct sw_operand piece = byte_run(s, source, digit & 3, to, n);
		v = sw_sass_is(v, 0) ? piece : sw_sass_binary(s, SW_OP_OR, 32, v, piece);
	}
	sw_sass_result(s, v);
}
