/* SPDX-License-Identifier: Apache-2.0 */
/* Moves, conversions and selections (PTX ISA 9.0). */
#include <string.h>

#include "footprint/instructions/ptx/ptx_reader.h"

/* ---- PTX ISA 9.0, 9.7.6 "Comparison and Selection Instructions" -------------------------------------------------- */

static const struct comparison {
	const char *name;
	enum sw_condition condition;
	bool is_unsigned;
} comparisons[] = {
	{"eq", SW_EQ, false}, {"ne", SW_NE, false}, {"lt", SW_LT, false}, {"le", SW_LE, false}, {"gt", SW_GT, false},
	{"ge", SW_GE, false}, {"lo", SW_LT, true},  {"ls", SW_LE, true},  {"hi", SW_GT, true},	{"hs", SW_GE, true},
};

/* The comparison that an opcode names; NULL: one of floating-point numbers only (equ, num, nan). */
static const struct comparison *comparison_of(const struct sw_ptx_opcode *op)
{
	for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
		if (sw_ptx_has(op, comparisons[i].name))
			return &comparisons[i];
	return NULL;
}

/* The comparison of operands a and a + 1; of floating-point numbers (and of pairs) nothing is known. */
static struct sw_ptx_insn comparison_insn(struct sw_ptx_reader *r, uint32_t a, struct sw_ptx_type type)
{
	const struct comparison *c = comparison_of(r->op);
	if (!c || type.class == SW_PTX_FLOAT || type.class == SW_PTX_PACKED)
		return sw_ptx_any(1);
	return sw_ptx_compare(c->condition, type.bits, type.class == SW_PTX_SIGNED && !c->is_unsigned,
			      sw_ptx_value(r, a), sw_ptx_value(r, a + 1));
}

/* The comparison, or its inverse, combined with the predicate that may follow the operands (setp.lt.and). */
static struct sw_ptx_insn combine_predicate(struct sw_ptx_reader *r, struct sw_operand cmp, bool inverted)
{
	enum sw_op op = sw_ptx_has(r->op, "and")   ? SW_OP_AND
			: sw_ptx_has(r->op, "or")  ? SW_OP_OR
			: sw_ptx_has(r->op, "xor") ? SW_OP_XOR
						   : SW_OP_MOV;
	if (op == SW_OP_MOV)
		return sw_ptx_op1(inverted ? SW_OP_NOT : SW_OP_MOV, 1, cmp);
	if (inverted)
		cmp = sw_ptx_temp(r, sw_ptx_op1(SW_OP_NOT, 1, cmp));
	return sw_ptx_op2(op, 1, cmp, sw_ptx_value(r, 3));
}

/* setp p|q, a, b (arg 0); set d, a, b (arg 1), which gives all ones for true. */
void sw_ptx_setp(struct sw_ptx_reader *r, int arg)
{
	struct sw_ptx_type type = r->op->types ? r->op->type[r->op->types - 1] : (struct sw_ptx_type){0};
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	if (!dst)
		return;
	if (arg && (r->op->type[0].class == SW_PTX_FLOAT || r->op->type[0].class == SW_PTX_PACKED)) {
		sw_ptx_set_range(r, dst);
		return;
	}
	struct sw_ptx_insn plain = comparison_insn(r, 1, type);
	if (!arg && dst->other == SW_PTX_NO_NODE && r->operands == 3) { /* nearly all */
		sw_ptx_set(r, dst, plain);
		return;
	}
	struct sw_operand cmp = sw_ptx_temp(r, plain);
	if (arg) { /* all ones for true */
		struct sw_operand truth = sw_ptx_temp(r, combine_predicate(r, cmp, false));
		sw_ptx_set(r, dst, sw_ptx_extend(r->op->type[0].bits, truth, 1, true));
		return;
	}
	/* The first destination may be the predicate that the second is combined with. */
	struct sw_ptx_insn second = {0};
	if (dst->other != SW_PTX_NO_NODE && (type.bits == 32 || type.bits == 64 || type.bits == 16)) {
		bool paired = type.class == SW_PTX_FLOAT;
		second = paired ? sw_ptx_any(1)
				: sw_ptx_op1(SW_OP_MOV, 1, sw_ptx_temp(r, combine_predicate(r, cmp, true)));
	}
	sw_ptx_set(r, dst, combine_predicate(r, cmp, false));
	if (dst->other != SW_PTX_NO_NODE)
		sw_ptx_set(r, &r->nodes.at[dst->other], second.op ? second : sw_ptx_any(1));
}

/* selp d, a, b, p: p ? a : b. */
void sw_ptx_selp(struct sw_ptx_reader *r, int arg)
{
	unsigned width = r->op->type[0].bits;
	struct sw_operand a = sw_ptx_value(r, 1), b = sw_ptx_value(r, 2), p = sw_ptx_value(r, 3);
	(void)arg;
	sw_ptx_set(r, sw_ptx_at(r, 0), sw_ptx_op3(SW_OP_SELECT, width, p, a, b));
}

/* slct d, a, b, c: c >= 0 ? a : b. */
void sw_ptx_slct(struct sw_ptx_reader *r, int arg)
{
	struct sw_operand a = sw_ptx_value(r, 1), b = sw_ptx_value(r, 2), c = sw_ptx_value(r, 3);
	bool floating = r->op->types > 1 && r->op->type[1].class == SW_PTX_FLOAT;
	struct sw_ptx_insn test = floating ? sw_ptx_any(1) : sw_ptx_compare(SW_GE, 32, true, c, sw_operand_imm(0));
	(void)arg;
	sw_ptx_set(r, sw_ptx_at(r, 0), sw_ptx_op3(SW_OP_SELECT, r->op->type[0].bits, sw_ptx_temp(r, test), a, b));
}

/* ---- PTX ISA 9.0, 9.7.9 "Data Movement and Conversion Instructions" ---------------------------------------------- */

/* The two registers of 64 bits that hold an operand of 128. */
static void split_halves(struct sw_ptx_reader *r, const struct sw_ptx_node *node, struct sw_operand half[2])
{
	half[0] = sw_ptx_use(r, node);
	half[1] = sw_ptx_is_register(node) && node->thing.bits == 128 ? sw_operand_reg(node->thing.a + 1)
								      : sw_operand_imm(0);
}

/* mov.b64 d, {a, b, ...}: the first is the lowest. */
static void pack_vector(struct sw_ptx_reader *r, const struct sw_ptx_node *dst, const struct sw_ptx_node *from,
			unsigned bits)
{
	uint32_t n = sw_ptx_children(r, from);
	struct sw_operand part[8];
	if (!n || n > 8 || bits % n) {
		sw_ptx_fail(r, "a vector of %u elements in %u bits", n, bits);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct sw_ptx_node *child = sw_ptx_child(r, from, i);
		part[i] = child->kind == SW_PTX_SINK ? sw_operand_imm(0) : sw_ptx_use(r, child);
	}
	unsigned each = bits / n;
	if (bits == 128 && n == 4) {
		part[0] = sw_ptx_temp(r, sw_ptx_op2(SW_OP_PAIR, 64, part[0], part[1]));
		part[1] = sw_ptx_temp(r, sw_ptx_op2(SW_OP_PAIR, 64, part[2], part[3]));
	}
	if (bits == 128 && (n == 4 || n == 2) && sw_ptx_is_register(dst) && dst->thing.bits == 128) {
		part[1] = sw_ptx_temp(r, sw_ptx_op1(SW_OP_MOV, 64, part[1])); /* may be the low half of dst */
		sw_ptx_into(r, dst->thing.a, sw_ptx_op1(SW_OP_MOV, 64, part[0]));
		sw_ptx_into(r, dst->thing.a + 1, sw_ptx_op1(SW_OP_MOV, 64, part[1]));
	} else if (bits == 64 && n == 2) {
		sw_ptx_set(r, dst, sw_ptx_op2(SW_OP_PAIR, 64, part[0], part[1]));
	} else if (n == 2 && bits < 64) {
		struct sw_operand low = sw_ptx_temp(r, sw_ptx_extend(bits, part[0], each, false));
		struct sw_operand high = sw_ptx_temp(r, sw_ptx_extend(bits, part[1], each, false));
		high = sw_ptx_temp(r, sw_ptx_op2(SW_OP_SHL, bits, high, sw_operand_imm(each)));
		sw_ptx_set(r, dst, sw_ptx_op2(SW_OP_OR, bits, low, high));
	} else {
		struct sw_ptx_insn mix = {.op = SW_OP_MIX, .width = (uint8_t)(bits > 64 ? 64 : bits), .n = (uint8_t)n};
		for (uint32_t i = 0; i < n; i++)
			mix.src[i] = part[i];
		sw_ptx_set_mix(r, dst, sw_ptx_temp(r, mix));
	}
}

/* mov.b64 {a, b, ...}, s */
static void unpack_vector(struct sw_ptx_reader *r, const struct sw_ptx_node *to, const struct sw_ptx_node *from,
			  unsigned bits)
{
	uint32_t n = sw_ptx_children(r, to);
	struct sw_operand half[2], part[8];
	if (!n || n > 8 || bits % n) {
		sw_ptx_fail(r, "a vector of %u elements in %u bits", n, bits);
		return;
	}
	split_halves(r, from, half);
	unsigned each = bits / n;
	/* Elements may be the operand itself: all are taken before one is written. */
	for (uint32_t i = 0; i < n; i++) {
		unsigned at = each * i, width = bits > 64 ? 64 : bits;
		struct sw_operand x = half[at / 64];
		at %= 64;
		if (each == width) {
			part[i] = sw_ptx_temp(r, sw_ptx_op1(SW_OP_MOV, each, x));
		} else if (width == 64 && each == 32) {
			part[i] = sw_ptx_temp(r, sw_ptx_op1(at ? SW_OP_HIGH : SW_OP_LOW, 32, x));
		} else {
			if (at)
				x = sw_ptx_temp(r, sw_ptx_op2(SW_OP_SHR, width, x, sw_operand_imm(at)));
			part[i] = sw_ptx_temp(r, sw_ptx_extend(each, x, width, false));
		}
	}
	for (uint32_t i = 0; i < n; i++)
		sw_ptx_set(r, sw_ptx_child(r, to, i), sw_ptx_op1(SW_OP_MOV, each, part[i]));
}

/* mov: copies a register, makes an address of a name, packs or unpacks a vector. */
void sw_ptx_mov(struct sw_ptx_reader *r, int arg)
{
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0), *src = sw_ptx_at(r, 1);
	unsigned bits = r->op->types ? r->op->type[0].bits : 0;
	struct sw_operand half[2];
	(void)arg;
	if (!dst || !src)
		return;
	if (src->kind == SW_PTX_VECTOR) {
		pack_vector(r, dst, src, bits);
	} else if (dst->kind == SW_PTX_VECTOR) {
		unpack_vector(r, dst, src, bits);
	} else if (bits == 128) {
		split_halves(r, src, half);
		if (!sw_ptx_is_register(dst) || dst->thing.bits != 128) {
			sw_ptx_fail(r, "128 bits into another register");
			return;
		}
		sw_ptx_into(r, dst->thing.a, sw_ptx_op1(SW_OP_MOV, 64, half[0]));
		sw_ptx_into(r, dst->thing.a + 1, sw_ptx_op1(SW_OP_MOV, 64, half[1]));
	} else {
		sw_ptx_set(r, dst, sw_ptx_move(r, src, bits));
	}
}

/* cvta: generic and window addresses are one value here, which implies its space.  Only a shared address may be a
   bare number (its window begins at 0), so it becomes one when it is made generic. */
void sw_ptx_cvta(struct sw_ptx_reader *r, int arg)
{
	unsigned width = r->op->types ? r->op->type[0].bits : 64;
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0), *src = sw_ptx_at(r, 1);
	(void)arg;
	if (!src)
		return;
	if (r->op->space == SW_SHARED && !sw_ptx_has(r->op, "to"))
		sw_ptx_set(r, dst, (struct sw_ptx_insn){.op = SW_OP_SHARED_ADDRESS, .width = (uint8_t)width});
	else
		sw_ptx_set(r, dst, sw_ptx_move(r, src, width));
}

/* mapa: the address of the shared memory of another block, at the place of the operand. */
void sw_ptx_mapa(struct sw_ptx_reader *r, int arg)
{
	(void)arg;
	sw_ptx_set(r, sw_ptx_at(r, 0),
		   (struct sw_ptx_insn){.op = SW_OP_SHARED_ADDRESS,
					.width = (uint8_t)(r->op->types ? r->op->type[0].bits : 64)});
}

/* alloca: every time another piece of the stack, somewhere in a slot of its own, so that no store there replaces
   another. */
void sw_ptx_alloca(struct sw_ptx_reader *r, int arg)
{
	unsigned width = r->op->types ? r->op->type[0].bits : 64;
	(void)arg;
	struct sw_operand slot = sw_ptx_temp(
		r, (struct sw_ptx_insn){.op = SW_OP_LOCAL_ADDRESS, .width = (uint8_t)width, .imm = sw_ptx_slot(r)});
	sw_ptx_set(r, sw_ptx_at(r, 0),
		   sw_ptx_op2(SW_OP_ADD, width, slot, sw_ptx_temp(r, sw_ptx_between(width, 0, UINT32_MAX))));
}

/* cvt: a number of one integer type as another one; to and from floating-point numbers the result is unknown. */
void sw_ptx_cvt(struct sw_ptx_reader *r, int arg)
{
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	(void)arg;
	if (r->op->types < 2 || r->op->type[0].bits > 64 || r->op->type[1].bits > 64) {
		sw_ptx_mix(r, 0);
		return;
	}
	if (r->op->type[0].class == SW_PTX_FLOAT || r->op->type[1].class == SW_PTX_FLOAT || sw_ptx_has(r->op, "pack")) {
		sw_ptx_set_range(r, dst);
		return;
	}
	struct sw_ptx_type to = r->op->type[0], from = r->op->type[1];
	bool sign = to.class == SW_PTX_SIGNED;
	if (sw_ptx_has(r->op, "sat") && to.bits < 64) {
		int64_t most = sign ? (1ll << (to.bits - 1)) - 1 : (1ll << to.bits) - 1;
		sw_ptx_set(r, dst, sw_ptx_signed(sw_ptx_between(to.bits, sign ? -most - 1 : 0, most), sign));
		return;
	}
	/* A destination register may be wider than the type (PTX ISA, "Operand Size Exceeding Instruction-Type Size"):
	   sw_ptx_set() extends once more, as the destination type says. */
	struct sw_ptx_insn extend = sw_ptx_extend(to.bits, sw_ptx_value(r, 1), from.bits, from.class == SW_PTX_SIGNED);
	if (dst && sw_ptx_is_register(dst) && dst->thing.bits > to.bits) {
		struct sw_operand value = sw_ptx_temp(r, extend);
		sw_ptx_into(r, dst->thing.a, sw_ptx_extend(dst->thing.bits, value, to.bits, sign));
	} else {
		sw_ptx_set(r, dst, extend);
	}
}
