/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the neutral form: what machine instructions become. */
#include "footprint/instructions/sass/sass.h"

#define OPERANDS 4000 /* nearly fill a block of the arena */

/* Room for the operands of the next instruction, after those that the last one has by now. */
static struct sw_operand *operand_room(struct sw_sass *s)
{
	const struct sw_insn *last = s->insn.n ? &s->insn.at[s->insn.n - 1] : NULL;
	if (last && s->operands_end - (last->src + last->n) >= SW_MAX_SRC)
		return last->src + last->n;
	struct sw_operand *at = sw_arena_alloc(&s->program->arena, OPERANDS * sizeof *at);
	s->operands_end = at + OPERANDS;
	return at;
}

/* Text for evidence strings is the name of the machine instruction, which is static. */
struct sw_insn *sw_sass_emit(struct sw_sass *s, enum sw_op op, unsigned width)
{
	if (s->insn.n >= SW_CODE_MAX_INSNS) {
		s->failed = "it has too many instructions";
		s->insn.n = 0; /* what is made from here on is thrown away */
	}
	struct sw_operand *src = operand_room(s);
	struct sw_insn *i = sw_vec_push(&s->insn);
	*i = (struct sw_insn){
		.op = (uint8_t)op,
		.width = (uint8_t)width,
		.count = 1,
		.dst = SW_NO_REG,
		.guard = SW_NO_REG,
		.src = src,
		.place = (uint32_t)(s->at * 16),
		.text = s->op ? s->op->name : "?",
	};
	return i;
}

/* A temporary register of the current instruction.  No instruction needs a third of them (LDGSTS of 16 elements is the
   largest): past the end they are shared, which the assertion of the tests would show. */
struct sw_operand sw_sass_temp(struct sw_sass *s)
{
	uint32_t t = s->temps < SW_SASS_TEMPS ? s->temps++ : SW_SASS_TEMPS - 1;
	return sw_operand_reg(SW_SASS_TEMP + t);
}

struct sw_operand sw_sass_value(struct sw_sass *s, enum sw_op op, unsigned width, unsigned flags, unsigned n,
				const struct sw_operand *src)
{
	struct sw_operand t = sw_sass_temp(s);
	struct sw_insn *i = sw_sass_emit(s, op, width);
	i->dst = t.reg;
	i->flags = (uint8_t)flags;
	i->n = (uint8_t)n;
	for (unsigned k = 0; k < n; k++)
		i->src[k] = src[k];
	return t;
}

struct sw_operand sw_sass_unary(struct sw_sass *s, enum sw_op op, unsigned width, struct sw_operand a)
{
	return sw_sass_value(s, op, width, 0, 1, &a);
}

struct sw_operand sw_sass_binary(struct sw_sass *s, enum sw_op op, unsigned width, struct sw_operand a,
				 struct sw_operand b)
{
	return sw_sass_value(s, op, width, 0, 2, (struct sw_operand[]){a, b});
}

struct sw_operand sw_sass_compare(struct sw_sass *s, enum sw_condition condition, unsigned bits, bool is_signed,
				  struct sw_operand a, struct sw_operand b)
{
	struct sw_operand t =
		sw_sass_value(s, SW_OP_COMPARE, 1, is_signed ? SW_SIGNED : 0, 2, (struct sw_operand[]){a, b});
	struct sw_insn *i = &s->insn.at[s->insn.n - 1];
	i->imm = condition;
	i->imm2 = bits;
	return t;
}

struct sw_operand sw_sass_extend(struct sw_sass *s, unsigned width, unsigned from, bool is_signed, struct sw_operand a)
{
	struct sw_operand t = sw_sass_value(s, SW_OP_EXTEND, width, is_signed ? SW_SIGNED : 0, 1, &a);
	s->insn.at[s->insn.n - 1].imm = from;
	return t;
}

struct sw_operand sw_sass_leaf(struct sw_sass *s, enum sw_op op, unsigned width, int64_t imm, int64_t imm2)
{
	struct sw_operand t = sw_sass_value(s, op, width, 0, 0, NULL);
	struct sw_insn *i = &s->insn.at[s->insn.n - 1];
	i->imm = imm;
	i->imm2 = imm2;
	return t;
}

struct sw_operand sw_sass_anything(struct sw_sass *s, unsigned width)
{
	return sw_sass_leaf(s, SW_OP_RANGE, width, 0, width == 64 ? -1 : (int64_t)((UINT64_C(1) << width) - 1));
}

/* Notes that the register no longer holds a known value. */
static void forget_known(struct sw_sass *s, sw_reg reg)
{
	if (reg < 512)
		s->known[reg].kind = SW_KNOWN_NOTHING;
}

void sw_sass_set(struct sw_sass *s, sw_reg reg, unsigned width, struct sw_operand value)
{
	if (reg == SW_NO_REG || s->never)
		return;
	forget_known(s, reg);
	/* The instruction that made the value writes the register itself: temporaries have one reader at most then. */
	struct sw_insn *last = s->insn.n ? &s->insn.at[s->insn.n - 1] : NULL;
	if (!last || value.reg == SW_NO_REG || value.reg < SW_SASS_TEMP || last->dst != value.reg || last->count > 1 ||
	    last->op == SW_OP_LOAD || last->op == SW_OP_ATOMIC) {
		last = sw_sass_emit(s, SW_OP_MOV, width);
		last->n = 1;
		last->src[0] = value;
	}
	last->dst = reg;
	last->guard = s->guard;
	if (s->guard_not)
		last->flags |= SW_GUARD_NOT;
}

void sw_sass_blur(struct sw_sass *s, sw_reg reg, unsigned width)
{
	if (reg == SW_NO_REG || s->never)
		return;
	struct sw_operand old = sw_operand_reg(reg);
	sw_sass_set(s, reg, width, sw_sass_value(s, SW_OP_MIX, width, 0, 1, &old));
}

void sw_sass_result(struct sw_sass *s, struct sw_operand value)
{
	sw_sass_set(s, sw_sass_reg(s, 16, sw_sass_uniform(s)), 32, value);
}

void sw_sass_halves(struct sw_sass *s, sw_reg reg, struct sw_operand value)
{
	if (reg == SW_NO_REG)
		return;
	sw_sass_set(s, reg, 32, sw_sass_unary(s, SW_OP_LOW, 32, value));
	if ((reg & 0xff) < 254) /* R254 has no register after it */
		sw_sass_set(s, reg + 1, 32, sw_sass_unary(s, SW_OP_HIGH, 32, value));
}

void sw_sass_result64(struct sw_sass *s, struct sw_operand value)
{
	sw_sass_halves(s, sw_sass_reg(s, 16, sw_sass_uniform(s)), value);
}

struct sw_operand sw_sass_pair(struct sw_sass *s, sw_reg reg)
{
	if (reg == SW_NO_REG)
		return sw_operand_imm(0);
	struct sw_operand high = (reg & 0xff) >= 254 ? sw_operand_imm(0) : sw_operand_reg(reg + 1);
	return sw_sass_binary(s, SW_OP_PAIR, 64, sw_operand_reg(reg), high);
}

sw_reg sw_sass_condition(struct sw_sass *s, struct sw_operand condition, bool *never)
{
	*never = s->never || sw_sass_is(condition, 0);
	if (*never || condition.reg == SW_NO_REG)
		return s->guard;
	struct sw_operand guard = sw_operand_reg(s->guard);
	if (s->guard == SW_NO_REG)
		return condition.reg;
	if (s->guard_not)
		guard = sw_sass_unary(s, SW_OP_NOT, 1, guard);
	return sw_sass_binary(s, SW_OP_AND, 1, guard, condition).reg;
}
