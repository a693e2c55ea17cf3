/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the neutral form: what the PTX reader's instructions become. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "footprint/instructions/ptx/ptx_reader.h"

void sw_ptx_fail(struct sw_ptx_reader *r, const char *format, ...)
{
	char text[300];
	va_list ap;
	if (r->failed)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	r->failed = sw_fail(r->error, SW_E_FORMAT, "PTX: line %u: %s", r->line, text);
}

sw_reg sw_ptx_new(struct sw_ptx_reader *r, uint32_t count)
{
	sw_reg first = r->regs;
	if (count > SW_CODE_MAX_REGS - r->regs) {
		sw_ptx_fail(r, "more registers than a kernel can have");
		return 0;
	}
	r->regs += count;
	return first;
}

/* Appends an instruction to the function that is being read. */
static void push_instruction(struct sw_ptx_reader *r, struct sw_ptx_insn insn)
{
	if (r->insns + r->insn.n >= SW_CODE_MAX_INSNS) {
		sw_ptx_fail(r, "more than %u instructions", SW_CODE_MAX_INSNS);
		return;
	}
	switch (insn.op) { /* the same for both kinds of numbers */
	case SW_OP_PARAM:
	case SW_OP_MOV:
	case SW_OP_ADD:
	case SW_OP_SUB:
	case SW_OP_MUL:
	case SW_OP_NEG:
		insn.flags &= (uint8_t)~SW_SIGNED;
		break;
	default:
		break;
	}
	struct sw_insn *to = sw_vec_push(&r->insn);
	*to = (struct sw_insn){.op = insn.op,
			       .width = insn.width,
			       .flags = insn.flags,
			       .space = insn.space,
			       .count = insn.count,
			       .n = insn.n,
			       .bytes = insn.bytes,
			       .dst = insn.dst,
			       .guard = insn.guard,
			       .imm = insn.imm,
			       .imm2 = insn.imm2,
			       .target = insn.target,
			       .targets = insn.targets,
			       .place = r->line,
			       .text = r->op ? r->op->text : ""};
	to->src = sw_arena_alloc(&r->program->arena, insn.n * sizeof *to->src);
	memcpy(to->src, insn.src, insn.n * sizeof *to->src);
	r->end_is_target = false;
}

struct sw_operand sw_ptx_temp(struct sw_ptx_reader *r, struct sw_ptx_insn insn)
{
	insn.dst = sw_ptx_new(r, 1);
	insn.guard = SW_NO_REG;
	push_instruction(r, insn);
	return sw_operand_reg(insn.dst);
}

void sw_ptx_into(struct sw_ptx_reader *r, sw_reg dst, struct sw_ptx_insn insn)
{
	insn.dst = dst;
	insn.guard = r->guard;
	if (r->guard_not)
		insn.flags |= SW_GUARD_NOT;
	push_instruction(r, insn);
}

void sw_ptx_do(struct sw_ptx_reader *r, struct sw_ptx_insn insn)
{
	sw_ptx_into(r, SW_NO_REG, insn);
}

void sw_ptx_set(struct sw_ptx_reader *r, const struct sw_ptx_node *dst, struct sw_ptx_insn insn)
{
	if (!dst || dst->kind == SW_PTX_SINK)
		return;
	if (!sw_ptx_is_register(dst)) {
		sw_ptx_fail(r, "a destination that is no register");
		return;
	}
	unsigned bits = dst->thing.bits;
	if (bits == insn.width) {
		sw_ptx_into(r, dst->thing.a, insn);
		return;
	}
	struct sw_operand value = sw_ptx_temp(r, insn);
	if (bits == 128) {
		sw_ptx_into(r, dst->thing.a, sw_ptx_extend(64, value, insn.width, insn.flags & SW_SIGNED));
		sw_ptx_into(r, dst->thing.a + 1, sw_ptx_op1(SW_OP_MIX, 64, value));
	} else {
		sw_ptx_into(r, dst->thing.a, sw_ptx_extend(bits, value, insn.width, insn.flags & SW_SIGNED));
	}
}

struct sw_ptx_insn sw_ptx_between(unsigned bits, int64_t low, int64_t high)
{
	return (struct sw_ptx_insn){
		.op = SW_OP_RANGE, .width = (uint8_t)bits, .flags = low < 0 ? SW_SIGNED : 0, .imm = low, .imm2 = high};
}

struct sw_ptx_insn sw_ptx_any(unsigned bits)
{
	return bits < 64 ? sw_ptx_between(bits, 0, (1ll << bits) - 1) : sw_ptx_between(64, INT64_MIN, INT64_MAX);
}

/* Gives every register of a destination (elements of a vector, both of "p|q") a value that may hold pieces of *of;
   NULL: any number. */
static void set_each(struct sw_ptx_reader *r, const struct sw_ptx_node *dst, const struct sw_operand *of)
{
	if (dst->kind == SW_PTX_VECTOR) {
		for (uint32_t i = dst->first; i != SW_PTX_NO_NODE; i = r->nodes.at[i].next)
			set_each(r, &r->nodes.at[i], of);
	} else if (sw_ptx_is_register(dst)) {
		bool two = dst->thing.bits == 128;
		unsigned bits = two ? 64 : dst->thing.bits;
		struct sw_ptx_insn insn = of && bits > 1 ? sw_ptx_op1(SW_OP_MIX, bits, *of) : sw_ptx_any(bits);
		sw_ptx_into(r, dst->thing.a, insn);
		if (two)
			sw_ptx_into(r, dst->thing.a + 1, insn);
	}
	if (dst->other != SW_PTX_NO_NODE)
		set_each(r, &r->nodes.at[dst->other], of);
}

void sw_ptx_set_range(struct sw_ptx_reader *r, const struct sw_ptx_node *dst)
{
	if (dst)
		set_each(r, dst, NULL);
}

void sw_ptx_set_mix(struct sw_ptx_reader *r, const struct sw_ptx_node *dst, struct sw_operand of)
{
	if (dst)
		set_each(r, dst, &of);
}

/* The address of a local slot. */
static struct sw_operand slot_address(struct sw_ptx_reader *r, uint32_t slot)
{
	return sw_ptx_temp(r, (struct sw_ptx_insn){.op = SW_OP_LOCAL_ADDRESS, .width = 64, .imm = slot});
}

/* A load or store of a whole slot, of as many elements as the registers hold. */
static struct sw_ptx_insn in_slot(enum sw_op op, struct sw_operand address, const struct sw_ptx_thing *registers)
{
	unsigned bits = registers->bits > 64 ? 64 : registers->bits;
	struct sw_ptx_insn insn = sw_ptx_op1(op, bits, address);
	insn.space = SW_LOCAL;
	insn.bytes = (uint16_t)((bits + 7) / 8);
	insn.count = (uint8_t)(registers->vector * (registers->bits > 64 ? 2 : 1));
	return insn;
}

void sw_ptx_from_slot(struct sw_ptx_reader *r, uint32_t slot, const struct sw_ptx_thing *registers)
{
	sw_ptx_into(r, registers->a, in_slot(SW_OP_LOAD, slot_address(r, slot), registers));
}

void sw_ptx_to_slot(struct sw_ptx_reader *r, uint32_t slot, const struct sw_ptx_thing *registers)
{
	struct sw_ptx_insn insn = in_slot(SW_OP_STORE, slot_address(r, slot), registers);
	for (unsigned i = 0; i < insn.count; i++)
		insn.src[insn.n++] = sw_operand_reg(registers->a + i);
	sw_ptx_do(r, insn);
}
