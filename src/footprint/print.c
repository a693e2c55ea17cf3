/* SPDX-License-Identifier: Apache-2.0 */
/* A program as text.  Tests compare it: what is printed here changes only with the program. */
#include <inttypes.h>
#include <stdio.h>

#include "footprint/code.h"

static const char *const conditions[] = {
	[SW_EQ] = "eq", [SW_NE] = "ne", [SW_LT] = "lt", [SW_LE] = "le", [SW_GT] = "gt", [SW_GE] = "ge"};
static const char *const spaces[] = {[SW_GENERIC] = "",	    [SW_GLOBAL] = ".global",	 [SW_SHARED] = ".shared",
				     [SW_LOCAL] = ".local", [SW_PARAM_SPACE] = ".param", [SW_CONSTANT] = ".const"};

/* A register as "r5", a constant as its number. */
static void print_operand(FILE *f, struct sw_operand o)
{
	if (o.reg == SW_NO_REG)
		fprintf(f, "%" PRId64, o.imm);
	else
		fprintf(f, "r%u", o.reg);
}

/* Prints src[from ...]: the first one after `first`, the others after a comma. */
static void print_operands(FILE *f, const struct sw_insn *i, unsigned from, const char *first)
{
	for (unsigned k = from; k < i->n; k++) {
		fputs(k == from ? first : ", ", f);
		print_operand(f, i->src[k]);
	}
}

/* Prints the address of an access: " [r5+16]". */
static void print_address(FILE *f, const struct sw_insn *i)
{
	fputs(" [", f);
	print_operand(f, i->src[0]);
	if (i->imm && i->op != SW_OP_BULK)
		fprintf(f, "%+" PRId64, i->imm);
	fputs("]", f);
}

/* Prints space, kind and size of an access, its address and other operands: ".global 1x4 [r5], r6". */
static void print_memory(FILE *f, const struct sw_insn *i)
{
	fputs((unsigned)i->space <= SW_CONSTANT ? spaces[i->space] : ".?", f);
	fprintf(f, "%s%s%s", i->flags & SW_VOLATILE ? ".volatile" : "", i->flags & SW_READS ? ".read" : "",
		i->flags & SW_ATOMICS  ? ".atomic"
		: i->flags & SW_WRITES ? ".write"
				       : "");
	if (i->op == SW_OP_LOAD || i->op == SW_OP_STORE || i->op == SW_OP_ATOMIC)
		fprintf(f, " %ux%u", i->count, i->bytes);
	print_address(f, i);
	print_operands(f, i, 1, ", ");
}

/* Prints the local slots through which values pass to and from a function: "(1, 2)". */
static void print_slots(FILE *f, const uint32_t *slot, uint32_t n)
{
	fputs("(", f);
	for (uint32_t k = 0; k < n; k++)
		fprintf(f, "%s%u", k ? ", " : "", slot[k]);
	fputs(")", f);
}

/* Prints what is called, with which operands, and the slots of arguments and results. */
static void print_call(FILE *f, const struct sw_program_function *function, const struct sw_insn *i)
{
	const struct sw_program_call *c = &function->calls[i->target];
	if (c->function != UINT32_MAX)
		fprintf(f, " function %u", c->function);
	else if (c->name)
		fprintf(f, " %s", c->name);
	print_operands(f, i, 0, " ");
	fputs(" ", f);
	print_slots(f, c->arg, c->args);
	fputs(" -> ", f);
	print_slots(f, c->ret, c->rets);
}

/* Prints where a SWITCH may lead. */
static void print_switch(FILE *f, const struct sw_program_function *function, const struct sw_insn *i)
{
	for (uint32_t k = 0; k < i->targets; k++)
		fprintf(f, " %u", function->targets[i->target + k]);
	if (!i->targets)
		fputs(" anywhere", f);
}

/* The text between the operation and its operands. */
static void print_numbers(FILE *f, const struct sw_insn *i)
{
	switch (i->op) {
	case SW_OP_CONST:
	case SW_OP_PARAM:
	case SW_OP_PARAM_ADDRESS:
		fprintf(f, " %" PRId64, i->imm);
		break;
	case SW_OP_FUNCTION_ADDRESS:
		if (i->imm == UINT32_MAX)
			fputs(" without code", f);
		else
			fprintf(f, " %" PRId64, i->imm);
		break;
	case SW_OP_LOCAL_ADDRESS:
	case SW_OP_SYMBOL_ADDRESS:
		fprintf(f, " %" PRId64 "%+" PRId64, i->imm, i->imm2);
		break;
	case SW_OP_SPECIAL:
		fprintf(f, " %s", sw_special_text(i->imm));
		break;
	case SW_OP_RANGE:
		fprintf(f, " %" PRId64 " %" PRId64, i->imm, i->imm2);
		break;
	case SW_OP_EXTEND:
		fprintf(f, ".%" PRId64, i->imm);
		break;
	case SW_OP_COMPARE:
		fprintf(f, ".%s.%" PRId64, i->imm >= 0 && i->imm <= SW_GE ? conditions[i->imm] : "?", i->imm2);
		break;
	case SW_OP_JUMP:
		fprintf(f, " %u", i->target);
		break;
	default:
		break;
	}
}

/* Prints one instruction: guard, result, operation, operands. */
static void print_insn(FILE *f, const struct sw_program_function *function, const struct sw_insn *i)
{
	if (i->guard != SW_NO_REG)
		fprintf(f, "@%sr%u ", i->flags & SW_GUARD_NOT ? "!" : "", i->guard);
	if (i->dst != SW_NO_REG)
		fprintf(f, "r%u.%u = ", i->dst, i->width);
	fprintf(f, "%s%s", sw_op_text((enum sw_op)i->op), i->flags & SW_SIGNED ? ".signed" : "");
	switch (i->op) {
	case SW_OP_LOAD:
	case SW_OP_STORE:
	case SW_OP_ATOMIC:
	case SW_OP_BULK:
	case SW_OP_TENSOR:
	case SW_OP_TEXTURE:
	case SW_OP_SURFACE:
		print_memory(f, i);
		break;
	case SW_OP_CALL:
		print_call(f, function, i);
		break;
	case SW_OP_SWITCH:
		print_switch(f, function, i);
		break;
	default:
		print_numbers(f, i);
		print_operands(f, i, 0, " ");
	}
	fputs("\n", f);
}

/* Prints a module variable and the functions and variables that it points to. */
static void print_symbol(FILE *f, const struct sw_symbol *s, uint32_t at)
{
	fprintf(f, "%s %u %s %" PRIu64, s->constant ? "constant" : "variable", at, s->name, s->bytes);
	for (uint32_t k = 0; k < s->n_functions; k++)
		fprintf(f, " function %u", s->functions[k]);
	for (uint32_t k = 0; k < s->n_symbols; k++)
		fprintf(f, " symbol %u", s->symbols[k]);
	fputs("\n", f);
}

void sw_program_print(const struct sw_program *program, void *file)
{
	FILE *f = file;
	for (uint32_t k = 0; k < program->params; k++)
		fprintf(f, "param %u %u %u\n", k, program->param[k].offset, program->param[k].bytes);
	for (uint32_t k = 0; k < program->symbols; k++)
		print_symbol(f, &program->symbol[k], k);
	for (uint32_t k = 0; k < program->functions; k++) {
		const struct sw_program_function *function = &program->function[k];
		fprintf(f, "function %u %s ", k, function->name);
		print_slots(f, function->param_slot, function->param_slots);
		fputs(" -> ", f);
		print_slots(f, function->result_slot, function->result_slots);
		fputs("\n", f);
		for (uint32_t i = 0; i < function->insns; i++) {
			fprintf(f, "%u: ", i);
			print_insn(f, function, &function->insn[i]);
		}
	}
	if (program->wild)
		fprintf(f, "wild: %s\n", program->wild);
}
