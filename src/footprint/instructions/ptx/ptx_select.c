/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison and selection (PTX ISA 9.0, 9.7.6 "Comparison and Selection Instructions"). */
#include <string.h>

#include "footprint/instructions/ptx/ptx_reader.h"

static const struct comparison {
	const char *name;
	enum sw_condition condition;
	bool is_unsigned;
} comparisons[] = {
	{"eq", SW_EQ, false}, {"ne", SW_NE, false}, {"lt", SW_LT, false}, {"le", SW_LE, false}, {"gt", SW_GT, false},
	{"ge", SW_GE, false}, {"lo", SW_LT, true},  {"ls", SW_LE, true},  {"hi", SW_GT, true},	{"hs", SW_GE, true},
};

static const struct comparison *comparison_of(const struct sw_ptx_opcode *op)
{
	for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
		if (sw_ptx_has(op, comparisons[i].name))
			return &comparisons[i];
	return NULL;
}

/* The comparison alone; of floating-point numbers (and of pairs) nothing is known. */
static struct sw_ptx_insn comparison_insn(struct sw_ptx_reader *r, uint32_t a, struct sw_ptx_type type)
{
	const struct comparison *c = comparison_of(r->op);
	if (!c || type.class == SW_PTX_FLOAT || type.class == SW_PTX_PACKED)
		return sw_ptx_any(1);
	return sw_ptx_compare(c->condition, type.bits, type.class == SW_PTX_SIGNED && !c->is_unsigned,
			      sw_ptx_value(r, a), sw_ptx_value(r, a + 1));
}

/* With the predicate that may follow the operands. */
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

/* arg: 0 setp, 1 set */
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

void sw_ptx_selp(struct sw_ptx_reader *r, int arg)
{
	unsigned width = r->op->type[0].bits;
	struct sw_operand a = sw_ptx_value(r, 1), b = sw_ptx_value(r, 2), p = sw_ptx_value(r, 3);
	(void)arg;
	sw_ptx_set(r, sw_ptx_at(r, 0), sw_ptx_op3(SW_OP_SELECT, width, p, a, b));
}

/* c >= 0 ? a : b */
void sw_ptx_slct(struct sw_ptx_reader *r, int arg)
{
	struct sw_operand a = sw_ptx_value(r, 1), b = sw_ptx_value(r, 2), c = sw_ptx_value(r, 3);
	bool floating = r->op->types > 1 && r->op->type[1].class == SW_PTX_FLOAT;
	struct sw_ptx_insn test = floating ? sw_ptx_any(1) : sw_ptx_compare(SW_GE, 32, true, c, sw_operand_imm(0));
	(void)arg;
	sw_ptx_set(r, sw_ptx_at(r, 0), sw_ptx_op3(SW_OP_SELECT, r->op->type[0].bits, sw_ptx_temp(r, test), a, b));
}
