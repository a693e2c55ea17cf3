/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sw_sass_read.  The kernel is read from its entry along all paths that it can take; a subroutine is read again for
 * each place that calls it, so that what its callers know does not run together, and returns by a jump.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "footprint/instructions/sass/sass_lower.h"

static const struct sw_sass_op table[] = {
#define SW_SASS_ROW(code, mask, first, last, name, lowering, words, flags)                                             \
	{code, mask, first, last, name, sw_sass_lower_##lowering, words, flags},
#include "footprint/instructions/sass/sass_ops.def"
};
static const struct sw_sass_op unknown = {.name = "unknown instruction", .lower = sw_sass_lower_unknown};

/* Lines of the table by operation, which each of them fixes. */
#define OPERATION 0x1ffu
#define SW_SASS_ROW(code, mask, ...)                                                                                   \
	_Static_assert(((mask)&OPERATION) == OPERATION, "a line is of one operation");                                 \
	_Static_assert(((code) & ~(mask)) == 0, "a line can be meant");
#include "footprint/instructions/sass/sass_ops.def"
static struct {
	uint16_t last[OPERATION + 1];		       /* of an operation, + 1; 0: none */
	uint16_t before[sizeof table / sizeof *table]; /* of the same operation, + 1 */
	bool control[OPERATION + 1];		       /* some line of the operation is of control */
} lines;
static pthread_once_t lines_are_sorted = PTHREAD_ONCE_INIT;

/* Links the lines of the table by operation, once for the process. */
static void sort_lines(void)
{
	for (uint16_t i = 0; i < sizeof table / sizeof *table; i++) {
		uint16_t *last = &lines.last[table[i].code & OPERATION];
		lines.before[i] = *last;
		*last = (uint16_t)(i + 1);
		lines.control[table[i].code & OPERATION] |= (table[i].flags & SW_CONTROL) != 0;
	}
}

/* The line of the table for an instruction word; NULL: it is unknown. */
static const struct sw_sass_op *find_op(uint64_t low, uint32_t arch)
{
	for (uint16_t i = lines.last[low & OPERATION]; i; i = lines.before[i - 1]) {
		const struct sw_sass_op *op = &table[i - 1];
		if ((low & op->mask) == op->code && arch >= op->first && arch <= op->last)
			return op;
	}
	return NULL;
}

/* The guard of uniform instructions is a uniform predicate, but VOTEU's; since sm_100 also that of UTMA* and UBLK*
   (seen for UTMALDG).  Which file it is of for others that act on uniform registers without being of the uniform
   datapath was not seen: then it is not known which threads execute them. */
static bool guard_uniform(const struct sw_sass *s)
{
	unsigned code = (unsigned)(s->low & 0x1ff);
	return (sw_sass_uniform(s) && code != 0x086) || (s->cubin->arch >= 100 && code >= 0x1b4 && code <= 0x1bb);
}

/* Is it unknown whether the guard of this instruction is a thread's predicate or a uniform one?  Then it is not known
   which threads execute it. */
static bool guard_unknown(const struct sw_sass *s)
{
	unsigned code = (unsigned)(s->low & 0x1ff);
	bool tensor = s->cubin->arch < 100 && code >= 0x1b4 && code <= 0x1bb;
	return code == 0x1c3 || code == 0x0cb || tensor || code == 0x158;
}

void sw_sass_fetch(struct sw_sass *s, uint64_t at)
{
	s->at = at;
	s->low = sw_u64(s->code, at * 16);
	s->high = sw_u64(s->code, at * 16 + 8);
	s->op = find_op(s->low, s->cubin->arch);
	s->temps = 0;
	uint32_t p = (uint32_t)sw_sass_bits(s, 12, 3);
	s->guard_not = sw_sass_bit(s, 15);
	s->never = p == 7 && s->guard_not;
	s->guard = p == 7 ? SW_NO_REG : p + (guard_uniform(s) ? SW_SASS_UP : SW_SASS_P);
	if (p == 7)
		s->guard_not = false;
}

/* Does the instruction load an address of bank 4 (LDC with a known index)?  *symbol is then what later calls through
   the register lead to. */
static bool loads_symbol(struct sw_sass *s, uint64_t *symbol)
{
	if ((s->low & 0x1ff) != 0x182 || sw_sass_bits(s, 54, 5) != 4 || sw_sass_bits(s, 73, 3) != 5 ||
	    s->guard != SW_NO_REG)
		return false;
	sw_reg index = sw_sass_reg(s, 24, false);
	int64_t offset = (int64_t)sw_sass_bits(s, 38, 16), addend;
	if (index != SW_NO_REG) {
		const struct sw_sass_known *k = &s->known[index];
		if (k->stamp != s->stamp || k->kind != SW_KNOWN_CONST)
			return false;
		offset += k->value;
	}
	return offset >= 0 && sw_sass_cubin_address(s->cubin, (uint64_t)offset, symbol, &addend);
}

bool sw_sass_may_control(const struct sw_sass *s, uint64_t at)
{
	return lines.control[sw_u64(s->code, at * 16) & OPERATION];
}

/* Names an unknown instruction by its low 12 bits: HACKING.md says how to find what nvdisasm calls it. */
static const struct sw_sass_op *name_unknown(struct sw_sass *s)
{
	struct sw_sass_op *op = sw_arena_alloc(&s->program->arena, sizeof *op);
	char name[40];
	int n = snprintf(name, sizeof name, "%s 0x%03x", unknown.name, (unsigned)(s->low & 0xfff));
	*op = unknown;
	op->name = sw_arena_strndup(&s->program->arena, name, (size_t)n);
	return op;
}

/* Reads one instruction of the section and emits what it does. */
static void lower_instruction(struct sw_sass *s, uint64_t at)
{
	uint64_t symbol;
	sw_sass_fetch(s, at);
	if (!s->low && !s->high) /* no instruction of any architecture: the code was cut out of its section */
		sw_sass_wild(s, "code of zeros");
	if (s->seen[at] & SW_SASS_LEADER)
		s->stamp++;
	s->place[at] = (uint32_t)s->insn.n;
	if (s->never)
		return;
	if (!s->op)
		s->op = name_unknown(s);
	if (s->guard != SW_NO_REG && guard_unknown(s)) {
		s->guard = sw_sass_anything(s, 1).reg;
		s->guard_not = false;
	}
	bool remember = loads_symbol(s, &symbol);
	uint64_t relocated = sw_map_get(&s->cubin->relocated, at * 16);
	s->relocation = relocated ? &s->cubin->relocation.at[relocated - 1] : NULL;
	s->op->lower(s);
	if (s->relocation)
		sw_sass_wild(s, "an address that is not known before the code is loaded");
	sw_reg rd = sw_sass_reg(s, 16, false);
	if (remember && rd != SW_NO_REG)
		s->known[rd] = (struct sw_sass_known){s->stamp, SW_KNOWN_SYMBOL, (int64_t)symbol};
}

/* qsort() by address. */
static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Sorts the addresses that were reached.  Mostly they lie close together: then they are collected again from what
   was marked. */
static void sort_reached(struct sw_sass *s)
{
	uint64_t first = UINT64_MAX, last = 0;
	size_t n = 0;
	for (size_t i = 0; i < s->reached.n; i++) {
		first = s->reached.at[i] < first ? s->reached.at[i] : first;
		last = s->reached.at[i] > last ? s->reached.at[i] : last;
	}
	if (s->reached.n && last - first > 8 * s->reached.n)
		qsort(s->reached.at, s->reached.n, sizeof *s->reached.at, compare_addresses);
	else
		for (uint64_t at = first; at <= last && n < s->reached.n; at++)
			if (s->seen[at] & SW_SASS_REACHED)
				s->reached.at[n++] = at;
}

/* Reads all of one instance (the kernel, or a subroutine for one call); s->place then has where its instructions lie
   in the program. */
static void read_instance(struct sw_sass *s, uint32_t which)
{
	s->current = which;
	uint64_t entry = s->instance.at[which].entry;
	sw_sass_reach(s, entry);
	sort_reached(s);
	sw_vec_reserve(&s->insn, s->insn.n + 2 * s->reached.n);
	s->fix.n = 0;
	size_t children = s->instance.n;
	uint32_t start = (uint32_t)s->insn.n;
	for (size_t i = 0; i < s->reached.n && !s->failed; i++)
		lower_instruction(s, s->reached.at[i]);
	if (s->failed)
		return;
	s->instance.at[which].start = s->place[entry];
	for (size_t i = 0; i < s->fix.n; i++) {
		const struct sw_sass_fix *f = &s->fix.at[i];
		bool reached = s->seen[f->target] & SW_SASS_REACHED;
		uint32_t to = reached ? s->place[f->target] : start;
		if (f->listed)
			s->target.at[f->insn] = to;
		else
			s->insn.at[f->insn].target = to;
	}
	for (size_t i = children; i < s->instance.n; i++) {
		struct sw_sass_instance *child = &s->instance.at[i];
		bool reached = child->back < s->instructions && s->seen[child->back] & SW_SASS_REACHED;
		child->back_at = reached ? s->place[child->back] : start;
	}
	/* Control that runs off the end of the code, or into what only the caller's caller reaches, ends. */
	s->op = &unknown;
	sw_sass_emit(s, SW_OP_EXIT, 32);
	const struct sw_sass_instance *here = &s->instance.at[which];
	if (here->parent != UINT32_MAX && here->listed)
		s->target.at[here->caller] = here->start;
	else if (here->parent != UINT32_MAX)
		s->insn.at[here->caller].target = here->start;
	for (size_t i = 0; i < s->reached.n; i++)
		s->seen[s->reached.at[i]] = 0;
}

/* Moves what was read into the program. */
static void copy_out(struct sw_sass *s, const char *kernel)
{
	struct sw_program *p = s->program;
	struct sw_sass_cubin *c = s->cubin;
	struct sw_program_function *f = sw_arena_alloc(&p->arena, sizeof *f);
	p->function = f;
	p->functions = 1;
	f->name = sw_arena_strndup(&p->arena, kernel, strlen(kernel));
	f->regs = SW_SASS_REGS;
#define TAKE(member, count, vector)                                                                                    \
	do {                                                                                                           \
		size_t bytes = s->vector.n * sizeof *s->vector.at;                                                     \
		void *to = sw_arena_alloc(&p->arena, bytes ? bytes : 1);                                               \
		if (bytes)                                                                                             \
			memcpy(to, s->vector.at, bytes);                                                               \
		member = to;                                                                                           \
		count = (uint32_t)s->vector.n;                                                                         \
	} while (0)
	TAKE(f->targets, f->n_targets, target);
	TAKE(f->calls, f->n_calls, call);
	TAKE(p->symbol, p->symbols, symbol);
#undef TAKE
	/* The program takes the vector over: the instructions are too many to be copied. */
	p->code = f->insn = s->insn.at;
	f->insns = (uint32_t)s->insn.n;
	s->insn.at = NULL;
	p->slots = 1;
	struct sw_param *param = sw_arena_alloc(&p->arena, (c->params + 1) * sizeof *param);
	if (c->params)
		memcpy(param, c->param, c->params * sizeof *param);
	p->param = param;
	p->params = c->params;
	p->param_bytes = c->param_bytes;
}

/* Reads the kernel, and each subroutine for each call of it. */
static void read_all(struct sw_sass *s)
{
	s->instructions = s->code.n / 16;
	s->place = sw_calloc(s->instructions + 1, sizeof *s->place);
	s->seen = sw_calloc(s->instructions + 1, 1);
	*sw_vec_push(&s->instance) = (struct sw_sass_instance){.parent = UINT32_MAX, .caller = UINT32_MAX};
	for (uint32_t i = 0; i < s->instance.n && !s->failed; i++)
		read_instance(s, i);
}

int sw_sass_read(const void *bytes, size_t size, const char *kernel, struct sw_program *program, uint32_t *arch,
		 struct sw_error *error)
{
	struct sw_sass_cubin cubin;
	pthread_once(&lines_are_sorted, sort_lines);
	*program = (struct sw_program){0};
	int rc = sw_sass_cubin_open(&cubin, bytes, size, kernel, error);
	if (rc)
		return rc;
	struct sw_sass s = {
		.program = program, .cubin = &cubin, .code = sw_sass_cubin_content(&cubin, cubin.code), .stamp = 1};
	if (!s.code.n || s.code.n / 16 > SW_CODE_MAX_INSNS)
		s.failed = s.code.n ? "it has too many instructions" : "it has no code";
	else
		read_all(&s);
	if (arch)
		*arch = cubin.arch;
	if (s.failed) {
		rc = sw_fail(error, SW_E_UNSUPPORTED, "cubin: kernel %.200s can't be read: %s", kernel, s.failed);
		sw_program_free(program);
	} else {
		copy_out(&s, kernel);
	}
	free(s.insn.at);
	free(s.target.at);
	free(s.call.at);
	free(s.symbol.at);
	free(s.variable.at);
	free(s.instance.at);
	free(s.fix.at);
	free(s.reached.at);
	free(s.place);
	free(s.seen);
	sw_sass_cubin_close(&cubin);
	return rc;
}
