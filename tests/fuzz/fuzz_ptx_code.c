/* SPDX-License-Identifier: Apache-2.0 */
/* PTX text of any bytes to programs: whatever comes out keeps to the bounds that the data flow relies on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/code.h"
#include "fuzz.h"
#include "image/image.h"

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_call(const struct sw_program *p, const struct sw_program_call *c)
{
	require(c->function == UINT32_MAX || c->function < p->functions);
	for (uint32_t k = 0; k < c->args; k++)
		require(c->arg[k] < p->slots);
	for (uint32_t k = 0; k < c->rets; k++)
		require(c->ret[k] < p->slots);
}

static void check_insn(const struct sw_program *p, const struct sw_program_function *f, const struct sw_insn *i)
{
	uint32_t results = i->op == SW_OP_LOAD ? i->count : 1;
	require(i->op < SW_OPS && i->n <= SW_MAX_SRC && i->text);
	require(i->guard == SW_NO_REG || i->guard < f->regs);
	require(i->dst == SW_NO_REG || (i->dst < f->regs && results <= f->regs - i->dst));
	for (unsigned k = 0; k < i->n; k++)
		require(i->src[k].reg == SW_NO_REG || i->src[k].reg < f->regs);
	if (i->dst != SW_NO_REG)
		require(i->width == 1 || i->width == 8 || i->width == 16 || i->width == 32 || i->width == 64);
	switch (i->op) {
	case SW_OP_LOAD:
	case SW_OP_STORE:
	case SW_OP_ATOMIC:
		require(i->count && i->bytes && i->n);
		break;
	case SW_OP_JUMP:
		require(i->target < f->insns);
		break;
	case SW_OP_SWITCH:
		require(i->target <= f->n_targets && i->targets <= f->n_targets - i->target);
		break;
	case SW_OP_CALL:
		require(i->target < f->n_calls);
		check_call(p, &f->calls[i->target]);
		break;
	case SW_OP_LOCAL_ADDRESS:
		require(i->imm >= 0 && i->imm < p->slots);
		break;
	case SW_OP_SYMBOL_ADDRESS:
		require(i->imm >= 0 && i->imm < p->symbols);
		break;
	case SW_OP_FUNCTION_ADDRESS:
		require(i->imm == UINT32_MAX || (i->imm >= 0 && i->imm < p->functions));
		break;
	default:
		break;
	}
}

static void check(const struct sw_program *p)
{
	require(p->functions);
	for (uint32_t k = 0; k < p->symbols; k++) {
		for (uint32_t j = 0; j < p->symbol[k].n_functions; j++)
			require(p->symbol[k].functions[j] == UINT32_MAX || p->symbol[k].functions[j] < p->functions);
		for (uint32_t j = 0; j < p->symbol[k].n_symbols; j++)
			require(p->symbol[k].symbols[j] < p->symbols);
	}
	for (uint32_t k = 0; k < p->functions; k++) {
		const struct sw_program_function *f = &p->function[k];
		require(f->insns && f->regs <= SW_CODE_MAX_REGS);
		for (uint32_t j = 0; j < f->n_targets; j++)
			require(f->targets[j] < f->insns);
		for (uint32_t j = 0; j < f->insns; j++)
			check_insn(p, f, &f->insn[j]);
	}
}

static int each(void *arg, const struct sw_cubin_kernel *kernel)
{
	const struct sw_ptx_module *module = arg;
	struct sw_program program;
	struct sw_error error;
	static FILE *nowhere;
	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!sw_ptx_read(module, kernel->name, &program, &error)) {
		check(&program);
		sw_program_print(&program, nowhere);
		sw_program_free(&program);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sw_ptx_module *module;
	struct sw_error error;
	if (sw_ptx_module_open((const char *)data, size, &module, &error))
		return 0;
	sw_ptx_walk((const char *)data, size, each, module, &error);
	sw_ptx_module_close(module);
	return 0;
}
