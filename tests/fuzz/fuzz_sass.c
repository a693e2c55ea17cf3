/* SPDX-License-Identifier: Apache-2.0 */
/* The machine code of all kernels of a cubin of any bytes; what comes out must hold together. */
#include <stdlib.h>
#include <string.h>

#include "footprint/code.h"
#include "fuzz.h"
#include "image/image.h"

#define KERNELS 8

struct names {
	char *name[KERNELS];
	size_t n;
};

static int take(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct names *names = arg;
	if (names->n == KERNELS)
		return 1;
	names->name[names->n++] = strdup(kernel->name);
	return 0;
}

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_insn(const struct sw_program *p, const struct sw_program_function *f, const struct sw_insn *i)
{
	must(i->op < SW_OPS && i->n <= SW_MAX_SRC && i->count > 0);
	must(i->dst == SW_NO_REG || (uint64_t)i->dst + i->count <= f->regs);
	must(i->guard == SW_NO_REG || i->guard < f->regs);
	for (unsigned k = 0; k < i->n; k++)
		must(i->src[k].reg == SW_NO_REG || i->src[k].reg < f->regs);
	must(i->op != SW_OP_JUMP || i->target < f->insns);
	must(i->op != SW_OP_CALL || i->target < f->n_calls);
	must(i->op != SW_OP_SWITCH || (uint64_t)i->target + i->targets <= f->n_targets);
	must(i->op != SW_OP_SYMBOL_ADDRESS || (uint64_t)i->imm < p->symbols);
}

static void check(const struct sw_program *p)
{
	for (uint32_t k = 0; k < p->functions; k++) {
		const struct sw_program_function *f = &p->function[k];
		must(f->insns && f->insns <= SW_CODE_MAX_INSNS && f->regs <= SW_CODE_MAX_REGS);
		for (uint32_t i = 0; i < f->insns; i++)
			check_insn(p, f, &f->insn[i]);
		for (uint32_t i = 0; i < f->n_targets; i++)
			must(f->targets[i] < f->insns);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct names names = {.n = 0};
	struct sw_error error;
	sw_cubin_walk(data, size, NULL, take, &names, &error);
	for (size_t k = 0; k < names.n; k++) {
		struct sw_program program;
		if (!sw_sass_read(data, size, names.name[k], &program, NULL, &error))
			check(&program);
		sw_program_free(&program);
		free(names.name[k]);
	}
	return 0;
}
