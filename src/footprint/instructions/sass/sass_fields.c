/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a machine instruction: bits, registers, operands. */
#include "footprint/instructions/sass/sass.h"

uint64_t sw_sass_bits(const struct sw_sass *s, unsigned at, unsigned n)
{
	uint64_t v = at >= 64 ? s->high >> (at - 64) : at ? s->low >> at | s->high << (64 - at) : s->low;
	return n < 64 ? v & ((UINT64_C(1) << n) - 1) : v;
}

int64_t sw_sass_signed(const struct sw_sass *s, unsigned at, unsigned n)
{
	return (int64_t)(sw_sass_bits(s, at, n) << (64 - n)) >> (64 - n);
}

bool sw_sass_uniform(const struct sw_sass *s)
{
	return s->op && s->op->flags & SW_UNIFORM;
}

/* Uniform registers have 6 bits before sm_100 (URZ is UR63), 8 from then on (UR255). */
sw_reg sw_sass_reg(const struct sw_sass *s, unsigned at, bool uniform)
{
	uint32_t zero = uniform && s->cubin->arch < 100 ? 63 : 255;
	uint32_t reg = (uint32_t)sw_sass_bits(s, at, 8) & zero;
	return reg == zero ? SW_NO_REG : reg + (uniform ? SW_SASS_UR : SW_SASS_R);
}

enum slot { SLOT_A, SLOT_32, SLOT_64 };
enum kind { KIND_REG, KIND_IMM, KIND_CONST, KIND_UREG };
/* Where an operand stands in the instruction, and its kind. */
struct where {
	uint8_t slot, kind;
};

/* Where an operand stands.  Bits 9-11 say what bits 32-63 hold, and whether that is the second or the third operand. */
static struct where where_is(const struct sw_sass *s, enum sw_sass_operand which)
{
	static const struct where table[8][3] = {
		[0] = {{SLOT_A, KIND_REG}, {SLOT_32, KIND_REG}, {SLOT_64, KIND_REG}},
		[1] = {{SLOT_A, KIND_REG}, {SLOT_32, KIND_REG}, {SLOT_64, KIND_REG}},
		[2] = {{SLOT_A, KIND_REG}, {SLOT_64, KIND_REG}, {SLOT_32, KIND_IMM}},
		[3] = {{SLOT_A, KIND_REG}, {SLOT_64, KIND_REG}, {SLOT_32, KIND_CONST}},
		[4] = {{SLOT_A, KIND_REG}, {SLOT_32, KIND_IMM}, {SLOT_64, KIND_REG}},
		[5] = {{SLOT_A, KIND_REG}, {SLOT_32, KIND_CONST}, {SLOT_64, KIND_REG}},
		[6] = {{SLOT_A, KIND_REG}, {SLOT_32, KIND_UREG}, {SLOT_64, KIND_REG}},
		[7] = {{SLOT_A, KIND_REG}, {SLOT_64, KIND_REG}, {SLOT_32, KIND_UREG}},
	};
	return table[sw_sass_bits(s, 9, 3)][which];
}

/* The register that stands there. */
static sw_reg slot_reg(const struct sw_sass *s, struct where w)
{
	static const uint8_t at[] = {[SLOT_A] = 24, [SLOT_32] = 32, [SLOT_64] = 64};
	return sw_sass_reg(s, at[w.slot], w.kind == KIND_UREG || sw_sass_uniform(s));
}

bool sw_sass_negated(const struct sw_sass *s, enum sw_sass_operand which)
{
	static const uint8_t at[] = {[SLOT_A] = 72, [SLOT_32] = 63, [SLOT_64] = 75};
	struct where w = where_is(s, which);
	return w.kind != KIND_IMM && sw_sass_bit(s, at[w.slot]);
}

/* The immediate of 32 bits, or half of the address that the loader puts there. */
static struct sw_operand immediate_operand(struct sw_sass *s)
{
	const struct sw_sass_relocation *r = s->relocation;
	if (!r || (r->kind != SW_RELOCATION_LOW && r->kind != SW_RELOCATION_HIGH))
		return sw_operand_imm(sw_sass_signed(s, 32, 32));
	s->relocation = NULL;
	return sw_sass_unary(s, r->kind == SW_RELOCATION_LOW ? SW_OP_LOW : SW_OP_HIGH, 32,
			     sw_sass_symbol(s, r->symbol, r->addend));
}

struct sw_operand sw_sass_plain(struct sw_sass *s, enum sw_sass_operand which)
{
	struct where w = where_is(s, which);
	if (w.kind == KIND_IMM)
		return immediate_operand(s);
	if (w.kind == KIND_CONST)
		return sw_sass_constant(s, (uint32_t)sw_sass_bits(s, 54, 5), (uint32_t)sw_sass_bits(s, 38, 16), 4,
					false);
	sw_reg reg = slot_reg(s, w);
	return reg == SW_NO_REG ? sw_operand_imm(0) : sw_operand_reg(reg);
}

struct sw_operand sw_sass_operand(struct sw_sass *s, enum sw_sass_operand which)
{
	struct sw_operand v = sw_sass_plain(s, which);
	return sw_sass_negated(s, which) ? sw_sass_unary(s, SW_OP_NEG, 32, v) : v;
}

struct sw_operand sw_sass_wide(struct sw_sass *s, enum sw_sass_operand which)
{
	struct where w = where_is(s, which);
	struct sw_operand v;
	if (w.kind == KIND_IMM)
		return sw_operand_imm(sw_sass_signed(s, 32, 32));
	if (w.kind == KIND_CONST)
		v = sw_sass_constant(s, (uint32_t)sw_sass_bits(s, 54, 5), (uint32_t)sw_sass_bits(s, 38, 16), 8, false);
	else
		v = sw_sass_pair(s, slot_reg(s, w));
	return sw_sass_negated(s, which) ? sw_sass_unary(s, SW_OP_NEG, 64, v) : v;
}

struct sw_operand sw_sass_predicate(struct sw_sass *s, unsigned at, unsigned inverted)
{
	uint32_t p = (uint32_t)sw_sass_bits(s, at, 3);
	bool not = sw_sass_bit(s, inverted);
	if (p == 7)
		return sw_operand_imm(!not );
	struct sw_operand v = sw_operand_reg(p + (sw_sass_uniform(s) ? SW_SASS_UP : SW_SASS_P));
	return not ? sw_sass_unary(s, SW_OP_NOT, 1, v) : v;
}

sw_reg sw_sass_predicate_out(const struct sw_sass *s, unsigned at)
{
	uint32_t p = (uint32_t)sw_sass_bits(s, at, 3);
	return p == 7 ? SW_NO_REG : p + (sw_sass_uniform(s) ? SW_SASS_UP : SW_SASS_P);
}
